package e2e_test

import (
	"net/http"
	"testing"
)

// What a client sends that is not UTF-8, in the path and in headers, costs
// neither its span nor the others of the batch.
func TestInvalidUTF8Request(t *testing.T) {
	t.Parallel()
	for name, protocol := range protocols {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := startCollector(t, collectorConfig{})
			s := startServer(t, otlpVars(protocol, c.address(protocol)), "-also-file")
			s.greet(t, 2)
			badRequest(t, s)
			s.greet(t, 2)
			if e := s.stop(t); e.Error != "" {
				t.Errorf("the server ended with %q", e.Error)
			}
			c.end(t)
			sameSpans(t, c.spans(t), s.spans(t))
		})
	}
}

// badRequest calls a route that is not there, by a name that is not UTF-8.
func badRequest(t *testing.T, s *tracedServer) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/%ff", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("User-Agent", "\xff")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("%s, %v", resp.Status, err)
	}
}
