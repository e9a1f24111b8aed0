//go:build waymark_nootlp

package bootstrap

import (
	"errors"

	"github.com/waymark-trace/waymark/env"
)

// otlpBuiltIn says that this binary was built without the OTLP exporters.
const otlpBuiltIn = false

func newOTLPSender(env.OTLP, func(string) string) (sender, error) {
	return nil, errors.New("built with the tag waymark_nootlp")
}
