package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/waymark-trace/waymark/env"
	"github.com/waymark-trace/waymark/internal/otlpsend"
	"github.com/waymark-trace/waymark/internal/secrets"
	"github.com/waymark-trace/waymark/internal/spansource"
	"github.com/waymark-trace/waymark/internal/terminal"
	"github.com/waymark-trace/waymark/traces"
	"github.com/waymark-trace/waymark/traces/tracefile"
)

const sendUsage = `usage: waymark send [-endpoint URL] [flags] [FILE …]

Sends the chosen spans to an OTLP endpoint as they are: ids, times, resources. Where
to and how is what the OTEL_EXPORTER_OTLP_* variables say (endpoint, protocol,
headers, certificates, compression, timeout), by default http://localhost:4318.

  -endpoint URL   as OTEL_EXPORTER_OTLP_ENDPOINT: for HTTP without /v1/traces
  -protocol P     grpc, http/protobuf (default) or http/json
  -batch N        spans per request (default 512), of at most about 1 MiB
  -retry-for D    how long one request is tried for while the receiver is down or
                  asks to wait (default 1m)
  -resume FILE    keep in FILE how far it got, and begin there the next time
` + selectUsage + windowUsage + `  -json           JSON, schema waymark.send/v1
` + sourceUsage + `
A span arrives at least once: a request whose answer was lost is made again, and
what was sent after FILE was last written is sent again. The status is 1 when a
span was refused.
`

type sendFlags struct {
	endpoint, protocol string
	batch              int
	retryFor           time.Duration
	resume             string
}

func runSend(ctx context.Context, c *call, args []string) error {
	var o sendFlags
	c.sourceFlags()
	c.selectFlags()
	c.windowFlags()
	c.jsonFlag()
	c.flags.StringVar(&o.endpoint, "endpoint", "", "")
	c.flags.StringVar(&o.protocol, "protocol", "", "")
	c.flags.IntVar(&o.batch, "batch", 512, "")
	c.flags.DurationVar(&o.retryFor, "retry-for", time.Minute, "")
	c.flags.StringVar(&o.resume, "resume", "", "")
	files, err := c.parse(args)
	switch {
	case err != nil:
		return err
	case o.batch < 1 || o.retryFor <= 0:
		return usagef("-batch %d -retry-for %v: want more than zero", o.batch, o.retryFor)
	}
	cfg, err := c.sendConfig(o)
	if err != nil {
		return err
	}
	if err := c.ofSpans(); err != nil {
		return err
	}
	src, err := c.open(ctx, files)
	if err != nil {
		return err
	}
	client, err := otlpsend.New(cfg)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	s := &sending{
		call: c, client: client, format: tracefile.OTLPProto, max: o.batch, retryFor: o.retryFor,
		state: sendState{Endpoint: cfg.Endpoint},
	}
	if cfg.Protocol == otlpsend.HTTPJSON {
		s.format = tracefile.OTLPJSON
	}
	if o.resume != "" {
		if s.state, err = loadState(o.resume, cfg.Endpoint); err != nil {
			return err
		}
		s.file = o.resume
	}
	err = s.run(ctx, src)
	return errors.Join(s.print(), err, s.verdict(err))
}

// sendConfig is what the variables and the flags say, by the rules that hold for
// a traced program.
func (c *call) sendConfig(o sendFlags) (otlpsend.Config, error) {
	vars := env.Map{}
	for _, name := range c.lookup.Names() {
		if strings.HasPrefix(name, "OTEL_EXPORTER_OTLP_") {
			vars[name], _ = c.lookup.Lookup(name)
		}
	}
	vars[env.Prefix("waymark")+env.SuffixTracing] = "true" // else nothing is said about the rest
	vars[env.KeyTracesExporter] = "otlp"
	if o.endpoint != "" {
		vars[env.KeyOTLPEndpoint] = o.endpoint
		delete(vars, env.KeyOTLPTracesEndpoint)
	}
	if o.protocol != "" {
		vars[env.KeyOTLPTracesProtocol] = o.protocol
	}
	settings, findings := env.Parse("waymark", vars)
	for _, f := range findings {
		if f.Key == env.KeyOTLPEndpoint && o.endpoint != "" {
			f.Key = "-endpoint"
		}
		if f.Key == env.KeyOTLPTracesProtocol && o.protocol != "" {
			f.Key = "-protocol"
		}
		c.warn("%s=%q: want %s", f.Key, f.Value, f.Want)
	}
	otlp := settings.OTLP
	if otlp.Unusable != "" {
		if o.endpoint != "" || o.protocol != "" {
			return otlpsend.Config{}, usagef("%s", otlp.Unusable)
		}
		return otlpsend.Config{}, errors.New(otlp.Unusable)
	}
	headers := map[string]string{}
	var keys []string
	for _, h := range otlp.Headers.V {
		headers[h.Key] = h.Value
		keys = append(keys, h.Value)
	}
	file := func(v env.Value[string]) otlpsend.File { return otlpsend.File{Name: v.Key, Path: v.V} }
	tls, err := otlpsend.TLS(file(otlp.Certificate), file(otlp.ClientCertificate), file(otlp.ClientKey))
	return otlpsend.Config{
		Endpoint: otlp.Endpoint.V, Protocol: otlp.Protocol.V, Headers: headers, TLS: tls,
		Gzip: otlp.Compression.V == "gzip", Timeout: otlp.Timeout.V, RetryFor: o.retryFor,
		Redact: secrets.New(keys...).Text,
	}, err
}

// sending is a replay under way. It holds one batch of spans.
type sending struct {
	call     *call
	client   *otlpsend.Client
	format   tracefile.Format
	file     string // of the state; "" is none
	state    sendState
	max      int // spans in a batch
	retryFor time.Duration
	waiting  atomic.Bool // nobody answers, and that is said

	batch   []*traces.Span
	bytes   int
	mark    chain  // of the spans whose fate is known
	skipped uint64 // sent before
	total   otlpsend.Outcome
}

func (s *sending) run(ctx context.Context, src *spansource.Source) error {
	s.call.progress.say(func() string { return "nothing sent yet" })
	before := s.state.Done
	for span, err := range src.Spans(ctx) {
		if err != nil {
			return err
		}
		if !s.call.sel.matches(span) {
			continue
		}
		if s.skipped < before {
			s.skipped++
			s.mark.add(span)
			if s.skipped == before && s.mark.String() != s.state.Mark {
				return errChanged(s.file)
			}
			continue
		}
		if err := s.add(ctx, span); err != nil {
			return err
		}
	}
	if s.skipped < before {
		return errChanged(s.file)
	}
	err := s.flush(ctx)
	s.call.account(src.Report())
	return err
}

func errChanged(file string) error {
	return fmt.Errorf("%s is about other spans than these: the files have changed (remove it to send them all)", file)
}

func (s *sending) add(ctx context.Context, span *traces.Span) error {
	size := sizeOf(span)
	if len(s.batch) == s.max || len(s.batch) > 0 && s.bytes+size > otlpsend.RequestBytes {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	s.batch = append(s.batch, span)
	s.bytes += size
	return nil
}

// flush sends the batch, and notes how far it got whether or not it got far.
func (s *sending) flush(ctx context.Context) error {
	out, err := s.client.Send(ctx, len(s.batch), s.encode, &otlpsend.Tries{OnUnreached: s.unreached, OnReached: func() { s.waiting.Store(false) }})
	s.total.Add(out)
	for _, span := range s.batch[:out.Done()] {
		s.mark.add(span)
	}
	s.state.Done += uint64(out.Done())
	s.state.Mark = s.mark.String()
	clear(s.batch)
	s.batch, s.bytes = s.batch[:0], 0
	if s.file != "" && out.Done() > 0 {
		err = errors.Join(err, s.state.save(s.file))
	}
	counts := s.counts("")
	s.call.progress.say(func() string { return counts })
	if err != nil && out.Uncertain > 0 {
		err = fmt.Errorf("%w (%s may have arrived)", err, terminal.Count(out.Uncertain, "span"))
	}
	return err
}

func (s *sending) encode(from, to int) ([]byte, error) {
	var b bytes.Buffer
	_, err := tracefile.Write(&b, s.format, tracefile.Seq(s.batch[from:to]))
	return b.Bytes(), err
}

// unreached says at once that nobody is there: it is tried for long.
func (s *sending) unreached(err error) {
	if !s.waiting.Swap(true) {
		s.call.warn("%v; trying again for %v", err, s.retryFor)
	}
}

// sizeOf is about how long a span is in OTLP.
func sizeOf(span *traces.Span) int {
	n := 100 + len(span.Name) + len(span.Status.Message) + sizeOfAttributes(span.Attributes)
	for i := range span.Events {
		n += 20 + len(span.Events[i].Name) + sizeOfAttributes(span.Events[i].Attributes)
	}
	for i := range span.Links {
		n += 40 + sizeOfAttributes(span.Links[i].Attributes)
	}
	return n
}

func sizeOfAttributes(list []traces.Attribute) int {
	n := 0
	for _, a := range list {
		n += 8 + len(a.Key) + sizeOfValue(a.Value)
	}
	return n
}

func sizeOfValue(v traces.Value) int {
	n := 8 + len(v.AsString()) + len(v.AsBytes()) + sizeOfAttributes(v.AsMap())
	for _, m := range v.AsArray() {
		n += sizeOfValue(m)
	}
	return n
}

// counts is "sent 2 spans, 0 refused, 1 retry", with where to behind the spans.
func (s *sending) counts(to string) string {
	t := &s.total
	return fmt.Sprintf("sent %s%s, %d refused, %s", terminal.Count(t.Sent, "span"), to, t.Refused, terminal.Count(t.Retries, "retry"))
}

// print writes the account.
func (s *sending) print() error {
	t := &s.total
	for _, r := range t.Reasons {
		s.call.warn("%s", r)
	}
	if s.call.json {
		return s.call.printJSON(struct {
			Schema   string `json:"schema"`
			Endpoint string `json:"endpoint"`
			Before   uint64 `json:"sent_before"`
			Sent     int64  `json:"sent"`
			Refused  int64  `json:"refused"`
			Retries  int64  `json:"retries"`
		}{s.call.schema(), s.state.Endpoint, s.skipped, t.Sent, t.Refused, t.Retries})
	}
	return s.call.output(func(w io.Writer) error {
		fmt.Fprintln(w, s.counts(" to "+s.state.Endpoint))
		if s.skipped > 0 {
			fmt.Fprintln(w, terminal.Count(s.skipped, "span")+" sent before")
		}
		return nil
	})
}

// verdict is an error when everything was done and something was refused.
func (s *sending) verdict(err error) error {
	if err == nil && s.total.Refused > 0 {
		return errFindings
	}
	return nil
}
