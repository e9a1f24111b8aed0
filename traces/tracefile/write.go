package tracefile

import (
	"bufio"
	"fmt"
	"io"
	"iter"

	"github.com/waymark-trace/waymark/traces"
)

// encoder writes one format. Each method appends to w; a write error sticks in
// w and is looked at by Write.
type encoder interface {
	span(w *bufio.Writer, sp *traces.Span)
	close(w *bufio.Writer) // ends the document, also when there was no span
}

// Write writes spans in a format, as they come: only Jaeger's, which keeps the
// spans of a trace together, holds its whole output in memory. The spans can
// be those of a [Reader.Spans], or of [Seq]. An error in the sequence ends the
// document in good order and is returned. What the format cannot hold is in the
// account, with the span and the key, and is the only difference to what a
// reader of the format gives back, but for the order of attributes.
func Write(w io.Writer, f Format, spans iter.Seq2[*traces.Span, error]) (Losses, error) {
	l := losses{}
	enc, err := newEncoder(f, &l)
	if err != nil {
		return Losses{}, err
	}
	bw := bufio.NewWriterSize(w, 64<<10)
	var failed error
	for sp, err := range spans {
		if err != nil {
			failed = err
			break
		}
		l.begin(sp)
		enc.span(bw, sp)
		if _, err := bw.Write(nil); err != nil { // the error of an earlier write
			return l.Losses, fmt.Errorf("tracefile: write %s: %w", f, err)
		}
	}
	enc.close(bw)
	if err := bw.Flush(); err != nil {
		return l.Losses, fmt.Errorf("tracefile: write %s: %w", f, err)
	}
	return l.Losses, failed
}

func newEncoder(f Format, l *losses) (encoder, error) {
	switch f {
	case OTLPJSONLines, OTLPJSON:
		return &otlpJSONEncoder{losses: l, document: f == OTLPJSON}, nil
	case OTLPProto:
		return &otlpProtoEncoder{losses: l}, nil
	case Jaeger:
		return newJaegerEncoder(l), nil
	case Zipkin:
		return &zipkinEncoder{losses: l}, nil
	case CSV:
		return &csvEncoder{losses: l}, nil
	default:
		return nil, fmt.Errorf("tracefile: format %q is not written (want %s, %s, %s, %s, %s or %s)",
			f, OTLPJSONLines, OTLPJSON, OTLPProto, Jaeger, Zipkin, CSV)
	}
}

// Seq is a sequence of spans for [Write].
func Seq(spans []*traces.Span) iter.Seq2[*traces.Span, error] {
	return func(yield func(*traces.Span, error) bool) {
		for _, sp := range spans {
			if !yield(sp, nil) {
				return
			}
		}
	}
}

// resourceOf and scopeOf are for spans that were not read from a file, and may lack them.
func resourceOf(sp *traces.Span) *traces.Resource {
	if sp.Resource == nil {
		return &traces.Resource{}
	}
	return sp.Resource
}

func scopeOf(sp *traces.Span) *traces.Scope {
	if sp.Scope == nil {
		return &traces.Scope{}
	}
	return sp.Scope
}
