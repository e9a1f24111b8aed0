package capture

import (
	"runtime"
	"sync"
	"weak"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// attached is the collector of each provider that has one. Providers are held
// weakly: one that the program drops goes, and its collector with it.
//
//nolint:gochecknoglobals // OTel's global provider is one per process, and a provider takes one collector
var attached = &registry{collectors: map[weak.Pointer[sdktrace.TracerProvider]]*collector{}}

type registry struct {
	mu         sync.Mutex
	collectors map[weak.Pointer[sdktrace.TracerProvider]]*collector
}

// collector returns the provider's collector and attaches one to it first if
// there is none.
func (r *registry) collector(tp *sdktrace.TracerProvider) *collector {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := weak.Make(tp)
	if c := r.collectors[key]; c != nil {
		return c
	}
	c := &collector{}
	r.collectors[key] = c
	runtime.AddCleanup(tp, r.forget, key)
	tp.RegisterSpanProcessor(c)
	return c
}

func (r *registry) forget(key weak.Pointer[sdktrace.TracerProvider]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.collectors, key)
}
