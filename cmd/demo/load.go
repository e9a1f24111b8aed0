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

// load sends n requests to the shop, all routes in equal shares, and returns
// how many it sent and how many were answered as the route promises.
func load(ctx context.Context, baseURL string, routes []string, n int) (sent, right uint64) {
	transport := &http.Transport{MaxIdleConnsPerHost: loadWorkers}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	var next, ok atomic.Uint64
	var workers sync.WaitGroup
	for range loadWorkers {
		workers.Go(func() {
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= uint64(n) { //nolint:gosec // n is positive
					next.Add(^uint64(0))
					return
				}
				if call(ctx, client, baseURL, routes[i%uint64(len(routes))]) {
					ok.Add(1)
				}
			}
		})
	}
	workers.Wait()
	return next.Load(), ok.Load()
}

// call reports whether the route answered as it promises: the one that panics
// breaks the connection off, the one that fails says 503.
func call(ctx context.Context, client *http.Client, baseURL, route string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, baseURL+route, http.NoBody)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if route == "/panic" {
		if err == nil {
			_ = resp.Body.Close()
		}
		return err != nil
	}
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
