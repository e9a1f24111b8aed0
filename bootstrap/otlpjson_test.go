//go:build !waymark_nootlp

package bootstrap_test

import (
	"encoding/json"
	"net/http"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// addJSON reads an OTLP/JSON request with the standard library alone.
func (r *received) addJSON(t *testing.T, raw []byte) int {
	t.Helper()
	var req struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []struct {
					TraceID string `json:"traceId"`
					Name    string `json:"name"`
				} `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	if err := json.Unmarshal(raw, &req); err != nil {
		t.Errorf("body %q: %v", raw, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, rs := range req.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				r.spans = append(r.spans, &tracepb.Span{Name: s.Name})
				n++
			}
		}
	}
	return n
}

// grpcError is the gRPC status for an HTTP one.
func grpcError(httpStatus int, message string) error {
	if httpStatus == http.StatusServiceUnavailable {
		return status.Error(codes.Unavailable, message)
	}
	return status.Error(codes.InvalidArgument, message)
}
