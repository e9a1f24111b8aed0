package tracefile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/waymark-trace/waymark/internal/otlpproto"
)

// isProto says whether a file begins like a TracesData: field 1, and in it,
// within its length, one of a ResourceSpans' fields. A text that begins with a
// newline, which is the byte of field 1, does not fit.
func isProto(head []byte) bool {
	if len(head) < 4 || head[0] != 0x0a {
		return false
	}
	outer, n := binary.Uvarint(head[1:])
	if n <= 0 || len(head) < 3+n {
		return false
	}
	inner := head[1+n:]
	tag, t := binary.Uvarint(inner)
	if t <= 0 || tag&7 != uint64(otlpproto.Bytes) {
		return false
	}
	switch tag >> 3 {
	case 1, 2, 3, 1000:
	default:
		return false
	}
	size, s := binary.Uvarint(inner[t:])
	return s > 0 && size <= outer && outer-size >= uint64(t+s)
}

// isFramed says whether a file begins with a length in four bytes, and then
// what the Collector's file exporter puts behind one.
func isFramed(head []byte, limit int) bool {
	if len(head) < 8 {
		return false
	}
	n, body := int64(binary.BigEndian.Uint32(head)), head[4:]
	if n < 2 || n > int64(limit) {
		return false
	}
	return isProto(body) || bytes.HasPrefix(body, []byte(magicZstd)) || bytes.HasPrefix(body, []byte(`{"`))
}

// proto reads a TracesData, or several one after the other, which is the same.
func (f *file) proto(br *bufio.Reader) error {
	in := &counter{br: br}
	d := f.decoder()
	var buf []byte
	for {
		d.at, d.faults.number = in.n, 0
		tag, err := binary.ReadUvarint(in)
		if errors.Is(err, io.EOF) && in.n == d.at {
			return nil
		}
		var size uint64
		if err == nil {
			size, err = binary.ReadUvarint(in)
		}
		switch {
		case err == nil && tag&7 != uint64(otlpproto.Bytes):
			err = otlpproto.ErrMalformed
		case err == nil && tag>>3 != 1:
			d.protoUnknown("the document")
			err = in.skip(size)
		case err == nil && size > uint64(f.cfg.maxValue): //nolint:gosec // positive
			d.skip(fmt.Sprintf("message over the limit of %d bytes", f.cfg.maxValue))
			err = in.skip(size)
		case err == nil:
			if buf, err = in.read(buf, size); err == nil {
				d.found(OTLPProto)
				d.note(d.protoResourceSpans(buf))
			}
		}
		if err := f.endOrHandOut(d, err); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// note passes over a message that cannot be read.
func (d *decoder) note(err error) {
	if err == nil {
		return
	}
	d.known--
	what := firstLineOf(err)
	d.refuse(what)
	d.skip("message passed over: " + what)
}

// endOrHandOut hands out what was read, and turns a stream that stops in the
// middle into its end, which is noted.
func (f *file) endOrHandOut(d *decoder, err error) error {
	torn := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if torn || errors.Is(err, otlpproto.ErrMalformed) || isOverflow(err) {
		what := "protobuf that cannot be read further"
		if torn {
			what = "torn: " + otlpproto.ErrTruncated.Error()
		}
		d.refuse(what)
		d.skip(what)
		err = io.EOF
	}
	if e := f.handOut(d.batch, 0, 0); e != nil {
		return e
	}
	return err
}

// isOverflow is for binary.ReadUvarint's error about a number of more than 64
// bits, which has no name.
func isOverflow(err error) bool {
	return err != nil && strings.Contains(err.Error(), "overflows a 64-bit integer")
}

// framed reads messages that have their lengths in front of them: protobuf, or
// zstd with protobuf or JSON in it.
func (f *file) framed(br *bufio.Reader) error {
	in := &counter{br: br}
	d := f.decoder()
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(f.cfg.maxValue))) //nolint:gosec // positive
	if err != nil {
		return err
	}
	defer z.Close()
	var buf, plain []byte
	for {
		d.at, d.faults.number = in.n, 0
		var size [4]byte
		_, err := io.ReadFull(in, size[:])
		if errors.Is(err, io.EOF) && in.n == d.at {
			return nil
		}
		n := uint64(binary.BigEndian.Uint32(size[:]))
		switch {
		case err == nil && n > uint64(f.cfg.maxValue): //nolint:gosec // positive
			d.skip(fmt.Sprintf("message over the limit of %d bytes", f.cfg.maxValue))
			err = in.skip(n)
		case err == nil:
			if buf, err = in.read(buf, n); err == nil {
				plain = d.frame(z, buf, plain)
			}
		}
		if err := f.endOrHandOut(d, err); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// frame reads one message, decompressed into scratch when it has to be.
func (d *decoder) frame(z *zstd.Decoder, b, scratch []byte) []byte {
	if bytes.HasPrefix(b, []byte(magicZstd)) {
		plain, err := z.DecodeAll(b, scratch[:0])
		if err != nil {
			d.refuse("zstd data that cannot be read: " + err.Error())
			d.skip("message passed over: zstd: " + err.Error())
			return scratch
		}
		b, scratch = plain, plain
	}
	if len(b) > 0 && b[0] == '{' {
		if fault := d.texts(b); fault != "" {
			d.skip("message passed over: " + fault)
		}
		return scratch
	}
	first := len(d.out)
	d.found(OTLPFramed)
	m := otlpproto.NewMessage(b)
	var err error
	for m.Next() && err == nil {
		if m.Field == 1 {
			err = d.protoResourceSpans(m.Bytes())
		} else {
			d.protoUnknown("the document")
		}
	}
	if err = errors.Join(err, m.Err()); err != nil {
		d.out = d.out[:first]
	}
	d.note(err)
	return scratch
}

// counter reads and counts.
type counter struct {
	br *bufio.Reader
	n  int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.br.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counter) ReadByte() (byte, error) {
	b, err := c.br.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

func (c *counter) skip(n uint64) error {
	if n > 1<<62 {
		return otlpproto.ErrMalformed
	}
	_, err := io.CopyN(io.Discard, c, int64(n))
	return err
}

// read reads n bytes into the memory of buf, which grows with what comes, not
// with what is claimed.
func (c *counter) read(buf []byte, n uint64) ([]byte, error) {
	b := bytes.NewBuffer(buf[:0])
	_, err := io.CopyN(b, c, int64(n)) //nolint:gosec // at most the limit
	return b.Bytes(), err
}
