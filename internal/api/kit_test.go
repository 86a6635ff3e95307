package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/flow/filing"
	"claimdlq/flow/intake"
	"claimdlq/flow/replay"
	"claimdlq/internal/api"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/internal/job"
	"claimdlq/internal/payersim"
	"claimdlq/internal/recipe"
	server "claimdlq/internal/serve"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/x12"
)

// password is everybody's in the tests.
const password = "TESTpassword-1234"

// world is a data directory with a payer, its people, and the API before it.
type world struct {
	t         testing.TB
	dir       string
	app       *app.App
	desk      *auth.Desk
	jobs      *job.Jobs
	recipes   *recipe.Recipes
	alarms    []alert.Event
	recipeDir string
	options   api.Options
	url       string // of everything but payloads
	payload   string
	mu        sync.Mutex
	cookies   map[string]string
	keys      int
}

// The partners of the tests: BIN:PCN.
const (
	partnerA = "999999:TESTPCN"
	partnerB = "888888:TESTOTHER"
)

func setup(t testing.TB, change ...func(*api.Options)) *world {
	t.Helper()
	return setupWith(t, rules{}, change...)
}

// setupSecond is setup with a rule of two persons.
func setupSecond(t testing.TB, second auth.Second, change ...func(*api.Options)) *world {
	t.Helper()
	return setupWith(t, rules{second: second}, change...)
}

// rules are what a data directory goes by.
type rules struct {
	second  auth.Second
	windows filing.Windows
}

func setupWith(t testing.TB, by rules, change ...func(*api.Options)) *world {
	t.Helper()
	p, err := payersim.New(payersim.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(p)
	t.Cleanup(srv.Close)
	w := &world{t: t, dir: filepath.Join(t.TempDir(), "data"), cookies: map[string]string{}}
	policy := claimdlq.DefaultPolicy()
	policy.Base, policy.Cap = time.Millisecond, 2*time.Millisecond
	if w.app, err = app.Open(t.Context(), app.Options{
		Dir: w.dir, Create: true, Now: time.Now, Policies: claimdlq.Policies{"": policy}, Windows: by.windows,
		Targets: []string{"ncpdp=" + srv.URL + "/v1/ncpdp", "837=" + srv.URL + "/v1/interchanges"},
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.app.Close(); err != nil {
			t.Error(err)
		}
	})
	if w.desk, err = auth.Open(auth.Options{
		Dir: filepath.Join(t.TempDir(), "auth"), Now: time.Now, LoopbackHTTP: true, Second: by.second, Argon: auth.Argon{MemoryKiB: 8, Passes: 1, Threads: 1},
	}); err != nil {
		t.Fatal(err)
	}
	open := func(dir string) *job.Jobs {
		jobs, err := job.Open(job.Config{
			Dir: filepath.Join(t.TempDir(), dir), Approvals: api.Approvals(w.desk), Inquire: w.app.Flow.Settle.Inquire, Poll: time.Millisecond,
			Replay: replay.Config{
				Store: w.app.Store, Vault: w.app.Vault, Identities: w.app.Keys.Identities(), Policies: claimdlq.Policies{"": policy},
				Rules: x12.LatestRules(), Now: time.Now,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		jobs.Start(t.Context())
		t.Cleanup(func() {
			if err := jobs.Close(); err != nil {
				t.Error(err)
			}
		})
		return jobs
	}
	w.jobs = open("jobs")
	w.recipeDir = filepath.Join(t.TempDir(), "recipes")
	if w.recipes, err = recipe.Open(recipe.Config{
		Dir: w.recipeDir, Store: w.app.Store, Correct: w.app.Flow.Correct, Keys: w.app.Keys, Now: time.Now,
	}); err != nil {
		t.Fatal(err)
	}
	w.recipes.Start(t.Context())
	t.Cleanup(func() {
		if err := w.recipes.Close(); err != nil {
			t.Error(err)
		}
	})
	silences, err := api.OpenSilences(filepath.Join(t.TempDir(), "silences.json"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var background sync.WaitGroup
	t.Cleanup(background.Wait)
	w.options = api.Options{
		App: w.app, DataDir: w.dir, Desk: w.desk, Jobs: w.jobs, Acts: open("acts"), Recipes: w.recipes, Now: time.Now, Silences: silences, Heartbeat: 10 * time.Millisecond, Refresh: 5 * time.Millisecond, Rate: 1e6,
		Alarms:     func() []alert.Event { return w.alarms },
		Background: func(f func(context.Context)) { background.Go(func() { f(t.Context()) }) }, Locks: &api.Locks{},
	}
	for _, f := range change {
		f(&w.options)
	}
	w.url, w.payload = serve(t, w.whole, w.options), serve(t, api.Payload, w.options)
	return w
}

// sharedToken is the serving process's own.
const sharedToken = "TESTtoken-0123456789"

// whole is the API with the doors of a serving process.
func (w *world) whole(o api.Options) (http.Handler, error) {
	h, err := api.New(o)
	return server.New(server.Options{
		Flow: w.app.Flow, Store: w.app.Store, API: h, Now: time.Now, Token: []byte(sharedToken), Porter: api.NewPorter(o.Desk, w.record, o.Now),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "dlq_depth 0\n") }),
	}), err
}

func serve(t testing.TB, make func(api.Options) (http.Handler, error), o api.Options) string {
	t.Helper()
	h, err := make(o)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(server.Secured(h))
	t.Cleanup(srv.Close)
	return srv.URL
}

// user makes an account and signs it in. The password is set by himself, so that he has
// no duty.
func (w *world) user(login string, partners []string, roles ...auth.Role) string {
	w.t.Helper()
	root := auth.Local("root", "TEST")
	_, err := w.desk.CreateUser(w.t.Context(), root, auth.NewUser{
		Login: login, Password: auth.NewSecret(password), Access: auth.Access{Roles: roles, Partners: partners},
	}).Do(w.t.Context(), w.record)
	if err != nil {
		w.t.Fatal(err)
	}
	a := w.do(call{method: http.MethodPost, path: "/v1/session", body: map[string]any{"login": login, "password": password}})
	if a.status != http.StatusOK {
		w.t.Fatalf("sign-in of %s: %d %s", login, a.status, a.body)
	}
	w.cookies[login] = a.cookie()
	a = w.do(call{as: login, method: http.MethodPut, path: "/v1/session/password", body: map[string]any{"old": password, "new": password + "-own"}})
	if a.status != http.StatusOK {
		w.t.Fatalf("password of %s: %d %s", login, a.status, a.body)
	}
	w.cookies[login] = a.cookie()
	return login
}

func (w *world) record(ctx context.Context, e auth.Event) error {
	_, err := w.app.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{e.Entry()}})
	return err
}

// call is a request. A command gets a key of its own where it has none.
type call struct {
	as, method, path string
	body             any // JSON, or []byte as it is
	match            any // revision for If-Match
	key              string
	header           map[string]string
	payload          bool
}

type answer struct {
	t      testing.TB
	status int
	body   string
	header http.Header
}

func (a answer) cookie() string {
	set := a.header.Get("Set-Cookie")
	c, _, _ := strings.Cut(set, ";")
	return c
}

// into decodes the body.
func into[T any](a answer) (v T) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(a.body), &v); err != nil {
		a.t.Fatalf("%v: %d %s", err, a.status, a.body)
	}
	return v
}

func (w *world) request(c call) *http.Request {
	w.t.Helper()
	var body io.Reader
	switch b := c.body.(type) {
	case nil:
	case []byte:
		body = bytes.NewReader(b)
	default:
		j, err := json.Marshal(b)
		if err != nil {
			w.t.Fatal(err)
		}
		body = bytes.NewReader(j)
	}
	base := w.url
	if c.payload {
		base = w.payload
	}
	req, err := http.NewRequestWithContext(w.t.Context(), c.method, base+c.path, body)
	if err != nil {
		w.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if c.as != "" {
		req.Header.Set("Cookie", w.cookies[c.as])
	}
	w.mu.Lock()
	w.keys++
	key := "test-" + strconv.Itoa(w.keys)
	w.mu.Unlock()
	if c.key != "" {
		key = c.key
	}
	req.Header.Set("Idempotency-Key", key)
	if c.match != nil {
		j, _ := json.Marshal(c.match)
		req.Header.Set("If-Match", `"`+string(j)+`"`)
	}
	for k, v := range c.header {
		if v == "" {
			req.Header.Del(k)
			continue
		}
		req.Header.Set(k, v)
	}
	return req
}

func (w *world) do(c call) answer {
	w.t.Helper()
	resp, err := http.DefaultClient.Do(w.request(c))
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	if resp.Header.Get("Cache-Control") != "no-store" {
		w.t.Errorf("%s %s may be cached", c.method, c.path)
	}
	if ct := resp.Header.Get("Content-Type"); resp.StatusCode >= 400 && ct != "application/problem+json" {
		w.t.Errorf("%s %s: %d is no problem but %s: %s", c.method, c.path, resp.StatusCode, ct, b)
	}
	return answer{w.t, resp.StatusCode, string(b), resp.Header}
}

func (w *world) get(as, path string) answer {
	w.t.Helper()
	return w.do(call{as: as, method: http.MethodGet, path: path})
}

// want fails unless the status is the wanted one.
func (a answer) want(status int) answer {
	a.t.Helper()
	if a.status != status {
		a.t.Fatalf("%d, want %d: %s", a.status, status, a.body)
	}
	return a
}

// take takes pharmacy claims of a partner in, with or without a fault that the judge
// finds, and returns their ids.
func (w *world) take(partner string, first, n int, faults ...string) []claimdlq.ID {
	w.t.Helper()
	bin, pcn, _ := strings.Cut(partner, ":")
	o := testclaims.RxOptions{Claims: n, FirstClaim: first, Seed: uint64(first), BIN: bin, PCN: pcn, Canary: true}
	var ids []claimdlq.ID
	for _, f := range faults {
		x, err := testclaims.ParseRxFault(f)
		if err != nil {
			w.t.Fatal(err)
		}
		o.Faults = append(o.Faults, x)
	}
	_, err := testclaims.EachRx(o, func(_ int, b []byte) error {
		res, err := w.app.Flow.Intake.Message(w.t.Context(), claimdlq.System("intake"), phi.Wrap(bytes.Clone(b)), intake.MessageOptions{})
		for _, r := range res.Records {
			ids = append(ids, r.ID)
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return ids
}

func (w *world) rec(id claimdlq.ID) claimdlq.Record {
	w.t.Helper()
	r, err := w.app.Store.Get(w.t.Context(), id)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func path(id claimdlq.ID, verb string) string {
	if verb != "" {
		verb = "/" + verb
	}
	return "/v1/records/" + id.String() + verb
}
