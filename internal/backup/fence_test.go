package backup_test

import (
	"fmt"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/backup"
	"claimdlq/store"
	"claimdlq/store/memstore"
)

var (
	t0 = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	by = claimdlq.By{Actor: "test.officer", Reason: "disk failed"}
)

func record(n int, state claimdlq.State) claimdlq.Record {
	return claimdlq.Record{
		Key: claimdlq.Key{byte(n)}, Format: claimdlq.Format837P, InterchangeID: fmt.Sprintf("%09d", n), TransactionID: "0001", Stream: "837",
		Sender: "ZZ:TESTSENDER", Partner: "ZZ:TESTPAYER", State: state, Payload: claimdlq.PayloadRef{Unit: fmt.Sprintf("unit%d", n), Length: 1},
		PayloadRevision: 1, Claims: 1, CreatedAt: t0, UpdatedAt: t0,
	}
}

// world is a store with one record of each kind:
//
//	1, 2 queued, carried by submission 1, which is ready and waits far ahead
//	3 queued, its interchange still being taken in
//	4 quarantined
//	5 submitted with submission 2
//	6 queued with submission 3, its budget spent
//	7 an acknowledgment that answers nothing
func world(t *testing.T) *memstore.Store {
	t.Helper()
	s := memstore.New()
	var rs []claimdlq.Record
	for n := 1; n <= 7; n++ {
		rs = append(rs, record(n, claimdlq.StateQueued))
	}
	rs[2].Hold = claimdlq.HoldIntake
	rs[3].State, rs[3].Reason, rs[3].Detail, rs[3].FirstFailedAt = claimdlq.StateQuarantined, claimdlq.FatalSyntax, claimdlq.NewDetail("IK3:HI:3"), t0
	rs[6].Format, rs[6].Stream, rs[6].Claims = claimdlq.FormatAck, claimdlq.StreamAcks, 0
	rs[6].State, rs[6].Reason, rs[6].FirstFailedAt = claimdlq.StateQuarantined, claimdlq.SemanticReject, t0
	sub := func(isa13 uint32, first, last claimdlq.ID) claimdlq.Submission {
		return claimdlq.Submission{
			State: claimdlq.SubmissionReady, Stream: "837", Partner: "ZZ:TESTPAYER", ISA13: isa13, CreatedAt: t0,
			Members: []claimdlq.IDRange{{First: first, Last: last}}, NotBefore: t0.AddDate(1, 0, 0),
		}
	}
	commit(t, s, store.Batch{Insert: rs, NewSubmissions: []claimdlq.Submission{sub(1, 1, 2), sub(2, 5, 5), sub(3, 6, 6)}})
	move(t, s, 5, 2, claimdlq.SubmissionLeased, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Lease(2, t0) })
	move(t, s, 5, 2, claimdlq.SubmissionSent, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Sent(t0) })
	for range claimdlq.DefaultPolicy().MaxReceive {
		move(t, s, 6, 3, claimdlq.SubmissionLeased, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Lease(3, t0) })
		move(t, s, 6, 3, claimdlq.SubmissionReady, func(r claimdlq.Record) (claimdlq.Record, error) { return r.Held(claimdlq.HoldNone, t0) })
	}
	return s
}

func commit(t *testing.T, s *memstore.Store, b store.Batch) {
	t.Helper()
	if _, err := s.Commit(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func get(t *testing.T, s *memstore.Store, id claimdlq.ID) claimdlq.Record {
	t.Helper()
	r, err := s.Get(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func move(t *testing.T, s *memstore.Store, id claimdlq.ID, sub claimdlq.SubmissionID, to claimdlq.SubmissionState, step func(claimdlq.Record) (claimdlq.Record, error)) {
	t.Helper()
	r, err := step(get(t, s, id))
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Submission(t.Context(), sub)
	if err != nil {
		t.Fatal(err)
	}
	x.State = to
	commit(t, s, store.Batch{Update: []claimdlq.Record{r}, Submissions: []claimdlq.Submission{x}})
}

func TestFence_NothingIsLeftThatADeliveryOrAReplayCouldTake(t *testing.T) {
	t.Parallel()
	s := world(t)
	done, err := backup.Fence(t.Context(), s, nil, by, t0.Add(time.Hour), 1000)
	if err != nil || done != (backup.Fenced{InDoubt: 3, Parked: 3, Lanes: 1}) {
		t.Fatalf("fenced %+v, %v", done, err)
	}
	for id, want := range map[claimdlq.ID]struct {
		state  claimdlq.State
		detail string
		fate   bool // unknown
		sub    claimdlq.SubmissionID
	}{
		1: {claimdlq.StateInDoubt, "RESTORED", true, 1}, 2: {claimdlq.StateInDoubt, "RESTORED", true, 1},
		3: {claimdlq.StateParked, "RESTORED", false, 0}, 4: {claimdlq.StateParked, "IK3:HI:3", false, 0},
		5: {claimdlq.StateInDoubt, "RESTORED", true, 2}, 6: {claimdlq.StateParked, "RESTORED", true, 3},
		7: {claimdlq.StateQuarantined, "", false, 0},
	} {
		r := get(t, s, id)
		if r.State != want.state || r.Detail.String() != want.detail || r.FateUnknown != want.fate || r.Submission != want.sub {
			t.Errorf("record %d is %s %s, fate unknown %v, submission %d", id, r.State, r.Detail, r.FateUnknown, r.Submission)
		}
		if max := claimdlq.DefaultPolicy().MaxReceive; r.ReceiveCount > max {
			t.Errorf("record %d has %d deliveries of %d", id, r.ReceiveCount, max)
		}
	}
	for _, state := range []claimdlq.SubmissionState{claimdlq.SubmissionReady, claimdlq.SubmissionLeased, claimdlq.SubmissionSending} {
		due, err := s.Due(t.Context(), store.DueQuery{State: state, Now: t0.AddDate(10, 0, 0), Limit: 10})
		if err != nil || len(due) != 0 {
			t.Errorf("%s are %+v, %v", state, due, err)
		}
	}
	if n, err := s.NextControl(t.Context(), "ZZ:TESTSENDER>ZZ:TESTPAYER", 1); err != nil || n != 1001 {
		t.Errorf("the next control number is %d, %v", n, err)
	}
	moved := map[claimdlq.ID]claimdlq.Entry{}
	err = s.Entries(t.Context(), 1, func(e claimdlq.Entry) bool {
		moved[e.Record] = e
		return true
	})
	if err != nil || len(moved) != 6 {
		t.Fatalf("%d records have entries, %v", len(moved), err)
	}
	if e := moved[1]; e.Action != claimdlq.ActRestore || e.Actor != by.Actor || e.Note != by.Reason || e.From != claimdlq.StateQueued || e.To != claimdlq.StateInDoubt {
		t.Errorf("an entry is %+v", e)
	}
}

// Every state that Fence leaves has its way out.
func TestFence_APersonGivesBackWhatIsParked(t *testing.T) {
	t.Parallel()
	s := world(t)
	if _, err := backup.Fence(t.Context(), s, nil, by, t0, 1); err != nil {
		t.Fatal(err)
	}
	for id, want := range map[claimdlq.ID]claimdlq.State{3: claimdlq.StateQuarantined, 4: claimdlq.StateQuarantined, 6: claimdlq.StateInDoubt} {
		r, err := get(t, s, id).Unpark(claimdlq.DefaultPolicy(), t0)
		if err != nil || r.State != want {
			t.Errorf("record %d un-parked is %s, %v", id, r.State, err)
		}
	}
}
