package main

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
)

// loadWorkers is how many requests -self-load has under way at a time.
const loadWorkers = 64

// A caller calls the shop's routes and knows what each of them promises.
type caller struct {
	baseURL string
	client  *http.Client
	// once makes a connection for each call: when a kept one breaks, as the
	// route that panics makes it, net/http sends the request again in silence.
	once *http.Client
}

func newCaller(baseURL string) *caller {
	return &caller{
		baseURL: baseURL,
		client:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: loadWorkers}},
		once:    &http.Client{Transport: &http.Transport{DisableKeepAlives: true}},
	}
}

// load sends n requests, all routes in equal shares, and returns how many it
// sent and how many were answered as the route promises.
func (c *caller) load(ctx context.Context, routes []string, n int) (sent, right uint64) {
	defer c.client.CloseIdleConnections()
	var ok, done atomic.Uint64
	turns := make(chan int)
	var workers sync.WaitGroup
	for range loadWorkers {
		workers.Go(func() {
			for i := range turns {
				done.Add(1)
				if c.call(ctx, routes[i%len(routes)]) {
					ok.Add(1)
				}
			}
		})
	}
	for i := range n {
		select {
		case turns <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(turns)
	workers.Wait()
	return done.Load(), ok.Load()
}

// call reports whether the route answered as it promises: the one that panics
// breaks the connection off, the one that fails says 503.
func (c *caller) call(ctx context.Context, route string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.baseURL+route, http.NoBody)
	if err != nil {
		return false
	}
	if route == "/panic" {
		resp, err := c.once.Do(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err != nil && ctx.Err() == nil
	}
	resp, err := c.client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return false
	}
	want := http.StatusOK
	if route == "/fail" {
		want = http.StatusServiceUnavailable
	}
	return resp.StatusCode == want
}
