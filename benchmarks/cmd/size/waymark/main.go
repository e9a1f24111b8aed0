// Command waymark is the server with Waymark, as its README writes it.
package main

import (
	"context"
	"log"
	"net/http"

	"github.com/waymark-trace/waymark/bootstrap"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })
	tracing, err := bootstrap.Start(context.Background(), bootstrap.Config{App: "hello"})
	if err != nil {
		log.Print(err)
	}
	srv := &http.Server{Addr: "localhost:8080", Handler: tracing.Middleware()(mux)}
	log.Print(tracing.Serve(context.Background(), srv))
}
