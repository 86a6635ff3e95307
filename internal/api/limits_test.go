package api_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/api"
	"claimdlq/internal/auth"
	"claimdlq/internal/testclaims"
)

func TestLimits_LongRequestsAreRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("anna", everyone, auth.Analyst)
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	w.get("anna", "/v1/records?partner="+strings.Repeat("A", 5000)).want(http.StatusRequestURITooLong)
	w.get("anna", "/v1/"+strings.Repeat("A", 2000)).want(http.StatusRequestURITooLong)
	long := []byte(`{"reason":"` + strings.Repeat("x", 70_000) + `"}`)
	w.do(call{as: "anna", method: http.MethodPost, path: path(id, "park"), body: long, match: 1}).want(http.StatusRequestEntityTooLarge)
	w.do(call{as: "anna", method: http.MethodPost, path: path(id, "park"), body: map[string]any{"reason": strings.Repeat("x", 201)}, match: 1}).want(http.StatusBadRequest)
	w.get("anna", "/v1/records?limit=1001").want(http.StatusBadRequest)
	w.get("anna", "/v1/records?limit=0").want(http.StatusBadRequest)
	if w.rec(id).Revision != 1 {
		t.Error("the record has moved")
	}
}

func TestLimits_MoreEventStreamsThanThereMayBeAreRefused(t *testing.T) {
	t.Parallel()
	w := setup(t, func(o *api.Options) { o.Streams = 1 })
	w.user("vera", everyone, auth.Viewer)
	next, stop := w.follow("vera", "/v1/streams", "")
	defer stop()
	if _, ok := next(); !ok {
		t.Fatal("the first one is not served")
	}
	if a := w.get("vera", "/v1/streams").want(http.StatusServiceUnavailable); a.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
	w.get("vera", "/v1/overview").want(http.StatusOK) // requests have places of their own
}

func TestLimits_AnActorsPaceIsBounded(t *testing.T) {
	t.Parallel()
	w := setup(t, func(o *api.Options) { o.Rate = 1e-9 })
	_, err := w.desk.CreateUser(t.Context(), auth.Local("root", "TEST"), auth.NewUser{
		Login: "vera", Password: auth.NewSecret(password), Access: auth.Access{Roles: []auth.Role{auth.Viewer}, Partners: everyone},
	}).Do(t.Context(), w.record)
	if err != nil {
		t.Fatal(err)
	}
	w.cookies["vera"] = w.do(call{method: http.MethodPost, path: "/v1/session", body: map[string]any{"login": "vera", "password": password}}).want(http.StatusOK).cookie()
	if a := w.get("vera", "/v1/session").want(http.StatusTooManyRequests); a.header.Get("Retry-After") == "" {
		t.Error("it does not say when to try again")
	}
}

// A defect of ours is answered, and neither answered nor logged with what was sent.
func TestRescue_APanicIsAnsweredAndSaysNoValue(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := setup(t, func(o *api.Options) {
		o.Alarms = func() []alert.Event { panic("TESTSECRETVALUE") }
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
	})
	w.user("vera", everyone, auth.Viewer)
	a := w.get("vera", "/v1/alarms").want(http.StatusInternalServerError)
	if strings.Contains(a.body, "TESTSECRETVALUE") || strings.Contains(log.String(), "TESTSECRETVALUE") || !strings.Contains(log.String(), "list-alarms") {
		t.Errorf("%s\n%s", a.body, log.String())
	}
}

func TestNew_AsksForWhatItNeeds(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, change := range map[string]func(*api.Options){
		"app": func(o *api.Options) { o.App = nil }, "directory": func(o *api.Options) { o.DataDir = "" },
		"desk": func(o *api.Options) { o.Desk = nil }, "clock": func(o *api.Options) { o.Now = nil },
	} {
		o := w.options
		change(&o)
		if _, err := api.New(o); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	o := w.options
	o.WithPayload = true
	id := w.take(partnerA, 1, 1, "missing-ndc@1")[0]
	o.Jobs, o.Silences, o.Alarms, o.Background, o.Locks = nil, nil, nil, nil, nil
	h, err := api.New(o)
	if err != nil {
		t.Fatal(err)
	}
	w.user("anna", everyone, auth.Analyst)
	for _, x := range []struct {
		method, path string
		want         int
	}{
		{http.MethodGet, "/v1/replays", http.StatusOK},
		{http.MethodGet, "/v1/replays/20260718-100000-QK3T7A", http.StatusServiceUnavailable},
		{http.MethodGet, "/v1/alarms", http.StatusOK},
		{http.MethodPost, path(id, "reveal"), http.StatusBadRequest},
	} {
		r := httptest.NewRequestWithContext(context.Background(), x.method, "http://127.0.0.1"+x.path, http.NoBody)
		r.Header.Set("Cookie", w.cookies["anna"])
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		got := httptest.NewRecorder()
		r.RemoteAddr = "127.0.0.1:1234"
		h.ServeHTTP(got, r)
		if got.Code != x.want {
			t.Errorf("%s: %d %s", x.path, got.Code, got.Body)
		}
	}
}

// 31: what is not a payload operation answers with nothing of a claim, in any listing,
// figure, error or event, and neither does the log.
func TestPHI_NothingOfAClaimIsInWhatIsNoPayload(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := setup(t, func(o *api.Options) { o.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	w.user("all", everyone, auth.Roles...)
	ids := w.take(partnerA, 1, 4, "missing-ndc@1", "birth-date@2", "line-break@3")
	plan := into[planned](w.do(call{as: "all", method: http.MethodPost, path: "/v1/replays", body: map[string]any{"reason": "TEST", "ids": ids}}).want(http.StatusCreated))
	w.do(call{as: "all", method: http.MethodPost, path: path(ids[0], "reveal"), body: because, payload: true}).want(http.StatusOK)
	w.do(call{as: "all", method: http.MethodPost, path: path(ids[0], "history"), body: because, payload: true}).want(http.StatusOK)
	answers := []string{
		w.do(call{
			as: "all", method: http.MethodPost, path: path(ids[0], "correct:propose"), payload: true,
			body: map[string]any{"reason": "TEST", "document": w.clean(1)},
		}).want(http.StatusOK).body,
	}
	_, ops := w.document()
	for _, op := range ops {
		if op.method != http.MethodGet || op.Payload || strings.HasPrefix(op.ID, "follow-") {
			continue
		}
		for _, id := range append([]string{plan.Plan.ID, "all", "ncpdp"}, ids[0].String(), ids[1].String(), ids[2].String()) {
			p := op.path
			for _, name := range []string{"{id}", "{login}", "{stream}"} {
				p = strings.ReplaceAll(p, name, id)
			}
			answers = append(answers, w.get("all", p).body)
		}
	}
	answers = append(answers, log.String())
	seen := w.do(call{as: "all", method: http.MethodPost, path: path(ids[0], "reveal"), body: because, payload: true}).want(http.StatusOK).body
	marks := testclaims.RxMarks(testclaims.RxOptions{})
	found := 0
	for _, mark := range marks {
		if strings.Contains(seen, mark) {
			found++
		}
		for _, a := range answers {
			if strings.Contains(a, mark) {
				t.Errorf("a value of the claim is in %s", a)
			}
		}
	}
	if found == 0 {
		t.Error("the marks are not in the claim: nothing was proved")
	}
}

// Who has not signed in, and sends nothing to its end, keeps nobody from working.
func TestLimits_StrangersTakeNoPlaceOfOthers(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.user("vera", everyone, auth.Viewer)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	slow := 0
	for {
		r, wr := io.Pipe()
		defer wr.Close()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v1/session", r)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		go func() {
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_ = resp.Body.Close()
			}
		}()
		if _, err := wr.Write([]byte(`{"login":`)); err != nil {
			t.Fatal(err)
		}
		slow++
		a := w.do(call{method: http.MethodPost, path: "/v1/session", body: map[string]any{"login": "nobody", "password": "TEST"}})
		if a.status == http.StatusServiceUnavailable {
			break
		}
		if slow > 10_000 {
			t.Fatal("as many strangers as want to are heard at a time")
		}
	}
	w.get("vera", "/v1/overview").want(http.StatusOK)
}
