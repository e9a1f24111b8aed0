// Command bare is a server without tracing, which the others are compared with.
package main

import (
	"log"
	"net/http"
)

func main() {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) })
	log.Print(http.ListenAndServe("localhost:8080", mux))
}
