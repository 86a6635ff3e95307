package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/client"
	"claimdlq/flow/intake"
	"claimdlq/internal/api"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
	"claimdlq/internal/job"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
)

// serve serves n quarantined pharmacy claims on a loopback port, and returns a client with
// a token.
func serve(t testing.TB, n int) *client.Client {
	t.Helper()
	a, err := app.Open(t.Context(), app.Options{Dir: filepath.Join(t.TempDir(), "data"), Create: true, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	_, err = testclaims.EachRx(testclaims.RxOptions{Claims: n, Faults: []testclaims.Fault{{Name: "missing-ndc", Every: 1}}}, func(_ int, b []byte) error {
		_, err := a.Flow.Intake.Message(t.Context(), claimdlq.System("intake"), phi.Wrap(bytes.Clone(b)), intake.MessageOptions{})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	desk, err := auth.Open(auth.Options{
		Dir: filepath.Join(t.TempDir(), "auth"), Now: time.Now, LoopbackHTTP: true, Argon: auth.Argon{MemoryKiB: 8, Passes: 1, Threads: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	jobs, err := job.Open(job.Config{Dir: filepath.Join(t.TempDir(), "jobs"), Replay: a.Replays()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = jobs.Close() })
	h, err := api.New(api.Options{App: a, DataDir: filepath.Join(t.TempDir()), Desk: desk, Jobs: jobs, Now: time.Now, WithPayload: true, Heartbeat: 5 * time.Millisecond, Refresh: 5 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	c, err := client.New(srv.URL, client.Options{Token: token(t, a, desk)})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// token makes a machine account that operates, and a token of it.
func token(t testing.TB, a *app.App, desk *auth.Desk) string {
	t.Helper()
	record := func(ctx context.Context, e auth.Event) error {
		_, err := a.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{e.Entry()}})
		return err
	}
	root := auth.Local("root", "TEST")
	everyone := []string{auth.AllPartners}
	if _, err := desk.CreateUser(t.Context(), root, auth.NewUser{Login: "feed", Machine: true, Access: auth.Access{Roles: []auth.Role{auth.Operator}, Partners: everyone}}).Do(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	made, err := desk.CreateToken(root, auth.NewToken{
		Owner: "feed", Name: "TEST", Partners: everyone,
		Permissions: []auth.Permission{auth.RecordsRead, auth.GroupsRead, auth.MetricsRead, auth.RecordPark, auth.ReplayPlan, auth.ReplayRun},
	}).Do(t.Context(), record)
	if err != nil {
		t.Fatal(err)
	}
	return made.Text.Reveal()
}

func TestClient_ReadsAllPagesAndMovesARecordOnce(t *testing.T) {
	t.Parallel()
	c := serve(t, 7)
	var all []client.Record
	for r, err := range c.AllRecords(t.Context(), client.ListRecordsQuery{State: "quarantined", Limit: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) != 7 || all[0].ID < all[6].ID {
		t.Fatalf("%d records", len(all))
	}
	r := all[3]
	ctx := client.WithKey(t.Context(), "TESTKEY")
	for range 2 { // the same command again has the first answer
		moved, err := c.ParkRecord(ctx, r.ID, int64(r.Revision), client.Because{Reason: "TEST"})
		if err != nil || moved.Record.State != "parked" || moved.Record.Revision != r.Revision+1 {
			t.Fatalf("%+v, %v", moved, err)
		}
	}
	_, err := c.ParkRecord(t.Context(), r.ID, int64(r.Revision), client.Because{Reason: "TEST"})
	var e *client.Error
	if !errors.Is(err, claimdlq.Conflict) || !errors.As(err, &e) || e.Problem.Status != 412 {
		t.Errorf("%v", err)
	}
	if _, err := c.GetRecord(t.Context(), 999); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("%v", err)
	}
	if _, err := c.RevealRecord(t.Context(), r.ID, client.RevealRecordRequest{Reason: "TEST"}); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("a token sees a payload: %v", err)
	}
	if m, err := c.ListFaults(t.Context(), r.ID); err != nil || len(m.Findings) != 1 || m.Findings[0].Field != "D7" {
		t.Errorf("%+v, %v", m, err)
	}
	if ps, err := c.ListPartners(t.Context(), client.ListPartnersQuery{}); err != nil || len(ps.Partners) == 0 {
		t.Errorf("%+v, %v", ps, err)
	}
}

func TestClient_FollowsEvents(t *testing.T) {
	t.Parallel()
	c := serve(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, err := c.FollowOverview(ctx, "")
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Next()
	if err != nil || e.Name != "overview" || !bytes.Contains(e.Data, []byte(`"quarantined"`)) {
		t.Errorf("%+v, %v", e, err)
	}
	cancel()
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, claimdlq.Unavailable) && !errors.Is(err, io.EOF) {
		t.Errorf("%v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestClient_SaysWhereItCannotReachAServer(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "claims.example", "ftp://claims.example", "http://"} {
		if _, err := client.New(bad, client.Options{}); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	srv := httptest.NewServer(nil)
	srv.Close()
	c, err := client.New(srv.URL, client.Options{Token: "TESTTOKEN"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetOverview(t.Context()); !errors.Is(err, claimdlq.Unavailable) || bytes.Contains([]byte(fmt.Sprint(err)), []byte("TESTTOKEN")) {
		t.Errorf("%v", err)
	}
}

func ExampleClient_AllRecords() {
	c, err := client.New("https://claims.example:8837", client.Options{Token: "cdlq_…"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for r, err := range c.AllRecords(context.Background(), client.ListRecordsQuery{State: "quarantined", OlderThan: "36h"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(r.ID, r.ErrorDetail)
	}
}
