package cli_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/cli"
)

// health runs the command with a configuration.
func health(t *testing.T, conf string, args ...string) (code int, out string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	env := cli.Env{Stdin: strings.NewReader(""), Stdout: &b, Stderr: &b, Now: time.Now, Getenv: func(string) string { return "" }}
	code = cli.Main(t.Context(), append([]string{"health", "--config", path}, args...), env)
	return code, b.String()
}

func TestHealth_AsksTheServingProcess(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	conf := "data: data\nlisten: " + srv.Listener.Addr().String() + "\n"
	if code, out := health(t, conf); code != 0 || out != "ok\n" {
		t.Errorf("exit %d: %s", code, out)
	}
	if code, out := health(t, conf, "--ready"); code != 7 || !strings.Contains(out, "HTTP_503") {
		t.Errorf("not ready: exit %d: %s", code, out)
	}
	srv.Close()
	if code, out := health(t, conf); code != 7 || !strings.Contains(out, "nobody answers") {
		t.Errorf("not there: exit %d: %s", code, out)
	}
}

func TestHealth_TrustsTheCertificateOfItsOwnConfigurationAndNoOther(t *testing.T) {
	t.Parallel()
	certFile, keyFile, pair := certificate(t)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	conf := func(cert, key string) string {
		return "data: data\nlisten: " + srv.Listener.Addr().String() + "\ntls:\n  cert: " + cert + "\n  key: " + key + "\n"
	}
	if code, out := health(t, conf(certFile, keyFile)); code != 0 {
		t.Errorf("exit %d: %s", code, out)
	}
	otherCert, otherKey, _ := certificate(t)
	if code, out := health(t, conf(otherCert, otherKey)); code != 7 || !strings.Contains(out, "another certificate") || !strings.Contains(out, "tls.cert") {
		t.Errorf("another certificate: exit %d: %s", code, out)
	}
}

// One speaks TLS and the other does not: that is what it says, and what to do.
func TestHealth_TellsWhoSpeaksTLS(t *testing.T) {
	t.Parallel()
	well := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	plain, secure := httptest.NewServer(well), httptest.NewTLSServer(well)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	at := func(srv *httptest.Server) string { return "data: data\nlisten: " + srv.Listener.Addr().String() + "\n" }
	if code, out := health(t, at(secure)); code != 7 || !strings.Contains(out, "it answers with TLS") || !strings.Contains(out, "--config") {
		t.Errorf("exit %d: %s", code, out)
	}
	certFile, keyFile, _ := certificate(t)
	for _, conf := range []string{"tls: {self_signed: true}\n", "tls: {cert: " + certFile + ", key: " + keyFile + "}\n"} {
		if code, out := health(t, at(plain)+conf); code != 7 || !strings.Contains(out, "it answers without TLS") || !strings.Contains(out, "tls") {
			t.Errorf("%s: exit %d: %s", conf, code, out)
		}
	}
	// A certificate that is made at each start is in no file.
	if code, out := health(t, at(secure)+"tls: {self_signed: true}\n"); code != 0 || out != "ok\n" {
		t.Errorf("self-signed: exit %d: %s", code, out)
	}
}

// certificate makes one for a name that is not the address it is served at.
func certificate(t *testing.T) (certFile, keyFile string, pair tls.Certificate) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "TEST"}, DNSNames: []string{"dlq.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})
	for path, b := range map[string][]byte{certFile: certPEM, keyFile: keyPEM} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if pair, err = tls.X509KeyPair(certPEM, keyPEM); err != nil {
		t.Fatal(err)
	}
	return certFile, keyFile, pair
}

func TestServe_Notifies(t *testing.T) { // a short name: it is in the path of a socket
	t.Parallel()
	dir := t.TempDir()
	sock := filepath.Join(dir, "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: sock, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conf := filepath.Join(dir, "c.yaml")
	if err := os.WriteFile(conf, []byte("data: "+filepath.Join(dir, "data")+"\nlisten: 127.0.0.1:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan int, 1)
	go func() {
		var b bytes.Buffer
		ended <- cli.Main(ctx, []string{"serve", "--config", conf}, cli.Env{
			Stdin: strings.NewReader(""), Stdout: &b, Stderr: &b, Now: time.Now,
			Getenv: func(name string) string { return map[string]string{"NOTIFY_SOCKET": sock}[name] },
		})
	}()
	heard := func(want string) {
		b := make([]byte, 100)
		n, err := l.Read(b)
		if err != nil || string(b[:n]) != want {
			t.Fatalf("heard %q, %v, want %q", b[:n], err, want)
		}
	}
	heard("READY=1")
	stop()
	heard("STOPPING=1")
	if code := <-ended; code != 0 {
		t.Errorf("exit %d", code)
	}
}
