package jsonlexport

import "github.com/waymark-trace/waymark/internal/spanfile"

// names are the files of one span file, by what we do with them.
type names struct{ spanfile.Names }

func (n names) data() string    { return n.Path(spanfile.Data) }
func (n names) old() string     { return n.Path(spanfile.Old) }
func (n names) prev() string    { return n.Path(spanfile.Previous) }
func (n names) prevOld() string { return n.Path(spanfile.PreviousOld) }
func (n names) lock() string    { return n.Path(spanfile.Lock) }

// parts are the files that clearing removes or overwrites.
func (n names) parts(keepPrevious bool) []string {
	parts := []string{n.data(), n.old()}
	if keepPrevious {
		parts = append(parts, n.prev(), n.prevOld())
	}
	return parts
}
