package payersim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/target"
	"claimdlq/target/httptarget"
	"claimdlq/wire/ncpdp"
)

func postRx(t *testing.T, p http.Handler, body []byte) *httptest.ResponseRecorder {
	t.Helper()
	return do(t, p, http.MethodPost, "/v1/ncpdp", string(body))
}

func TestHTTP_AnswersATransmissionInTheBody(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	b1 := oneRx(t, "B1", 1)
	w := postRx(t, p, b1)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != payersim.MediaType {
		t.Fatalf("status %d, type %q", w.Code, w.Header().Get("Content-Type"))
	}
	if r := rxResults(t, b1, w.Body.Bytes(), false)[0]; r.Class != settled {
		t.Fatalf("got %v", r.Class)
	}
	for body, status := range map[string]int{
		"": http.StatusBadRequest, "GARBAGE": http.StatusBadRequest, w.Body.String(): http.StatusBadRequest,
		strings.Repeat("A", ncpdp.MaxMessage+1): http.StatusRequestEntityTooLarge,
	} {
		if got := postRx(t, p, []byte(body)).Code; got != status {
			t.Errorf("%.20q: status %d, want %d", body, got, status)
		}
	}
}

func TestHTTP_ShowsWhatItPaid(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "dedupe off")
	postRx(t, p, oneRx(t, "B1", 1))
	postRx(t, p, oneRx(t, "B1", 1))
	post(t, p, claims(t, testclaims.Options{}))
	var accepted struct {
		Accepted int
		Pharmacy payersim.RxStats
		Claims   []payersim.AcceptedClaim `json:"accepted_claims"`
		Fills    []payersim.Fill
	}
	var duplicates []payersim.Fill
	for path, v := range map[string]any{"/v1/accepted": &accepted, "/v1/duplicates": &duplicates} {
		if err := json.Unmarshal(do(t, p, http.MethodGet, path, "").Body.Bytes(), v); err != nil {
			t.Fatal(err)
		}
	}
	if accepted.Accepted != 1 || len(accepted.Claims) != 1 || len(accepted.Fills) != 1 || accepted.Pharmacy.DoublePaid != 1 {
		t.Fatalf("accepted %+v", accepted)
	}
	if len(duplicates) != 1 || duplicates[0].Rx != "1" || duplicates[0].Count != 2 {
		t.Fatalf("duplicates %+v", duplicates)
	}
}

func TestHTTP_AFullPayerTakesNothing(t *testing.T) {
	t.Parallel()
	p := open(t, payersim.Options{Now: newClock().now, MaxClaims: 1})
	postRx(t, p, oneRx(t, "B1", 1))
	if w := postRx(t, p, oneRx(t, "B1", 2)); w.Code != http.StatusInsufficientStorage {
		t.Fatalf("status %d", w.Code)
	}
}

func rxParcel(b []byte) target.Parcel {
	return target.Parcel{Name: "rx", Size: int64(len(b)), Content: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }}
}

// both runs a test against the payer over HTTP and without a network.
func both(t *testing.T, rules string, f func(t *testing.T, p *payersim.Payer, to target.Target)) {
	t.Helper()
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		p := newPayer(t, rules)
		srv := httptest.NewServer(p)
		t.Cleanup(srv.Close)
		h, err := httptarget.New(srv.URL+"/v1/ncpdp", httptarget.Options{ContentType: payersim.MediaType})
		if err != nil {
			t.Fatal(err)
		}
		f(t, p, h)
	})
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		p := newPayer(t, rules)
		f(t, p, p.Target())
	})
}

func TestTarget_SaysWhatHTTPSays(t *testing.T) {
	t.Parallel()
	cases := []struct {
		rule      string
		outcome   claimdlq.OutcomeKind
		ambiguous bool
		retry     time.Duration
		answered  bool
		paid      int
	}{
		{"", claimdlq.OutcomeSubmitted, false, 0, true, 1},
		{"request 1 status 404", claimdlq.OutcomeRejected, false, 0, false, 0},
		{"request 1 status 429 retry 3", claimdlq.OutcomeTransient, false, 3 * time.Second, false, 0},
		{"request 1 status 503 retry 7", claimdlq.OutcomeTransient, false, 7 * time.Second, false, 0},
		{"request 1 status 504", claimdlq.OutcomeTransient, true, 0, false, 0},
		{"time 0s-1s status 503", claimdlq.OutcomeTransient, false, 0, false, 0},
		{"request 1 reset", claimdlq.OutcomeTransient, true, 0, false, 0},
		{"request 1 drop", claimdlq.OutcomeTransient, true, 0, false, 1},
		{"request 1 late 1ms", claimdlq.OutcomeSubmitted, false, 0, true, 1},
		{"request 1 latency 1ms", claimdlq.OutcomeSubmitted, false, 0, true, 1},
		{"transmission 1 empty", claimdlq.OutcomeSubmitted, false, 0, false, 1},
		{"transmission 1 html", claimdlq.OutcomeSubmitted, false, 0, true, 1},
	}
	for _, c := range cases {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			both(t, c.rule, func(t *testing.T, p *payersim.Payer, to target.Target) {
				d := to.Deliver(t.Context(), rxParcel(oneRx(t, "B1", 1)))
				o := d.Outcome
				if o.Kind != c.outcome || o.Ambiguous != c.ambiguous || o.RetryAfter != c.retry || (d.Answer.Len() > 0) != c.answered {
					t.Fatalf("got %+v with %d bytes", o, d.Answer.Len())
				}
				if s := p.Stats(); s.Pharmacy.Paid != c.paid || s.Requests != 1 {
					t.Fatalf("stats %+v", s)
				}
			})
		})
	}
}

func TestTarget_AfterADropTheSameBytesEndTheDoubt(t *testing.T) {
	t.Parallel()
	both(t, "request 1 drop", func(t *testing.T, p *payersim.Payer, to target.Target) {
		b1 := oneRx(t, "B1", 1)
		if d := to.Deliver(t.Context(), rxParcel(b1)); !d.Outcome.Ambiguous {
			t.Fatalf("got %+v", d.Outcome)
		}
		d := to.Deliver(t.Context(), rxParcel(b1))
		if r := rxResults(t, b1, d.Answer.Reveal(), true)[0]; r.Class != already || !r.Recovered {
			t.Fatalf("got %+v", r)
		}
		if s := p.Stats().Pharmacy; s.Paid != 1 || s.DoublePaid != 0 {
			t.Fatalf("stats %+v", s)
		}
	})
}

func TestTarget_APayerThatHangsEndsWithTheSender(t *testing.T) {
	t.Parallel()
	both(t, "request 1 hang", func(t *testing.T, p *payersim.Payer, to target.Target) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		done := make(chan target.Delivery, 1)
		go func() { done <- to.Deliver(ctx, rxParcel(oneRx(t, "B1", 1))) }()
		for p.Stats().Pharmacy.Paid == 0 { // until it has taken the claim
			if t.Context().Err() != nil {
				return
			}
		}
		cancel()
		if d := <-done; d.Outcome.Kind != claimdlq.OutcomeTransient || !d.Outcome.Ambiguous {
			t.Fatalf("got %+v", d.Outcome)
		}
	})
}

func TestTarget_InProcessKnowsWhatItCannotTake(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	to := p.Target()
	if d := to.Deliver(t.Context(), rxParcel([]byte("GARBAGE"))); d.Outcome != classify.HTTP(400, "", time.Time{}) {
		t.Fatalf("got %+v", d.Outcome)
	}
	bad := target.Parcel{Content: func() (io.ReadCloser, error) { return nil, io.ErrUnexpectedEOF }}
	if d := to.Deliver(t.Context(), bad); d.Outcome.Kind != claimdlq.OutcomeTransient || d.Outcome.Ambiguous {
		t.Fatalf("got %+v", d.Outcome)
	}
	if _, known := to.Inquire(t.Context(), bad); known || to.Name() != "payersim" {
		t.Fatal("it knows what it cannot")
	}
	p.SetScript(script(t, "time 0s-1s down"))
	if d := to.Deliver(t.Context(), bad); d.Outcome.Code != claimdlq.NewDetail("CONNECT_REFUSED") || d.Outcome.Ambiguous {
		t.Fatalf("got %+v", d.Outcome)
	}
}

// batchOf reads a batch of responses: its type, its answers by reference, and
// what the trailer says.
func batchOf(t *testing.T, b []byte) (kind byte, answers map[string][]byte, message string) {
	t.Helper()
	answers = map[string][]byte{}
	r := ncpdp.NewBatchReader(bytes.NewReader(b), ncpdp.BatchOptions{})
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return kind, answers, message
		}
		if err != nil {
			t.Fatal(err)
		}
		var faults []ncpdp.Fault
		switch rec := rec.(type) {
		case *ncpdp.BatchStart:
			kind, faults = rec.Header.Type, rec.Faults
			if rec.Header.Number != "0000001" || rec.Header.Receiver != "TESTSENDER" || rec.Header.Sender != "TESTPAYER" {
				t.Fatalf("header %+v", rec.Header)
			}
		case *ncpdp.BatchDetail:
			faults = rec.Faults
			answers[string(rec.Ref)] = bytes.Clone(rec.Message.Raw())
		case *ncpdp.BatchEnd:
			faults, message = rec.Faults, strings.TrimSpace(string(rec.Raw[20:len(rec.Raw)-1]))
		case *ncpdp.BatchJunk:
			faults = rec.Faults
		}
		if len(faults) > 0 {
			t.Fatalf("faults %v", faults)
		}
	}
}

func batch(t *testing.T, o testclaims.RxOptions) []byte {
	t.Helper()
	o.Batch = true
	var b bytes.Buffer
	if _, err := testclaims.GenerateRx(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBatch_IsAnsweredByReference(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "claim 3 reject 70\ntransmission 2 reject R8")
	o := testclaims.RxOptions{Claims: 6, TransactionsPer: 2}
	w := do(t, p, http.MethodPost, "/v1/ncpdp/batch", string(batch(t, o)))
	kind, answers, _ := batchOf(t, w.Body.Bytes())
	if w.Code != http.StatusOK || kind != 'R' || len(answers) != 3 {
		t.Fatalf("status %d, type %c, %d answers", w.Code, kind, len(answers))
	}
	want := map[string][]classify.NCPDPClass{
		"0000000001": {settled, settled}, "0000000002": {poison, poison}, "0000000003": {terminal, settled},
	}
	for i, request := range rx(t, o) {
		ref := "000000000" + string(rune('1'+i))
		for j, r := range rxResults(t, request, answers[ref], false) {
			if r.Class != want[ref][j] {
				t.Errorf("%s: transaction %d is %v", ref, j+1, r.Class)
			}
		}
	}
	if s := p.Stats().Pharmacy; s.Batches != 1 || s.Transmissions != 3 || s.Paid != 3 {
		t.Fatalf("stats %+v", s)
	}
}

func TestBatch_WithoutIntegrityNothingOfItIsLookedAt(t *testing.T) {
	t.Parallel()
	for _, fault := range []string{"batch-count", "no-trailer", "batch-number", "reference-twice", "reference-blank", "batch-junk", "truncated", "after-trailer"} {
		p := newPayer(t, "")
		o := testclaims.RxOptions{Claims: 3, Faults: []testclaims.Fault{{Name: fault, Every: 1}}}
		w := do(t, p, http.MethodPost, "/v1/ncpdp/batch", string(batch(t, o)))
		kind, answers, message := batchOf(t, w.Body.Bytes())
		if kind != 'E' || len(answers) != 0 || message != "FILE INTEGRITY" {
			t.Errorf("%s: type %c, %d answers, %q", fault, kind, len(answers), message)
		}
		if s := p.Stats().Pharmacy; s.Transmissions != 0 || s.RejectedBatches != 1 {
			t.Errorf("%s: stats %+v", fault, s)
		}
	}
	p := newPayer(t, "")
	for _, body := range []string{"", "GARBAGE", string(batch(t, testclaims.RxOptions{Faults: []testclaims.Fault{{Name: "batch-header", At: []int{1}}}}))} {
		if w := do(t, p, http.MethodPost, "/v1/ncpdp/batch", body); w.Code != http.StatusBadRequest {
			t.Errorf("status %d", w.Code)
		}
	}
}

func TestBatch_ANumberIsTakenOnce(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	file := batch(t, testclaims.RxOptions{Claims: 3})
	for i, want := range []byte{'R', 'E'} {
		b, err := p.AdjudicateBatch(file)
		if err != nil {
			t.Fatal(err)
		}
		if kind, _, message := batchOf(t, b); kind != want || want == 'E' && message != "BATCH NUMBER SENT BEFORE" {
			t.Fatalf("time %d: type %c, %q", i+1, kind, message)
		}
	}
	p.SetScript(script(t, "batches any"))
	d := p.Target().Deliver(t.Context(), rxParcel(file))
	_, answers, _ := batchOf(t, d.Answer.Reveal())
	for i, request := range rx(t, testclaims.RxOptions{Claims: 3}) {
		if r := rxResults(t, request, answers["000000000"+string(rune('1'+i))], false)[0]; r.Class != already {
			t.Fatalf("claim %d is %v", i+1, r.Class)
		}
	}
}

func TestJournal_PharmacyClaimsSurviveThePayer(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	start := func() *payersim.Payer {
		return open(t, payersim.Options{Now: newClock().now, Journal: path, Script: script(t, "claim rx=3 capture")})
	}
	p := start() // never closed: it was killed
	post(t, p, claims(t, testclaims.Options{}))
	for n := 1; n <= 4; n++ {
		postRx(t, p, oneRx(t, "B1", n))
	}
	for _, b := range [][]byte{oneRx(t, "B2", 2), oneRx(t, "B3", 1), oneRx(t, "B1", 1)} {
		postRx(t, p, b)
	}
	if _, err := p.AdjudicateBatch(batch(t, testclaims.RxOptions{FirstClaim: 50})); err != nil {
		t.Fatal(err)
	}
	before, cut := p.Fills(), append(read(t, path), `{"changes":[{"do":"pay"`...)
	if err := os.WriteFile(path, cut, 0o600); err != nil {
		t.Fatal(err)
	}
	p = start()
	if after := p.Fills(); !reflect.DeepEqual(before, after) || len(after) != 5 {
		t.Fatalf("before %+v\nafter %+v", before, after)
	}
	if len(p.Accepted()) != 1 {
		t.Fatal("the 837 claim is gone")
	}
	told(t, p, oneRx(t, "B3", 1), already)
	told(t, p, oneRx(t, "B2", 2), classify.NCPDPAlreadyReversed)
	told(t, p, oneRx(t, "B1", 3), captured)
	told(t, p, oneRx(t, "B1", 9), settled)
	b, err := p.AdjudicateBatch(batch(t, testclaims.RxOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	if kind, _, _ := batchOf(t, b); kind != 'E' {
		t.Fatal("the batch number is forgotten")
	}
	serials := map[string]bool{}
	for _, f := range p.Fills() {
		if serials[f.Control] {
			t.Fatalf("two claims have number %s", f.Control)
		}
		serials[f.Control] = true
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestJournal_ABrokenOneEndsPharmacyClaims(t *testing.T) {
	t.Parallel()
	p := open(t, payersim.Options{Now: newClock().now, Journal: filepath.Join(t.TempDir(), "journal")})
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if w := postRx(t, p, oneRx(t, "B1", 1)); w.Code != http.StatusInternalServerError {
		t.Fatalf("status %d", w.Code)
	}
	if p.Adjudicate(oneRx(t, "B1", 2)) != nil {
		t.Fatal("it answers what it cannot remember")
	}
}
