package e2e_test

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
)

// tap hands connections on to a server and keeps what the client sent: what an
// eavesdropper would see.
type tap struct {
	addr string
	sent *buffer
}

// newTap listens on a free port, for the server at target.
func newTap(t *testing.T, target string) *tap {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{addr: ln.Addr().String(), sent: &buffer{}}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			client, err := ln.Accept()
			if err != nil {
				return // closed by the clean-up
			}
			conns.Go(func() { p.forward(client, target) })
		}
	})
	t.Cleanup(func() {
		_ = ln.Close()
		conns.Wait()
	})
	return p
}

// forward ends when either side does.
func (p *tap) forward(client net.Conn, target string) {
	defer func() { _ = client.Close() }()
	server, err := net.Dial("tcp", target)
	if err != nil {
		return
	}
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	})
	_, _ = io.Copy(server, io.TeeReader(client, p.sent))
	_ = server.Close()
	back.Wait()
}

// saw says whether the bytes went over the wire.
func (p *tap) saw(b []byte) bool { return bytes.Contains([]byte(p.sent.String()), b) }
