package config_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/config"
)

// canary must be in nothing that is shown.
const canary = "CANARY0123456789abcdef"

// good reads a configuration without faults.
func good(t *testing.T, file string, env ...string) config.Config {
	t.Helper()
	c, err := config.Parse("claimdlq.yaml", []byte(file), env, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// faults reads one that has them, and returns each as a line.
func faults(t *testing.T, file string, env ...string) []string {
	t.Helper()
	c, err := config.Parse("claimdlq.yaml", []byte(file), env, nil)
	if err == nil {
		t.Errorf("no fault in %q", file)
		return nil
	}
	if c.Data != "" || c.Streams != nil {
		t.Error("a configuration with faults is given out")
	}
	var e *claimdlq.Error
	if !errors.As(err, &e) || e.Code != claimdlq.Invalid || e.On != "claimdlq.yaml" {
		t.Errorf("%#v", err)
	}
	if strings.Contains(err.Error(), canary) {
		t.Errorf("a value is shown: %v", err)
	}
	var lines []string
	for _, f := range config.Faults(err) {
		lines = append(lines, f.String())
		if !strings.Contains(err.Error(), "\n  "+f.String()) {
			t.Errorf("%s is not a line of %v", f, err)
		}
	}
	return lines
}

// one expects exactly one fault that says all the words.
func one(t *testing.T, file string, words ...string) {
	t.Helper()
	got := faults(t, file)
	if len(got) != 1 {
		t.Errorf("%d faults in %q: %q", len(got), file, got)
		return
	}
	for _, w := range words {
		if !strings.Contains(got[0], w) {
			t.Errorf("%q is not said of %q: %s", w, file, got[0])
		}
	}
}

// write makes a file and returns its path.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// pair makes a certificate and its key.
func pair(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, "tls.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))),
		write(t, "tls.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: b})))
}

func parse(file string) (config.Config, error) {
	return config.Parse("", []byte(file), nil, nil)
}
