package tracefile

import "github.com/waymark-trace/waymark/traces"

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
