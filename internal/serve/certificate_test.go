package serve

import (
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// write makes a new pair in the files and returns its serial number.
func write(t *testing.T, cert, key string) string {
	t.Helper()
	c, err := SelfSigned(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(c.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for path, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: c.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: der}} {
		if path == "" {
			continue
		}
		if err := os.WriteFile(path, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c.Leaf.SerialNumber.String()
}

func TestCertificate_IsReadAgainAndHalfOfItIsNot(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := Setup{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	first := write(t, s.Cert, s.Key)
	c, err := openCertificate(s)
	if err != nil {
		t.Fatal(err)
	}
	shown := func() string {
		c.renew(t.Context(), time.Now(), slog.New(slog.DiscardHandler))
		got, err := c.get(nil)
		if err != nil {
			t.Fatal(err)
		}
		return got.Leaf.SerialNumber.String()
	}
	if shown() != first {
		t.Error("another certificate is shown")
	}
	write(t, s.Cert, "") // its key comes later
	if shown() != first {
		t.Error("a certificate without its key is shown")
	}
	if second := write(t, s.Cert, s.Key); shown() != second {
		t.Error("the new one is not shown")
	}
}

func TestCertificate_FilesThatArePairOfNothingAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := Setup{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	if _, err := openCertificate(s); err == nil {
		t.Error("no files, and no error")
	}
	if c, err := openCertificate(Setup{}); c != nil || err != nil {
		t.Errorf("plain HTTP: %v, %v", c, err)
	}
}

// A process that runs for longer than its own certificate is good makes another.
func TestCertificate_OfItsOwnDoesNotEndWhileItServes(t *testing.T) {
	t.Parallel()
	now := time.Now()
	own, err := SelfSigned(now)
	if err != nil {
		t.Fatal(err)
	}
	c, err := openCertificate(Setup{Certificate: own})
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	for range 100 {
		c.renew(t.Context(), now, slog.New(slog.DiscardHandler))
		got, err := c.get(nil)
		if err != nil || now.After(got.Leaf.NotAfter) {
			t.Fatalf("after %v the certificate has ended, %v", now.Sub(own.Leaf.NotBefore), err)
		}
		made[got.Leaf.SerialNumber.String()] = true
		now = now.Add(24 * time.Hour)
	}
	if len(made) < 4 || len(made) > 6 {
		t.Errorf("%d certificates in 100 days", len(made))
	}
}
