package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/flow/attempt"
	"claimdlq/flow/replay"
	"claimdlq/internal/app"
	"claimdlq/internal/backup"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

var officer = claimdlq.By{Actor: "test.officer", Reason: "disk failed"}

// site is a data directory, where its backups go, and a payer.
type site struct {
	t             *testing.T
	dir           string
	to, keys      string
	payer         *payersim.Payer
	targets, asks []string
	restores      int
}

func newSite(t *testing.T) *site {
	t.Helper()
	p, err := payersim.New(payersim.Options{Now: time.Now, CountDeliveries: true})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(p)
	t.Cleanup(func() {
		srv.Close()
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	return &site{
		t: t, dir: dir, to: filepath.Join(dir, "backups"), keys: filepath.Join(dir, "keys"), payer: p,
		targets: []string{"837=" + srv.URL + "/v1/interchanges", "ncpdp=" + srv.URL + "/v1/ncpdp"},
		asks:    []string{"837=" + srv.URL + "/v1/interchanges/{isa13}?sender={sender}&receiver={receiver}"},
	}
}

func missingHI(claim int) []testclaims.Fault {
	return []testclaims.Fault{{Name: "missing-hi", At: []int{claim}}}
}

// clock is an hour fast, so that files made a moment ago count as left alone.
func clock() time.Time { return time.Now().Add(time.Hour) }

func (s *site) open(name string, targets bool) *app.App {
	s.t.Helper()
	o := app.Options{Dir: filepath.Join(s.dir, name), Create: true, Now: clock}
	if targets {
		o.Targets, o.Status = s.targets, s.asks
	}
	return open(s.t, o)
}

func (s *site) backup(a *app.App) backup.Summary {
	s.t.Helper()
	sum, err := a.Backup(s.t.Context(), officer, app.BackupTo{Dir: s.to, Keys: s.keys, Program: "test"})
	if err != nil {
		s.t.Fatal(err)
	}
	return sum
}

// restore restores a backup into a directory of its own, and returns its name.
func (s *site) restore(name string, kept []byte) (dir string, r app.Restored) {
	s.t.Helper()
	s.restores++
	dir = fmt.Sprintf("restored-%d", s.restores)
	r, err := app.Restore(s.t.Context(), officer, s.from(name, dir, kept))
	if err != nil {
		s.t.Fatal(err)
	}
	return dir, r
}

func (s *site) from(name, dir string, kept []byte) app.RestoreFrom {
	return app.RestoreFrom{From: filepath.Join(s.to, name), Keys: filepath.Join(s.keys, name), Dir: filepath.Join(s.dir, dir), Kept: kept, Now: clock}
}

// rx takes pharmacy claims in.
func (s *site) rx(a *app.App, claims, first int) {
	s.t.Helper()
	g, err := testclaims.NewRx(testclaims.RxOptions{Claims: claims, FirstClaim: first})
	if err != nil {
		s.t.Fatal(err)
	}
	for i := range g.Len() {
		if _, err := a.Flow.Intake.File(s.t.Context(), claimdlq.By{Actor: "test"}, "a.ncpdp", bytes.NewReader(g.Append(nil, i))); err != nil {
			s.t.Fatal(err)
		}
	}
}

func shut(t *testing.T, a *app.App) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
}

func clean(t *testing.T, a *app.App) {
	t.Helper()
	rep, err := a.Fsck(t.Context(), true, nil)
	if err != nil || !rep.OK() {
		t.Fatalf("fsck found %+v, %v", rep.Findings, err)
	}
}

func states(t *testing.T, a *app.App) map[claimdlq.State]int64 {
	t.Helper()
	st, err := a.Store.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[claimdlq.State]int64{}
	for state, n := range st.Records {
		if n > 0 {
			out[state] = n
		}
	}
	return out
}

func TestRestore_WhatWasWaitingIsHeldUntilSomebodySaysWhatBecameOfIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", true)
	ingest(t, a, testclaims.Options{Claims: 10})
	deliver(t, a)
	ingest(t, a, testclaims.Options{Claims: 10, ISA13: 2, GS06: 2, FirstClaim: 11, Faults: missingHI(3)})
	s.rx(a, 3, 1)
	sum := s.backup(a)
	shut(t, a)

	dir, r := s.restore(sum.Name, nil)
	if r.InDoubt != 4 || r.Parked != 1 || r.Lanes != 1 || !slices.Equal(r.Stopped, []string{"837", "ncpdp"}) || r.Entry != sum.Entry {
		t.Fatalf("restored %+v", r)
	}
	b := s.open(dir, true)
	if got := states(t, b); got[claimdlq.StateInDoubt] != 4 || got[claimdlq.StateParked] != 1 || got[claimdlq.StateSettled] != 1 || len(got) != 3 {
		t.Errorf("the states are %v", got)
	}
	if n, err := b.Store.NextControl(t.Context(), "ZZ:TESTSENDER>ZZ:TESTPAYER", 1); err != nil || n <= 1_000_000 {
		t.Errorf("the next control number is %d, %v: want one that was not used since", n, err)
	}
	clean(t, b)
}

// A copy that goes on where it stands sends again what went out after it was made: the
// first half shows that this test would see it.
func TestRestore_SendsNothingTwice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		fenced bool
	}{{"a copy of files sends again", false}, {"a restored backup does not", true}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			a := s.open("data", true)
			ingest(t, a, testclaims.Options{Claims: 10})
			s.rx(a, 4, 1)
			sum := s.backup(a)
			deliver(t, a) // after the backup, and so unknown to it
			shut(t, a)
			before := s.payer.Stats()
			if before.Interchanges != 1 || before.Pharmacy.Transmissions != 4 {
				t.Fatalf("the payer got %+v", before)
			}
			if !c.fenced {
				merge(t, s, sum.Name, "merged")
				deliver(t, s.open("merged", true))
				if after := s.payer.Stats(); after.DuplicateInterchanges != 1 || after.Pharmacy.Transmissions != 8 {
					t.Fatalf("the payer got %+v: the test does not see what it is for", after)
				}
				return
			}
			dir, _ := s.restore(sum.Name, nil)
			b := s.open(dir, true)
			deliver(t, b)
			for _, stream := range []string{"837", "ncpdp"} {
				if err := b.Switch(t.Context(), officer, app.Turn{Switch: attempt.Switch{Stream: stream}}); err != nil {
					t.Fatal(err)
				}
			}
			deliver(t, b) // started, and still nothing is due
			if after := s.payer.Stats(); after.Interchanges != 1 || after.Pharmacy.Transmissions != 4 {
				t.Fatalf("the payer got %+v", after)
			}
			settled(t, s, b)
		})
	}
}

// settled asks the payer about everything, and wants every claim known and none paid twice.
func settled(t *testing.T, s *site, a *app.App) {
	t.Helper()
	n, err := a.Flow.Settle.InquireAll(t.Context(), officer, store.Filter{})
	if err != nil || n.Known != n.Asked || n.Asked == 0 {
		t.Fatalf("inquired %+v, %v", n, err)
	}
	deliver(t, a)
	st := s.payer.Stats()
	if st.Interchanges != 1 || st.DoubleAccepted != 0 || st.Pharmacy.DoublePaid != 0 || len(s.payer.Duplicates()) != 0 {
		t.Errorf("the payer got %+v", st)
	}
	if got := states(t, a); got[claimdlq.StateInDoubt] != 0 || got[claimdlq.StateSettled] != 4 {
		t.Errorf("the states are %v", got)
	}
	clean(t, a)
}

// merge puts a backup's files together as a copy of a disk would.
func merge(t *testing.T, s *site, name, to string) {
	t.Helper()
	for _, half := range []string{s.to, s.keys} {
		if err := os.CopyFS(filepath.Join(s.dir, to), os.DirFS(filepath.Join(half, name))); err != nil && !errors.Is(err, os.ErrExist) {
			t.Fatal(err)
		}
		if half == s.keys {
			for _, f := range []string{"root.key", "keyring.json"} {
				if err := os.Chmod(filepath.Join(s.dir, to, "keys", f), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, f := range []string{"manifest.json", "manifest.sig"} {
			if err := os.Remove(filepath.Join(s.dir, to, f)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestRestore_AReplayOfWhatWasReplayedSinceNeedsAPerson(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", true)
	ingest(t, a, testclaims.Options{Claims: 3, Faults: missingHI(2)})
	deliver(t, a)
	sum := s.backup(a)
	shut(t, a)
	dir, _ := s.restore(sum.Name, nil)
	b := s.open(dir, true)
	rs, err := b.Store.List(t.Context(), store.Filter{State: claimdlq.StateParked}, 0, 10)
	if err != nil || len(rs) != 1 || rs[0].Detail.String() != "IK3:HI:3" {
		t.Fatalf("parked are %+v, %v", rs, err)
	}
	res, _, err := b.Flow.Replay.One(t.Context(), officer, rs[0].ID, replay.Options{})
	if err != nil || res != claimdlq.ParkedAtCap {
		t.Errorf("the guard says %s, %v", res, err)
	}
	r, err := b.Flow.Retain.Unpark(t.Context(), officer, rs[0].ID)
	if err != nil || r.State != claimdlq.StateQuarantined {
		t.Errorf("un-parked it is %v, %v", r.State, err)
	}
}

func TestRestore_TheAuditLogSaysWhatIsMissingAndAKeptCheckpointStillExposesIt(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", false)
	ingest(t, a, testclaims.Options{Claims: 5})
	sum := s.backup(a)
	for i := range 4 {
		ingest(t, a, testclaims.Options{Claims: 2, ISA13: uint32(10 + i), GS06: uint32(10 + i), FirstClaim: 100 + 2*i})
	}
	kept, err := a.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	newest := a.Audit.Size()
	shut(t, a)

	dir, r := s.restore(sum.Name, kept)
	if r.MissingTo != newest {
		t.Fatalf("missing up to %d, want %d", r.MissingTo, newest)
	}
	v, err := app.Verifier(filepath.Join(s.dir, dir), "")
	if err != nil {
		t.Fatal(err)
	}
	logs := app.AuditDir(filepath.Join(s.dir, dir))
	var out bytes.Buffer
	if _, err := audit.Export(t.Context(), &out, logs, audit.Filter{Action: claimdlq.ActRestore}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf(`"RESTORED:%s:ENTRY:%d"`, sum.Name, sum.Entry), fmt.Sprintf(`"MISSING:%d:%d"`, sum.Entry+1, newest), "test.officer", "disk failed",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the audit log does not say %s:\n%s", want, &out)
		}
	}
	if rep, err := audit.Verify(t.Context(), logs, v, nil); err != nil || !rep.OK() {
		t.Errorf("the log by itself: %+v, %v", rep.Problems, err)
	}
	rep, err := audit.Verify(t.Context(), logs, v, kept)
	if err != nil || rep.OK() || rep.Problems[0].Kind != audit.RolledBack {
		t.Errorf("with the kept checkpoint: %+v, %v", rep.Problems, err)
	}
}

func TestRestore_AChangedByteIsRefusedByTheNameOfItsFile(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", false)
	ingest(t, a, testclaims.Options{Claims: 5})
	if err := a.Switch(t.Context(), officer, app.Turn{Switch: attempt.Switch{Stream: "837"}, Stop: true}); err != nil {
		t.Fatal(err)
	}
	sum := s.backup(a)
	shut(t, a)
	n := 0
	for _, half := range []string{s.to, s.keys} {
		root := filepath.Join(half, sum.Name)
		for _, path := range files(t, root) {
			n++
			name := filepath.ToSlash(path)
			flip(t, filepath.Join(root, path))
			_, err := app.CheckBackup(t.Context(), s.to, s.keys, "", nil)
			wrong(t, name, err)
			_, err = app.Restore(t.Context(), officer, s.from(sum.Name, "never", nil))
			wrong(t, name, err)
			if es, err := os.ReadDir(filepath.Join(s.dir, "never")); err == nil && len(es) > 0 {
				t.Errorf("%s: something was restored: %v", name, es)
			}
			flip(t, filepath.Join(root, path)) // back
		}
	}
	if n < 12 {
		t.Errorf("only %d files were tried", n)
	}
	if _, err := app.CheckBackup(t.Context(), s.to, s.keys, "", nil); err != nil {
		t.Error(err)
	}
}

func wrong(t *testing.T, name string, err error) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("a changed %s is taken", name)
	case strings.HasPrefix(name, "manifest"): // changed text may not parse, name another version, or other keys
		if !strings.Contains(err.Error(), "manifest") && !strings.Contains(err.Error(), "keys of") {
			t.Errorf("%s: %v", name, err)
		}
	case !errors.Is(err, claimdlq.Corrupt) || !strings.Contains(err.Error(), name):
		t.Errorf("%s: %v", name, err)
	}
}

func files(t *testing.T, root string) (out []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, rerr := filepath.Rel(root, path)
			out = append(out, rel)
			return rerr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// flip changes a byte in the middle of a file, or changes it back.
func flip(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestRestore_OnlyWhereNothingIs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", false)
	ingest(t, a, testclaims.Options{Claims: 1})
	sum := s.backup(a)
	if _, err := app.Restore(t.Context(), officer, s.from(sum.Name, "data", nil)); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("over a data directory: %v", err)
	}
	if _, err := app.Restore(t.Context(), claimdlq.By{Actor: "somebody"}, s.from(sum.Name, "new", nil)); !errors.Is(err, claimdlq.Refused) {
		t.Errorf("without a reason: %v", err)
	}
	other := s.backup(a)
	f := s.from(sum.Name, "new", nil)
	f.Keys = filepath.Join(s.keys, other.Name)
	if _, err := app.Restore(t.Context(), officer, f); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("with the keys of another: %v", err)
	}
}

func TestBackup_KeysAreNeverBesideWhatTheyOpen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", false)
	ingest(t, a, testclaims.Options{Claims: 1})
	for _, to := range []app.BackupTo{
		{Dir: s.to, Keys: s.to},
		{Dir: s.to, Keys: filepath.Join(s.to, "keys")},
		{Dir: filepath.Join(s.keys, "all"), Keys: s.keys},
		{Dir: filepath.Join(s.dir, "data", "b"), Keys: s.keys},
	} {
		if _, err := a.Backup(t.Context(), officer, to); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("to %+v: %v", to, err)
		}
	}
	sum := s.backup(a)
	for _, path := range files(t, filepath.Join(s.to, sum.Name)) {
		if strings.HasPrefix(path, "keys") || strings.HasPrefix(path, "auth") {
			t.Errorf("%s is beside the vault", path)
		}
	}
}

// A folder that is watched has claims in plain text: wherever it is, no backup has them.
func TestBackup_TakesNothingButWhatIsOfTheProgram(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", false)
	ingest(t, a, testclaims.Options{Claims: 1})
	if err := a.Switch(t.Context(), officer, app.Turn{Switch: attempt.Switch{Stream: "837"}, Stop: true}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"inbox/claims.x12", "jobs/1.plan", "notes.txt"} {
		path = filepath.Join(s.dir, "data", path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("ISA*"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := s.backup(a)
	got := map[string]bool{}
	for _, half := range []string{s.to, s.keys} {
		for _, path := range files(t, filepath.Join(half, sum.Name)) {
			top, _, _ := strings.Cut(filepath.ToSlash(path), "/")
			got[top] = true
		}
	}
	want := []string{"audit", "jobs", "journal", "keys", "manifest.json", "manifest.sig", "switches.json", "vault"}
	if have := slices.Sorted(maps.Keys(got)); !slices.Equal(have, want) {
		t.Errorf("a backup has %v, want %v", have, want)
	}
}

func TestBackup_WhatHasNotChangedIsNotCopiedAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", false)
	ingest(t, a, testclaims.Options{Claims: 500})
	shut(t, a)
	a = s.open("data", false)
	first, second := s.backup(a), s.backup(a)
	if first.Copied != first.Bytes || second.Copied*2 > second.Bytes {
		t.Errorf("copied %d of %d bytes, then %d of %d", first.Copied, first.Bytes, second.Copied, second.Bytes)
	}
	info := func(name string) os.FileInfo {
		fi, err := os.Stat(filepath.Join(s.to, name, "vault", "00000001.chunk"))
		if err != nil {
			t.Fatal(err)
		}
		return fi
	}
	if !os.SameFile(info(first.Name), info(second.Name)) {
		t.Error("the ciphertext was copied twice")
	}
	if err := os.RemoveAll(filepath.Join(s.to, first.Name)); err != nil { // each is whole by itself
		t.Fatal(err)
	}
	s.restore(second.Name, nil)
}

func TestBackup_OneThatEndsEarlyLeavesNothingThatCouldBeTakenForOne(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", false)
	ingest(t, a, testclaims.Options{Claims: 5})
	for after := 1; ; after++ { // ends after so many files
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		_, err := a.Backup(ctx, officer, app.BackupTo{Dir: s.to, Keys: s.keys, Progress: func(int64) {
			if n++; n == after {
				cancel()
			}
		}})
		cancel()
		if err == nil {
			if after < 6 {
				t.Fatalf("it ended before %d files", after)
			}
			break
		}
		if !errors.Is(err, claimdlq.Unavailable) {
			t.Fatal(err)
		}
		for _, dir := range []string{s.to, s.keys} {
			if es, err := os.ReadDir(dir); err != nil || len(es) != 0 {
				t.Fatalf("after %d files %v, %v is left", after, es, err)
			}
		}
	}
	// What a kill leaves, the next one removes; and keys without their half are no backup.
	for _, dir := range []string{s.to, s.keys} {
		if err := os.MkdirAll(filepath.Join(dir, ".part-20260101T000000Z", "vault"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(s.keys, "29990101T000000Z"), 0o700); err != nil {
		t.Fatal(err)
	}
	s.backup(a)
	if left, err := filepath.Glob(filepath.Join(s.dir, "*", ".part-*")); err != nil || len(left) != 0 {
		t.Errorf("left is %v, %v", left, err)
	}
	if _, err := app.CheckBackup(t.Context(), s.to, s.keys, "", nil); err != nil {
		t.Error(err)
	}
}

func TestBackup_IsOfOneMomentWhileClaimsFlow(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", true)
	const files, each = 50, 100
	var wg sync.WaitGroup
	work := make(chan int)
	for range 4 {
		wg.Go(func() {
			for i := range work {
				var b bytes.Buffer
				o := testclaims.Options{Claims: each, ISA13: uint32(i + 1), GS06: uint32(i + 1), FirstClaim: i*each + 1, Faults: missingHI(50)}
				if _, err := testclaims.Generate(&b, o); err != nil {
					t.Error(err)
				}
				if _, err := a.Flow.Intake.File(t.Context(), claimdlq.By{Actor: "test"}, "a.x12", &b); err != nil {
					t.Error(err)
				}
				if _, err := a.Flow.Attempt.Drain(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var made []backup.Summary
	for i := range files {
		work <- i
		if i%12 == 6 {
			made = append(made, s.backup(a))
		}
	}
	close(work)
	wg.Wait()
	shut(t, a)
	var last int64
	for _, sum := range made {
		dir, r := s.restore(sum.Name, nil)
		b := s.open(dir, false)
		st, err := b.Store.Stats(t.Context())
		if err != nil || st.Difference() != 0 {
			t.Fatalf("%d claims are not accounted for, %v", st.Difference(), err)
		}
		if st.Received < last || st.Received%each != 0 || r.Fsck.Records == 0 {
			t.Errorf("%d claims, after %d in the backup before; %+v", st.Received, last, r)
		}
		last = st.Received
		shut(t, b)
	}
	if len(made) < 4 || last == 0 {
		t.Errorf("%d backups, %d claims in the last", len(made), last)
	}
}

func TestBackup_ManifestNamesNoClaim(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	a := s.open("data", false)
	ingest(t, a, testclaims.Options{Claims: 1})
	sum := s.backup(a)
	b, err := os.ReadFile(filepath.Join(s.to, sum.Name, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m backup.Manifest
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	if m.Position == 0 || m.LastEntry != sum.Entry || m.Audited != m.LastEntry || m.Checkpoint == "" || m.Keys == "" || m.Program != "test" {
		t.Errorf("the manifest is %+v", m)
	}
}
