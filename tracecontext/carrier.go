package tracecontext

import (
	"strings"

	"go.opentelemetry.io/otel/propagation"
)

// lookup returns all values of a header, in order. It uses one for the carriers
// that give a single value, so that nothing is allocated.
func lookup(carrier propagation.TextMapCarrier, name, canonical string, one *[1]string) []string {
	switch c := carrier.(type) {
	case propagation.HeaderCarrier:
		return c[canonical]
	case propagation.MapCarrier:
		return lookupMap(c, name, one)
	case propagation.ValuesGetter:
		return c.Values(name)
	}
	if one[0] = carrier.Get(name); one[0] == "" {
		return nil
	}
	return one[:]
}

// lookupMap finds a header's name in any case: maps come from message queues,
// serverless events and the environment, where nobody has made it canonical.
// Two spellings of one name are two headers, in no order, hence none.
//
// Spec: https://www.w3.org/TR/trace-context-2/#header-name
func lookupMap(c propagation.MapCarrier, name string, one *[1]string) []string {
	if v, ok := c[name]; ok {
		one[0] = v
		return one[:]
	}
	found := 0
	for k, v := range c {
		if len(k) == len(name) && strings.EqualFold(k, name) {
			one[0] = v
			found++
		}
	}
	if found != 1 {
		return nil
	}
	return one[:]
}

func set(carrier propagation.TextMapCarrier, name, canonical, value string) {
	switch c := carrier.(type) {
	case propagation.HeaderCarrier:
		if c != nil { // a nil map would panic in the middle of a request
			c[canonical] = []string{value}
		}
	case propagation.MapCarrier:
		if c != nil {
			c[name] = value
		}
	default:
		carrier.Set(name, value)
	}
}

// remove takes a header out. The interface has no word for that, so other
// carriers get the empty value, which every receiver must accept.
//
// Spec: https://www.w3.org/TR/trace-context-2/#tracestate-header-field-values
func remove(carrier propagation.TextMapCarrier, name, canonical string) {
	switch c := carrier.(type) {
	case propagation.HeaderCarrier:
		delete(c, canonical)
	case propagation.MapCarrier:
		delete(c, name)
	default:
		if carrier.Get(name) != "" {
			carrier.Set(name, "")
		}
	}
}
