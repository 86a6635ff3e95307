package serve

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"log/slog"
	"math/big"
	"net"
	"sync/atomic"
	"time"

	"claimdlq"
)

// certificate is what the process shows who connects, the newest of its files.
type certificate struct {
	cert, key string // PEM files; empty: it is the process's own
	now       atomic.Pointer[tls.Certificate]
}

// openCertificate returns the certificate of a Setup, nil where there is none. Errors:
// Invalid.
func openCertificate(s Setup) (*certificate, error) {
	c := &certificate{}
	switch {
	case s.Certificate != nil:
		c.now.Store(s.Certificate)
		return c, nil
	case s.Cert == "":
		return nil, nil
	}
	c.cert, c.key = s.Cert, s.Key
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read certificate", Hint: "tls.cert and tls.key are a certificate in PEM and the key that belongs to it"}
	}
	c.now.Store(&pair)
	return c, nil
}

// get is tls.Config.GetCertificate.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil }

// renew reads the files again. Where they make no pair, half of it being replaced for
// instance, what was read before goes on being shown. One of the process's own is made
// anew a week before it ends.
func (c *certificate) renew(ctx context.Context, now time.Time, log *slog.Logger) {
	if c == nil {
		return
	}
	if c.cert == "" {
		c.renewOwn(ctx, now, log)
		return
	}
	pair, err := tls.LoadX509KeyPair(c.cert, c.key)
	if err != nil {
		log.LogAttrs(ctx, slog.LevelWarn, "Certificate and key cannot be read: the ones from before are shown")
		return
	}
	if bytes.Equal(pair.Certificate[0], c.now.Load().Certificate[0]) {
		return
	}
	c.now.Store(&pair)
	log.LogAttrs(ctx, slog.LevelInfo, "Certificate is renewed")
}

func (c *certificate) renewOwn(ctx context.Context, now time.Time, log *slog.Logger) {
	if now.Add(7 * 24 * time.Hour).Before(c.now.Load().Leaf.NotAfter) {
		return
	}
	own, err := SelfSigned(now)
	if err != nil {
		log.LogAttrs(ctx, slog.LevelWarn, "Certificate cannot be renewed", slog.Any("error", err))
		return
	}
	c.now.Store(own)
	log.LogAttrs(ctx, slog.LevelInfo, "Certificate is renewed: browsers ask about it again")
}

// selfSignedFor is how long a certificate of SelfSigned is good.
const selfSignedFor = 30 * 24 * time.Hour

// SelfSigned makes a certificate for this machine alone, 127.0.0.1, ::1 and localhost,
// good from now on for 30 days. Its key, ECDSA P-256, is in memory only. No browser
// knows it: it asks the person.
func SelfSigned(now time.Time) (*tls.Certificate, error) {
	failed := func(err error) error {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "make certificate", Err: err}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, failed(err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, failed(err)
	}
	from := now.Add(-time.Hour) // the clock of who connects may be behind
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "claimdlq on this machine"}, NotBefore: from, NotAfter: now.Add(selfSignedFor),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, failed(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, failed(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, nil
}
