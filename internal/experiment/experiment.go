// Package experiment is the mark of a context that belongs to a run of an experiment: what is measured there
// is no production traffic, so it is neither scored nor reported as live.
package experiment

import "context"

type key struct{}

// Mark returns ctx with the mark.
func Mark(ctx context.Context) context.Context { return context.WithValue(ctx, key{}, true) }

// Marked reports whether ctx or a context around it was marked.
func Marked(ctx context.Context) bool {
	marked, _ := ctx.Value(key{}).(bool)
	return marked
}
