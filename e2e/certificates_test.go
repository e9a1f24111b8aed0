package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// certificates are files: an authority, and what it has signed.
type certificates struct {
	ca             string
	server, client pair
}

type pair struct{ cert, key string }

// newCertificates makes them for 127.0.0.1; flaws change the server's.
func newCertificates(t *testing.T, flaws ...func(*x509.Certificate)) *certificates {
	t.Helper()
	dir := t.TempDir()
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	key := newKey(t)
	der := sign(t, authority, authority, key, key)
	c := &certificates{ca: filepath.Join(dir, "ca.pem")}
	writePEM(t, c.ca, "CERTIFICATE", der)
	for i, p := range []struct {
		name string
		pair *pair
		use  x509.ExtKeyUsage
	}{
		{"server", &c.server, x509.ExtKeyUsageServerAuth},
		{"client", &c.client, x509.ExtKeyUsageClientAuth},
	} {
		leaf := &x509.Certificate{
			SerialNumber: big.NewInt(int64(i) + 2), Subject: pkix.Name{CommonName: p.name},
			NotBefore: authority.NotBefore, NotAfter: authority.NotAfter,
			KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{p.use},
			IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}
		if p.pair == &c.server {
			for _, flaw := range flaws {
				flaw(leaf)
			}
		}
		leafKey := newKey(t)
		*p.pair = pair{filepath.Join(dir, p.name+".pem"), filepath.Join(dir, p.name+".key")}
		writePEM(t, p.pair.cert, "CERTIFICATE", sign(t, leaf, authority, leafKey, key))
		keyDER, err := x509.MarshalPKCS8PrivateKey(leafKey)
		if err != nil {
			t.Fatal(err)
		}
		writePEM(t, p.pair.key, "PRIVATE KEY", keyDER)
	}
	return c
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t *testing.T, cert, parent *x509.Certificate, key, parentKey *ecdsa.PrivateKey) []byte {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, cert, parent, &key.PublicKey, parentKey)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
