package tracefile

import (
	"strings"

	"github.com/waymark-trace/waymark/traces"
)

// The tags in which Jaeger and Zipkin carry what they have no fields for, as
// the OpenTelemetry specification and the Collector have them.
// Spec: https://github.com/open-telemetry/opentelemetry-specification/blob/v1.60.0/specification/trace/sdk_exporters/zipkin.md
const (
	tagKind          = "span.kind"
	tagError         = "error"
	tagStatusCode    = "otel.status_code"
	tagStatusMessage = "otel.status_description"
	tagScopeName     = "otel.scope.name"
	tagScopeVersion  = "otel.scope.version"
	tagLibraryName   = "otel.library.name"
	tagLibraryVer    = "otel.library.version"
	tagTraceState    = "w3c.tracestate"
	keyServiceName   = "service.name"
	noServiceName    = "OTLPResourceNoServiceName"
)

// untag moves the tags that stand for fields of the span to these, and leaves
// the others as attributes.
func (d *decoder) untag(sp *traces.Span) {
	var scopeName, scopeVersion string
	failed := false
	kept := sp.Attributes[:0]
	for _, a := range sp.Attributes {
		text := a.Value.AsString()
		used := a.Value.Kind() == traces.ValueString
		switch {
		case !used && a.Key != tagError:
		case a.Key == tagKind:
			if used = isTag(a.Key, text); used {
				sp.Kind, _ = kindOf(text)
			}
		case a.Key == tagStatusCode:
			if used = isTag(a.Key, text); used {
				sp.Status.Code, _ = statusOf(text)
			}
		case a.Key == tagStatusMessage:
			sp.Status.Message = text
		case a.Key == tagScopeName, a.Key == tagLibraryName:
			scopeName = text
		case a.Key == tagScopeVersion, a.Key == tagLibraryVer:
			scopeVersion = text
		case a.Key == tagTraceState:
			sp.TraceState = text
		case a.Key == tagError:
			used = a.Value.AsBool() || text == "true"
			// Zipkin's clients put the message of the error there
			failed = failed || used || isTag(a.Key, text)
		default:
			used = false
		}
		if !used {
			kept = append(kept, a)
		}
	}
	clear(sp.Attributes[len(kept):])
	if sp.Attributes = kept; len(kept) == 0 {
		sp.Attributes = nil
	}
	if failed {
		sp.Status.Code = traces.StatusError
	}
	sp.Scope = d.namedScope(scopeName, scopeVersion)
}

// isTag says whether text under this key is taken for a field of the span.
func isTag(key, text string) bool {
	switch key {
	case tagKind:
		_, ok := kindOf(text)
		return ok && text != ""
	case tagStatusCode:
		_, ok := statusOf(text)
		return ok && text != ""
	case tagError:
		return text != "" && text != "false"
	case tagStatusMessage, tagScopeName, tagScopeVersion, tagLibraryName, tagLibraryVer, tagTraceState:
		return true
	default:
		return false
	}
}

// kindTag is the tag's text for a span kind; "" for one without a name.
func kindTag(k traces.Kind) string {
	if k <= traces.KindUnspecified || k > traces.KindConsumer {
		return ""
	}
	return k.String()
}

// statusTag is the tag's text for a status code; "" for unset, and one without a name.
func statusTag(c traces.StatusCode) string {
	if c != traces.StatusOK && c != traces.StatusError {
		return ""
	}
	return strings.ToUpper(c.String())
}

// kindOf is the kind with a name, in any case.
func kindOf(name string) (traces.Kind, bool) {
	switch strings.ToUpper(name) {
	case "INTERNAL":
		return traces.KindInternal, true
	case "SERVER":
		return traces.KindServer, true
	case "CLIENT":
		return traces.KindClient, true
	case "PRODUCER":
		return traces.KindProducer, true
	case "CONSUMER":
		return traces.KindConsumer, true
	case "", "UNSPECIFIED":
		return traces.KindUnspecified, true
	default:
		return 0, false
	}
}

// statusOf is the status code with a name, in any case.
func statusOf(name string) (traces.StatusCode, bool) {
	switch strings.TrimPrefix(strings.ToUpper(name), "STATUS_CODE_") { // as the Collector writes it for Zipkin
	case "UNSET", "":
		return traces.StatusUnset, true
	case "OK":
		return traces.StatusOK, true
	case "ERROR":
		return traces.StatusError, true
	default:
		return 0, false
	}
}
