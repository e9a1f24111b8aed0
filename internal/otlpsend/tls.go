package otlpsend

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// TLS makes the configuration of PEM files: certificates to trust instead of the
// system's, and a certificate to show with its key. Empty paths are none.
func TLS(certificate, clientCertificate, clientKey string) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if certificate != "" {
		pem, err := os.ReadFile(certificate) //nolint:gosec // the user's file
		if err != nil {
			return nil, fmt.Errorf("otlpsend: certificate: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("otlpsend: certificate: no PEM certificate in %s", certificate)
		}
	}
	if clientCertificate != "" {
		pair, err := tls.LoadX509KeyPair(clientCertificate, clientKey)
		if err != nil {
			return nil, fmt.Errorf("otlpsend: client certificate: %w", err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
