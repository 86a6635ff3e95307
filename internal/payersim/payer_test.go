package payersim_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq/classify"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/x12ack"
)

// clock is a clock that moves when told.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 7, 17, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func script(t *testing.T, text string) *payersim.Script {
	t.Helper()
	s, err := payersim.ParseScript(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newPayer(t *testing.T, text string) *payersim.Payer {
	t.Helper()
	return open(t, payersim.Options{Script: script(t, text), Now: newClock().now, FirstNumber: 1})
}

func open(t *testing.T, o payersim.Options) *payersim.Payer {
	t.Helper()
	p, err := payersim.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func claims(t *testing.T, o testclaims.Options) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := testclaims.Generate(&b, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func do(t *testing.T, p http.Handler, method, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body)))
	return w
}

func post(t *testing.T, p http.Handler, body string) *httptest.ResponseRecorder {
	t.Helper()
	return do(t, p, http.MethodPost, "/v1/interchanges", body)
}

// lost posts a file and wants the connection to break.
func lost(t *testing.T, p http.Handler, body string) {
	t.Helper()
	defer func() {
		if v := recover(); v != http.ErrAbortHandler { //nolint:errorlint // a panic value
			t.Fatalf("recovered %v", v)
		}
	}()
	post(t, p, body)
	t.Fatal("the request was answered")
}

// answers reads acknowledgments back.
func answers(t *testing.T, body []byte) []x12ack.Answer {
	t.Helper()
	a, err := x12ack.Read(bytes.NewReader(body))
	if err != nil || len(a.Faults) > 0 {
		t.Fatalf("read acknowledgments: %v, %+v", err, a)
	}
	return a.Answers()
}

// results are the results of the answers of one kind.
func results(all []x12ack.Answer, k x12ack.Kind) (out []classify.Result) {
	for _, a := range all {
		if a.Kind == k {
			out = append(out, a.Result)
		}
	}
	return out
}

func same(a, b []classify.Result) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func want(t *testing.T, all []x12ack.Answer, k x12ack.Kind, results_ ...classify.Result) {
	t.Helper()
	if got := results(all, k); !same(got, results_) {
		t.Fatalf("kind %d: got %q, want %q", k, got, results_)
	}
}

func TestPayer_AcknowledgesACleanInterchange(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	w := post(t, p, claims(t, testclaims.Options{Claims: 3, ClaimsPerSet: 2, ISA13: 42, GS06: 7}))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	all := answers(t, w.Body.Bytes())
	want(t, all, x12ack.KindTA1, classify.Accepted)
	want(t, all, x12ack.KindSet, classify.Accepted, classify.Accepted)
	want(t, all, x12ack.KindClaim, classify.Accepted, classify.Accepted, classify.Accepted)
	for _, a := range all {
		if a.Kind == x12ack.KindTA1 && (a.ISA13 != 42 || a.Envelope.Sender != "TESTSENDER") {
			t.Errorf("TA1 is for %d of %s", a.ISA13, a.Envelope.Sender)
		}
		if a.Kind == x12ack.KindSet && a.GS06 != 7 {
			t.Errorf("999 is for group %d", a.GS06)
		}
		if a.Kind == x12ack.KindClaim && (a.PayerControl.Len() == 0 || !strings.HasPrefix(string(a.CLM01.Reveal()), "TEST")) {
			t.Errorf("277CA lacks a number of the claim")
		}
	}
	if s := p.Stats(); s.Accepted != 3 || s.DoubleAccepted != 0 || len(p.Accepted()) != 3 {
		t.Fatalf("stats %+v", s)
	}
}

func TestPayer_AClaimAcceptedTwiceIsSeen(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	for isa13 := range uint32(2) {
		post(t, p, claims(t, testclaims.Options{Claims: 3, ISA13: isa13 + 1, GS06: isa13 + 1, FirstClaim: int(isa13) + 1}))
	}
	s := p.Stats()
	if s.Accepted != 6 || s.DoubleAccepted != 2 || s.RepeatedCLM01 != 2 {
		t.Fatalf("stats %+v", s)
	}
	d := p.Duplicates()
	if len(d) != 2 || d[0].CLM01 != "TEST0000002" || d[0].Count != 2 || d[0].ISA13 != 1 {
		t.Fatalf("duplicates %+v", d)
	}
}

func TestPayer_AChangedClaimUnderTheSameNumberIsSeen(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	post(t, p, claims(t, testclaims.Options{Seed: 1}))
	post(t, p, claims(t, testclaims.Options{Seed: 1, ISA13: 2, Faults: []testclaims.Fault{{Name: "unbalanced", At: []int{1}}}}))
	post(t, p, strings.Replace(claims(t, testclaims.Options{Seed: 1, ISA13: 3}), "DMG*D8*19", "DMG*D8*18", 1))
	if s := p.Stats(); s.DoubleAccepted != 0 || s.RepeatedCLM01 != 1 || s.Accepted != 2 || s.RejectedClaims != 1 {
		t.Fatalf("stats %+v", s)
	}
}

func TestPayer_DedupeRejectsTheSecondOfAClaim(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "dedupe on")
	post(t, p, claims(t, testclaims.Options{Claims: 2}))
	w := post(t, p, claims(t, testclaims.Options{Claims: 2, ISA13: 2, FirstClaim: 2}))
	want(t, answers(t, w.Body.Bytes()), x12ack.KindClaim, classify.Duplicate, classify.Accepted)
	if s := p.Stats(); s.DoubleAccepted != 0 || s.DuplicateClaims != 1 || s.Accepted != 3 {
		t.Fatalf("stats %+v", s)
	}
}

func TestPayer_AnInterchangeSeenBeforeIsADuplicate(t *testing.T) {
	t.Parallel()
	file := claims(t, testclaims.Options{Claims: 2})
	p := newPayer(t, "")
	post(t, p, file)
	all := answers(t, post(t, p, file).Body.Bytes())
	want(t, all, x12ack.KindTA1, classify.AlreadyReceived)
	want(t, all, x12ack.KindClaim)
	if s := p.Stats(); s.Accepted != 2 || s.DuplicateInterchanges != 1 {
		t.Fatalf("stats %+v", s)
	}
	other := claims(t, testclaims.Options{Claims: 1, Sender: "OTHERSENDER", FirstClaim: 9})
	want(t, answers(t, post(t, p, other).Body.Bytes()), x12ack.KindTA1, classify.Accepted)

	p = newPayer(t, "interchanges any")
	post(t, p, file)
	post(t, p, file)
	if s := p.Stats(); s.DoubleAccepted != 2 || s.DuplicateInterchanges != 1 {
		t.Fatalf("stats %+v", s)
	}
}

func TestPayer_RejectsWhatItsScannerRejects(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	file := claims(t, testclaims.Options{Claims: 4, ClaimsPerSet: 2, Faults: []testclaims.Fault{{Name: "missing-hi", At: []int{1}}, {Name: "unbalanced", At: []int{3}}}})
	all := answers(t, post(t, p, file).Body.Bytes())
	want(t, all, x12ack.KindSet, classify.Rejected, classify.Accepted)
	want(t, all, x12ack.KindClaim, classify.Rejected, classify.Accepted)
	if s := p.Stats(); s.Accepted != 1 || s.RejectedSets != 1 || s.RejectedClaims != 1 {
		t.Fatalf("stats %+v", s)
	}
}

func TestPayer_GuideOffLooksAtEnvelopesOnly(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "guide off")
	post(t, p, claims(t, testclaims.Options{Claims: 2, Faults: []testclaims.Fault{{Name: "missing-hi", At: []int{1}}}}))
	if s := p.Stats(); s.Accepted != 2 {
		t.Fatalf("stats %+v", s)
	}
}

func TestPayer_ScriptedVerdicts(t *testing.T) {
	t.Parallel()
	p := newPayer(t, `
		interchange 1 ta1 R 006
		interchange 2 ta1 E 014
		set 2 reject 5
		claim 2 stc A7:562:85
		claim clm01=TEST0000007 stc A1:20`)
	one := func(isa13 uint32) []x12ack.Answer {
		o := testclaims.Options{Claims: 4, ClaimsPerSet: 2, ISA13: isa13, FirstClaim: int(isa13-1)*4 + 1}
		return answers(t, post(t, p, claims(t, o)).Body.Bytes())
	}
	all := one(1)
	want(t, all, x12ack.KindTA1, classify.Rejected)
	want(t, all, x12ack.KindSet)
	all = one(2) // sets 1 and 2, claims 1 and 2, the third and fourth never counted
	want(t, all, x12ack.KindTA1, classify.AcceptedWithErrors)
	want(t, all, x12ack.KindSet, classify.Accepted, classify.Rejected)
	want(t, all, x12ack.KindClaim, classify.Accepted, classify.Rejected)
	if s := p.Stats(); s.Accepted != 1 || s.RejectedInterchanges != 1 {
		t.Fatalf("stats %+v", s)
	}
	p.SetScript(script(t, "claim clm01=TEST0000010 stc A1:20\nclaim cpt=99213 stc A7:1\nclaim diag=NONE stc A7:2"))
	all = one(3)
	if r := results(all, x12ack.KindClaim); len(r) != 4 || r[1] != classify.Pending {
		t.Fatalf("claims %v", r)
	}
}

func TestPayer_FailsAsScripted(t *testing.T) {
	t.Parallel()
	p := newPayer(t, `
		request 1 status 503 retry 2
		request 2 reset
		request 3 cut
		request 4 drop`)
	file := claims(t, testclaims.Options{Claims: 2, ISA13: 5})
	w := post(t, p, file)
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "2" {
		t.Fatalf("status %d, %v", w.Code, w.Header())
	}
	lost(t, p, file)
	lost(t, p, file)
	if s := p.Stats(); s.Accepted != 0 || s.Requests != 3 {
		t.Fatalf("stats %+v", s)
	}
	lost(t, p, file)
	if s := p.Stats(); s.Accepted != 2 {
		t.Fatalf("a drop comes after the acceptance: %+v", s)
	}
	all := answers(t, post(t, p, claims(t, testclaims.Options{ISA13: 6, FirstClaim: 7})).Body.Bytes())
	want(t, all, x12ack.KindTA1, classify.Accepted, classify.Accepted)
	want(t, all, x12ack.KindClaim, classify.Accepted, classify.Accepted, classify.Accepted)
}

func TestPayer_OutageByTheClock(t *testing.T) {
	t.Parallel()
	c := newClock()
	p := open(t, payersim.Options{Script: script(t, "time 5s-10s status 429 retry 3"), Now: c.now})
	for i, step := range []struct {
		add  time.Duration
		want int
	}{{5*time.Second - 1, 200}, {1, 429}, {5*time.Second - 1, 429}, {1, 200}} {
		c.add(step.add)
		if w := post(t, p, claims(t, testclaims.Options{ISA13: uint32(i) + 1, FirstClaim: i + 1})); w.Code != step.want {
			t.Errorf("step %d: status %d, want %d", i, w.Code, step.want)
		}
	}
}

func TestPayer_AcknowledgmentsGoAstrayAsScripted(t *testing.T) {
	t.Parallel()
	c := newClock()
	p := open(t, payersim.Options{Now: c.now, Script: script(t, `
		acks ta1
		interchange 1 acks none
		interchange 2 acks twice
		interchange 3 acks unknown
		interchange 4 acks late 2
		interchange 6 acks late 5s`)})
	numbers := func(isa13 uint32) (n []uint32) {
		w := post(t, p, claims(t, testclaims.Options{ISA13: isa13, FirstClaim: int(isa13)}))
		if w.Code == http.StatusAccepted {
			return nil
		}
		for _, a := range answers(t, w.Body.Bytes()) {
			n = append(n, a.ISA13)
		}
		return n
	}
	check := func(isa13 uint32, want ...uint32) {
		t.Helper()
		got := numbers(isa13)
		if len(got) != len(want) {
			t.Fatalf("interchange %d: answers for %v, want %v", isa13, got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("interchange %d: answers for %v, want %v", isa13, got, want)
			}
		}
	}
	check(1)
	check(2, 2)
	check(3, 3, 999999990, 2)
	check(4)
	check(5, 5)
	check(6, 4)
	check(7, 7)
	c.add(5 * time.Second)
	check(8, 8, 6)
}

func TestPayer_BoxIsCollectedAndEmptied(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "answer box")
	if w := post(t, p, claims(t, testclaims.Options{})); w.Code != http.StatusAccepted || w.Body.Len() != 0 {
		t.Fatalf("status %d", w.Code)
	}
	list := func() (names []string) {
		if err := json.Unmarshal(do(t, p, http.MethodGet, "/v1/acks", "").Body.Bytes(), &names); err != nil {
			t.Fatal(err)
		}
		return names
	}
	names := list()
	if len(names) != 3 || names[0] != "ta1-000000001.x12" || names[1] != "999-000000002.x12" || names[2] != "277ca-000000003.x12" {
		t.Fatalf("box holds %v", names)
	}
	for i, n := range names {
		if len(answers(t, do(t, p, http.MethodGet, "/v1/acks/"+n, "").Body.Bytes())) == 0 {
			t.Errorf("%s is empty", n)
		}
		if w := do(t, p, http.MethodDelete, "/v1/acks/"+n, ""); w.Code != http.StatusNoContent {
			t.Errorf("delete: status %d", w.Code)
		}
		if left := list(); len(left) != 2-i {
			t.Errorf("box holds %v", left)
		}
	}
	if w := do(t, p, http.MethodGet, "/v1/acks/"+names[0], ""); w.Code != http.StatusNotFound {
		t.Errorf("taken away: status %d", w.Code)
	}
}

func TestCollect_TakesWhatIsDueOnce(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "answer box\ninterchange 1 acks late 1")
	post(t, p, claims(t, testclaims.Options{}))
	if got := p.Collect(); len(got) != 0 {
		t.Fatalf("too early: %d", len(got))
	}
	post(t, p, claims(t, testclaims.Options{ISA13: 2, FirstClaim: 2}))
	got := p.Collect()
	if len(got) != 6 || got[0].Kind != "ta1" || len(answers(t, got[0].Body)) != 1 {
		t.Fatalf("collected %d", len(got))
	}
	if s := p.Stats(); len(p.Collect()) != 0 || s.AcksWaiting != 0 || s.BoxBytes != 0 {
		t.Fatalf("left: %+v", s)
	}
}

func TestPayer_TellsWhatArrived(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "interchange 2 ta1 R 006")
	post(t, p, claims(t, testclaims.Options{ISA13: 42}))
	post(t, p, claims(t, testclaims.Options{ISA13: 43, FirstClaim: 2}))
	const who = "?sender=ZZ:TESTSENDER&receiver=ZZ:TESTPAYER"
	for path, want := range map[string]struct {
		code   int
		status string
	}{
		"000000042" + who: {200, "accepted"}, "42" + who: {200, "accepted"}, "43" + who: {200, "rejected"}, "44" + who: {404, "not_found"},
		"42?sender=ZZ:OTHER&receiver=ZZ:TESTPAYER": {404, "not_found"}, "x" + who: {404, "not_found"},
	} {
		w := do(t, p, http.MethodGet, "/v1/interchanges/"+path, "")
		var got struct{ Status string }
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != want.code || got.Status != want.status {
			t.Errorf("%s: %d %s, %v", path, w.Code, w.Body, err)
		}
	}
}

func TestPayer_NeverSaysNotFoundWhileItReceives(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	file := claims(t, testclaims.Options{ISA13: 42})
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/interchanges", r))
	}()
	query := func() int {
		return do(t, p, http.MethodGet, "/v1/interchanges/42?sender=ZZ:TESTSENDER&receiver=ZZ:TESTPAYER", "").Code
	}
	_, _ = io.WriteString(w, file[:500]) // read: the payer is in the middle of it
	if code := query(); code != http.StatusServiceUnavailable {
		t.Fatalf("status %d while receiving", code)
	}
	_, _ = io.WriteString(w, file[500:])
	_ = w.Close()
	<-done
	if code := query(); code != http.StatusOK {
		t.Fatalf("status %d afterwards", code)
	}
}

func TestPayer_DedupeLooksInsideAnInterchangeToo(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "dedupe on")
	file := claims(t, testclaims.Options{Claims: 2, ClaimsPerSet: 1})
	file = strings.Replace(file, "TEST0000002", "TEST0000001", 1)
	one := file[strings.Index(file, "HL*1**"):strings.Index(file, "~SE*")]
	two := file[strings.LastIndex(file, "HL*1**"):strings.LastIndex(file, "~SE*")]
	file = strings.Replace(file, two, one, 1)
	file = strings.Replace(file, "SE*"+segments(two)+"*0002", "SE*"+segments(one)+"*0002", 1)
	want(t, answers(t, post(t, p, file).Body.Bytes()), x12ack.KindClaim, classify.Accepted, classify.Duplicate)
}

// segments counts what SE01 counts of a set whose claims are given.
func segments(claims string) string {
	return strconv.Itoa(strings.Count(claims, "~") + 1 + 6) // ST BHT NM1 PER NM1 and SE
}

func TestPayer_JournalOutlivesIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	o := payersim.Options{Now: newClock().now, Journal: path}
	p := open(t, o)
	post(t, p, claims(t, testclaims.Options{Claims: 2}))
	before := p.Accepted()
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = f.WriteString(`{"lane":"cut sho`)
	_ = f.Close()

	p = open(t, o)
	if after := p.Accepted(); len(after) != 2 || after[1] != before[1] {
		t.Fatalf("remembers %+v", after)
	}
	want(t, answers(t, post(t, p, claims(t, testclaims.Options{Claims: 2})).Body.Bytes()), x12ack.KindTA1, classify.AlreadyReceived)
	post(t, p, claims(t, testclaims.Options{Claims: 1, ISA13: 2}))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if s := open(t, o).Stats(); s.Accepted != 3 || s.DoubleAccepted != 1 {
		t.Fatalf("stats %+v", s)
	}
}

func TestPayer_BadRequestsGetAStatus(t *testing.T) {
	t.Parallel()
	p := open(t, payersim.Options{Now: newClock().now, MaxBody: 4000})
	for _, c := range []struct {
		method, path, body string
		want               int
	}{
		{http.MethodPost, "/v1/interchanges", "", 400},
		{http.MethodPost, "/v1/interchanges", "no X12 at all", 400},
		{http.MethodPost, "/v1/interchanges", claims(t, testclaims.Options{Claims: 50}), 413},
		{http.MethodGet, "/v1/nothing", "", 404},
		{http.MethodDelete, "/v1/interchanges", "", 404},
		{http.MethodPut, "/v1/script", "nonsense", 400},
		{http.MethodPut, "/v1/script", "dedupe on", 204},
		{http.MethodGet, "/v1/stats", "", 200},
		{http.MethodGet, "/v1/accepted", "", 200},
		{http.MethodGet, "/v1/duplicates", "", 200},
	} {
		if w := do(t, p, c.method, c.path, c.body); w.Code != c.want {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, w.Code, c.want)
		}
	}
}

func TestPayer_FullMemoryRefuses(t *testing.T) {
	t.Parallel()
	p := open(t, payersim.Options{Now: newClock().now, MaxClaims: 2})
	post(t, p, claims(t, testclaims.Options{Claims: 2}))
	if w := post(t, p, claims(t, testclaims.Options{ISA13: 2, FirstClaim: 3})); w.Code != http.StatusInsufficientStorage {
		t.Fatalf("claims: status %d", w.Code)
	}
	p = open(t, payersim.Options{Now: newClock().now, MaxBox: 10, Script: script(t, "answer box")})
	post(t, p, claims(t, testclaims.Options{}))
	if w := post(t, p, claims(t, testclaims.Options{ISA13: 2, FirstClaim: 3})); w.Code != http.StatusInsufficientStorage {
		t.Fatalf("box: status %d", w.Code)
	}
}

func TestPayer_ManySendersAtOnce(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "request 20% status 503\nrequest 20% drop")
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			defer func() { _ = recover() }()
			post(t, p, claims(t, testclaims.Options{Claims: 5, ISA13: uint32(i) + 1, FirstClaim: i*5 + 1}))
		})
	}
	wg.Wait()
	s := p.Stats()
	if s.Requests != 40 || s.Accepted != 5*s.Interchanges || s.Accepted != len(p.Accepted()) || s.DoubleAccepted != 0 || s.Interchanges == 40 || s.Interchanges == 0 {
		t.Fatalf("stats %+v", s)
	}
}

func TestNew_WantsAClock(t *testing.T) {
	t.Parallel()
	if _, err := payersim.New(payersim.Options{}); err == nil {
		t.Fatal("no error")
	}
}
