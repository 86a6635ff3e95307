package lineage_test

import (
	"context"
	"errors"
	"testing"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/wire/ncpdp"
)

func claimOf(code, status string) *ncpdp.Claim {
	return &ncpdp.Claim{
		Code: [2]byte{code[0], code[1]}, BIN: []byte("999999"), PCN: []byte("TESTPCN"), ProviderQualifier: []byte("01"), Provider: []byte("TEST"),
		RxQualifier: []byte("1"), Rx: []byte("7"), Fill: []byte("0"), Date: []byte("20260701"), Cardholder: []byte("TESTID"),
		ProductQualifier: []byte("03"), Product: []byte("99999000101"), FillStatus: []byte(status),
	}
}

// withoutHolder is a reversal as it may come: it need not say for whom it was billed.
func withoutHolder(status string) *ncpdp.Claim {
	c := claimOf("B2", status)
	c.Cardholder = nil
	return c
}

// fill is a store with records of one fill.
type fill struct {
	t      *testing.T
	st     store.Store
	ids    []*claimdlq.Identity
	claims map[claimdlq.ID]ncpdp.Claim
	opened int

	partner string // of the claims
}

func newFill(t *testing.T) *fill {
	t.Helper()
	return &fill{t: t, st: memstore.New(), ids: []*claimdlq.Identity{identity(1)}, claims: map[claimdlq.ID]ncpdp.Claim{}, partner: "999999:TESTPCN"}
}

func (f *fill) rx(c *ncpdp.Claim, content string) lineage.Rx {
	return lineage.Rx{
		Claim: c, Partner: f.partner,
		Digest: func(term uint32) claimdlq.Digest { return identity(term).Digest([]byte(content)) },
		Open: func(_ context.Context, r claimdlq.Record) (ncpdp.Claim, error) {
			f.opened++
			return f.claims[r.ID], nil
		},
	}
}

func (f *fill) place(c *ncpdp.Claim, content string) lineage.Place {
	f.t.Helper()
	mates, batch, err := lineage.Mates(f.t.Context(), f.st, f.ids, c, c.Lineage(f.ids[0]))
	if err != nil {
		f.t.Fatal(err)
	}
	p, err := f.rx(c, content).Place(f.t.Context(), f.ids, mates, batch)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// come takes a claim in in the given state, and returns its id.
func (f *fill) come(c *ncpdp.Claim, content string, as claimdlq.Record) claimdlq.ID {
	f.t.Helper()
	p := f.place(c, content)
	as.Key, as.Batch, as.Digest, as.KeyTerm = p.Key, p.Batch, f.rx(c, content).Digest(f.ids[0].Term), f.ids[0].Term
	as.GroupID = lineage.GroupID(store.ParentIndex(0), p.Root)
	if p.Waits && as.State == claimdlq.StateQueued {
		as.Hold = claimdlq.HoldLineage
	}
	return f.insert(c, as)
}

func (f *fill) insert(c *ncpdp.Claim, as claimdlq.Record) claimdlq.ID {
	f.t.Helper()
	as.Format, as.Stream, as.Partner, as.TransactionID, as.Claims = claimdlq.FormatNCPDP, "ncpdp", f.partner, string(c.Code[:]), 1
	as.PayloadRevision = max(as.PayloadRevision, 1)
	receipt, err := f.st.Commit(f.t.Context(), store.Batch{Insert: []claimdlq.Record{as}})
	if err != nil {
		f.t.Fatal(err)
	}
	id := receipt.Inserted[0].ID
	f.claims[id] = *c
	return id
}

func (f *fill) get(id claimdlq.ID) claimdlq.Record {
	f.t.Helper()
	r, err := f.st.Get(f.t.Context(), id)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

func (f *fill) wait(id claimdlq.ID) lineage.Verdict {
	f.t.Helper()
	v, err := lineage.Wait(f.t.Context(), f.st, f.get(id))
	if err != nil {
		f.t.Fatal(err)
	}
	return v
}

func (f *fill) replay(id claimdlq.ID) lineage.Release {
	f.t.Helper()
	c := f.claims[id]
	mates, _, err := lineage.Mates(f.t.Context(), f.st, f.ids, &c, c.Lineage(f.ids[0]))
	if err != nil {
		f.t.Fatal(err)
	}
	out, err := f.rx(&c, "").Replay(f.t.Context(), f.ids, mates, f.get(id))
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// end settles or moves a record.
func (f *fill) end(id claimdlq.ID, step func(claimdlq.Record) (claimdlq.Record, error)) {
	f.t.Helper()
	n, err := step(f.get(id))
	if err == nil {
		_, err = f.st.Commit(f.t.Context(), store.Batch{Update: []claimdlq.Record{n}})
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

func settle(d claimdlq.Disposition) func(claimdlq.Record) (claimdlq.Record, error) {
	return func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Settle(d, claimdlq.NewDetail("TEST"), r.UpdatedAt)
	}
}

var (
	queued      = claimdlq.Record{State: claimdlq.StateQueued}
	quarantined = claimdlq.Record{State: claimdlq.StateQuarantined, Reason: claimdlq.RetriesExhausted}
	paid        = claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Paid}
	reversed    = claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Reversed}
	rejected    = claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Rejected}
)

func TestWait_AReversalWaitsForItsBillingHoweverLong(t *testing.T) { // F18
	t.Parallel()
	f := newFill(t)
	bill := f.come(claimOf("B1", ""), "a", queued)
	back := f.come(claimOf("B2", ""), "b", queued)
	if v := f.wait(bill); v.Move != lineage.Goes {
		t.Errorf("the billing: %+v", v)
	}
	if v := f.wait(back); v.Move != lineage.Waits || v.For != bill {
		t.Errorf("while it is queued: %+v", v)
	}
	f.end(bill, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient}, r.UpdatedAt)
	})
	if v := f.wait(back); v.Move != lineage.Waits || v.For != bill {
		t.Errorf("while a person must look at it: %+v", v)
	}
	f.end(bill, settle(claimdlq.Paid))
	if v := f.wait(back); v.Move != lineage.Goes {
		t.Errorf("when it is paid: %+v", v)
	}
}

func TestWait_ABillingGoesOnlyWhenWhatStoodIsReversed(t *testing.T) { // F18, promise 2
	t.Parallel()
	for _, tt := range []struct {
		name   string
		first  claimdlq.Record
		end    func(claimdlq.Record) (claimdlq.Record, error)
		move   lineage.Move
		detail string
	}{
		{"reversed", paid, settle(claimdlq.Reversed), lineage.Goes, ""},
		{"refused, and the first is paid", paid, settle(claimdlq.Rejected), lineage.Stops, "LINEAGE:NOT_REVERSED"},
		{"written off, and the first is paid", paid, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Withdraw(r.UpdatedAt) }, lineage.Stops, "LINEAGE:NOT_REVERSED"},
		{"refused, and the first was too", rejected, settle(claimdlq.Rejected), lineage.Goes, ""},
		{"not answered yet", paid, nil, lineage.Waits, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFill(t)
			f.come(claimOf("B1", ""), "a", tt.first)
			back := f.come(claimOf("B2", ""), "b", queued)
			again := f.come(claimOf("B1", ""), "a", queued)
			if f.get(again).Hold != claimdlq.HoldLineage {
				t.Fatal("it is not held")
			}
			if tt.end != nil {
				f.end(back, tt.end)
			}
			if v := f.wait(again); v.Move != tt.move || v.Code.String() != tt.detail || tt.move != lineage.Goes && v.For != back {
				t.Errorf("got %+v", v)
			}
		})
	}
}

func TestWait_AnotherClaimOfTheFillIsNoReason(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	f.come(claimOf("B1", "P"), "a", paid)
	f.come(claimOf("B1", "C"), "c", paid)
	f.come(claimOf("B2", "P"), "b", reversed)
	back := f.come(withoutHolder("C"), "d", queued)
	again := f.come(claimOf("B1", "C"), "c", queued)
	f.end(back, settle(claimdlq.Rejected))
	if v := f.wait(again); v.Move != lineage.Stops {
		t.Errorf("the other claim's reversal counts as its own: %+v", v)
	}
	if f.opened == 0 {
		t.Error("two claims were told apart without opening one")
	}
}

func TestWait_WhatIsNotHeldGoesWithoutALook(t *testing.T) {
	t.Parallel()
	v, err := lineage.Wait(t.Context(), nil, claimdlq.Record{State: claimdlq.StateQueued, Batch: 7})
	if err != nil || v.Move != lineage.Goes {
		t.Errorf("got %+v, %v", v, err)
	}
}

func TestPlace_ACrowdedFillIsForAPerson(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	for range lineage.MaxMates {
		f.come(claimOf("B1", ""), "a", rejected)
	}
	if p := f.place(claimOf("B1", ""), "a"); p.Standing != lineage.Crowded || p.Key == (claimdlq.Key{}) {
		t.Errorf("got %+v", p)
	}
}

func TestPlace_AnotherPartnerIsAnotherClaim(t *testing.T) { // COB
	t.Parallel()
	f := newFill(t)
	f.come(claimOf("B1", ""), "a", paid)
	second := claimOf("B1", "")
	second.PCN, second.COB = []byte("OTHER"), 1
	mates, batch, err := lineage.Mates(t.Context(), f.st, f.ids, second, second.Lineage(f.ids[0]))
	if err != nil || len(mates) != 1 {
		t.Fatal(len(mates), err)
	}
	x := f.rx(second, "a")
	x.Partner = "999999:OTHER"
	if p, err := x.Place(t.Context(), f.ids, mates, batch); err != nil || p.Standing != lineage.Fresh || p.Root != 0 {
		t.Errorf("got %+v, %v", p, err)
	}
}

func TestPlace_ACorrectedRecordHasBecomeTheClaim(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	old, right := claimOf("B1", ""), claimOf("B1", "")
	right.Cardholder = []byte("CORRECTED")
	id := f.come(old, "a", claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Paid, PayloadRevision: 2})
	f.claims[id] = *right
	if p := f.place(right, "r"); p.Standing != lineage.Conflict || p.Earlier.ID != id {
		t.Errorf("got %+v", p)
	}
	if p := f.place(old, "a"); p.Standing != lineage.Duplicate || p.Earlier.ID != id {
		t.Errorf("as it came: %+v", p)
	}
}

func TestPlace_AnErrorOfOpenIsPassedOn(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	f.come(claimOf("B1", "P"), "a", paid)
	f.come(claimOf("B1", "C"), "c", paid)
	c := withoutHolder("C")
	mates, batch, err := lineage.Mates(t.Context(), f.st, f.ids, c, c.Lineage(f.ids[0]))
	if err != nil {
		t.Fatal(err)
	}
	x := f.rx(c, "")
	x.Open = func(context.Context, claimdlq.Record) (ncpdp.Claim, error) {
		return ncpdp.Claim{}, claimdlq.Unavailable
	}
	if _, err := x.Place(t.Context(), f.ids, mates, batch); !errors.Is(err, claimdlq.Unavailable) {
		t.Errorf("got %v", err)
	}
}

func TestReplay_WhatStandsInTheWay(t *testing.T) { // F14, F18
	t.Parallel()
	for _, tt := range []struct {
		name  string
		after func(f *fill, id claimdlq.ID) claimdlq.ID // what comes after the quarantined billing; returns the obstacle
		want  lineage.Obstacle
	}{
		{"nothing", func(*fill, claimdlq.ID) claimdlq.ID { return 0 }, lineage.NoObstacle},
		{"the same claim, resubmitted and paid", func(f *fill, _ claimdlq.ID) claimdlq.ID { return f.come(claimOf("B1", ""), "new", paid) }, lineage.InTheWay},
		{"the same claim, in doubt", func(f *fill, _ claimdlq.ID) claimdlq.ID {
			return f.come(claimOf("B1", ""), "new", claimdlq.Record{State: claimdlq.StateInDoubt, FateUnknown: true})
		}, lineage.InTheWay},
		{"the same claim, rejected", func(f *fill, _ claimdlq.ID) claimdlq.ID { f.come(claimOf("B1", ""), "new", rejected); return 0 }, lineage.NoObstacle},
		{"another claim of the fill", func(f *fill, _ claimdlq.ID) claimdlq.ID { f.come(claimOf("B1", "C"), "new", paid); return 0 }, lineage.NoObstacle},
		{"paid and reversed since", func(f *fill, _ claimdlq.ID) claimdlq.ID {
			f.come(claimOf("B1", ""), "new", paid)
			id := f.come(claimOf("B2", ""), "back", reversed)
			f.come(claimOf("B1", ""), "newer", paid)
			return id
		}, lineage.Overtaken},
		{"a reversal that waits for it", func(f *fill, _ claimdlq.ID) claimdlq.ID { f.come(claimOf("B2", ""), "back", queued); return 0 }, lineage.NoObstacle},
		{"a person's correction of another", func(f *fill, _ claimdlq.ID) claimdlq.ID {
			other := claimOf("B1", "")
			other.Cardholder = []byte("WRONG")
			id := f.come(other, "new", claimdlq.Record{State: claimdlq.StateSettled, Disposition: claimdlq.Paid, PayloadRevision: 2})
			f.claims[id] = *claimOf("B1", "")
			return id
		}, lineage.InTheWay},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := newFill(t)
			id := f.come(claimOf("B1", ""), "old", quarantined)
			by := tt.after(f, id)
			got := f.replay(id)
			if got.Obstacle != tt.want || tt.want == lineage.InTheWay && got.By != by || got.Waits {
				t.Errorf("got %+v, want %d by %d", got, tt.want, by)
			}
		})
	}
}

func TestReplay_AReversalWaitsAgainAndIsNotSentTwice(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	bill := f.come(claimOf("B1", ""), "a", queued)
	back := f.come(claimOf("B2", ""), "b", quarantined)
	if got := f.replay(back); got.Obstacle != lineage.NoObstacle || !got.Waits {
		t.Errorf("while its billing is under way: %+v", got)
	}
	f.end(bill, settle(claimdlq.Paid))
	if got := f.replay(back); got.Obstacle != lineage.NoObstacle || got.Waits {
		t.Errorf("when it is paid: %+v", got)
	}
	other := f.come(claimOf("B2", ""), "c", reversed)
	if got := f.replay(back); got.Obstacle == lineage.NoObstacle || got.By != other {
		t.Errorf("when another was accepted: %+v", got)
	}
}

func TestRoot_ByDistanceAndByNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		own, root claimdlq.ID
		group     string
		id, want  claimdlq.ID
	}{
		{store.ParentIndex(5), 0, "", 42, 42},
		{store.ParentIndex(5), 17, "17", 42, 17},
		{store.ParentIndex(5), store.ParentIndex(3), "-2", 42, 40},
		{store.ParentIndex(5), store.ParentIndex(5), "", 42, 42},
	} {
		g := lineage.GroupID(tt.own, tt.root)
		if got := lineage.Root(claimdlq.Record{ID: tt.id, GroupID: g, Format: claimdlq.FormatNCPDP}); g != tt.group || got != tt.want {
			t.Errorf("got %q and %d, want %q and %d", g, got, tt.group, tt.want)
		}
	}
	for _, r := range []claimdlq.Record{{ID: 9, GroupID: "1", Format: claimdlq.Format837P}, {ID: 9, GroupID: "x", Format: claimdlq.FormatNCPDP}} {
		if lineage.Root(r) != 9 {
			t.Errorf("%+v has another root", r)
		}
	}
}

func TestPlace_AReversalIsAboutWhatStandsNotAboutWhatWasStopped(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	bill := f.come(claimOf("B1", ""), "a", queued)
	f.come(claimOf("B2", ""), "b", rejected)
	stopped := f.come(claimOf("B1", ""), "other", quarantined)
	held := f.come(claimOf("B2", ""), "b", queued)
	if v := f.wait(held); v.Move != lineage.Waits || v.For != bill {
		t.Errorf("while the first is under way: %+v", v)
	}
	f.end(bill, settle(claimdlq.Paid))
	if v := f.wait(held); v.Move != lineage.Goes {
		t.Errorf("it waits for record %d, which never went: %+v", stopped, v)
	}
	f.end(held, settle(claimdlq.Rejected))
	if p := f.place(claimOf("B2", ""), "b"); p.Waits || p.Standing != lineage.Successor {
		t.Errorf("one that comes later: %+v", p)
	}
	// What was stopped is answered with its record, and does not stand alone.
	if p := f.place(claimOf("B1", ""), "other"); p.Standing != lineage.Duplicate || p.Earlier.ID != stopped || !p.Blocked {
		t.Errorf("the stopped one again: %+v", p)
	}
}

func TestPlace_AReversalMayComeBeforeWhatItTakesBack(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	back := f.come(claimOf("B2", ""), "b", queued)
	p := f.place(claimOf("B1", ""), "a")
	if p.Standing != lineage.Fresh || p.Root != back || !p.Waits || p.Generation != 1 || f.opened != 0 {
		t.Errorf("got %+v, %d opened", p, f.opened)
	}
}

func TestPlace_AReversalBesideAnotherClaimIsOpened(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	f.come(claimOf("B1", "P"), "p", paid)
	f.come(claimOf("B1", "C"), "c", paid)
	f.opened = 0
	if p := f.place(claimOf("B2", "C"), "d"); p.Root != 2 || f.opened != 0 {
		t.Errorf("one that says all: got %+v, %d opened", p, f.opened)
	}
	if p := f.place(withoutHolder("C"), "d"); p.Root != 2 || f.opened != 2 {
		t.Errorf("got %+v, %d opened", p, f.opened)
	}
	other := claimOf("B2", "P")
	other.Fill = []byte("5")
	alone := f.come(other, "x", queued) // of a fill that was never seen here
	if p := f.place(claimOf("B1", "P"), "p"); p.Standing != lineage.Duplicate || p.Waits {
		t.Errorf("got %+v", p)
	}
	bill := claimOf("B1", "P")
	bill.Fill = []byte("5")
	if p := f.place(bill, "y"); p.Standing != lineage.Fresh || p.Root != alone || !p.Waits {
		t.Errorf("got %+v", p)
	}
}

// Of several claims one whose payload was destroyed tells nothing: a reversal is not about
// it, however little the reversal says.
func TestPlace_AReversalIsNotAboutAClaimThatNobodyCanRead(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	f.come(claimOf("B1", "P"), "p", paid)
	gone := f.come(claimOf("B1", "C"), "c", paid)
	f.claims[gone] = ncpdp.Claim{}
	if p := f.place(withoutHolder("P"), "d"); p.Root != 1 {
		t.Errorf("got root %d", p.Root)
	}
}

// Of two fills of one prescription only the first was billed here: a reversal of the
// second is not about it, and what it takes back waits for it when it comes.
func TestPlace_AReversalOfAnotherFillIsNotAboutTheOneThatStandsAlone(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]*ncpdp.Claim{"all parts": claimOf("B2", "C"), "no cardholder": withoutHolder("C")} {
		f := newFill(t)
		f.come(claimOf("B1", "P"), "p", paid)
		id := f.come(back, "d", queued)
		if r := f.get(id); lineage.Root(r) != id || r.Hold != claimdlq.HoldNone {
			t.Errorf("%s: root %d, held %s", name, lineage.Root(r), r.Hold)
		}
		if p := f.place(claimOf("B1", "C"), "c"); p.Root != id || !p.Waits {
			t.Errorf("%s: what it takes back: %+v", name, p)
		}
	}
}

func TestWait_WhatWasReversedBeforeStandsNoMore(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	f.come(claimOf("B1", ""), "a", paid)
	f.come(claimOf("B2", ""), "b", reversed)
	f.come(claimOf("B1", ""), "a", rejected)
	back := f.come(claimOf("B2", ""), "b", queued)
	again := f.come(claimOf("B1", ""), "a", queued)
	f.end(back, settle(claimdlq.Rejected))
	if v := f.wait(again); v.Move != lineage.Goes {
		t.Errorf("got %+v", v)
	}
}

func TestWait_AfterALostReversalTheFirstBillingDecides(t *testing.T) {
	t.Parallel()
	f := newFill(t)
	bill := f.come(claimOf("B1", ""), "a", queued)
	back := f.come(claimOf("B2", ""), "b", queued)
	again := f.come(claimOf("B1", ""), "a", queued)
	f.end(back, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Withdraw(r.UpdatedAt) })
	if v := f.wait(again); v.Move != lineage.Waits || v.For != bill {
		t.Errorf("while the first is under way: %+v", v)
	}
	f.end(bill, settle(claimdlq.Rejected))
	if v := f.wait(again); v.Move != lineage.Goes {
		t.Errorf("when it was rejected: %+v", v)
	}
}
