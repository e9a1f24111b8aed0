package semconv_test

import (
	"testing"

	"go.opentelemetry.io/otel/sdk/resource"

	"github.com/waymark-trace/waymark/internal/semconv"
)

// Two schema URLs cannot be merged: a resource detected by the SDK and one of ours would be an error at start.
func TestSchemaIsThatOfTheSDK(t *testing.T) {
	t.Parallel()
	if got, want := semconv.SchemaURL, resource.Default().SchemaURL(); got != want {
		t.Errorf("SchemaURL = %q, the SDK has %q", got, want)
	}
}
