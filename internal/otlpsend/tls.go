package otlpsend

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// File is a file, and what an error calls it.
type File struct{ Name, Path string }

// TLS makes the configuration of PEM files: certificates to trust instead of the
// system's, and a certificate to show with its key. Empty paths are none.
func TLS(certificate, clientCertificate, clientKey File) (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if path := certificate.Path; path != "" {
		pem, err := os.ReadFile(path) //nolint:gosec // the operator names it
		if err != nil {
			return nil, fmt.Errorf("%s: %w", certificate.Name, err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: no certificate in %s", certificate.Name, path)
		}
	}
	if clientCertificate.Path != "" {
		pair, err := tls.LoadX509KeyPair(clientCertificate.Path, clientKey.Path)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", clientCertificate.Name, clientKey.Name, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	return cfg, nil
}
