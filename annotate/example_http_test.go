package annotate_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/waymark-trace/waymark/annotate"
	"github.com/waymark-trace/waymark/bootstrap"
	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// auth finds out who asks. It passes on the request that it got: the trace learns the user all the same.
func auth(c *annotate.Client, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.SetUser(r.Context(), r.Header.Get("X-User"))
		c.SetTags(r.Context(), "beta")
		next.ServeHTTP(w, r)
	})
}

// chat streams an answer.
type chat struct {
	client *annotate.Client
	answer func(context.Context, string) iter.Seq2[string, error]
}

func newChat(c *annotate.Client) *chat {
	return &chat{client: c, answer: annotate.Seq2("answer", model(c), annotate.LLM, c)}
}

// model stands for a language model.
func model(c *annotate.Client) func(context.Context, string) iter.Seq2[string, error] {
	return func(ctx context.Context, question string) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			_, s := c.Span(ctx, "search", annotate.Retriever, annotate.Input(question))
			s.SetOutput([]string{"doc-1"})
			s.End(nil)
			for word := range strings.SplitSeq("It is 42.", " ") {
				if !yield(word+" ", nil) {
					return
				}
			}
		}
	}
}

func (h *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	h.client.SetSession(ctx, r.PathValue("id")) // known only after routing
	h.client.SetMetadata(ctx, "tier", "pro")
	for word, err := range h.answer(ctx, r.FormValue("q")) {
		if err != nil {
			return
		}
		fmt.Fprint(w, word)
		_ = http.NewResponseController(w).Flush()
	}
}

// A server whose traces say who asked, what went in and what came out: the middleware outside, an auth layer
// that sets the user without copying the request, a handler that streams. The trace is read back from the
// file.
func Example() {
	state, err := os.MkdirTemp("", "annotate")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(state) }()
	tracing, err := bootstrap.Start(context.Background(), bootstrap.Config{
		App: "shop", NoGlobals: true, Logger: discard,
		Lookup: env.Map{"SHOP_TRACING": "true", "XDG_STATE_HOME": state},
	})
	if err != nil {
		fmt.Println(err)
	}
	client, err := annotate.New(annotate.Config{Tracing: tracing})
	if err != nil {
		fmt.Println(err)
	}

	mux := http.NewServeMux()
	mux.Handle("GET /chat/{id}", newChat(client))
	srv := httptest.NewServer(tracing.Middleware()(auth(client, mux)))
	req, _ := http.NewRequestWithContext(context.Background(), http.MethodGet, srv.URL+"/chat/7?q=why", http.NoBody)
	req.Header.Set("X-User", "ada")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
	}
	srv.Close()
	if err := tracing.Shutdown(context.Background()); err != nil {
		fmt.Println(err)
	}

	spans, _, err := tracefile.ReadAll(filepath.Join(state, "shop", "traces", "spans.jsonl"))
	if err != nil {
		fmt.Println(err)
	}
	for node := range traces.NewSet(spans).All() {
		s := node.Span()
		fmt.Printf("%s%s route=%s user=%s session=%s tags=%s metadata=%s\n", strings.Repeat("  ", node.Depth()), s.Name, attr(s, "http.route"),
			attr(s, annotate.UserIDKey), attr(s, annotate.SessionIDKey), attr(s, annotate.TagsKey), attr(s, annotate.MetadataKey))
		if in := attr(s, annotate.InputValueKey); in != "" {
			fmt.Printf("%s| %q -> %q\n", strings.Repeat("  ", node.Depth()), in, attr(s, annotate.OutputValueKey))
		}
	}
	// Output:
	// GET /chat/{id} route=/chat/{id} user=ada session=7 tags=beta metadata={"tier":"pro"}
	//   answer route= user=ada session=7 tags=beta metadata={"tier":"pro"}
	//   | "why" -> "It is 42. "
	//     search route= user=ada session=7 tags=beta metadata={"tier":"pro"}
	//     | "why" -> "[\"doc-1\"]"
}
