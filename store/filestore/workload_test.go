package filestore_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

var epoch = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func at(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

func key(n int) (k claimdlq.Key) {
	x := uint64(n+1) * 0x9e3779b97f4a7c15
	binary.LittleEndian.PutUint64(k[:], x^x>>31)
	binary.LittleEndian.PutUint64(k[8:], uint64(n))
	return k
}

// quarantined is the nth record of a workload.
func quarantined(n int) claimdlq.Record {
	return claimdlq.Record{
		Key: key(n), Digest: claimdlq.Digest{byte(n)}, KeyTerm: 1, Format: claimdlq.Format837P, Batch: claimdlq.Ref(n%7 + 1),
		InterchangeID: fmt.Sprintf("%09d", n/3+1), GroupID: "1", TransactionID: "0001",
		Sender: "ZZ:TESTSENDER", Partner: fmt.Sprintf("ZZ:TESTPAYER%d", n%3), Stream: "837", Usage: "T",
		State: claimdlq.StateQuarantined, Reason: claimdlq.Reasons[n%5], Class: claimdlq.Terminal, Detail: claimdlq.NewDetail("IK4:SV102:2"),
		RuleVersion: "v2026.07", Payload: claimdlq.PayloadRef{Unit: fmt.Sprintf("testunit%d", n), Length: 2500},
		PayloadRevision: 1, RefusedRevision: 1, Claims: uint32(n%4 + 1), AmountCents: 12_345,
		CreatedAt: at(n), FirstFailedAt: at(n), UpdatedAt: at(n),
	}
}

// workload makes commits on a store and remembers what was promised.
type workload struct {
	s        store.Store
	rnd      *rand.Rand
	next     int
	records  []claimdlq.Record // as last read, by id-1
	entries  uint64            // promised
	numbers  uint32            // of lane "lane"
	subs     int
	mine     []claimdlq.SubmissionID
	moved    map[claimdlq.SubmissionID]claimdlq.Submission // as last committed
	prints   int
	printsAt int // where the keys of its fingerprints begin
	audited  uint64
	choice   int // what the next step will be
}

// auditing is the choice of a step that lets audit entries go.
const auditing = 17

// step does one random thing. It returns an error only where the store failed.
func (w *workload) step(ctx context.Context) error {
	n := w.choice
	w.choice = w.rnd.IntN(21)
	switch {
	case n < 8 || len(w.records) == 0:
		return w.insert(ctx)
	case n < 16:
		return w.change(ctx)
	case n == 16:
		first, err := w.s.NextControl(ctx, "lane", 3)
		if err == nil {
			w.numbers = first + 2
		}
		return err
	case n == auditing:
		w.audited = w.entries // where it fails, nobody knows
		return w.s.AuditedTo(ctx, w.entries)
	}
	if n > 19 {
		return w.release(ctx)
	}
	return w.submit(ctx)
}

// release replays what is quarantined of one partner, at most 8 records, by one step.
func (w *workload) release(ctx context.Context) error {
	r := store.Release{At: at(w.next), RuleVersion: "v2026.09", Stream: claimdlq.StreamX12, Bulk: true, Partner: fmt.Sprintf("ZZ:TESTPAYER%d", w.rnd.IntN(3))}
	var changed []int
	for i := w.rnd.IntN(len(w.records)); i < len(w.records) && len(changed) < 8; i++ {
		rec := &w.records[i]
		if rec.State != claimdlq.StateQuarantined || rec.Partner != r.Partner {
			continue
		}
		m := store.Released{ID: rec.ID, Revision: rec.Revision, Bytes: uint32(w.next), Digest: rec.Digest}
		if w.rnd.IntN(2) == 0 {
			m.NotBefore = at(w.next + i)
		}
		changed = append(changed, i)
		r.Records = append(r.Records, m)
	}
	if len(changed) == 0 {
		return nil
	}
	ids := claimdlq.NewIDSet(func(yield func(claimdlq.ID) bool) {
		for _, m := range r.Records {
			_ = yield(m.ID)
		}
	})
	receipt, err := w.s.Commit(ctx, store.Batch{Releases: []store.Release{r}, Entries: []claimdlq.Entry{{
		At: at(w.next), Actor: "ANALYST", Action: claimdlq.ActReplay, Records: ids, From: claimdlq.StateQuarantined, To: claimdlq.StateQueued,
	}}})
	if err != nil {
		return err
	}
	for k, i := range changed {
		if w.records[i], err = r.Record(k, w.records[i]); err != nil {
			return err
		}
		w.records[i].Revision++
	}
	w.subs += len(changed)
	_, w.entries = receipt.Proof.Range()
	return nil
}

func (w *workload) insert(ctx context.Context) error {
	b := store.Batch{Entries: []claimdlq.Entry{}}
	k := w.rnd.IntN(4) + 1
	for i := range k {
		b.Insert = append(b.Insert, quarantined(w.next+i))
		b.Entries = append(b.Entries, claimdlq.Entry{At: at(w.next), Actor: "system:test", Action: claimdlq.ActEnqueue, Record: store.ParentIndex(i)})
		b.Fingerprints = append(b.Fingerprints, store.Fingerprint{Key: key(1_000_000 + w.printsAt + w.prints + i), Record: store.ParentIndex(i)})
	}
	r, err := w.s.Commit(ctx, b)
	w.next += k // a refused key is not used again, so that it can be looked for
	if err != nil {
		return err
	}
	w.prints += k
	for i, res := range r.Inserted {
		rec := b.Insert[i]
		rec.ID, rec.Revision = res.ID, 1
		w.records = append(w.records, rec)
	}
	_, w.entries = r.Proof.Range()
	return nil
}

// change takes one or two records a legal step further, together.
func (w *workload) change(ctx context.Context) error {
	var b store.Batch
	var changed []int
	for range w.rnd.IntN(2) + 1 {
		i := w.rnd.IntN(len(w.records))
		if len(changed) > 0 && changed[0] == i {
			continue
		}
		next, err := w.further(w.records[i])
		if err != nil {
			continue
		}
		changed = append(changed, i)
		b.Update = append(b.Update, next)
		b.Entries = append(b.Entries, claimdlq.Entry{At: at(w.next), Actor: "system:test", Action: claimdlq.ActReplay, Record: next.ID})
	}
	if len(changed) == 0 {
		return nil
	}
	r, err := w.s.Commit(ctx, b)
	if err != nil {
		return err
	}
	for j, i := range changed {
		w.records[i] = b.Update[j]
		w.records[i].Revision++
	}
	_, w.entries = r.Proof.Range()
	return nil
}

func (w *workload) further(r claimdlq.Record) (claimdlq.Record, error) {
	now := at(w.next + 1)
	switch r.State {
	case claimdlq.StateQuarantined:
		if w.rnd.IntN(4) == 0 {
			return r.Park(claimdlq.Expired, now)
		}
		return r.Replay("v2026.08", now)
	case claimdlq.StateQueued:
		return r.Lease(1, now)
	case claimdlq.StateLeased:
		return r.Sent(now)
	case claimdlq.StateSubmitted:
		if w.rnd.IntN(5) == 0 {
			return r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject, Detail: claimdlq.NewDetail("STC:A7:562")}, now)
		}
		return r.Settle(claimdlq.Accepted, claimdlq.NewDetail("STC:A2:20"), now)
	case claimdlq.StateSettled:
		if w.rnd.IntN(3) == 0 { // a late reject reopens what was settled
			return r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject, Detail: claimdlq.NewDetail("STC:A3:21")}, now)
		}
		return r, errors.New("settled")
	}
	return r.Withdraw(now)
}

// submit makes a submission of either stream, or answers a pharmacy's.
func (w *workload) submit(ctx context.Context) error {
	r := w.records[w.rnd.IntN(len(w.records))]
	sub := claimdlq.Submission{
		State: claimdlq.SubmissionReady, Partner: r.Partner, Stream: "837", Envelope: claimdlq.Envelope{Sender: "TESTSENDER", Receiver: "TESTPAYER"},
		ISA13: uint32(w.subs + 1), Groups: []claimdlq.GroupControl{{Sender: "A", Receiver: "B", Number: uint32(w.subs + 1)}},
		Members: []claimdlq.IDRange{{First: r.ID, Last: r.ID}}, CreatedAt: at(w.subs), NotBefore: at(w.subs),
	}
	switch w.rnd.IntN(3) {
	case 0:
		sub.Stream, sub.Envelope, sub.ISA13, sub.Groups = claimdlq.StreamNCPDP, claimdlq.Envelope{}, 0, nil
	case 1:
		if len(w.mine) > 0 {
			return w.answer(ctx, w.mine[w.rnd.IntN(len(w.mine))])
		}
	}
	receipt, err := w.s.Commit(ctx, store.Batch{NewSubmissions: []claimdlq.Submission{sub}})
	if err == nil {
		w.subs++
		w.mine = append(w.mine, receipt.Submissions[0])
	}
	return err
}

// answer takes a submission further: one that was answered is sent again.
func (w *workload) answer(ctx context.Context, id claimdlq.SubmissionID) error {
	sub, err := w.s.Submission(ctx, id)
	if err != nil {
		return err
	}
	if sub.State == claimdlq.SubmissionAnswered {
		sub.State = claimdlq.SubmissionReady
	} else {
		sub.State = claimdlq.SubmissionAnswered
	}
	if _, err := w.s.Commit(ctx, store.Batch{Submissions: []claimdlq.Submission{sub}}); err != nil {
		return err
	}
	if w.moved == nil {
		w.moved = map[claimdlq.SubmissionID]claimdlq.Submission{}
	}
	sub.Revision++
	w.moved[id] = sub
	return nil
}

// kept checks that everything that was promised is there.
func (w *workload) kept(t testing.TB, s store.Store) {
	t.Helper()
	ctx := context.Background()
	for _, want := range w.records {
		got, err := s.Get(ctx, want.ID)
		if err != nil {
			t.Fatalf("record %d at revision %d was promised: %v", want.ID, want.Revision, err)
		}
		if got.Key != want.Key || got.Revision < want.Revision || (got.Revision == want.Revision && got.State != want.State) {
			t.Fatalf("record %d is at revision %d %v, promised was %d %v", want.ID, got.Revision, got.State, want.Revision, want.State)
		}
		if found, err := s.Find(ctx, want.Key); err != nil || found.ID != want.ID {
			t.Fatalf("record %d is found by its key as %d, %v", want.ID, found.ID, err)
		}
	}
	for i := range w.subs {
		sub, err := s.Submission(ctx, claimdlq.SubmissionID(i+1))
		if err != nil {
			t.Fatalf("submission %d was promised: %v", i+1, err)
		}
		want := w.moved[sub.ID]
		if sub.Revision < want.Revision || (sub.Revision == want.Revision && sub.State != want.State) {
			t.Fatalf("submission %d is at revision %d %v, promised was %d %v", sub.ID, sub.Revision, sub.State, want.Revision, want.State)
		}
	}
	last, seq := uint64(0), w.audited
	if err := s.Entries(ctx, w.audited+1, func(e claimdlq.Entry) bool {
		if seq++; e.Seq < seq {
			t.Fatalf("entry %d where %d should be", e.Seq, seq)
		}
		seq, last = e.Seq, e.Seq
		return true
	}); err != nil {
		t.Fatalf("entries: %v", err)
	}
	if w.entries > w.audited && last < w.entries {
		t.Fatalf("entries end at %d, promised were %d", last, w.entries)
	}
	for i := range w.prints {
		ids, err := s.Seen(ctx, []claimdlq.Key{key(1_000_000 + w.printsAt + i)})
		if err != nil || ids[0] == 0 {
			t.Fatalf("fingerprint %d of %d was promised: %v", i, w.prints, err)
		}
	}
}

// sound checks the store against itself.
func sound(t testing.TB, s *filestore.Store) {
	t.Helper()
	rep, err := s.Verify(context.Background())
	if err != nil {
		t.Fatalf("verify: %v", err)
	}
	if !rep.OK() {
		t.Fatalf("verify: %q", rep.Problems)
	}
	if !rep.Quiet {
		t.Fatal("verify: not quiet")
	}
}
