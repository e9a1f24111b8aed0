package middleware

import (
	"context"
	"maps"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/waymark-trace/waymark/internal/request"
)

// SetRoute tells the server span of ctx its route, for routers that are not a [http.ServeMux]:
//
//	middleware.SetRoute(r.Context(), "/users/:id")
//
// A method in front ("GET /users/{id}") and a host are dropped. It may be called at any time before the handler
// returns; the last call wins, and wins over what a mux finds. The route must be a template: a path in its place
// gives every request a name of its own. Without a traced request it does nothing. It is safe for concurrent use.
func SetRoute(ctx context.Context, route string) {
	if method, rest, ok := strings.Cut(strings.TrimSpace(route), " "); ok && !strings.Contains(method, "/") {
		route = routeOf(strings.TrimLeft(rest, " \t"))
	}
	request.FromContext(ctx).SetRoute(clip(route, maxRoute))
}

// Routes wraps the innermost mux, for chains in which a layer between [New] and the mux copies the request
// (r.WithContext, http.StripPrefix, http.TimeoutHandler, http.MaxBytesHandler):
//
//	middleware.New(auth(middleware.Routes(mux)))
//
// The server span then has the mux's pattern as its route also after a panic, and with the part in front of it
// when a mux outside has taken a prefix away with [http.StripPrefix]. Of nested Routes the innermost wins. Under
// a [http.TimeoutHandler], which answers while the handler still runs, the route is looked up beforehand and the
// stack of a panic is kept. Any handler that sets r.Pattern may take the place of the mux.
func Routes(mux http.Handler) http.Handler { return &routes{mux} }

type routes struct{ mux http.Handler }

// routesFrame is how the stack of a goroutine shows that it has passed through Routes.
const routesFrame = "middleware.(*routes).ServeHTTP("

// ServeHTTP serves the request and tells the record the pattern.
func (rt *routes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := request.FromContext(r.Context())
	if rec == nil {
		rt.mux.ServeHTTP(w, r)
		return
	}
	outer, path := r.Pattern, r.URL.Path
	if _, timed := r.Context().Deadline(); timed {
		if mux, ok := rt.mux.(*http.ServeMux); ok {
			_, pattern := mux.Handler(r)
			rec.SetLookupRoute(joinRoute(rec.Path(), path, outer, pattern))
		}
	}
	returned := false
	defer func() {
		if !returned {
			rec.SetStack(debug.Stack())
		}
		rec.SetMuxRoute(joinRoute(rec.Path(), path, outer, r.Pattern))
	}()
	rt.mux.ServeHTTP(w, r)
	returned = true
}

// routeOf returns the path of a pattern ("GET example.com/users/{id}"), which is all that http.route holds.
func routeOf(pattern string) string {
	if i := strings.IndexByte(pattern, '/'); i >= 0 {
		return clip(pattern[i:], maxRoute)
	}
	return ""
}

// joinRoute returns the route of an inner mux with the part in front that an outer one has taken away. full is
// the path as the server got it, path what the inner mux saw, outer the pattern that had matched before. What was
// taken away is replaced by as many segments of the outer pattern; when those do not fit, it is left out rather
// than guessed.
func joinRoute(full, path, outer, pattern string) string {
	inner := routeOf(pattern)
	taken, cut := strings.CutSuffix(full, path)
	if inner == "" || outer == "" || pattern == outer || !cut || taken == "" {
		return inner
	}
	front, fits := leading(routeOf(outer), taken)
	if !fits {
		return inner
	}
	return clip(front+inner, maxRoute)
}

// leading returns the segments of route that stand for path, and whether they do.
func leading(route, path string) (string, bool) {
	end := 0
	for segment := range strings.SplitSeq(strings.Trim(path, "/"), "/") {
		if end >= len(route) {
			return "", false
		}
		rest := route[end+1:]
		part, _, _ := strings.Cut(rest, "/")
		wild := strings.HasPrefix(part, "{") && !strings.HasSuffix(part, "...}") && part != "{$}"
		if part != segment && !wild {
			return "", false
		}
		end += 1 + len(part)
	}
	return route[:end], true
}

// route returns the route of the exchange: what the record was told, else what the mux has left on the request.
func (x *exchange) route(told string, status int) string {
	if told != "" {
		return told
	}
	if x.method == http.MethodConnect && status == http.StatusTemporaryRedirect {
		return "" // ServeMux then leaves the path of the request as its pattern
	}
	return routeOf(x.inner.Pattern)
}

// maxNames bounds the cache of names. A program has some hundred routes; only one that takes paths for routes
// has more, and then the names are built each time.
const maxNames = 1024

type nameKey struct{ method, route string }

// names keeps the names of spans that no pattern gives (patterns with a host or without a method, SetRoute), so that
// each is built once. Readers take no lock; a new name copies the map.
type names struct {
	mu  sync.Mutex
	all atomic.Pointer[map[nameKey]string]
}

// get returns the name of a span. The pattern that a mux has matched is the name when it has a method and no host.
func (n *names) get(method, route, pattern string) string {
	if route == "" {
		return method
	}
	if at := len(method) + 1; len(pattern) == at+len(route) && pattern[:at-1] == method && pattern[at-1] == ' ' && pattern[at:] == route {
		return pattern
	}
	key := nameKey{method, route}
	if all := n.all.Load(); all != nil {
		if name, ok := (*all)[key]; ok {
			return name
		}
	}
	return n.add(key)
}

func (n *names) add(key nameKey) string {
	name := key.method + " " + key.route
	n.mu.Lock()
	defer n.mu.Unlock()
	next := map[nameKey]string{}
	if all := n.all.Load(); all != nil {
		if len(*all) >= maxNames {
			return name
		}
		maps.Copy(next, *all)
	}
	// Cloned: the key must not keep a whole request alive.
	next[nameKey{key.method, strings.Clone(key.route)}] = name
	n.all.Store(&next)
	return name
}
