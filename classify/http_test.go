package classify_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/classify"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestHTTP_EveryStatusEndsInExactlyOneOutcome(t *testing.T) {
	t.Parallel()
	for status := -1; status <= 700; status++ {
		want := claimdlq.Outcome{Kind: claimdlq.OutcomeRejected, Code: claimdlq.NewDetail("HTTP_" + strconv.Itoa(status))}
		switch {
		case status < 200 || status > 599:
			want = claimdlq.Outcome{Code: claimdlq.NewDetail("HTTP_STATUS_INVALID")}
		case status <= 299:
			want.Kind = claimdlq.OutcomeSubmitted
		case status == 408, status == 425, status == 429, status >= 500:
			want.Kind = claimdlq.OutcomeTransient
			want.Ambiguous = status == 502 || status == 504
		}
		if got := classify.HTTP(status, "", noon); got != want {
			t.Errorf("%d: %+v", status, got)
		}
	}
}

func TestHTTP_NotFoundIsNeverRetried(t *testing.T) {
	t.Parallel()
	o := classify.HTTP(404, "5", noon)
	if o.Kind != claimdlq.OutcomeRejected || o.Ambiguous || o.RetryAfter != 0 {
		t.Errorf("%+v", o)
	}
}

func TestHTTP_RetryAfterIsHonouredAndBounded(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]time.Duration{
		"": 0, "0": 0, "1": time.Second, " 120 ": 2 * time.Minute, "86400": 24 * time.Hour, "86401": 24 * time.Hour,
		"18446744073709551615": 24 * time.Hour, "99999999999999999999999": 0, "-5": 0, "1.5": 0, "soon": 0,
		"Sun, 01 Mar 2026 12:00:30 GMT": 30 * time.Second,
		"Sun, 01 Mar 2026 11:59:30 GMT": 0,
		"Sun, 01 Mar 2036 12:00:00 GMT": 24 * time.Hour,
	} {
		for _, status := range []int{429, 503} {
			if got := classify.HTTP(status, header, noon).RetryAfter; got != want {
				t.Errorf("%d %q: %s, want %s", status, header, got, want)
			}
		}
		if got := classify.HTTP(400, header, noon).RetryAfter; got != 0 {
			t.Errorf("400 %q: %s", header, got)
		}
	}
}

func TestTransport_AmbiguousOnceTheFirstByteWasSent(t *testing.T) {
	t.Parallel()
	for code, err := range map[string]error{
		"TIMEOUT":         fmt.Errorf("post: %w", context.DeadlineExceeded),
		"CANCELLED":       context.Canceled,
		"DNS":             &net.OpError{Op: "dial", Err: &net.DNSError{Name: "CANARY"}},
		"CONNECT_REFUSED": &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
		"CONNECT":         &net.OpError{Op: "dial", Err: errors.New("no route")},
		"RESET":           &net.OpError{Op: "read", Err: os.NewSyscallError("read", syscall.ECONNRESET)},
		"CLOSED":          &url.Error{Op: "Post", URL: "http://CANARY", Err: io.ErrUnexpectedEOF},
		"TLS":             &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		"TRANSPORT":       errors.New("CANARY"),
	} {
		for _, wrote := range []bool{false, true} {
			want := claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail(code), Ambiguous: wrote}
			if got := classify.Transport(err, wrote); got != want {
				t.Errorf("%s, wrote %t: %+v", code, wrote, got)
			}
		}
	}
	if got := classify.Transport(nil, false); got.Kind != claimdlq.OutcomeUnknownKind {
		t.Errorf("no error and no response: %+v", got)
	}
}
