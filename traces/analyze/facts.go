package analyze

import (
	"cmp"
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// facts are the attributes of a span that terms depend on, read in one pass. Names that conventions had before are
// beside the present ones, which win.
type facts struct {
	method, oldMethod                              string
	route, urlTemplate                             string
	rpcService, rpcMethod                          string
	dbSummary, dbText, oldDBText                   string
	destinationTemplate, destinationName           string
	operationName, operationType, oldOperation     string
	errorType                                      string
	statusCode, oldStatusCode                      int64
	dbSystem, oldDBSystem, messagingSystem, rpcSys string
}

// factsOf reads the facts of a span. Where a key stands twice, the last one counts, as in [traces.Lookup].
func factsOf(span *traces.Span) (f facts) {
	for i := range span.Attributes {
		a := &span.Attributes[i]
		if text := f.text(a.Key); text != nil {
			*text = a.Value.AsString()
			continue
		}
		switch a.Key {
		case "http.response.status_code":
			f.statusCode = a.Value.AsInt()
		case "http.status_code":
			f.oldStatusCode = a.Value.AsInt()
		}
	}
	return f
}

// text is where the text of a key belongs, or nil.
func (f *facts) text(key string) *string { //nolint:cyclop // a table
	switch key {
	case "http.request.method":
		return &f.method
	case "http.method": // until 1.20
		return &f.oldMethod
	case "http.route":
		return &f.route
	case "url.template":
		return &f.urlTemplate
	case "rpc.service":
		return &f.rpcService
	case "rpc.method":
		return &f.rpcMethod
	case "rpc.system", "rpc.system.name":
		return &f.rpcSys
	case "db.query.summary":
		return &f.dbSummary
	case "db.query.text":
		return &f.dbText
	case "db.statement": // until 1.25
		return &f.oldDBText
	case "db.system.name":
		return &f.dbSystem
	case "db.system": // until 1.27
		return &f.oldDBSystem
	case "messaging.system":
		return &f.messagingSystem
	case "messaging.destination.template":
		return &f.destinationTemplate
	case "messaging.destination.name":
		return &f.destinationName
	case "messaging.operation.name":
		return &f.operationName
	case "messaging.operation.type":
		return &f.operationType
	case "messaging.operation": // until 1.25
		return &f.oldOperation
	case "error.type":
		return &f.errorType
	default:
		return nil
	}
}

// Keys are the attributes that routes, shapes and failures depend on: who decodes no others has what an [Index] needs.
// The slice is the caller's.
func Keys() []string {
	return []string{
		"http.request.method", "http.method", "http.route", "http.response.status_code", "http.status_code", "url.template",
		"rpc.service", "rpc.method", "rpc.system", "rpc.system.name", "db.query.summary", "db.query.text", "db.statement",
		"db.system.name", "db.system", "messaging.system",
		"messaging.destination.template", "messaging.destination.name",
		"messaging.operation.name", "messaging.operation.type", "messaging.operation",
		"error.type",
	}
}

func (f *facts) failed(span *traces.Span) bool {
	return span.Failed() || span.Kind == traces.KindServer && cmp.Or(f.statusCode, f.oldStatusCode) >= 500
}

// label is a text of one or two parts, so that it can be looked up before it is joined.
type label struct{ before, sep, what string }

func (l label) String() string {
	if l.before == "" {
		return l.what
	}
	return l.before + l.sep + l.what
}

// routeLabel is the name of a request's route.
func (f *facts) routeLabel(span *traces.Span) label {
	switch {
	case f.route != "":
		return label{f.httpMethod(), " ", f.route}
	case f.rpcMethod != "":
		return f.rpc()
	case f.destinationTemplate != "" || f.destinationName != "":
		return label{f.operation(), " ", cmp.Or(f.destinationTemplate, f.destinationName)}
	default:
		return label{what: span.Name}
	}
}

// shapeLabel is the text of a span's shape, before data is taken out of it.
func (f *facts) shapeLabel(span *traces.Span) (l label, raw rawText) {
	switch {
	case f.dbSummary != "":
		return label{what: f.dbSummary}, clean
	case f.dbText != "" || f.oldDBText != "":
		return label{what: cmp.Or(f.dbText, f.oldDBText)}, query
	case f.urlTemplate != "" || f.route != "":
		return label{f.httpMethod(), " ", cmp.Or(f.urlTemplate, f.route)}, clean
	case f.rpcMethod != "":
		return f.rpc(), clean
	case f.destinationTemplate != "":
		return label{f.operation(), " ", f.destinationTemplate}, clean
	default:
		return label{what: span.Name}, name
	}
}

// rawText is what is to be taken out of a text.
type rawText uint8

const (
	clean rawText = iota
	query         // literals
	name          // digits and ids
)

func (raw rawText) clean(l label) string {
	switch raw {
	case query:
		return withoutLiterals(l.what)
	case name:
		return withoutValues(l.what)
	default:
		return l.String()
	}
}

func (f *facts) httpMethod() string { return cmp.Or(f.method, f.oldMethod) }

func (f *facts) operation() string { return cmp.Or(f.operationName, f.operationType, f.oldOperation) }

func (f *facts) rpc() label {
	if strings.Contains(f.rpcMethod, "/") { // since 1.39 the method is named in full
		return label{what: f.rpcMethod}
	}
	return label{f.rpcService, "/", f.rpcMethod}
}
