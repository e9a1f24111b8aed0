package capture

import (
	"runtime"
	"sync"
	"weak"
)

// attached is the collector of each provider that has one. Providers are held
// weakly: one that the program drops goes, and its collector with it.
//
//nolint:gochecknoglobals // OTel's global provider is one per process, and a provider takes one collector
var attached = &registry{collectors: map[any]*collector{}}

type registry struct {
	mu         sync.Mutex
	collectors map[any]*collector // by the weak pointer to the provider
}

// collectorOf returns the provider's collector and attaches one to it first if
// there is none.
func collectorOf[P any, T interface {
	*P
	registrar
}](r *registry, tp T) *collector {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := any(weak.Make((*P)(tp)))
	if c := r.collectors[key]; c != nil {
		return c
	}
	c := &collector{}
	r.collectors[key] = c
	runtime.AddCleanup((*P)(tp), r.forget, key)
	tp.RegisterSpanProcessor(c)
	return c
}

func (r *registry) forget(key any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.collectors, key)
}
