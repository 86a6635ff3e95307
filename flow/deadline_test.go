package flow_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/flow/filing"
	"claimdlq/flow/intake"
	"claimdlq/flow/retain"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/vault"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
	"claimdlq/wire/x12"
)

// windows gives the flow filing windows.
func (b *bench) windows(w filing.Windows) {
	b.deps.Windows = w
	b.assemble()
}

// goTo sets the clock so many days after the day that is sealed for the record.
func (b *bench) goTo(r claimdlq.Record, after time.Duration) {
	b.t.Helper()
	d, err := time.Parse("20060102", b.day(r))
	b.must(err)
	b.clock.pass(d.Add(after).Sub(b.clock.now()))
}

// stages watches and returns what was counted of the stream, such as "alert 1".
func (b *bench) stages(stream string) string {
	b.t.Helper()
	b.must(b.f.Retain.Watch(b.t.Context()))
	all, watched := b.f.Retain.Figures()
	if !watched {
		b.t.Fatal("nothing was watched")
	}
	var out []string
	for _, s := range filing.Stages {
		if n := all[stream].Stages[s]; n > 0 {
			out = append(out, s.String()+" "+string(rune('0'+n)))
		}
	}
	return strings.Join(out, ", ")
}

func TestDeadlines_AreCountedByHowMuchOfTheWindowHasGone(t *testing.T) { // 46, F39
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad()
	if got := b.stages("837"); got != "" || len(b.audited(0)) != 0 {
		t.Errorf("without a window: %q, %v", got, b.audited(0))
	}
	b.windows(filing.Windows{"837": 90, "837/ZZ:OTHER": 1})
	for _, c := range []struct {
		after time.Duration
		want  string
	}{{0, "in_time 1"}, {72*day - 1, "in_time 1"}, {72 * day, "warning 1"}, {81*day - 1, "warning 1"}, {81 * day, "alert 1"}, {90 * day, "alert 1"}, {91*day + 12*time.Hour, "passed 1"}} {
		b.goTo(r, c.after)
		if got := b.stages("837"); got != c.want {
			t.Errorf("%v after the day: %q, want %s", c.after, got, c.want)
		}
	}
	b.windows(filing.Windows{"837": 180}) // the payer gives more time
	if got := b.stages("837"); got != "in_time 1" {
		t.Errorf("with another window: %q", got)
	}
	_, err := b.f.Retain.Withdraw(t.Context(), ana, r.ID)
	b.must(err)
	if got := b.stages("837"); got != "" {
		t.Errorf("written off: %q", got)
	}
}

// watching counts what is opened of a vault.
type watching struct {
	vault.Vault

	attributes, payloads int
}

func (w *watching) Attributes(ctx context.Context, ref claimdlq.PayloadRef, p claimdlq.Proof) (phi.Bytes, error) {
	w.attributes++
	return w.Vault.Attributes(ctx, ref, p)
}

func (w *watching) Open(ctx context.Context, ref claimdlq.PayloadRef, p claimdlq.Proof) (phi.Bytes, error) {
	w.payloads++
	return w.Vault.Open(ctx, ref, p)
}

func TestDeadlines_EachDayIsOpenedOnceAndNoPayload(t *testing.T) { // promise 7
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 6, ClaimsPerSet: 3, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}}))
	w := &watching{Vault: b.v}
	b.deps.Vault = w
	b.windows(filing.Windows{"837": 90})
	if got := b.stages("837"); got != "in_time 3" || w.attributes != 2 || w.payloads != 0 {
		t.Fatalf("%q, %d attributes and %d payloads opened", got, w.attributes, w.payloads)
	}
	if got := b.stages("837"); got != "in_time 3" || w.attributes != 2 {
		t.Fatalf("%q, %d attributes opened the second time", got, w.attributes)
	}
	opened := 0
	b.must(b.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		if e.Action == claimdlq.ActOpen && e.Detail.String() == "DEADLINES" && e.Actor == "system:retain" {
			opened++
		}
		return true
	}))
	if opened != 1 {
		t.Errorf("%d audit entries", opened)
	}
	bad := b.only(claimdlq.StateQuarantined)
	b.correct(bad.ID, goodNPI(4))
	b.correct(bad.ID, "DTP[2]-03=20260102") // another day: it is read again
	if got := b.stages("837"); got != "in_time 2, passed 1" {
		t.Errorf("after the correction: %q", got)
	}
}

func TestDeadlines_ASetIsNotHeldToTheClaimsThatPartedFromIt(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	file := generate(t, testclaims.Options{Claims: 3, ClaimsPerSet: 3, Faults: []testclaims.Fault{{Name: "npi-check-digit", At: []int{2}}}})
	parts := strings.Split(string(file), "CLM*")
	parts[2] = strings.ReplaceAll(parts[2], "DTP*472*D8*20260", "DTP*472*D8*20250")
	b.ingest([]byte(strings.Join(parts, "CLM*")))
	b.windows(filing.Windows{"837": 200})
	if got := b.stages("837"); got != "in_time 1, passed 1" {
		t.Errorf("the claim that parted is late, the set is not: %q", got)
	}
}

func TestDeadlines_OldAndUnreadablePayloadsAreUnknown(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.ingest([]byte("TEST unreadable"))
	b.windows(filing.Windows{"837": 90})
	if got := b.stages("837"); got != "unknown 1" {
		t.Errorf("%q", got)
	}
	r := b.only(claimdlq.StateQuarantined)
	b.must(b.v.Shred(t.Context(), r.Payload))
	b.assemble()
	if got := b.stages("837"); got != "unknown 1" {
		t.Errorf("without a key: %q", got)
	}
}

func TestRetain_WhatIsNearItsDeadlineIsNotParkedSilently(t *testing.T) { // promise 8, F39
	t.Parallel()
	b := setup(t, "")
	b.windows(filing.Windows{"837": 90})
	r := b.oneBad()
	said := func() int { return strings.Count(b.log.String(), "Past its retention and not parked") }
	expire := func(want int) {
		t.Helper()
		if n, err := b.f.Retain.Expire(t.Context()); n != want || err != nil {
			t.Fatalf("parked %d, want %d: %v", n, want, err)
		}
	}
	b.goTo(r, 72*day) // long past its retention of 14 days
	expire(0)
	expire(0)
	if said() != 1 {
		t.Errorf("said %d times", said())
	}
	b.goTo(r, 91*day)
	b.must(b.f.Retain.Watch(t.Context()))
	expire(0)
	if said() != 1 || b.record(r.ID).State != claimdlq.StateQuarantined {
		t.Errorf("said %d times", said())
	}
	b.goTo(r, 91*day+12*time.Hour) // nothing can be saved by leaving it
	expire(1)
	if figures, _ := b.f.Retain.Figures(); figures["837"].Expired != 1 {
		t.Errorf("got %+v", figures)
	}
}

func TestRetain_WhatIsFarFromItsDeadlineIsParked(t *testing.T) {
	t.Parallel()
	b := setup(t, "")
	b.windows(filing.Windows{"837": 365})
	b.oneBad()
	b.clock.pass(14*day + time.Millisecond)
	if n, err := b.f.Retain.Expire(t.Context()); n != 1 || err != nil {
		t.Fatalf("parked %d: %v", n, err)
	}
}

func TestRetain_WatchCountsWhatItsRetentionWillPark(t *testing.T) { // 21
	t.Parallel()
	b := setup(t, "")
	r := b.oneBad()
	ripe := func(want int64) {
		t.Helper()
		b.must(b.f.Retain.Watch(t.Context()))
		if f, _ := b.f.Retain.Figures(); f["837"].Ripe != want {
			t.Errorf("%d, want %d", f["837"].Ripe, want)
		}
	}
	b.clock.pass(14*day/5*4 - 1)
	ripe(0)
	b.clock.pass(1)
	ripe(1)
	_, err := b.f.Retain.Park(t.Context(), ana, r.ID)
	b.must(err)
	ripe(0) // it waits for a person already
}

func TestDue_ListsTheNearestFirstForANamedPersonAndIsAuditedOnce(t *testing.T) { // F20
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 8, ClaimsPerSet: 1, Faults: []testclaims.Fault{{Name: "npi-check-digit", Every: 1}}}))
	b.ingest([]byte("TEST unreadable"))
	b.windows(filing.Windows{"837": 90})
	for _, by := range []claimdlq.By{{}, {Actor: "ana"}, {Reason: "TEST"}} {
		if _, err := b.f.Retain.Due(t.Context(), by, retain.DueFilter{}, 10); !errors.Is(err, claimdlq.Refused) {
			t.Errorf("by %+v: %v", by, err)
		}
	}
	due, err := b.f.Retain.Due(t.Context(), ana, retain.DueFilter{}, 100)
	b.must(err)
	if len(due) != 9 || due[8].Stage != filing.Unknown || !due[8].LastDay.IsZero() {
		t.Fatalf("%d records", len(due))
	}
	for i, d := range due[:8] {
		if want := b.day(d.Record); d.LastDay.AddDate(0, 0, -90).Format("20060102") != want || i > 0 && d.LastDay.Before(due[i-1].LastDay) {
			t.Errorf("record %d: its day is %s", d.Record.ID, want)
		}
	}
	var reveals int
	b.must(b.st.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		if e.Action == claimdlq.ActReveal {
			if reveals++; e.Note != ana.Reason || e.Actor != ana.Actor || e.Detail.String() != "DEADLINES" {
				t.Errorf("audited as %+v", e)
			}
		}
		return true
	}))
	if reveals != 1 {
		t.Errorf("%d audit entries", reveals)
	}
	first, err := b.f.Retain.Due(t.Context(), ana, retain.DueFilter{}, 2)
	b.must(err)
	if len(first) != 2 || first[0].Record.ID != due[0].Record.ID {
		t.Errorf("the first two: %d", len(first))
	}
	b.goTo(due[0].Record, 81*day)
	near, err := b.f.Retain.Due(t.Context(), ana, retain.DueFilter{Stages: []filing.Stage{filing.Alert}}, 100)
	b.must(err)
	if len(near) == 0 || len(near) == 8 || near[0].Record.ID != due[0].Record.ID {
		t.Errorf("%d are near", len(near))
	}
	other, err := b.f.Retain.Due(t.Context(), ana, retain.DueFilter{Filter: store.Filter{State: claimdlq.StateParked}}, 100)
	b.must(err)
	if len(other) != 0 {
		t.Errorf("%d are parked", len(other))
	}
}

// A page continues where the one before it ended, by the id of its last record alone, and
// of partners that somebody may not see nothing is opened.
func TestDue_IsPagedByIdsAndOpensNothingOfOthers(t *testing.T) { // promise 7
	t.Parallel()
	b := setup(t, "")
	b.ingest(generate(t, testclaims.Options{Claims: 7, ClaimsPerSet: 1, Faults: []testclaims.Fault{{Name: "npi-check-digit", Every: 1}}}))
	b.ingest([]byte("TEST unreadable"))
	b.windows(filing.Windows{"837": 90})
	all, err := b.f.Retain.Due(t.Context(), ana, retain.DueFilter{}, 100)
	b.must(err)
	var paged []retain.Due
	for after := claimdlq.ID(0); len(paged) < len(all); after = paged[len(paged)-1].Record.ID {
		page, err := b.f.Retain.Due(t.Context(), ana, retain.DueFilter{After: after}, 3)
		b.must(err)
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
	}
	if len(all) != 8 || len(paged) != 8 {
		t.Fatalf("%d records, %d by the page", len(all), len(paged))
	}
	for i := range all {
		if all[i].Record.ID != paged[i].Record.ID {
			t.Errorf("record %d of the pages is %d, want %d", i, paged[i].Record.ID, all[i].Record.ID)
		}
	}
	if none, err := b.f.Retain.Due(t.Context(), ana, retain.DueFilter{After: all[7].Record.ID}, 3); len(none) != 0 || err != nil {
		t.Errorf("after the last: %d, %v", len(none), err)
	}
	if _, err := b.f.Retain.Due(t.Context(), ana, retain.DueFilter{After: 4711}, 3); !errors.Is(err, claimdlq.NotFound) {
		t.Errorf("after one that is not there: %v", err)
	}
	w := &watching{Vault: b.v}
	b.deps.Vault = w
	b.assemble()
	none := retain.DueFilter{Covers: func(string) bool { return false }}
	if got, err := b.f.Retain.Due(t.Context(), ana, none, 100); len(got) != 0 || err != nil || w.attributes != 0 {
		t.Errorf("of others: %d records, %d opened, %v", len(got), w.attributes, err)
	}
	none.After = all[0].Record.ID
	if _, err := b.f.Retain.Due(t.Context(), ana, none, 100); !errors.Is(err, claimdlq.NotFound) || w.attributes != 0 {
		t.Errorf("after one of others: %v, %d opened", err, w.attributes)
	}
}

// BenchmarkWatch looks at the filing windows of 10,000 records: the first time each day is
// opened, later only what is new.
func BenchmarkWatch(b *testing.B) {
	for _, first := range []bool{true, false} {
		b.Run(map[bool]string{true: "first", false: "later"}[first], func(b *testing.B) {
			dir, st := b.TempDir(), memstore.New()
			kr, err := keyring.Open(dir + "/keys")
			if err != nil {
				b.Fatal(err)
			}
			v, err := filevault.Open(dir+"/vault", dir+"/keys", kr)
			if err != nil {
				b.Fatal(err)
			}
			defer v.Close()
			var file bytes.Buffer
			if _, err := testclaims.Generate(&file, testclaims.Options{Claims: 10_000, ClaimsPerSet: 1}); err != nil {
				b.Fatal(err)
			}
			in := intake.New(intake.Options{Store: st, Vault: v, Identities: kr.Identities(), Rules: x12.LatestRules(), Now: time.Now})
			if _, err := in.File(b.Context(), claimdlq.System("intake"), "BENCH", &file); err != nil {
				b.Fatal(err)
			}
			fresh := func() *retain.Retain {
				return retain.New(retain.Options{Store: st, Vault: v, Windows: filing.Windows{"837": 90}, Now: time.Now})
			}
			r := fresh()
			for b.Loop() {
				if first {
					r = fresh()
				}
				if err := r.Watch(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/10_000, "us/record")
		})
	}
}
