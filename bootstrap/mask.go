package bootstrap

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/waymark-trace/waymark/bootstrap/internal/hiding"
	"github.com/waymark-trace/waymark/env"
)

// newMask joins the program's mask and the switches of OPENINFERENCE_HIDE_*;
// nil when there is nothing to hide.
func newMask(user func(attribute.KeyValue) (attribute.KeyValue, bool), h env.Hide, diag *diagnostics) maskFunc {
	hide := hiding.New(h)
	if user == nil {
		return hide
	}
	return func(kv attribute.KeyValue) (out attribute.KeyValue, keep bool) {
		// What cannot be judged is hidden; a panic here would end the program.
		defer func() {
			if p := recover(); p != nil {
				diag.report("mask", fmt.Errorf("panic in Config.Mask, attribute %q hidden", string(kv.Key)))
				out, keep = attribute.KeyValue{}, false
			}
		}()
		if hide != nil {
			if kv, keep = hide(kv); !keep {
				return kv, false
			}
		}
		return user(kv)
	}
}

// maskedSampler lets a sampler see what the mask leaves.
type maskedSampler struct {
	next sdktrace.Sampler
	mask maskFunc
}

func (s maskedSampler) ShouldSample(p sdktrace.SamplingParameters) sdktrace.SamplingResult {
	p.Attributes = s.mask.attributes(p.Attributes)
	if len(p.Links) > 0 {
		links := append(p.Links[:0:0], p.Links...)
		for i := range links {
			links[i].Attributes = s.mask.attributes(links[i].Attributes)
		}
		p.Links = links
	}
	return s.next.ShouldSample(p)
}

func (s maskedSampler) Description() string { return s.next.Description() }

var (
	errPanic   = errors.New("panic")
	errGoexit  = errors.New("ended its goroutine")
	errUnknown = errors.New("unknown error")
)

// safely turns a panic of the program's code into an error.
func safely(what string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%s: %w: %v", what, errPanic, p)
		}
	}()
	if err = f(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
