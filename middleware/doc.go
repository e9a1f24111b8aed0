// Package middleware gives every request of a net/http handler its server span, and every outgoing request
// its client span, by the OpenTelemetry conventions for HTTP.
//
//	mux := http.NewServeMux()
//	mux.HandleFunc("GET /users/{id}", user)
//	srv := &http.Server{Addr: ":8080", Handler: middleware.New(mux)}
//
// The span is named "GET /users/{id}", carries http.route and every other Required and Recommended attribute,
// is the child of the caller's span, and says what went wrong: a panic with its stack (raised again,
// unchanged), a 5xx, a response that could not be written, a request body that could not be read. A client that leaves
// is no error, whether a read, a write or the context tells of it.
//
// [New] belongs outside of everything that may refuse or answer a request (authentication, CORS, recovery),
// so that refusals have spans too. A recovery layer inside of it turns a panic into a plain 500. It belongs
// inside of golang.org/x/net/http2/h2c.NewHandler, which serves all requests of a connection within its first.
//
// # Routes
//
// A [http.ServeMux] needs nothing while every layer between [New] and the mux passes on the same
// *http.Request. A layer that passes on a copy (r.WithContext, r.Clone, [http.StripPrefix],
// [http.TimeoutHandler], [http.MaxBytesHandler]) hides what the mux finds: wrap the mux in [Routes]. Other
// routers call [SetRoute]. When nobody tells the route, the name of the span is the method and there is no
// http.route: a path is never taken for a route.
//
// # Streams and early ends
//
// The length of a stream is not a latency. waymark.http.stream marks it: "sse" (Content-Type
// text/event-stream), "upgrade" (101 or a hijacked upgrade request), "hijack", "flushed" (flushed more than
// once). waymark.http.end marks requests that did not run to their end: "client_disconnected", "canceled",
// "timeout", "aborted" ([http.ErrAbortHandler]). Neither makes the span an error.
//
// # Bounds
//
// What a client sends is clipped before it goes into a span: path and query 4096 bytes, User-Agent and
// header values 1024, route 512, address 255, an unknown method 32; invalid UTF-8 is replaced. What is no
// host, or longer than 255 bytes, is no server.address. A client can make spans no larger than that, and a
// span that waits to be sent keeps no more of the request than it shows: what was cut out of a longer text is
// copied. A tracestate of more than 16 KiB is passed over.
//
// # HTTP/2 without TLS
//
// The middleware belongs inside of golang.org/x/net/http2/h2c.NewHandler, which serves all requests of a
// connection within its first: outside of it they would be one span.
//
// # Secrets
//
// Query values of the conventions' list (X-Amz-Signature, Signature, sig …) and of token, access_token,
// id_token, refresh_token, api_key, key, password, secret and code are REDACTED, in any case and encoding;
// [WithRedactedQuery] adds keys. Of chosen headers, those that hold credentials (Authorization, Cookie,
// Set-Cookie, X-Api-Key …) are REDACTED even when they are named.
//
// The text of an error, of a panic and of a chosen header passes the same: of each URL in it, the user information and
// those values are REDACTED. Addresses of connections and numbers of streams are left out of it, so that messages of one
// kind are one text.
package middleware
