package fsck_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/fsck"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/vault"
	"claimdlq/vault/memvault"
)

var t0 = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// world is a small sound data directory in memory:
//
//	1 queued, carried by submission 1, which is ready
//	2 a set of three claims, submitted with submission 2
//	3 claim 2 of set 2, quarantined
//	4 settled, its payload destroyed
//	5 parked
//	6 queued, of an interchange whose intake was interrupted
//	7 an acknowledgment file, settled
type world struct {
	t     *testing.T
	store *memstore.Store
	vault *memvault.Vault
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, store: memstore.New(), vault: memvault.New()}
	queued, parent, settled, parked, unfinished, ack := w.record(1), w.record(2), w.record(4), w.record(5), w.record(6), w.record(7)
	parent.Claims, parent.Parted = 2, 1
	child := w.record(3)
	child.Scope, child.Parent, child.Ordinal, child.Payload = claimdlq.ScopeClaim, store.ParentIndex(1), 2, parent.Payload
	child.State, child.Reason, child.RefusedRevision, child.FirstFailedAt = claimdlq.StateQuarantined, claimdlq.FatalSyntax, 1, t0
	settled.State, settled.Disposition = claimdlq.StateSettled, claimdlq.Rejected
	parked.State, parked.Reason, parked.FirstFailedAt = claimdlq.StateParked, claimdlq.FatalSyntax, t0.Add(time.Hour)
	unfinished.Hold = claimdlq.HoldIntake
	ack.Format, ack.Scope, ack.Claims = claimdlq.FormatAck, claimdlq.ScopeInterchange, 0
	ack.State, ack.Disposition = claimdlq.StateSettled, claimdlq.Processed
	w.commit(store.Batch{
		Insert:         []claimdlq.Record{queued, parent, child, settled, parked, unfinished, ack},
		NewSubmissions: []claimdlq.Submission{submission(1, 1), submission(2, 2)},
		Entries:        make([]claimdlq.Entry, 7),
	})
	w.step(2, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Lease(2, t0) }, claimdlq.SubmissionLeased)
	w.step(2, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Sent(t0) }, claimdlq.SubmissionSent)
	if err := w.vault.Shred(t.Context(), settled.Payload); err != nil {
		t.Fatal(err)
	}
	return w
}

// record is the nth record, queued, with a sealed payload of its own.
func (w *world) record(n int) claimdlq.Record {
	w.t.Helper()
	ref, err := w.vault.Stage(phi.Wrap(fmt.Appendf(nil, "TEST payload %d", n)))
	if err == nil {
		err = w.vault.Sync(w.t.Context())
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return claimdlq.Record{
		Key: claimdlq.Key{byte(n)}, Format: claimdlq.Format837P, InterchangeID: fmt.Sprintf("%09d", n), TransactionID: "0001", Stream: "837",
		State: claimdlq.StateQueued, Payload: ref, PayloadRevision: 1, Claims: 1, CreatedAt: t0, UpdatedAt: t0,
	}
}

func submission(n uint32, member claimdlq.ID) claimdlq.Submission {
	return claimdlq.Submission{
		State: claimdlq.SubmissionReady, Envelope: claimdlq.Envelope{Sender: "TESTSENDER", Receiver: "TESTPAYER"},
		ISA13: n, Members: []claimdlq.IDRange{{First: member, Last: member}}, CreatedAt: t0,
	}
}

func (w *world) commit(b store.Batch) {
	w.t.Helper()
	if _, err := w.store.Commit(w.t.Context(), b); err != nil {
		w.t.Fatal(err)
	}
}

// step moves record id, and the submission of the same number.
func (w *world) step(id claimdlq.ID, f func(claimdlq.Record) (claimdlq.Record, error), to claimdlq.SubmissionState) {
	w.t.Helper()
	r, err := w.store.Get(w.t.Context(), id)
	if err == nil {
		r, err = f(r)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := w.store.Submission(w.t.Context(), claimdlq.SubmissionID(id))
	if err != nil {
		w.t.Fatal(err)
	}
	s.State = to
	w.commit(store.Batch{Update: []claimdlq.Record{r}, Submissions: []claimdlq.Submission{s}})
}

// seen shows the world through a store and a vault that lie as they are told.
type seen struct {
	store.Store
	vault.Vault
	record     func(*claimdlq.Record)
	submission func(*claimdlq.Submission)
	stats      func(*store.Stats)
	lost       claimdlq.ID           // cannot be got
	lostKey    claimdlq.ID           // cannot be found
	lostSub    claimdlq.SubmissionID // cannot be got
	unlinked   claimdlq.SubmissionID // cannot be found
	corrupt    string                // unit whose seal does not hold
}

func (s *seen) Close() error { return nil }

func (s *seen) see(rs ...claimdlq.Record) []claimdlq.Record {
	if s.record != nil {
		for i := range rs {
			s.record(&rs[i])
		}
	}
	return rs
}

func (s *seen) List(ctx context.Context, f store.Filter, before claimdlq.ID, limit int) ([]claimdlq.Record, error) {
	rs, err := s.Store.List(ctx, f, before, limit)
	return s.see(rs...), err
}

func (s *seen) Lookup(ctx context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Record, error) {
	rs, err := s.Store.Lookup(ctx, ref, limit)
	return s.see(rs...), err
}

func (s *seen) Get(ctx context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	if id == s.lost {
		return claimdlq.Record{}, claimdlq.NotFound
	}
	r, err := s.Store.Get(ctx, id)
	return s.see(r)[0], err
}

func (s *seen) Find(ctx context.Context, k claimdlq.Key) (claimdlq.Record, error) {
	r, err := s.Store.Find(ctx, k)
	if s.lostKey != 0 && r.ID == s.lostKey {
		return claimdlq.Record{}, claimdlq.NotFound
	}
	return s.see(r)[0], err
}

func (s *seen) Submission(ctx context.Context, id claimdlq.SubmissionID) (claimdlq.Submission, error) {
	sub, err := s.Store.Submission(ctx, id)
	if id == s.lostSub {
		return claimdlq.Submission{}, claimdlq.NotFound
	}
	if s.submission != nil && err == nil {
		s.submission(&sub)
	}
	return sub, err
}

func (s *seen) FindSubmissions(ctx context.Context, ref claimdlq.Ref, limit int) (out []claimdlq.Submission, err error) {
	subs, err := s.Store.FindSubmissions(ctx, ref, limit)
	for _, sub := range subs {
		if sub.ID != s.unlinked {
			out = append(out, sub)
		}
	}
	return out, err
}

func (s *seen) Stats(ctx context.Context) (store.Stats, error) {
	st, err := s.Store.Stats(ctx)
	if s.stats != nil {
		s.stats(&st)
	}
	return st, err
}

func (s *seen) Verify(ctx context.Context, ref claimdlq.PayloadRef) error {
	if ref.Unit == s.corrupt {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open unit", On: ref.Unit}
	}
	return s.Vault.Verify(ctx, ref)
}

// check runs fsck over what is seen.
func check(t *testing.T, s *seen, w *world, change func(*fsck.Deps)) fsck.Report {
	t.Helper()
	s.Store, s.Vault = w.store, w.vault
	d := fsck.Deps{Store: storeOnly{s}, Vault: vaultOnly{s}, Seals: true}
	if change != nil {
		change(&d)
	}
	rep, err := fsck.Run(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// storeOnly and vaultOnly part what seen has of both; they fail on a change.
type storeOnly struct{ *seen }

func (s storeOnly) Commit(context.Context, store.Batch) (store.Receipt, error) {
	panic("fsck changed the store")
}

func (s storeOnly) NextControl(context.Context, string, int) (uint32, error) {
	panic("fsck took a control number")
}

func (s storeOnly) AuditedTo(context.Context, uint64) error { panic("fsck dropped entries") }

type vaultOnly struct{ *seen }

func (v vaultOnly) Shred(context.Context, claimdlq.PayloadRef) error { panic("fsck destroyed a key") }

func (v vaultOnly) Open(context.Context, claimdlq.PayloadRef, claimdlq.Proof) (phi.Bytes, error) {
	panic("fsck opened a payload")
}
