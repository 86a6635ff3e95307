package api

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimdlq"
)

func TestReplies_AreBoundedAndForgottenAfterADay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)
	m := newReplies(make([]byte, 32), func() time.Time { return now })
	run := func(key, body string, status int) bool {
		r := httptest.NewRequest(http.MethodPost, "/v1/records/1/park", http.NoBody)
		slot, print := m.names("ana", r, key, []byte(body))
		kept, err := m.begin(slot, print)
		if err != nil || kept != nil {
			return false
		}
		rec := &recorder{ResponseWriter: httptest.NewRecorder()}
		rec.WriteHeader(status)
		_, _ = rec.Write([]byte(body))
		m.end(slot, name{}, rec)
		return true
	}
	for i := range repliesMost + 100 {
		run(strconv.Itoa(i), "TEST", http.StatusOK)
	}
	if len(m.kept) > repliesMost || m.order.Len() != len(m.kept) {
		t.Errorf("%d are kept", len(m.kept))
	}
	if run(strconv.Itoa(repliesMost+99), "TEST", http.StatusOK) {
		t.Error("what was done is done again")
	}
	now = now.Add(replyFor)
	if !run(strconv.Itoa(repliesMost+99), "TEST", http.StatusOK) {
		t.Error("it is kept for longer than a day")
	}
	for i := range 1000 {
		run("big"+strconv.Itoa(i), strings.Repeat("x", replyMost), http.StatusOK)
	}
	if m.bytes > repliesBytes {
		t.Errorf("%d bytes are kept", m.bytes)
	}
	if !run("refused", "TEST", http.StatusConflict) || !run("refused", "TEST", http.StatusOK) {
		t.Error("what was refused is not tried again")
	}
}

// A secret that is shown once is in no answer that is kept, and in its repetition.
func TestReplies_AreSealed(t *testing.T) {
	t.Parallel()
	m := newReplies(make([]byte, 32), time.Now)
	r := httptest.NewRequest(http.MethodPost, "/v1/tokens", http.NoBody)
	slot, print := m.names("ana", r, "K", nil)
	if _, err := m.begin(slot, print); err != nil {
		t.Fatal(err)
	}
	rec, seal := &recorder{ResponseWriter: httptest.NewRecorder()}, m.sum("seal", "ana", "K")
	_, _ = rec.Write([]byte("cdlq_TESTSECRET"))
	m.end(slot, seal, rec)
	kept, err := m.begin(slot, print)
	if err != nil || kept == nil || strings.Contains(string(kept.body), "TEST") {
		t.Fatalf("%+v %v", kept, err)
	}
	again := httptest.NewRecorder()
	kept.write(again, seal)
	if again.Body.String() != "cdlq_TESTSECRET" || again.Code != http.StatusOK {
		t.Errorf("%d %s", again.Code, again.Body)
	}
	other := httptest.NewRecorder()
	kept.write(other, m.sum("seal", "ana", "another"))
	if strings.Contains(other.Body.String(), "TEST") || other.Code != http.StatusInternalServerError {
		t.Errorf("%d %s", other.Code, other.Body)
	}
}

func TestReplies_WhileTheFirstIsUnderWayTheSecondIsTold(t *testing.T) {
	t.Parallel()
	m := newReplies(make([]byte, 32), time.Now)
	r := httptest.NewRequest(http.MethodPost, "/v1/records/1/park", http.NoBody)
	slot, print := m.names("ana", r, "K", nil)
	if kept, err := m.begin(slot, print); kept != nil || err != nil {
		t.Fatal(kept, err)
	}
	if _, err := m.begin(slot, print); !codeIs(err, claimdlq.Conflict) {
		t.Errorf("%v", err)
	}
	if other, _ := m.names("ben", r, "K", nil); other == slot {
		t.Error("another person's key is the same")
	}
}

func TestPace_LetsNobodyTakeTheOthersTurn(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 18, 10, 0, 0, 0, time.UTC)
	p := newPace(10, func() time.Time { return now })
	took := func(actor string, n int) (good int) {
		for range n {
			err := p.take(actor)
			if err == nil {
				good++
			} else if problemOf(err).Status != http.StatusTooManyRequests || problemOf(err).header.Get("Retry-After") != "1" {
				t.Errorf("%v", err)
			}
		}
		return good
	}
	if a, b := took("ana", 50), took("ben", 5); a != 10 || b != 5 {
		t.Errorf("%d and %d were let through", a, b)
	}
	now = now.Add(500 * time.Millisecond)
	if a := took("ana", 50); a != 5 {
		t.Errorf("%d were let through after half a second", a)
	}
	now = now.Add(-time.Hour)
	if a := took("ana", 50); a != 0 {
		t.Errorf("%d were let through by a clock that went back", a)
	}
	for i := range maxBuckets + 10 {
		took(strconv.Itoa(i), 1)
	}
	if len(p.buckets) > maxBuckets {
		t.Errorf("%d are remembered", len(p.buckets))
	}
}

func TestAge_ReadsWhatTheDocumentSays(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]time.Duration{"90m": 90 * time.Minute, "36h": 36 * time.Hour, "14d": 14 * 24 * time.Hour, "0s": 0} {
		if got, ok := ageOf(s); !ok || got != want {
			t.Errorf("%s is %v", s, got)
		}
	}
	for _, s := range []string{"", "h", "1", "-1h", "1.5h", "1234567d", "1w", "1h "} {
		if _, ok := ageOf(s); ok {
			t.Errorf("%q is read", s)
		}
	}
	if got, ok := ageOf("999999d"); !ok || got <= 0 {
		t.Errorf("%v", got)
	}
}
