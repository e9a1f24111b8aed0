package tracefile_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces/tracefile"
)

const twoLines = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"GET /cart","startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000002000000","attributes":[{"key":"http.route","value":{"stringValue":"/cart"}}]}]}]}]}
{"resourceSpans":[{"scopeSp`

func ExampleReader_Spans() {
	r := tracefile.NewReader(strings.NewReader(twoLines), tracefile.WithName("spans.jsonl"))
	for sp, err := range r.Spans() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(sp.Name, time.Duration(sp.EndUnixNano-sp.StartUnixNano))
	}
	for _, s := range r.Report().Skipped {
		fmt.Println(s)
	}
	// Output:
	// GET /cart 2ms
	// spans.jsonl:2: line passed over: JSON ends in the middle of a value
}

func ExampleWithAttributes() {
	r := tracefile.NewReader(strings.NewReader(twoLines), tracefile.WithAttributes("http.route"))
	for sp, err := range r.Spans() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(sp.Name, sp.Attributes[0].Key, sp.Attributes[0].Value.AsString())
	}
	// Output:
	// GET /cart http.route /cart
}

func ExampleReadAll() {
	_, _, err := tracefile.ReadAll("doc.go")
	fmt.Println(err)
	// Output:
	// tracefile: doc.go: not a span file: text beginning "// Package tracefile reads the span files that people have, …"
}

func ExampleWrite() {
	r := tracefile.NewReader(strings.NewReader(twoLines))
	losses, err := tracefile.Write(os.Stdout, tracefile.Zipkin, r.Spans())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, l := range losses.List {
		fmt.Println(l)
	}
	// Output:
	// [
	// {"traceId":"5b8efff798038103d269b633813fc60c","id":"eee19b7ec3c1b174","name":"GET /cart","timestamp":1700000000000000,"duration":2000,"tags":{"http.route":"/cart"}}
	// ]
	// 5b8efff798038103d269b633813fc60c/eee19b7ec3c1b174: kind: read back as internal
}

func ExampleFollow() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	path := os.DevNull // spans.jsonl of a running server
	for sp, err := range tracefile.Follow(ctx, path).Spans() {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(sp.Name)
	}
}
