package e2e_test

import (
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"
)

// A Collector that is not to be trusted, or does not trust us, gets no span.
// All are counted, the way out keeps its time, and the log says what is wrong.
func TestTrust(t *testing.T) {
	t.Parallel()
	good := newCertificates(t)
	expired := newCertificates(t, func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	})
	elsewhere := newCertificates(t, func(c *x509.Certificate) { c.IPAddresses = []net.IP{net.IPv4(192, 0, 2, 1)} })
	for _, c := range []struct {
		name      string
		collector collectorConfig
		ca        string
		said      string // in the server's log, or at its end
	}{
		{"expired", collectorConfig{certs: expired}, expired.ca, "certificate has expired"},
		{"another host's", collectorConfig{certs: elsewhere}, elsewhere.ca, "not 127.0.0.1"},
		{"unknown authority", collectorConfig{certs: good}, expired.ca, "certificate signed by unknown authority"},
		{"authority of the system", collectorConfig{certs: good}, "", "certificate signed by unknown authority"},
		{"no client certificate", collectorConfig{certs: good, mutual: true}, good.ca, ""}, // the alert races with our write
	} {
		for name, protocol := range protocols {
			t.Run(c.name+" "+name, func(t *testing.T) {
				t.Parallel()
				col := startCollector(t, c.collector)
				vars := otlpVars(protocol, col.address(protocol))
				vars["OTEL_EXPORTER_OTLP_ENDPOINT"] = "https://" + col.address(protocol)
				vars["OTEL_EXPORTER_OTLP_CERTIFICATE"] = c.ca
				s := startServer(t, vars, "-shutdown-timeout", shutdownTimeout.String())
				s.greet(t, 20)
				e := s.stop(t)
				e.inTime(t)
				if a := e.Report.of(t, "otlp"); a.Ended != 40 || a.Exported != 0 || a.Failed+a.Dropped != 40 {
					t.Errorf("account %+v, want 40 lost", a)
				}
				if said := s.log.String() + e.Error; !strings.Contains(said, c.said) {
					t.Errorf("the log does not say %q: %s", c.said, said)
				}
				if n := strings.Count(s.log.String(), "\n"); n > 10 {
					t.Errorf("%d lines of log", n)
				}
				col.end(t)
				if n := len(col.spans(t)); n != 0 {
					t.Errorf("%d spans came in", n)
				}
			})
		}
	}
}
