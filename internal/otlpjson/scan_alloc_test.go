//go:build !race

package otlpjson_test

import (
	"testing"

	"github.com/waymark-trace/waymark/internal/otlpjson"
)

func TestScanAllocatesNothing(t *testing.T) {
	text := []byte(`{"traceId":"5b8efff798038103d269b633813fc60c","n":"1700000000000000000","list":[{"a":"b"},1.5,null]}`)
	var s otlpjson.Scanner
	if n := testing.AllocsPerRun(100, func() {
		s.Reset(text)
		s.Skip()
	}); n != 0 {
		t.Errorf("Skip allocates %v times", n)
	}
}
