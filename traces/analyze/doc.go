// Package analyze answers what a person asks of finished spans: which route is slow, which fails and why, where the
// time of a request went, what is wrong with the program. The command, the page and tests use it, so that a number is
// the same everywhere.
//
// # Terms
//
//   - A request is an entry span: of kind SERVER or CONSUMER, or without a parent in the set, or with a parent of another
//     service. A trace through three services holds three requests. See [IsRequest].
//   - A route is what a request asks for: its service, then method and http.route, else what [RouteOf] says.
//   - A shape is what a call is without its data: see [ShapeOf].
//   - A request has failed when its status is Error, or when it is a server's and answered 500 or more: see [Failed].
package analyze
