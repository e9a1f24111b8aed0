package funcname_test

import (
	"iter"
	"testing"

	"github.com/waymark-trace/waymark/internal/funcname"
)

type service struct{}

func (service) Value()    {}
func (*service) Pointer() {}
func (*service) Closure() func() {
	return func() {}
}

type list[T any] struct{ _ []T }

func (*list[T]) Add(T) {}

func generic[T any](T) {}

func plain() {}

//go:noinline
func nested() func() func() {
	return func() func() { return func() {} }
}

var global = func() {}

func TestOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		fn   any
		want string
	}{
		{"a function", plain, "plain"},
		{"a method of a value", service{}.Value, "service.Value"},
		{"a method of a pointer", (&service{}).Pointer, "service.Pointer"},
		{"a method expression", (*service).Pointer, "service.Pointer"},
		{"a closure in a method", (&service{}).Closure(), "service.Closure"},
		{"a closure", func() {}, "TestOf"},
		{"a closure in a closure", nested()(), "nested"},
		{"a closure of the package", global, "init"},
		{"a generic function", generic[map[string]service], "generic"},
		{"a method of a generic type", (&list[service]{}).Add, "list.Add"},
		{"nil", nil, ""},
		{"a nil function", (func())(nil), ""},
		{"no function", 1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := funcname.Of(tt.fn); got != tt.want {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestShort(t *testing.T) {
	t.Parallel()
	for symbol, want := range map[string]string{
		"main.main":                                    "main",
		"example.com/a/b.f":                            "f",
		"example.com/a/b.(*K).m-fm":                    "K.m",
		"example.com/a/b.K.m":                          "K.m",
		"example.com/a/b.f.func1.2":                    "f",
		"example.com/a/b.f-range1":                     "f",
		"example.com/a/b.f.func2-range1":               "f",
		"example.com/a/b.f.gowrap1":                    "f",
		"example.com/a/b.f.deferwrap12":                "f",
		"example.com/a/b.glob..func1":                  "glob",
		"example.com/a/b.(*K[go.shape.x/y.z]).m.func1": "K.m",
		"example.com/a/b.f.(*K).m.func1":               "K.m",
		"example.com/a/b.f.g.func1":                    "f.g",
		"example.com/a/b.F[a/b.C[d/e.F]]":              "F",
		"gopkg.in/yaml%2ev3.Unmarshal":                 "Unmarshal",
		"example.com/a/b.function1":                    "function1",
		"example.com/a/b.func1":                        "func1",
		"example.com/a/b.run-range":                    "run-range",
		"example.com/a/b.f]":                           "f]",
		"":                                             "",
	} {
		if got := funcname.Short(symbol); got != want {
			t.Errorf("%q is %q, want %q", symbol, got, want)
		}
	}
}

func caller() string { return funcname.Caller(0) }

func outer() string {
	return func() string { return funcname.Caller(1) }()
}

func TestCaller(t *testing.T) {
	t.Parallel()
	if got := caller(); got != "TestCaller" {
		t.Errorf("the caller is %q", got)
	}
	if got := func() string { return caller() }(); got != "TestCaller" {
		t.Errorf("the caller of a closure is %q", got)
	}
	if got := outer(); got != "TestCaller" {
		t.Errorf("the outer caller is %q", got)
	}
	var one iter.Seq[int] = func(yield func(int) bool) { yield(1) }
	for range one {
		if got := caller(); got != "TestCaller" {
			t.Errorf("the caller of a loop's body is %q", got)
		}
	}
	if got := funcname.Caller(1000); got != "" {
		t.Errorf("nobody is called %q", got)
	}
}
