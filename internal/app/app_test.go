package app_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/flow/attempt"
	"claimdlq/internal/app"
	"claimdlq/internal/testclaims"
)

var now = time.Date(2026, 7, 17, 12, 0, 0, 0, time.UTC)

func options(dir string) app.Options {
	return app.Options{Dir: dir, Create: true, Now: func() time.Time { return now }}
}

func open(t *testing.T, o app.Options) *app.App {
	t.Helper()
	a, err := app.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func ingest(t *testing.T, a *app.App, o testclaims.Options) {
	t.Helper()
	var b bytes.Buffer
	if _, err := testclaims.Generate(&b, o); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Flow.Intake.File(t.Context(), claimdlq.By{Actor: "test"}, "a.x12", &b); err != nil {
		t.Fatal(err)
	}
}

func deliver(t *testing.T, a *app.App) attempt.Summary {
	t.Helper()
	sum, err := a.Deliver(t.Context(), 0, func(attempt.Summary) {})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

func TestOpen_OnlyOneProcessHasADirectoryAndTheOtherIsToldWhich(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	a := open(t, options(dir))
	_, err := app.Open(t.Context(), options(dir))
	if !errors.Is(err, claimdlq.Unavailable) || !strings.Contains(err.Error(), "process "+strconv.Itoa(os.Getpid())) {
		t.Fatalf("got %v, want unavailable with the holder's number", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, options(dir))
}

func TestOpen_DoesNotMakeADirectoryByLooking(t *testing.T) {
	t.Parallel()
	o := options(filepath.Join(t.TempDir(), "typo"))
	o.Create = false
	if _, err := app.Open(t.Context(), o); !errors.Is(err, claimdlq.NotFound) {
		t.Fatalf("got %v, want not_found", err)
	}
	if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Error("a directory was made")
	}
}

func TestOpen_WhatFailsHalfWayLeavesNothingLocked(t *testing.T) {
	t.Parallel()
	o := options(filepath.Join(t.TempDir(), "data"))
	bad := o
	bad.Targets = []string{filepath.Join(t.TempDir(), "no-such-folder")}
	if _, err := app.Open(t.Context(), bad); !errors.Is(err, claimdlq.Invalid) {
		t.Fatalf("got %v, want invalid", err)
	}
	open(t, o)
}

func TestOpen_RefusesTargetsThatCannotBeMeant(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, c := range []struct {
		name            string
		targets, status []string
	}{
		{"two for everybody", []string{folder, folder}, nil},
		{"two for one partner", []string{"ZZ:A=" + folder, "ZZ:A=" + folder}, nil},
		{"nowhere", []string{"A="}, nil},
		{"a status without its target", []string{"A=" + folder}, []string{"B=" + folder}},
		{"claims in clear to another machine", []string{"http://payer.example.test/"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := options(filepath.Join(t.TempDir(), "data"))
			o.Targets, o.Status = c.targets, c.status
			if _, err := app.Open(t.Context(), o); !errors.Is(err, claimdlq.Invalid) {
				t.Errorf("got %v, want invalid", err)
			}
		})
	}
}

func TestDeliver_EachPartnerHasItsTargetAndTheOthersShareOne(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	folders := map[string]string{}
	for _, name := range []string{"exact", "receiver", "rest"} {
		folders[name] = filepath.Join(root, name)
		if err := os.Mkdir(folders[name], 0o700); err != nil {
			t.Fatal(err)
		}
	}
	o := options(filepath.Join(root, "data"))
	o.Targets = []string{"ZZ:ALPHA=" + folders["exact"], "BETA=" + folders["receiver"], folders["rest"]}
	a := open(t, o)
	for i, receiver := range []string{"ALPHA", "BETA", "GAMMA"} {
		ingest(t, a, testclaims.Options{Receiver: receiver, Seed: uint64(i + 1), FirstClaim: 10 * (i + 1)})
	}
	if sum := deliver(t, a); sum.Sent != 3 {
		t.Fatalf("got %+v, want 3 sent", sum)
	}
	for name, receiver := range map[string]string{"exact": "ALPHA", "receiver": "BETA", "rest": "GAMMA"} {
		files, err := filepath.Glob(filepath.Join(folders[name], "*"))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s has %d files (%v), want 1", name, len(files), err)
		}
		b, err := os.ReadFile(files[0])
		if err != nil || !bytes.Contains(b, []byte("*ZZ*"+receiver+" ")) {
			t.Errorf("%s has not what is for %s", name, receiver)
		}
	}
}

func TestDeliver_WithoutATargetEverythingWaits(t *testing.T) {
	t.Parallel()
	a := open(t, options(filepath.Join(t.TempDir(), "data")))
	ingest(t, a, testclaims.Options{Claims: 3})
	if sum := deliver(t, a); sum.Sent != 0 {
		t.Errorf("got %+v", sum)
	}
	if a.HasTarget() {
		t.Error("there is a target")
	}
	st, err := a.Store.Stats(t.Context())
	if err != nil || st.ByState[claimdlq.StateQueued] != 3 {
		t.Errorf("%d queued (%v), want 3", st.ByState[claimdlq.StateQueued], err)
	}
}

func TestReveal_IsInTheAuditLogWithItsReason(t *testing.T) {
	t.Parallel()
	a := open(t, options(filepath.Join(t.TempDir(), "data")))
	ingest(t, a, testclaims.Options{})
	doc, err := a.Reveal(t.Context(), claimdlq.By{Actor: "test.analyst", Reason: "called the practice"}, 1, 0)
	if err != nil || !bytes.HasPrefix(doc.Reveal(), []byte("ISA*")) {
		t.Fatalf("got %d bytes (%v)", doc.Len(), err)
	}
	rec, err := a.Store.Get(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	h, err := a.Timeline(t.Context(), rec, audit.Bound{})
	if err != nil {
		t.Fatal(err)
	}
	last := h.Entries[len(h.Entries)-1]
	if last.Action != claimdlq.ActReveal || last.Actor != "test.analyst" || last.Note != "called the practice" {
		t.Errorf("the newest entry is %+v", last)
	}
}

func TestClose_MovesEveryEntryIntoTheAuditLog(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	a := open(t, options(dir))
	ingest(t, a, testclaims.Options{Claims: 5})
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b := open(t, options(dir))
	rep, err := b.Fsck(t.Context(), true, func(int64) {})
	if err != nil || !rep.OK() || rep.Entries == 0 || rep.Unaudited != 0 {
		t.Errorf("got %+v (%v)", rep, err)
	}
}

func TestShred_RefusesWhatAnUnresolvedClaimNeeds(t *testing.T) {
	t.Parallel()
	a := open(t, options(filepath.Join(t.TempDir(), "data")))
	ingest(t, a, testclaims.Options{Claims: 3, Faults: []testclaims.Fault{{Name: "bad-date", At: []int{2}}}})
	by := claimdlq.By{Actor: "test.officer", Reason: "retention"}
	claim, err := a.Store.Get(t.Context(), 2)
	if err != nil {
		t.Fatal(err)
	}
	// The claim is written off, but its set is still to be sent from the same bytes.
	if claim, err = a.Flow.Retain.Withdraw(t.Context(), by, claim.ID); err != nil {
		t.Fatal(err)
	}
	if err := a.Shred(t.Context(), by, claim, false); !errors.Is(err, claimdlq.Refused) {
		t.Fatalf("got %v, want refused", err)
	}
	if _, err := a.Flow.Retain.Withdraw(t.Context(), by, claim.Parent); err != nil {
		t.Fatal(err)
	}
	if err := a.Shred(t.Context(), by, claim, true); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Reveal(t.Context(), by, claim.ID, 0); err != nil {
		t.Fatalf("a dry run has shredded: %v", err)
	}
	if err := a.Shred(t.Context(), by, claim, false); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Reveal(t.Context(), by, claim.ID, 0); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("got %v, want not_found", err)
	}
}

func TestOpen_GoesByTheLeversThatItWasServedWith(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	policy := claimdlq.DefaultPolicy()
	policy.MaxReceive = 9
	for i, given := range []claimdlq.Policies{nil, {"ncpdp": policy}, nil} {
		o := options(dir)
		o.Policies = given
		a, err := app.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Policies().For("ncpdp").MaxReceive; got != []uint32{5, 9, 9}[i] {
			t.Errorf("opening %d: a budget of %d", i, got)
		}
		if got := a.Policies().For("837"); got != claimdlq.DefaultPolicy() {
			t.Errorf("opening %d: %+v", i, got)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSwitch_KeepsWhatPeopleStoppedAndNotWhatTheConfigurationStops(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	o := options(dir)
	o.Stopped = []attempt.Switch{{Stream: "837"}}
	a, err := app.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Switch(t.Context(), claimdlq.By{Actor: "test.operator", Reason: "a test"}, app.Turn{Switch: attempt.Switch{Stream: "ncpdp", Partner: "999999:TESTPCN"}, Stop: true, Unseen: true}); err != nil {
		t.Fatal(err)
	}
	if got := a.Flow.Attempt.Stopped(); len(got) != 2 {
		t.Errorf("stopped: %+v", got)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, options(dir)) // without the line in the configuration
	if got := again.Flow.Attempt.Stopped(); len(got) != 1 || got[0] != (attempt.Switch{Stream: "ncpdp", Partner: "999999:TESTPCN"}) {
		t.Errorf("after a restart: %+v", got)
	}
}
