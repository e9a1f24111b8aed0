package annotate

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/internal/request"
)

// What one trace may know; what is more is dropped and counted.
const (
	maxTags          = 128
	maxMetadata      = 128
	maxWordBytes     = 1 << 10 // a user, a session, a tag, a metadata key
	maxMetaBytes     = 4 << 10 // a metadata value
	maxMetadataBytes = 64 << 10
)

// who says whose work it is. Its slices are replaced, never changed in place.
type who struct {
	user, session string
	tags          []string
	meta          []metaPair
}

// metaPair is one metadata entry; the value is encoded.
type metaPair struct{ key, json string }

// with returns w with inner put over it, and how much of inner did not fit: ids of inner win, tags and
// metadata accumulate.
func (w who) with(inner who) (who, int) {
	dropped := 0
	if inner.user != "" {
		w.user = inner.user
	}
	if inner.session != "" {
		w.session = inner.session
	}
	if len(inner.tags) > 0 {
		w.tags = slices.Clone(w.tags)
		for _, tag := range inner.tags {
			switch {
			case slices.Contains(w.tags, tag):
			case len(w.tags) >= maxTags:
				dropped++
			default:
				w.tags = append(w.tags, tag)
			}
		}
	}
	if len(inner.meta) > 0 {
		var lost int
		w.meta, lost = mergeMeta(w.meta, inner.meta)
		dropped += lost
	}
	return w, dropped
}

func mergeMeta(outer, inner []metaPair) ([]metaPair, int) {
	merged, size, dropped := slices.Clone(outer), 0, 0
	for _, p := range outer {
		size += len(p.key) + len(p.json)
	}
	for _, p := range inner {
		i := slices.IndexFunc(merged, func(have metaPair) bool { return have.key == p.key })
		grows := len(p.key) + len(p.json)
		if i >= 0 {
			grows = len(p.json) - len(merged[i].json)
		}
		switch {
		case size+grows > maxMetadataBytes, i < 0 && len(merged) >= maxMetadata:
			dropped++
			continue
		case i >= 0:
			merged[i] = p
		default:
			merged = append(merged, p)
		}
		size += grows
	}
	return merged, dropped
}

func (w who) empty() bool {
	return w.user == "" && w.session == "" && len(w.tags) == 0 && len(w.meta) == 0
}

// attributes writes w as OpenInference has it.
func (w who) attributes() []attribute.KeyValue {
	kvs := make([]attribute.KeyValue, 0, 4)
	if w.user != "" {
		kvs = append(kvs, UserIDKey.String(w.user))
	}
	if w.session != "" {
		kvs = append(kvs, SessionIDKey.String(w.session))
	}
	if len(w.tags) > 0 {
		kvs = append(kvs, TagsKey.StringSlice(w.tags))
	}
	if len(w.meta) > 0 {
		kvs = append(kvs, MetadataKey.String(w.metadata()))
	}
	return kvs
}

// metadata is the JSON object of the metadata; "" when there is none.
func (w who) metadata() string {
	if len(w.meta) == 0 {
		return ""
	}
	var b strings.Builder
	for i, p := range w.meta {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(jsonText(p.key))
		b.WriteByte(':')
		b.WriteString(p.json)
	}
	b.WriteByte('}')
	return b.String()
}

// newMeta encodes metadata: scalars are themselves, anything else is a string that holds its JSON. Keys that
// begin with an underscore are reserved and left out.
func (c *Client) newMeta(pairs []any) (meta []metaPair, reserved int) {
	for key, v := range c.eachPair(pairs) {
		if strings.HasPrefix(key, "_") {
			reserved++
			continue
		}
		if key == "" {
			continue
		}
		meta = append(meta, metaPair{cut(key, maxWordBytes), c.metaValue(v)})
	}
	return meta, reserved
}

func (c *Client) metaValue(v any) string {
	if value, ok := v.(attribute.Value); ok {
		v = value.AsInterface()
	}
	kv := c.toAttribute("", v, maxMetaBytes)
	switch kv.Value.Type() { //nolint:exhaustive // the others are text
	case attribute.BOOL:
		return strconv.FormatBool(kv.Value.AsBool())
	case attribute.INT64:
		return strconv.FormatInt(kv.Value.AsInt64(), 10)
	case attribute.FLOAT64:
		if text := jsonText(kv.Value.AsFloat64()); text != "" {
			return text
		}
		return jsonText(kv.Value.String()) // NaN and infinities are no JSON numbers
	case attribute.STRING:
		return jsonText(kv.Value.AsString())
	}
	text, _ := c.encode(v, maxMetaBytes)
	return jsonText(text)
}

// block is what With adds to the spans opened in it, all blocks around it included.
type block struct {
	who   who
	attrs []attribute.KeyValue // of who
}

// traceInfo is what is known of one trace so far. It is safe for concurrent use.
type traceInfo struct {
	mu      sync.Mutex
	who     who
	attrs   []attribute.KeyValue // of who; replaced, never changed
	version uint64               // of who
}

// update adds to the trace, and to rec while it is locked, so that no older state comes after a newer one.
func (t *traceInfo) update(add who, rec *request.Record) (dropped int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.who, dropped = t.who.with(add)
	t.attrs = t.who.attributes()
	t.version++
	rec.SetAttributes(t.attrs...)
	return dropped
}

// in returns what a span that was opened in b says, and the version of it.
func (t *traceInfo) in(b *block) ([]attribute.KeyValue, uint64) {
	if t == nil {
		if b == nil {
			return nil, 0
		}
		return b.attrs, 0
	}
	t.mu.Lock()
	w, attrs, version := t.who, t.attrs, t.version
	t.mu.Unlock()
	switch {
	case b == nil:
		return attrs, version
	case w.empty():
		return b.attrs, version
	}
	w, _ = w.with(b.who)
	return w.attributes(), version
}

func (t *traceInfo) now() uint64 {
	if t == nil {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version
}

// whoIn is in as a value.
func (t *traceInfo) whoIn(b *block) who {
	var w who
	if t != nil {
		t.mu.Lock()
		w = t.who
		t.mu.Unlock()
	}
	if b != nil {
		w, _ = w.with(b.who)
	}
	return w
}
