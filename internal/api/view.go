package api

import (
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/correct"
)

// Record is a record as everybody may see it who may see its partner: codes, counts
// and times, nothing of the claim.
type Record struct {
	Key             string     `json:"key" doc:"What people say and logs show; a look-up, no identity."`
	ID              uint64     `json:"id"`
	Revision        uint32     `json:"revision" doc:"Raised by every step; the ETag."`
	Format          string     `json:"format"`
	Scope           string     `json:"scope"`
	Parent          uint64     `json:"parent,omitempty" doc:"The set it parted from."`
	Ordinal         uint32     `json:"ordinal,omitempty"`
	InterchangeID   string     `json:"interchange_id,omitempty"`
	GroupID         string     `json:"group_id,omitempty"`
	TransactionID   string     `json:"transaction_id,omitempty"`
	Sender          string     `json:"sender,omitempty"`
	Partner         string     `json:"partner,omitempty"`
	Stream          string     `json:"stream"`
	Usage           string     `json:"usage,omitempty"`
	State           string     `json:"state"`
	Hold            string     `json:"hold,omitempty"`
	Reason          string     `json:"reason_code,omitempty"`
	Class           string     `json:"class,omitempty"`
	Detail          string     `json:"error_detail"`
	Disposition     string     `json:"disposition,omitempty"`
	RuleVersion     string     `json:"rule_version"`
	PayloadRevision uint16     `json:"payload_revision"`
	RefusedRevision uint16     `json:"refused_revision,omitempty"`
	FateUnknown     bool       `json:"fate_unknown,omitempty" doc:"Some revision was sent and nobody knows what became of it."`
	Claims          uint32     `json:"claims"`
	Parted          uint32     `json:"parted"`
	AmountCents     int64      `json:"amount_cents"`
	AttemptCount    uint32     `json:"attempt_count"`
	ReceiveCount    uint32     `json:"receive_count"`
	ReplayCount     uint32     `json:"replay_count"`
	Unparked        uint32     `json:"unparked"`
	CreatedAt       time.Time  `json:"created_at"`
	FirstFailedAt   *time.Time `json:"first_failed_at,omitempty"`
	UpdatedAt       time.Time  `json:"updated_at"`
	NotBefore       *time.Time `json:"not_before,omitempty"`
	Submission      uint64     `json:"submission,omitempty"`
}

func toRecord(r claimdlq.Record) Record {
	return Record{
		Key: r.DisplayKey(), ID: uint64(r.ID), Revision: r.Revision, Format: r.Format.String(), Scope: r.Scope.String(),
		Parent: uint64(r.Parent), Ordinal: r.Ordinal, InterchangeID: r.InterchangeID, GroupID: r.GroupID, TransactionID: r.TransactionID,
		Sender: r.Sender, Partner: r.Partner, Stream: r.Stream, Usage: r.Usage, State: r.State.String(), Hold: r.Hold.String(),
		Reason: r.Reason.String(), Class: r.Class.String(), Detail: r.Detail.String(), Disposition: r.Disposition.String(),
		RuleVersion: r.RuleVersion, PayloadRevision: r.PayloadRevision, RefusedRevision: r.RefusedRevision, FateUnknown: r.FateUnknown,
		Claims: r.Claims, Parted: r.Parted, AmountCents: r.AmountCents, AttemptCount: r.AttemptCount, ReceiveCount: r.ReceiveCount,
		ReplayCount: r.ReplayCount, Unparked: r.Unparked, CreatedAt: r.CreatedAt, FirstFailedAt: moment(r.FirstFailedAt),
		UpdatedAt: r.UpdatedAt, NotBefore: moment(r.NotBefore), Submission: uint64(r.Submission),
	}
}

// moment returns a time for JSON, nil where there is none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

// Entry is one line of the audit log.
type Entry struct {
	Seq             uint64    `json:"seq"`
	At              time.Time `json:"at"`
	Actor           string    `json:"actor"`
	Action          string    `json:"action"`
	Record          uint64    `json:"record,omitempty"`
	Records         string    `json:"records,omitempty" doc:"All that one act moved together, as runs of ids: 12-511,513. record is absent then."`
	Submission      uint64    `json:"submission,omitempty"`
	PayloadRevision uint16    `json:"payload_revision,omitempty"`
	Detail          string    `json:"detail,omitempty"`
	Meaning         string    `json:"meaning,omitempty" doc:"The detail in words."`
	From            string    `json:"from,omitempty"`
	To              string    `json:"to,omitempty"`
	Note            string    `json:"note,omitempty" doc:"A person's reason."`
}

func toEntry(e claimdlq.Entry) Entry {
	out := Entry{
		Seq: e.Seq, At: e.At, Actor: e.Actor, Action: string(e.Action), Record: uint64(e.Record), Records: string(e.Records), Submission: uint64(e.Submission),
		PayloadRevision: e.PayloadRevision, Detail: e.Detail.String(), Meaning: classify.Words(e.Detail), Note: e.Note,
	}
	if e.From != 0 {
		out.From = e.From.String()
	}
	if e.To != 0 {
		out.To = e.To.String()
	}
	return out
}

// Submission is one interchange or transmission as it was handed to a target.
type Submission struct {
	ID        uint64     `json:"id"`
	Revision  uint32     `json:"revision"`
	State     string     `json:"state"`
	Replay    bool       `json:"replay,omitempty"`
	Fallback  bool       `json:"fallback,omitempty"`
	Partner   string     `json:"partner"`
	Stream    string     `json:"stream"`
	ISA13     uint32     `json:"isa13,omitempty"`
	Records   uint64     `json:"records" doc:"How many records it carries."`
	Bytes     int64      `json:"bytes"`
	Receives  uint32     `json:"receives" doc:"Deliveries of it."`
	CreatedAt time.Time  `json:"created_at"`
	NotBefore *time.Time `json:"not_before,omitempty"`
	SentAt    *time.Time `json:"sent_at,omitempty"`
	Last      string     `json:"last,omitempty" doc:"Code of the latest outcome or acknowledgment."`
	Meaning   string     `json:"meaning,omitempty" doc:"The code in words."`
}

func toSubmission(x claimdlq.Submission) Submission {
	out := Submission{
		ID: uint64(x.ID), Revision: x.Revision, State: x.State.String(), Replay: x.Replay, Fallback: x.Fallback, Partner: x.Partner,
		Stream: x.Stream, ISA13: x.ISA13, Bytes: x.Bytes, Receives: x.Receives, CreatedAt: x.CreatedAt, NotBefore: moment(x.NotBefore),
		SentAt: moment(x.SentAt), Last: x.Last.String(), Meaning: classify.Words(x.Last),
	}
	for _, m := range x.Members {
		out.Records += uint64(m.Last-m.First) + 1
	}
	return out
}

// Next is something that a person may do with a record now.
type Next struct {
	Action     string `json:"action" doc:"The last part of the path: correct, replay, park and so on; acknowledge stands for handing in the payer's answer."`
	Permission string `json:"permission"`
	Allowed    bool   `json:"allowed" doc:"Whether who asks may do it; a reason or a second person may be needed all the same."`
}

// nextOf lists what the state of a record leaves to people, the likeliest first.
func nextOf(r claimdlq.Record) []string {
	switch r.State {
	case claimdlq.StateQuarantined:
		switch {
		case r.FateUnknown:
			return []string{"inquire", "resolve", "park", "withdraw"}
		case !correct.Can(r): // what could not be read comes again as another file
			return []string{"park", "withdraw"}
		case r.PayloadRevision > r.RefusedRevision:
			return []string{"replay", "correct", "park", "withdraw"}
		}
		return []string{"correct", "replay", "park", "withdraw"}
	case claimdlq.StateInDoubt:
		return []string{"inquire", "acknowledge", "resolve", "park", "withdraw"}
	case claimdlq.StateParked:
		return []string{"unpark", "withdraw"}
	case claimdlq.StateQueued:
		return []string{"park", "withdraw"}
	case claimdlq.StateSubmitted:
		return []string{"acknowledge"}
	case claimdlq.StateLeased, claimdlq.StateSettled, claimdlq.StateWithdrawn:
	}
	return nil
}

// outlook says what happens next without anybody.
func outlook(r claimdlq.Record) string {
	switch r.State {
	case claimdlq.StateQueued:
		if r.Hold != claimdlq.HoldNone {
			return heldOutlook(r)
		}
		if !r.NotBefore.IsZero() {
			return "It is delivered once its back-off is over, at not_before."
		}
		return "It is delivered as soon as its turn comes."
	case claimdlq.StateLeased:
		return "It is being delivered."
	case claimdlq.StateSubmitted:
		return "It waits for the payer's acknowledgment; past the deadline it falls into doubt."
	case claimdlq.StateInDoubt:
		return "It may have arrived and nobody knows. It is never sent again by itself: ask the payer, or hand in its answer."
	case claimdlq.StateQuarantined:
		return "Nothing happens until somebody corrects or replays it; past its retention it is parked, never removed."
	case claimdlq.StateParked:
		return "Nothing happens until a named person gives it back or writes it off."
	case claimdlq.StateSettled:
		return "It is settled: nothing is left to do."
	case claimdlq.StateWithdrawn:
		return "It was written off, for good."
	}
	return ""
}
