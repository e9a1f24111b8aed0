// Package semconv is the one version of the OpenTelemetry semantic conventions that Waymark follows, and
// the few names of its own that the conventions lack. No other package imports the conventions, so that a
// step to a newer version is one change.
//
// Spec: https://github.com/open-telemetry/semantic-conventions/blob/v1.43.0/docs/http/http-spans.md#http-server
package semconv

import (
	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
)

// SchemaURL names the version of the conventions; it goes with every tracer and resource.
const SchemaURL = semconv.SchemaURL

// Keys of HTTP spans.
const (
	HTTPRequestMethodKey         = semconv.HTTPRequestMethodKey
	HTTPRequestMethodOriginalKey = semconv.HTTPRequestMethodOriginalKey
	HTTPResponseStatusCodeKey    = semconv.HTTPResponseStatusCodeKey
	HTTPRouteKey                 = semconv.HTTPRouteKey
	URLFullKey                   = semconv.URLFullKey
	URLPathKey                   = semconv.URLPathKey
	URLQueryKey                  = semconv.URLQueryKey
	URLSchemeKey                 = semconv.URLSchemeKey
	ClientAddressKey             = semconv.ClientAddressKey
	NetworkPeerAddressKey        = semconv.NetworkPeerAddressKey
	NetworkPeerPortKey           = semconv.NetworkPeerPortKey
	NetworkProtocolVersionKey    = semconv.NetworkProtocolVersionKey
	ServerAddressKey             = semconv.ServerAddressKey
	ServerPortKey                = semconv.ServerPortKey
	UserAgentOriginalKey         = semconv.UserAgentOriginalKey
	ErrorTypeKey                 = semconv.ErrorTypeKey
)

// Keys of the resource.
const (
	ServiceNameKey               = semconv.ServiceNameKey
	ServiceVersionKey            = semconv.ServiceVersionKey
	DeploymentEnvironmentNameKey = semconv.DeploymentEnvironmentNameKey
	VCSRefHeadRevisionKey        = semconv.VCSRefHeadRevisionKey
)

// Prefixes of the keys of chosen headers; the lower-case name of the header follows.
const (
	HTTPRequestHeaderPrefix  = "http.request.header."
	HTTPResponseHeaderPrefix = "http.response.header."
)

// HTTPRequestMethodOther is the value of http.request.method for a method that is not known.
const HTTPRequestMethodOther = "_OTHER"

// The exception event.
const (
	ExceptionEventName     = semconv.ExceptionEventName
	ExceptionTypeKey       = semconv.ExceptionTypeKey
	ExceptionMessageKey    = semconv.ExceptionMessageKey
	ExceptionStacktraceKey = semconv.ExceptionStacktraceKey
)

// HTTPStreamKey is on server spans whose length is not a latency: [StreamSSE], [StreamUpgrade],
// [StreamHijack] or [StreamFlushed]. The conventions have no name for it.
const HTTPStreamKey = attribute.Key("waymark.http.stream")

// Values of [HTTPStreamKey].
const (
	StreamSSE     = "sse"     // Content-Type: text/event-stream
	StreamUpgrade = "upgrade" // 101, or a hijacked upgrade request (WebSocket)
	StreamHijack  = "hijack"  // the handler took the connection
	StreamFlushed = "flushed" // the handler flushed more than once
)

// HTTPEndKey is on server spans whose request did not run to its ordinary end: [EndClientDisconnected],
// [EndCanceled], [EndTimeout] or [EndAborted]. It does not make the span an error.
const HTTPEndKey = attribute.Key("waymark.http.end")

// Values of [HTTPEndKey].
const (
	EndClientDisconnected = "client_disconnected" // the request's context was canceled without a cause
	EndCanceled           = "canceled"            // the program canceled the context, with a cause
	EndTimeout            = "timeout"             // the context's deadline passed
	EndAborted            = "aborted"             // panic(http.ErrAbortHandler)
)
