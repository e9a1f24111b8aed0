package analyze

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/waymark-trace/waymark/traces"
)

// routeStats is the requests of a route: how many, and a random thousand of them with their attributes.
type routeStats struct {
	count   int
	samples []requestSample
}

type requestSample struct {
	nano  uint64
	ref   Ref
	attrs []string // "key\x00value"
}

func (s *requestSample) bytes() (n int) {
	for _, kv := range s.attrs {
		n += len(kv)
	}
	return n
}

// maxSampledValue bounds the attribute values that are compared, in bytes; longer ones are hardly ever equal.
const maxSampledValue = 128

// maxSampledBytes bounds the attributes of all samples.
const maxSampledBytes = 64 << 20

// add adds a request; bytes is the size of the attributes in all samples.
func (s *routeStats) add(span *traces.Span, random *rand.Rand, bytes *int) {
	s.count++
	at := len(s.samples)
	if at == maxSamples {
		if at = random.IntN(s.count); at >= maxSamples {
			return
		}
	} else {
		s.samples = append(s.samples, requestSample{})
	}
	sample := requestSample{nano: intervalOf(span).length(), ref: Ref{span.TraceID, span.SpanID}}
	for _, a := range span.Attributes {
		text := valueText(a.Value)
		if len(text) <= maxSampledValue && len(a.Key) <= maxSampledValue && *bytes < maxSampledBytes {
			sample.attrs = append(sample.attrs, a.Key+"\x00"+text)
		}
	}
	*bytes += sample.bytes() - s.samples[at].bytes()
	s.samples[at] = sample
}

// The limits of a slow minority.
const (
	fewestRequests = 30   // of a route
	fewestSlow     = 5    // in the slow group
	leastShare     = 0.02 // of the slow group
	mostShare      = 0.4
	leastRatio     = 2.0 // of the medians
	leastDiffers   = 0.5 // how much more frequent a value is in the slow group
	mostDiffers    = 3   // values that are told
)

// slowMinority finds two clearly separate groups of durations, of which the slow one is the smaller, and what its
// requests have in common. Without that there is no finding.
func (s *routeStats) slowMinority(route Route) (Hint, bool) {
	if len(s.samples) < fewestRequests {
		return Hint{}, false
	}
	sorted := slices.Clone(s.samples)
	slices.SortFunc(sorted, func(a, b requestSample) int { return cmp.Compare(a.nano, b.nano) })
	at := split(sorted)
	slow, rest := sorted[at:], sorted[:at]
	share := float64(len(slow)) / float64(len(sorted))
	if len(slow) < fewestSlow || share < leastShare || share > mostShare || !areApart(rest, slow) {
		return Hint{}, false
	}
	differs := differences(slow, rest)
	if len(differs) == 0 {
		return Hint{}, false
	}
	usual := rest[len(rest)/2].nano
	h := Hint{
		Kind: SlowMinority, Service: route.Service, Route: route.Name, Of: s.count,
		Requests: int(math.Round(share * float64(s.count))), Attributes: differs,
		CostP50: int64(duration(slow[rank(0.5, len(slow))].nano - usual)), CostP99: int64(duration(slow[rank(0.99, len(slow))].nano - usual)),
	}
	h.Times = h.Requests
	h.Shape = differs[0].Key + "=" + differs[0].Value
	h.Text = fmt.Sprintf("%.0f %% of the requests take about %s instead of %s; %.0f %% of these have %s, of the others %.0f %%",
		100*share, round(slow[len(slow)/2].nano), round(usual), 100*differs[0].ShareSlow, h.Shape, 100*differs[0].ShareRest)
	for i := len(slow) - 1; i >= 0 && len(h.Examples) < examples; i-- {
		h.Examples = append(h.Examples, slow[i].ref)
	}
	return h, true
}

// round is a duration with three digits.
func round(nano uint64) time.Duration {
	d := duration(nano)
	for unit := time.Duration(1); ; unit *= 10 {
		if d < 1000*unit {
			return d.Round(unit)
		}
	}
}

func logOf(s requestSample) float64 { return math.Log(float64(max(s.nano, 1))) }

// split is where the sorted samples fall into the two groups with the least variance inside, by their logarithms (Otsu's
// method).
func split(sorted []requestSample) int {
	total := 0.0
	for _, s := range sorted {
		total += logOf(s)
	}
	n := float64(len(sorted))
	best, bestAt, sum := 0.0, len(sorted), 0.0
	for i := range sorted[:len(sorted)-1] {
		sum += logOf(sorted[i])
		low, high := float64(i+1), n-float64(i+1)
		between := sum/low - (total-sum)/high
		if v := low * high * between * between; v > best && sorted[i].nano < sorted[i+1].nano {
			best, bestAt = v, i+1
		}
	}
	return bestAt
}

// areApart reports whether two groups are clearly separate: the distance of their medians is at least twice the width of
// each, from its first to its last tenth. Of one group that is cut in two, it is half of that.
func areApart(rest, slow []requestSample) bool {
	distance := logOf(slow[len(slow)/2]) - logOf(rest[len(rest)/2])
	width := func(g []requestSample) float64 { return logOf(g[rank(0.9, len(g))]) - logOf(g[rank(0.1, len(g))]) }
	return distance >= math.Log(leastRatio) && distance >= 2*max(width(rest), width(slow))
}

// differences are the values that are much more frequent in the slow group, the most telling first.
func differences(slow, rest []requestSample) []Difference {
	inSlow, inRest := shares(slow), shares(rest)
	var list []Difference
	for kv, share := range inSlow {
		if share-inRest[kv] < leastDiffers {
			continue
		}
		key, value, _ := strings.Cut(kv, "\x00")
		list = append(list, Difference{key, value, share, inRest[kv]})
	}
	slices.SortFunc(list, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(b.ShareSlow-b.ShareRest, a.ShareSlow-a.ShareRest), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Value, b.Value))
	})
	return list[:min(len(list), mostDiffers)]
}

func shares(group []requestSample) map[string]float64 {
	m := map[string]float64{}
	for i := range group {
		for _, kv := range group[i].attrs {
			m[kv] += 1 / float64(len(group))
		}
	}
	return m
}
