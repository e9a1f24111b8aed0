package recorder

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// A method that is not ours would be that of the empty span inside: a release of
// OpenTelemetry that adds one needs it here.
func TestEachMethodIsOurs(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		ours any
		of   reflect.Type
	}{
		{&span{}, reflect.TypeFor[sdktrace.ReadWriteSpan]()},
		{&record{}, reflect.TypeFor[sdktrace.ReadOnlySpan]()},
	} {
		for m := range tc.of.Methods() {
			if !m.IsExported() {
				continue
			}
			own, ok := reflect.TypeOf(tc.ours).MethodByName(m.Name)
			if !ok {
				t.Fatalf("%T has no method %s", tc.ours, m.Name)
			}
			if file, _ := runtime.FuncForPC(own.Func.Pointer()).FileLine(own.Func.Pointer()); !strings.HasSuffix(file, ".go") {
				t.Errorf("method %s of %T is of what it embeds", m.Name, tc.ours)
			}
		}
	}
}

// What is embedded answers without a panic.
func TestWhatIsEmbeddedAnswers(t *testing.T) {
	t.Parallel()
	for what, of := range map[any]reflect.Type{
		unknown: reflect.TypeFor[sdktrace.ReadOnlySpan](),
		nothing: reflect.TypeFor[trace.Span](),
	} {
		for m := range of.Methods() {
			if !m.IsExported() {
				continue
			}
			f := reflect.ValueOf(what).MethodByName(m.Name)
			args := make([]reflect.Value, f.Type().NumIn())
			for j := range args {
				args[j] = reflect.Zero(f.Type().In(j))
			}
			if f.Type().IsVariadic() {
				args = args[:len(args)-1]
			}
			f.Call(args)
		}
	}
}

// Spans are many: this is what each costs before it has an attribute.
func TestSize(t *testing.T) {
	t.Parallel()
	if got := reflect.TypeFor[span]().Size(); got > 416 {
		t.Errorf("a span has %d bytes, want at most 416", got)
	}
}
