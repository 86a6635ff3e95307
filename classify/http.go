package classify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"claimdlq"
)

// MaxRetryAfter bounds the wait that the other side may ask for.
const MaxRetryAfter = 24 * time.Hour

// HTTP classifies a complete HTTP response by its status:
//
//   - 2xx: the target has it.
//   - 408, 425, 429 and 5xx: transient; Retry-After is honoured, as seconds or as
//     a date relative to now.
//   - 502 and 504 are ambiguous too: a gateway sent the claim on and then lost
//     the answer.
//   - everything else, 404 included: refused, never retried.
//
// The code is HTTP_ and the status, such as HTTP_503.
func HTTP(status int, retryAfter string, now time.Time) claimdlq.Outcome {
	if status < firstStatus || status > lastStatus {
		return claimdlq.Outcome{Kind: claimdlq.OutcomeUnknownKind, Code: claimdlq.NewDetail("HTTP_STATUS_INVALID")}
	}
	o := claimdlq.Outcome{Kind: claimdlq.OutcomeRejected, Code: statusCodes[status-firstStatus]}
	switch {
	case status >= 200 && status <= 299:
		o.Kind = claimdlq.OutcomeSubmitted
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests:
		o.Kind = claimdlq.OutcomeTransient
		o.Ambiguous = status == http.StatusBadGateway || status == http.StatusGatewayTimeout
		o.RetryAfter = ParseRetryAfter(retryAfter, now)
	}
	return o
}

// The statuses that can be an answer: a 1xx never is.
const firstStatus, lastStatus = 200, 599

// statusCodes are the codes of all of them, made once: every delivery has one.
var statusCodes = func() (all [lastStatus - firstStatus + 1]claimdlq.Detail) {
	for i := range all {
		all[i] = claimdlq.NewDetail("HTTP_" + strconv.Itoa(firstStatus+i))
	}
	return all
}()

// ParseRetryAfter returns the wait that a Retry-After header asks for, between 0
// and MaxRetryAfter; 0 if it is missing or cannot be read.
func ParseRetryAfter(v string, now time.Time) time.Duration {
	v = strings.TrimSpace(v)
	if n, err := strconv.ParseUint(v, 10, 64); err == nil {
		if n > uint64(MaxRetryAfter/time.Second) {
			return MaxRetryAfter
		}
		return time.Duration(n) * time.Second
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	return min(max(0, at.Sub(now)), MaxRetryAfter)
}

// Transport classifies a delivery that ended without a complete response. wrote
// says that the first byte of the request may have left: from there on the payer
// may have acted, and the failure is ambiguous. err nil is unknown.
func Transport(err error, wrote bool) claimdlq.Outcome {
	if err == nil {
		return claimdlq.Outcome{}
	}
	return claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail(transportCode(err)), Ambiguous: wrote}
}

// transportCode names the failure from a closed list; the error's own text may
// hold addresses and is never used.
func transportCode(err error) string {
	var (
		netErr   net.Error
		dns      *net.DNSError
		op       *net.OpError
		record   tls.RecordHeaderError
		alert    tls.AlertError
		cert     *tls.CertificateVerificationError
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return "CANCELLED"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &netErr) && netErr.Timeout():
		return "TIMEOUT"
	case errors.As(err, &dns):
		return "DNS"
	case errors.As(err, &record), errors.As(err, &alert), errors.As(err, &cert), errors.As(err, &unknown),
		errors.As(err, &hostname), errors.As(err, &invalid):
		return "TLS"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "CONNECT_REFUSED"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, net.ErrClosed):
		return "RESET"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "CLOSED"
	case errors.As(err, &op) && op.Op == "dial":
		return "CONNECT"
	}
	return "TRANSPORT"
}
