package storetest

import (
	"encoding/binary"
	"fmt"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// epoch is when the tests' first record is made.
var epoch = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// at returns the nth second after epoch.
func at(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

var testPolicy = claimdlq.DefaultPolicy()

// testKey spreads n over a key as an HMAC would.
func testKey(n int) (k claimdlq.Key) {
	x := uint64(n)
	for i := 0; i < len(k); i += 8 {
		x += 0x9e3779b97f4a7c15
		y := (x ^ x>>30) * 0xbf58476d1ce4e5b9
		binary.LittleEndian.PutUint64(k[i:], y^y>>27)
	}
	return k
}

// set is the nth test record: a clean, queued transaction set of one claim.
func set(n int) claimdlq.Record {
	return claimdlq.Record{
		Key: testKey(n), Digest: claimdlq.Digest{1, byte(n)}, KeyTerm: 1, Format: claimdlq.Format837P,
		InterchangeID: fmt.Sprintf("%09d", n), GroupID: "1", TransactionID: "0001",
		Sender: "ZZ:TESTSENDER", Partner: "ZZ:TESTPAYER", Stream: "837", Usage: "T",
		State: claimdlq.StateQueued, RuleVersion: "v2026.07",
		Payload: claimdlq.PayloadRef{Unit: fmt.Sprintf("testunit%d", n), Length: 2500}, PayloadRevision: 1,
		Claims: 1, AmountCents: 12_345, CreatedAt: at(n), UpdatedAt: at(n),
	}
}

// bad is the nth test record, made at epoch and quarantined n seconds later.
func bad(n int) claimdlq.Record {
	r := set(n)
	r.State, r.Reason, r.Class, r.Detail = claimdlq.StateQuarantined, claimdlq.FatalSyntax, claimdlq.Poison, detail("IK4:SV102:2")
	r.RefusedRevision, r.FirstFailedAt, r.CreatedAt = 1, at(n), epoch
	return r
}

// pharmacy makes a record one of a pharmacy claim.
func pharmacy(r claimdlq.Record) claimdlq.Record {
	r.Format, r.Scope, r.Stream, r.Partner = claimdlq.FormatNCPDP, claimdlq.ScopeTransaction, claimdlq.StreamNCPDP, "610000:TESTPCN"
	r.InterchangeID, r.GroupID, r.TransactionID = "", "", "B1"
	return r
}

// ack is the nth test record as an acknowledgment file that matched.
func ack(n int) claimdlq.Record {
	r := set(n)
	r.Format, r.Stream, r.Scope, r.Claims, r.AmountCents = claimdlq.FormatAck, "acks", claimdlq.ScopeInterchange, 0, 0
	r.State, r.Disposition = claimdlq.StateSettled, claimdlq.Processed
	return r
}

// whole is a record with every field set, to see that none is lost.
func whole(n int) claimdlq.Record {
	r := bad(n)
	r.Batch, r.Ordinal, r.Claims, r.Parted, r.AmountCents = 77, 3, 4, 2, 1<<40
	r.Hold, r.FateUnknown, r.Disposition = claimdlq.HoldLineage, true, claimdlq.Rejected
	r.Response = claimdlq.PayloadRef{Unit: "testanswer", Offset: 7, Length: 300}
	r.Payload.Offset, r.PayloadRevision, r.RefusedRevision = 5, 300, 299
	r.AttemptCount, r.ReceiveCount, r.ReplayCount, r.Unparked = 70_000, 5, 3, 1
	r.Answered, r.NotBefore, r.UpdatedAt = claimdlq.Bits("").With(1, 9, 4000), at(n+9), at(n+8)
	r.Submission = 42
	return r
}

func detail(s string) claimdlq.Detail { return claimdlq.NewDetail(s) }

// submission is the nth test submission, ready, of the given members.
func submission(n int, members ...claimdlq.IDRange) claimdlq.Submission {
	return claimdlq.Submission{
		State: claimdlq.SubmissionReady, Partner: "ZZ:TESTPAYER", Stream: "837",
		Envelope: claimdlq.Envelope{
			SenderQualifier: "ZZ", Sender: "TESTSENDER", ReceiverQualifier: "ZZ", Receiver: "TESTPAYER",
			Date: "260701", Time: "1200", Usage: "T",
		},
		ISA13: uint32(n), Groups: []claimdlq.GroupControl{{Sender: "TESTAPP", Receiver: "PAYERAPP", Number: uint32(n)}},
		Members: members, Bytes: 2500, CreatedAt: at(n),
	}
}

func one(id claimdlq.ID) claimdlq.IDRange { return claimdlq.IDRange{First: id, Last: id} }

func entry(a claimdlq.Action, id claimdlq.ID) claimdlq.Entry {
	return claimdlq.Entry{At: epoch, Actor: "system:test", Action: a, Record: id}
}

// into returns the record in the given state, with what such a step must count.
func into(r claimdlq.Record, to claimdlq.State) claimdlq.Record {
	r.State = to
	if to == claimdlq.StateLeased {
		r.AttemptCount++
		r.ReceiveCount++
	}
	return r
}

// paths are legal ways into each state.
var paths = map[claimdlq.State][]claimdlq.State{
	claimdlq.StateQueued:      {claimdlq.StateQueued},
	claimdlq.StateLeased:      {claimdlq.StateQueued, claimdlq.StateLeased},
	claimdlq.StateSubmitted:   {claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted},
	claimdlq.StateInDoubt:     {claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateInDoubt},
	claimdlq.StateQuarantined: {claimdlq.StateQuarantined},
	claimdlq.StateParked:      {claimdlq.StateParked},
	claimdlq.StateSettled:     {claimdlq.StateSettled},
	claimdlq.StateWithdrawn:   {claimdlq.StateQueued, claimdlq.StateWithdrawn},
}

// placed stores the nth test record and takes it into the given state.
func placed(t tb, s store.Store, n int, to claimdlq.State) claimdlq.Record {
	t.Helper()
	return placedAs(t, s, set(n), to)
}

// placedAs stores a record and takes it into the given state.
func placedAs(t tb, s store.Store, r claimdlq.Record, to claimdlq.State) claimdlq.Record {
	t.Helper()
	path := paths[to]
	r = insert(t, s, into(r, path[0]))[0]
	for _, state := range path[1:] {
		r = update(t, s, into(r, state), nil)
	}
	return r
}
