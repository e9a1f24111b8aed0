package middleware

import (
	"net/http"
	"strings"
)

// handOver gives the layers outside of us what net/http has set on the handlers' copy of the request: the pattern
// with its path values, the forms, of which the server removes the temporary files, and the body, if a handler has put
// another one in its place. given is the body that the handlers got.
func (h *handler) handOver(outer, inner *http.Request, given any) {
	if inner.MultipartForm != nil {
		outer.MultipartForm = inner.MultipartForm
	}
	if inner.Form != nil {
		outer.Form = inner.Form
	}
	if inner.PostForm != nil {
		outer.PostForm = inner.PostForm
	}
	matched := outer.Pattern != inner.Pattern
	if matched {
		outer.Pattern = inner.Pattern
	}
	wild := matched && strings.IndexByte(inner.Pattern, '{') >= 0
	replaced := !same(inner.Body, given)
	if !wild && !replaced || h.outermost(outer) {
		return
	}
	if replaced {
		outer.Body = inner.Body
	}
	if wild {
		pathValues(outer, inner)
	}
}

// outermost reports whether h is the server's own handler, so that no layer outside of it can look at the request.
// The values of a path cost two allocations (TestAllocations), and net/http knows its own body best.
func (h *handler) outermost(r *http.Request) bool {
	srv, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	return ok && srv.Handler == http.Handler(h)
}

// pathValues hands the values of the wildcards over: {name}, {name...}.
func pathValues(outer, inner *http.Request) {
	rest := inner.Pattern
	for {
		_, after, found := strings.Cut(rest, "{")
		name, next, closed := strings.Cut(after, "}")
		if !found || !closed {
			return
		}
		if name = strings.TrimSuffix(name, "..."); name != "$" && name != "" {
			outer.SetPathValue(name, inner.PathValue(name))
		}
		rest = next
	}
}
