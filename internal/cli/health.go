package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/internal/config"
)

// healthWithin is how long a process that is well takes to say so, at the most.
const healthWithin = 5 * time.Second

type healthJSON struct {
	Status string `json:"status"` // ok, ready
}

func newHealth(s *session) *cobra.Command {
	var f serveFlags
	var ready bool
	c := &cobra.Command{
		Use:   "health",
		Short: "Ask the serving process of this machine whether it is well",
		Long: `Health asks the process that serves here, at the address of the same configuration, whether
it answers; with --ready, whether it takes claims in. Exit code 0: it does; 7: it does not.
It is for a container's health check, which has no other program to ask with.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.configured(f)
			if err != nil {
				return err
			}
			path, status := "/healthz", "ok"
			if ready {
				path, status = "/readyz", "ready"
			}
			if err := askHealth(c.Context(), cfg, path); err != nil {
				return err
			}
			if s.json {
				return s.printJSON(healthJSON{status})
			}
			_, err = fmt.Fprintln(s.env.Stdout, status)
			return err
		},
	}
	c.Flags().StringVar(&f.file, "config", "", "the serving process's YAML `file` (environment CLAIMDLQ_CONFIG)")
	c.Flags().StringVar(&f.listen, "listen", "", "its `address` (default 127.0.0.1:8837)")
	c.Flags().BoolVar(&ready, "ready", false, "ask whether it takes claims in")
	return c
}

const opHealth = "ask for health"

// askHealth asks once, on this machine, past any proxy.
func askHealth(ctx context.Context, cfg config.Config, path string) error {
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	tr, scheme := &http.Transport{}, "http"
	defer tr.CloseIdleConnections()
	if cfg.TLS.Encrypts() {
		var err error
		if tr.TLSClientConfig, err = trusted(cfg.TLS); err != nil {
			return err
		}
		scheme = "https"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+here(cfg.Listen)+path, nil)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: opHealth, On: "listen", Err: err}
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return unanswered(err)
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	switch {
	case resp.StatusCode == http.StatusOK:
		return nil
	case scheme == "http" && resp.StatusCode == http.StatusBadRequest && bytes.Contains(said, []byte("HTTPS")):
		return unwell("it answers with TLS", "give the configuration that it was started with, which says so under tls: --config FILE", nil)
	}
	return unwell(fmt.Sprintf("HTTP_%d", resp.StatusCode), "its log says why", nil)
}

// unanswered says why there was no answer.
func unanswered(err error) error {
	if _, plain := errors.AsType[tls.RecordHeaderError](err); plain {
		return unwell("it answers without TLS", "the configuration asks for TLS (tls): is it the one that the process was started with?", err)
	}
	if _, other := errors.AsType[*tls.CertificateVerificationError](err); other {
		return unwell("it shows another certificate", "than tls.cert has: is it the configuration that the process was started with?", err)
	}
	return unwell("nobody answers", "is it running, with the same configuration?", err)
}

func unwell(on, hint string, err error) error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: opHealth, On: on, Hint: hint, Err: err}
}

// trusted returns what the process is known by. A certificate that it makes at each start
// is in no file: who answers at this machine's own address is taken for it, and is told
// nothing.
func trusted(t config.TLS) (*tls.Config, error) {
	if t.SelfSigned {
		return &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}, nil //nolint:gosec // see above
	}
	return pinned(t.Cert)
}

// here returns where a process of this machine reaches what listens at the address.
func here(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen
	}
	switch ip := net.ParseIP(host); {
	case host == "", ip != nil && ip.IsUnspecified() && ip.To4() != nil:
		host = "127.0.0.1"
	case ip != nil && ip.IsUnspecified():
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}

// pinned trusts the very certificate that the process serves with, whoever signed it,
// and under the name that it has.
func pinned(certFile string) (*tls.Config, error) {
	const op = "read certificate"
	b, err := os.ReadFile(certFile)
	if err != nil {
		return nil, inputError(op, "tls.cert", err)
	}
	bad := &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: "tls.cert"}
	block, _ := pem.Decode(b)
	if block == nil {
		return nil, bad
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, bad
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: x509.NewCertPool()}
	c.RootCAs.AddCert(cert)
	switch {
	case len(cert.DNSNames) > 0:
		c.ServerName = cert.DNSNames[0]
	case len(cert.IPAddresses) > 0:
		c.ServerName = cert.IPAddresses[0].String()
	}
	return c, nil
}
