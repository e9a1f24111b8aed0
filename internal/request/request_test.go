package request_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"

	"github.com/waymark-trace/waymark/internal/request"
)

func newContext(t *testing.T) *request.Context {
	t.Helper()
	var c request.Context
	c.Init(t.Context(), &request.Live{Context: t.Context(), Path: "/full/path"})
	return &c
}

func TestFromContextFindsTheRecordThroughDerivedContexts(t *testing.T) {
	t.Parallel()
	c := newContext(t)
	ctx, cancel := context.WithTimeout(context.WithValue(c, struct{ k int }{1}, "v"), time.Hour)
	defer cancel()
	if got := request.FromContext(ctx); got != &c.Record {
		t.Errorf("FromContext = %p, want %p", got, &c.Record)
	}
	if got := request.FromContext(ctx).Path(); got != "/full/path" {
		t.Errorf("Path = %q", got)
	}
}

func TestContextKeepsTheParent(t *testing.T) {
	t.Parallel()
	type key struct{}
	parent, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "v"))
	var c request.Context
	c.Init(parent, nil)
	child, stop := context.WithCancel(&c)
	defer stop()
	if got := child.Value(key{}); got != "v" {
		t.Errorf("Value = %v", got)
	}
	cancel()
	<-child.Done()
	if !errors.Is(child.Err(), context.Canceled) {
		t.Errorf("Err = %v", child.Err())
	}
}

func TestNoRecordIsANoOp(t *testing.T) {
	t.Parallel()
	var nilContext context.Context
	for _, r := range []*request.Record{nil, request.FromContext(nilContext), request.FromContext(t.Context())} {
		if r != nil {
			t.Fatalf("record = %v, want nil", r)
		}
		r.SetRoute("/a")
		r.SetMuxRoute("/a")
		r.SetLookupRoute("/a")
		r.SetError(errors.New("x"))
		r.SetStack([]byte("x"))
		r.SetAttributes(attribute.Bool("a", true))
		if got := r.Close(); got.Route != "" || got.Err != nil || r.Attributes() != nil || r.Path() != "" {
			t.Errorf("nil record holds %+v", got)
		}
	}
}

func TestRouteRanks(t *testing.T) {
	t.Parallel()
	lookup := func(s string) func(*request.Record) { return func(r *request.Record) { r.SetLookupRoute(s) } }
	mux := func(s string) func(*request.Record) { return func(r *request.Record) { r.SetMuxRoute(s) } }
	caller := func(s string) func(*request.Record) { return func(r *request.Record) { r.SetRoute(s) } }
	tests := []struct {
		name string
		do   []func(*request.Record)
		want string
	}{
		{"none", nil, ""},
		{"empty is not told", []func(*request.Record){caller("/a"), caller("")}, "/a"},
		{"inner lookup beats outer lookup", []func(*request.Record){lookup("/a/"), lookup("/a/b")}, "/a/b"},
		{"mux beats lookup", []func(*request.Record){lookup("/a"), mux("/b")}, "/b"},
		{"lookup does not beat mux", []func(*request.Record){mux("/b"), lookup("/a")}, "/b"},
		{"inner mux beats outer", []func(*request.Record){mux("/in"), mux("/out")}, "/in"},
		{"caller beats mux before", []func(*request.Record){mux("/b"), caller("/c")}, "/c"},
		{"caller beats mux after", []func(*request.Record){caller("/c"), mux("/b")}, "/c"},
		{"last caller", []func(*request.Record){caller("/c"), caller("/d")}, "/d"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := newContext(t)
			for _, f := range tt.do {
				f(&c.Record)
			}
			if got := c.Record.Close().Route; got != tt.want {
				t.Errorf("route = %q, want %q", got, tt.want)
			}
		})
	}
}

func TestAttributesReplaceAndAreBounded(t *testing.T) {
	t.Parallel()
	r := &newContext(t).Record
	r.SetAttributes(attribute.String("user.id", "1"), attribute.String("a", "b"), attribute.KeyValue{})
	before := r.Attributes()
	r.SetAttributes(attribute.String("user.id", "2"))
	want := []attribute.KeyValue{attribute.String("user.id", "2"), attribute.String("a", "b")}
	if diff := cmp.Diff(want, r.Attributes(), cmp.AllowUnexported(attribute.Value{})); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	if got := before[0].Value.AsString(); got != "1" {
		t.Errorf("a snapshot changed to %q", got)
	}
	for i := range 2 * request.MaxAttributes {
		r.SetAttributes(attribute.Int(fmt.Sprintf("k%d", i), i))
	}
	if got := len(r.Attributes()); got != request.MaxAttributes {
		t.Errorf("%d attributes, want %d", got, request.MaxAttributes)
	}
	if got, want := r.Close().Dropped, 1+request.MaxAttributes+2; got != want { // an invalid one; two places were taken
		t.Errorf("%d were dropped, want %d", got, want)
	}
}

func TestAFullRecordStillReplaces(t *testing.T) {
	t.Parallel()
	r := &newContext(t).Record
	r.SetAttributes(attribute.String("user.id", "1"), attribute.String("a", "b"))
	for i := range request.MaxAttributes {
		r.SetAttributes(attribute.Int(fmt.Sprintf("k%d", i), i))
	}
	r.SetAttributes(attribute.String("a", "still replaced"))
	if got := r.Attributes()[1].Value.AsString(); got != "still replaced" {
		t.Errorf("a = %q", got)
	}
}

func TestClosedRecordKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	r := &newContext(t).Record
	first := errors.New("first")
	r.SetError(first)
	r.SetError(errors.New("second"))
	r.SetStack([]byte("inner"))
	r.SetStack([]byte("outer"))
	r.SetAttributes(attribute.String("user.id", "1"))
	final := r.Close()
	if !errors.Is(final.Err, first) || string(final.Stack) != "inner" || len(final.Attributes) != 1 {
		t.Errorf("Close = %+v", final)
	}
	r.SetRoute("/late")
	r.SetAttributes(attribute.String("late", "1"))
	r.SetStack([]byte("late"))
	r.SetError(errors.New("late"))
	if diff := cmp.Diff("", r.Close().Route); diff != "" {
		t.Error("a route was set after the end")
	}
	if got := len(r.Attributes()); got != 1 {
		t.Errorf("%d attributes after the end, want 1", got)
	}
}

// After the end a context holds what later spans of the request need, and nothing else.
func TestEndLetsGo(t *testing.T) {
	t.Parallel()
	type key struct{}
	for _, told := range []bool{false, true} {
		live := &request.Live{Context: context.WithValue(t.Context(), key{}, "live"), Path: "/full/path"}
		var c request.Context
		c.Init(t.Context(), live)
		if told {
			c.Record.SetError(errors.New("large"))
			c.Record.SetStack([]byte("large"))
			c.Record.SetRoute("/route")
			c.Record.SetAttributes(attribute.String("user.id", "1"))
		}
		if got := c.Value(key{}); got != "live" {
			t.Errorf("told %t: value = %v before the end", told, got)
		}
		c.Record.Close()
		c.End()
		if got := c.Value(key{}); got != nil || c.Record.Path() != "" {
			t.Errorf("told %t: value = %v, path = %q after the end", told, got, c.Record.Path())
		}
		c.Record.SetError(errors.New("late"))
		if got := c.Record.Close(); got.Err != nil || got.Stack != nil || len(got.Attributes) != 1 && told {
			t.Errorf("told %t: the record holds %+v after the end", told, got)
		}
	}
}

// End closes a record that nobody has closed, also while another package keeps something with it.
func TestEndCloses(t *testing.T) {
	t.Parallel()
	for _, extended := range []bool{false, true} {
		c := newContext(t)
		if extended {
			c.Record.Extension(func() any { return 1 })
		}
		c.End()
		c.End()
		c.Record.SetRoute("/late")
		if got := c.Record.Close().Route; got != "" {
			t.Errorf("extended %t: route %q was set after the end", extended, got)
		}
	}
}

func TestARecordThatWasToldNothingIsClosedToo(t *testing.T) {
	t.Parallel()
	r := &newContext(t).Record
	r.Close()
	r.SetRoute("/late")
	if got := r.Close().Route; got != "" {
		t.Errorf("route %q was set after the end", got)
	}
}

// Whatever comes first: what Close returns stays. The rest is the race detector's.
func TestRecordIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	for round := range 100 {
		r := &newContext(t).Record
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() {
				for range 10 {
					r.SetRoute(fmt.Sprintf("/%d", i))
					r.SetAttributes(attribute.Int("k", i))
					_ = r.Attributes()
					r.SetError(errors.New("x"))
				}
			})
			wg.Go(func() {
				for range round % 10 {
					runtime.Gosched()
				}
				first := r.Close()
				if later := r.Close(); later.Route != first.Route || !errors.Is(later.Err, first.Err) {
					t.Errorf("Close = %+v, later %+v", first, later)
				}
			})
		}
		wg.Wait()
	}
}

func TestExtensionIsMadeOnce(t *testing.T) {
	t.Parallel()
	r := &newContext(t).Record
	var made int
	create := func() any { made++; return &made }
	if first, second := r.Extension(create), r.Extension(create); first != any(&made) || second != first || made != 1 {
		t.Errorf("Extension made %d, returned %v and %v", made, first, second)
	}
	var none *request.Record
	if got := none.Extension(create); got != nil || made != 1 {
		t.Errorf("a nil record has the extension %v", got)
	}
}

func TestOuterIsTheContextOfTheRecord(t *testing.T) {
	t.Parallel()
	type key struct{}
	c := newContext(t)
	inner := context.WithValue(c, key{}, "inner")
	if got := request.Outer(inner); got != context.Context(c) || got.Value(key{}) != nil {
		t.Errorf("Outer = %v, want the record's context", got)
	}
	var nilContext context.Context
	if request.Outer(nilContext) != nil || request.Outer(t.Context()) != nil {
		t.Error("Outer without a record is not nil")
	}
}
