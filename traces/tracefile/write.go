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

// The bounds of [Losses].
const (
	maxLosses     = 1000
	maxLossCounts = 200
)

// Losses is the account of what a format could not hold.
type Losses struct {
	Spans  int64       // written
	Total  int64       // losses, all of them
	List   []Loss      // the first 1000
	Counts []LossCount // by key and kind; the first 200 of them
}

// Loss is one thing of one span that the format could not hold. What concerns a
// resource or scope is told once, with its first span.
type Loss struct {
	TraceID traces.TraceID
	SpanID  traces.SpanID
	Key     string // a path like "attributes.http.route", "startTimeUnixNano", "resource.schemaUrl"
	What    string // what became of it, like "int written as string"
}

// String is the loss as one line.
func (l Loss) String() string {
	return fmt.Sprintf("%x/%x: %s: %s", l.TraceID[:], l.SpanID[:], l.Key, l.What)
}

// LossCount counts losses of a kind.
type LossCount struct {
	Key, What string
	Count     int64
}

// losses collects while writing.
type losses struct {
	Losses
	present *traces.Span
	index   map[LossCount]int
	once    map[topicOf]bool
}

func (l *losses) begin(sp *traces.Span) {
	l.present = sp
	l.Spans++
}

func (l *losses) add(key, what string) {
	l.Total++
	if len(l.List) < maxLosses {
		l.List = append(l.List, Loss{TraceID: l.present.TraceID, SpanID: l.present.SpanID, Key: key, What: what})
	}
	k := LossCount{Key: key, What: what}
	if i, ok := l.index[k]; ok {
		l.Counts[i].Count++
		return
	}
	if len(l.Counts) >= maxLossCounts {
		return
	}
	if l.index == nil {
		l.index = map[LossCount]int{}
	}
	l.index[k] = len(l.Counts)
	l.Counts = append(l.Counts, LossCount{Key: key, What: what, Count: 1})
}

const whatLeftOut = "left out"

// leftOut notes a number or text that is not written, when there is one.
func leftOut[T comparable](l *losses, key string, v T) {
	var zero T
	if v != zero {
		l.add(key, whatLeftOut)
	}
}

// topicOf is a resource or scope, and the part of what there is to tell of it.
type topicOf struct {
	topic string
	of    any
}

// first says whether a topic of a resource or scope comes for the first time.
// The memory is bounded: past it, a topic may come again.
func (l *losses) first(topic string, of any) bool {
	k := topicOf{topic: topic, of: of}
	if l.once[k] {
		return false
	}
	if l.once == nil || len(l.once) > maxShared {
		l.once = map[topicOf]bool{}
	}
	l.once[k] = true
	return true
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
