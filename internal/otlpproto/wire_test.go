package otlpproto_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/waymark-trace/waymark/internal/otlpproto"
)

// TestAppend writes what the schema's own library reads, whatever the lengths.
func TestAppend(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 100, 127, 128, 16_383, 16_384, 3 << 20} {
		text := strings.Repeat("x", n)
		b := otlpproto.AppendString(nil, 1, text)
		b = otlpproto.AppendMessage(b, 2, func(b []byte) []byte {
			return otlpproto.AppendMessage(b, 5, func(b []byte) []byte {
				b = otlpproto.AppendMessage(b, 1, func(b []byte) []byte { return otlpproto.AppendStringAlways(b, 1, text) })
				b = otlpproto.AppendMessage(b, 1, func(b []byte) []byte { return otlpproto.AppendVarintAlways(b, 3, math.MaxUint64) })
				return otlpproto.AppendMessage(b, 1, func(b []byte) []byte { return otlpproto.AppendDoubleAlways(b, 4, 0) })
			})
		})
		want := &commonpb.KeyValue{Key: text, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{
			ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{
				{Value: &commonpb.AnyValue_StringValue{StringValue: text}},
				{Value: &commonpb.AnyValue_IntValue{IntValue: -1}},
				{Value: &commonpb.AnyValue_DoubleValue{}},
			}},
		}}}
		var got commonpb.KeyValue
		if err := proto.Unmarshal(b, &got); err != nil {
			t.Fatalf("%d bytes: %v", n, err)
		}
		if d := cmp.Diff(want, &got, protocmp.Transform()); d != "" {
			t.Errorf("%d bytes (-want +got):\n%s", n, d)
		}
	}
	if b := otlpproto.AppendFixed32(otlpproto.AppendFixed64(otlpproto.AppendVarint(nil, 1, 0), 2, 0), 3, 0); len(b) != 0 {
		t.Errorf("zeros are written: %x", b)
	}
}

// An ID of zeros is none.
func TestAppendID(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ id, want string }{
		{"\x00\x00\x00\x00\x00\x00\x00\x00", ""},
		{"\x00\x00\x00\x00\x00\x00\x00\x01", "\x22\x08\x00\x00\x00\x00\x00\x00\x00\x01"},
		{"\x01\x00\x00\x00\x00\x00\x00\x00", "\x22\x08\x01\x00\x00\x00\x00\x00\x00\x00"},
	} {
		if got := string(otlpproto.AppendID(nil, 4, []byte(c.id))); got != c.want {
			t.Errorf("AppendID(%x) = %x, want %x", c.id, got, c.want)
		}
	}
}

func TestMessage(t *testing.T) {
	t.Parallel()
	b := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), math.MaxUint64)
	b = protowire.AppendFixed64(protowire.AppendTag(b, 2, protowire.Fixed64Type), math.Float64bits(1.5))
	b = protowire.AppendFixed32(protowire.AppendTag(b, 3, protowire.Fixed32Type), 7)
	b = protowire.AppendTag(b, 9, protowire.StartGroupType)
	b = protowire.AppendBytes(protowire.AppendTag(b, 1, protowire.BytesType), []byte("in"))
	b = protowire.AppendTag(protowire.AppendTag(b, 4, protowire.StartGroupType), 4, protowire.EndGroupType)
	b = protowire.AppendTag(b, 9, protowire.EndGroupType)
	b = protowire.AppendBytes(protowire.AppendTag(b, 1000, protowire.BytesType), []byte("text"))
	m := otlpproto.NewMessage(b)
	seen := 0
	for m.Next() {
		seen++
		switch m.Field {
		case 1:
			if m.Int64() != -1 || m.Int32() != -1 || m.Uint64() != math.MaxUint64 {
				t.Errorf("varint = %d, %d, %d", m.Int64(), m.Int32(), m.Uint64())
			}
		case 2:
			if m.Float64() != 1.5 {
				t.Errorf("double = %v", m.Float64())
			}
		case 3:
			if m.Uint32() != 7 {
				t.Errorf("fixed32 = %v", m.Uint32())
			}
		case 1000:
			if string(m.Bytes()) != "text" {
				t.Errorf("bytes = %q", m.Bytes())
			}
		default:
			t.Errorf("field %d", m.Field)
		}
	}
	if m.Err() != nil || seen != 4 {
		t.Errorf("%d fields, error %v", seen, m.Err())
	}
	for i := range b[:len(b)-1] {
		m := otlpproto.NewMessage(b[:i+1])
		for m.Next() {
		}
		if err := m.Err(); err != nil && !errors.Is(err, otlpproto.ErrTruncated) {
			t.Errorf("cut after %d bytes: %v", i+1, err)
		}
	}
	m = otlpproto.NewMessage([]byte{0x08, 1})
	if !m.Next() || m.Bytes() != nil || m.Next() || !errors.Is(m.Err(), otlpproto.ErrMalformed) {
		t.Errorf("a number asked for bytes: %v", m.Err())
	}
}

// FuzzMessage finds the fields that protobuf's own library finds.
func FuzzMessage(f *testing.F) {
	f.Add([]byte{0x0a, 0x01, 'x', 0x10, 0x7f, 0x1d, 1, 2, 3, 4, 0x21, 1, 2, 3, 4, 5, 6, 7, 8})
	f.Add([]byte{0x0b, 0x0a, 0x00, 0x0c})
	f.Add([]byte{0x00})
	f.Add(bytes.Repeat([]byte{0xff}, 11))
	f.Fuzz(func(t *testing.T, b []byte) {
		m := otlpproto.NewMessage(b)
		rest := b
		for m.Next() {
			for {
				num, typ, n := protowire.ConsumeField(rest)
				if n < 0 {
					t.Fatalf("%x: field %d of type %d is none of protowire's", b, m.Field, m.Type)
				}
				body := rest[protowire.SizeTag(num):n]
				rest = rest[n:]
				if typ == protowire.StartGroupType {
					continue
				}
				if int(num) != m.Field || int(typ) != int(m.Type) {
					t.Fatalf("%x: field %d of type %d, protowire has %d of %d", b, m.Field, m.Type, num, typ)
				}
				if typ == protowire.BytesType {
					if !bytes.HasSuffix(body, m.Bytes()) {
						t.Fatalf("%x: bytes %x are not protowire's", b, m.Bytes())
					}
				}
				break
			}
		}
	})
}
