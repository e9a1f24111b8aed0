package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/waymark-trace/waymark/internal/wholefile"
	"github.com/waymark-trace/waymark/traces"
)

const stateSchema = "waymark.send-state/v1"

// sendState is how far a replay got. It does not say which files: it says which
// spans, so that nothing but other spans makes it wrong.
type sendState struct {
	Schema   string `json:"schema"`
	Endpoint string `json:"endpoint"`
	Done     uint64 `json:"done"` // the first spans, that were taken or refused
	Mark     string `json:"mark"` // of their ids and times, in order
}

// loadState reads the state; a file that is not there yet is a new one.
func loadState(path, endpoint string) (sendState, error) {
	fresh := sendState{Endpoint: endpoint}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fresh, nil
	}
	if err != nil {
		return fresh, err
	}
	var s sendState
	if err := json.Unmarshal(b, &s); err != nil || s.Schema != stateSchema {
		return fresh, fmt.Errorf("%s is no state of a replay (want schema %s)", path, stateSchema)
	}
	if s.Endpoint != endpoint {
		return fresh, fmt.Errorf("%s is about sending to %s, not to %s", path, s.Endpoint, endpoint)
	}
	return s, nil
}

func (s sendState) save(path string) error {
	s.Schema = stateSchema
	return wholefile.Write(path, func(w io.Writer) error { return json.NewEncoder(w).Encode(s) })
}

// chain is a digest of spans one after the other.
type chain [sha256.Size]byte

func (c *chain) add(span *traces.Span) {
	h := sha256.New()
	_, _ = h.Write(c[:]) // a hash takes all
	_, _ = h.Write(span.TraceID[:])
	_, _ = h.Write(span.SpanID[:])
	_, _ = fmt.Fprint(h, span.StartUnixNano, span.EndUnixNano)
	h.Sum(c[:0])
}

func (c *chain) String() string { return hex.EncodeToString(c[:]) }
