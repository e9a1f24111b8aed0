package otlpsend

import (
	"strings"
	"testing"
	"unicode/utf8"

	collectorpb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// FuzzSuccess reads whatever says success: what is shown of it is bounded and
// printable, and every response of the schema's own library is one.
func FuzzSuccess(f *testing.F) {
	f.Add("application/x-protobuf", []byte("\x0a\x04\x08\x02\x12\x00"), int64(2), "too old")
	f.Add("application/json; charset=utf-8", []byte(`{"partialSuccess":{"rejectedSpans":"1"}}`), int64(0), "")
	f.Add("text/html", []byte("<TITLE >\xff &amp; </title>"), int64(-1), "\n")
	f.Add("", []byte("It works!"), int64(1<<62), strings.Repeat("x", 2000))
	f.Fuzz(func(t *testing.T, contentType string, body []byte, rejected int64, message string) {
		var show redactor
		r := show.success(contentType, body)
		text := r.message
		if r.err != nil {
			text = r.err.Error()
		}
		if len(text) > 4*maxMessage || r.err != nil && !utf8.ValidString(text) {
			t.Errorf("%d bytes are shown: %q", len(text), text)
		}
		if (r.verdict == taken) != (r.err == nil) {
			t.Errorf("verdict %d with error %v", r.verdict, r.err)
		}
		message = strings.ToValidUTF8(message, "")
		b, err := proto.Marshal(&collectorpb.ExportTraceServiceResponse{PartialSuccess: &collectorpb.ExportTracePartialSuccess{
			RejectedSpans: rejected, ErrorMessage: message,
		}})
		if err != nil {
			t.Fatal(err)
		}
		if r := show.success("application/x-protobuf", b); r.verdict != taken || r.rejected != rejected {
			t.Errorf("%x: %+v, want %d rejected", b, r, rejected)
		}
	})
}
