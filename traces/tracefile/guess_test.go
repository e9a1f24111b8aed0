package tracefile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

// Attributes that repeat, change, take turns and are of other kinds at the same
// place are what stands in the file, and those wanted of them too.
func TestRepeatedAttributes(t *testing.T) {
	t.Parallel()
	choices := [][]struct {
		text string
		want traces.Attribute
	}{
		{
			{`{"key":"a","value":{"stringValue":"GET"}}`, traces.Attribute{Key: "a", Value: traces.String("GET")}},
			{`{"key":"a","value":{"stringValue":"G\u0045T\""}}`, traces.Attribute{Key: "a", Value: traces.String(`GET"`)}},
			{`{"key":"a","value":{"stringValue":""}}`, traces.Attribute{Key: "a", Value: traces.String("")}},
			{`{"key":"b","value":{"intValue":"200"}}`, traces.Attribute{Key: "b", Value: traces.Int(200)}},
			{`{"key":"b","value":{"intValue":"-7"}}`, traces.Attribute{Key: "b", Value: traces.Int(-7)}},
			{`{"key":"b","value":{"intValue":7}}`, traces.Attribute{Key: "b", Value: traces.Int(7)}},
		}, {
			{`{"key":"c","value":{"boolValue":true}}`, traces.Attribute{Key: "c", Value: traces.Bool(true)}},
			{`{"key":"c","value":{"boolValue":false}}`, traces.Attribute{Key: "c", Value: traces.Bool(false)}},
			{`{"key":"c","value":{"boolValue":null}}`, traces.Attribute{Key: "c"}},
			{`{"key":"c","value":{"boolValue": true} }`, traces.Attribute{Key: "c", Value: traces.Bool(true)}},
			{`{"value":{"stringValue":"x"},"key":"d"}`, traces.Attribute{Key: "d", Value: traces.String("x")}},
		},
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	var doc strings.Builder
	var want, some [][]traces.Attribute
	for i := range 3000 {
		var texts []string
		var all, kept []traces.Attribute
		for _, list := range choices {
			c := list[rnd.IntN(1+rnd.IntN(len(list)))] // the first ones most often
			texts, all = append(texts, c.text), append(all, c.want)
			if c.want.Key == "a" || c.want.Key == "c" {
				kept = append(kept, c.want)
			}
		}
		want, some = append(want, all), append(some, kept)
		fmt.Fprintf(&doc, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x","name":"n","attributes":[%s]}]}]}]}`+"\n",
			i+1, i+1, strings.Join(texts, ","))
	}
	for name, tt := range map[string]struct {
		want [][]traces.Attribute
		opts []tracefile.Option
	}{
		"all":  {want, []tracefile.Option{tracefile.WithWorkers(1)}},
		"some": {some, []tracefile.Option{tracefile.WithWorkers(1), tracefile.WithAttributes("a", "c")}},
		"two":  {want, []tracefile.Option{tracefile.WithWorkers(2)}},
	} {
		spans, err := tracefile.NewReader(strings.NewReader(doc.String()), tt.opts...).All()
		if err != nil {
			t.Fatal(err)
		}
		var got [][]traces.Attribute
		for _, sp := range spans {
			got = append(got, sp.Attributes)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%.2000s", name, diff)
		}
	}
}
