package summary

import (
	"encoding/json"
	"strconv"
)

// MarshalJSON writes the summary as one object, times and durations as decimal
// strings of nanoseconds, as OTLP has them:
//
//	{"spans":3,"traces":1,"duration_nano":"1530000","services":[{"name":"shop","spans":3,…}],…}
func (s Summary) MarshalJSON() ([]byte, error) {
	t := &s.Total
	out := summaryJSON{
		Spans: t.Spans, Traces: t.Traces, Roots: t.Roots, Open: t.Open, Reversed: t.Reversed,
		Status: statusJSON{t.Unset, t.OK, t.Failed}, Start: u(t.Start), End: u(t.End), Duration: i(int64(t.Duration())),
		Depths: s.Depths, Services: []serviceJSON{}, Names: []nameJSON{},
		Timeline: timelineJSON{u(s.Timeline.Start), u(s.Timeline.Width), s.Timeline.Columns},
	}
	for k := range s.Services {
		out.Services = append(out.Services, s.Services[k].json())
	}
	for k := range s.Names {
		n := &s.Names[k]
		out.Names = append(out.Names, nameJSON{name(n.Name), n.Spans, n.Failed, i(int64(n.Sum)), i(int64(n.Max)), n.Busy})
	}
	return json.Marshal(out)
}

func (s *Service) json() serviceJSON {
	out := serviceJSON{
		Name: name(s.Service), Spans: s.Spans, Errors: s.Failed, Min: i(int64(s.Min)), Max: i(int64(s.Max)), Mean: i(int64(s.Mean())),
		P50: i(int64(s.Quantile(0.5))), P90: i(int64(s.Quantile(0.9))), P99: i(int64(s.Quantile(0.99))), Histogram: []bucketJSON{},
	}
	for _, b := range s.Histogram() {
		out.Histogram = append(out.Histogram, bucketJSON{i(int64(b.Low)), b.Count})
	}
	return out
}

func name(s string) string {
	if s == Other {
		return "(others)"
	}
	return s
}

func u(n uint64) string { return strconv.FormatUint(n, 10) }
func i(n int64) string  { return strconv.FormatInt(n, 10) }

type summaryJSON struct {
	Spans    uint64        `json:"spans"`
	Traces   uint64        `json:"traces"`
	Roots    uint64        `json:"roots"`
	Open     uint64        `json:"open"`
	Reversed uint64        `json:"reversed"`
	Status   statusJSON    `json:"status"`
	Start    string        `json:"start_unix_nano"`
	End      string        `json:"end_unix_nano"`
	Duration string        `json:"duration_nano"`
	Depths   []uint64      `json:"depths"`
	Services []serviceJSON `json:"services"`
	Timeline timelineJSON  `json:"timeline"`
	Names    []nameJSON    `json:"names"`
}

type statusJSON struct {
	Unset uint64 `json:"unset"`
	OK    uint64 `json:"ok"`
	Error uint64 `json:"error"`
}

type serviceJSON struct {
	Name      string       `json:"name"`
	Spans     uint64       `json:"spans"`
	Errors    uint64       `json:"errors"`
	Min       string       `json:"min_nano"`
	Mean      string       `json:"mean_nano"`
	P50       string       `json:"p50_nano"`
	P90       string       `json:"p90_nano"`
	P99       string       `json:"p99_nano"`
	Max       string       `json:"max_nano"`
	Histogram []bucketJSON `json:"histogram"`
}

type bucketJSON struct {
	From  string `json:"from_nano"`
	Spans uint64 `json:"spans"`
}

type timelineJSON struct {
	Start   string `json:"start_unix_nano"`
	Width   string `json:"column_nano"`
	Columns int    `json:"columns"`
}

type nameJSON struct {
	Name   string   `json:"name"`
	Spans  uint64   `json:"spans"`
	Errors uint64   `json:"errors"`
	Sum    string   `json:"sum_nano"`
	Max    string   `json:"max_nano"`
	Busy   []uint64 `json:"busy_nano"`
}
