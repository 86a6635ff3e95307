package auth_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/auth"
)

func TestSecret_IsReadFromABodyAndNeverWritten(t *testing.T) {
	t.Parallel()
	var c auth.Credentials
	if err := json.Unmarshal([]byte(`{"login":"ana","password":"TEST-hidden","code":"123456"}`), &c); err != nil || c.Password.Reveal() != "TEST-hidden" || c.Code.Reveal() != "123456" {
		t.Fatal(err)
	}
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", slog.Any("c", c), slog.Any("p", c.Password))
	b, err := json.Marshal(c)
	out := log.String() + string(b) + c.Password.String() + fmt.Sprintf("%s %d %x %q %#v", c.Password, c.Password, c.Password, c.Password, c)
	if err != nil || strings.Contains(out, "hidden") || strings.Contains(out, "123456") || strings.Contains(out, fmt.Sprintf("%x", "hidden")) {
		t.Errorf("%v %s", err, out)
	}
	if got := (auth.Secret{}).Reveal(); got != "" {
		t.Error(got)
	}
}

func TestStatus_SaysEachRefusalInHTTP(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]int{
		auth.ErrUnauthenticated: http.StatusUnauthorized, auth.ErrSignIn: http.StatusUnauthorized, auth.ErrForbidden: http.StatusForbidden, auth.ErrDuty: http.StatusForbidden,
		auth.ErrOrigin: http.StatusForbidden, auth.ErrApproval: http.StatusForbidden, auth.ErrPartner: http.StatusNotFound, auth.ErrReason: http.StatusBadRequest,
		&auth.TooManyError{RetryAfter: time.Second}: http.StatusTooManyRequests, errors.New("another"): 0,
	} {
		if got := auth.Status(fmt.Errorf("wrapped: %w", err)); got != want {
			t.Errorf("%v: %d", err, got)
		}
	}
}

func TestPrincipal_NamesWhoAndWhyForTheAuditLog(t *testing.T) {
	t.Parallel()
	p := auth.Local("root", "").For("  TEST because \n")
	if by := p.By(); by.Actor != "cli:root" || by.Reason != "TEST because" {
		t.Errorf("%+v", by)
	}
	e := auth.Principal{}.Denied(time.Unix(1, 0), auth.KeysAdmin).Entry()
	if e.Actor != "anonymous" || e.Action != auth.ActDenied || e.Detail.String() != "KEYS.ADMIN" || !e.At.Equal(time.Unix(1, 0)) {
		t.Errorf("%+v", e)
	}
}
