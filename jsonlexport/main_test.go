package jsonlexport_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel"
)

// reports is what reached OTel's error handler, of all tests together.
var reports struct {
	sync.Mutex
	all []string
}

// reported counts the reports that contain all of the texts.
func reported(texts ...string) (n int) {
	reports.Lock()
	defer reports.Unlock()
next:
	for _, r := range reports.all {
		for _, text := range texts {
			if !strings.Contains(r, text) {
				continue next
			}
		}
		n++
	}
	return n
}

func TestMain(m *testing.M) {
	if child := childNamed(os.Getenv(childKey)); child != nil {
		os.Exit(child())
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		reports.Lock()
		defer reports.Unlock()
		reports.all = append(reports.all, err.Error())
	}))
	os.Exit(m.Run())
}
