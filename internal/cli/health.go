package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
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

// askHealth asks once, on this machine, past any proxy.
func askHealth(ctx context.Context, cfg config.Config, path string) error {
	const op = "ask for health"
	ctx, cancel := context.WithTimeout(ctx, healthWithin)
	defer cancel()
	tr, scheme := &http.Transport{}, "http"
	if cfg.TLS.Cert != "" {
		var err error
		if tr.TLSClientConfig, err = pinned(cfg.TLS.Cert); err != nil {
			return err
		}
		scheme = "https"
	}
	defer tr.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+here(cfg.Listen)+path, nil)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: "listen", Err: err}
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, On: "nobody answers", Hint: "is it running, with the same configuration?", Err: err}
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10))
	if resp.StatusCode != http.StatusOK {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, On: fmt.Sprintf("HTTP_%d", resp.StatusCode), Hint: "its log says why"}
	}
	return nil
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
