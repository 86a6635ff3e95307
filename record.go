package claimdlq

import (
	"math/bits"
	"time"
)

// Format names the wire format of a payload.
type Format uint8

// The formats.
const (
	FormatUnreadable Format = iota // no envelope could be read
	Format837P                     // X12 005010X222, professional
	Format837I                     // X12 005010X223, institutional
	Format837D                     // X12 005010X224, dental
	FormatX12                      // another X12 transaction set
	FormatAck                      // TA1, 999 or 277CA
	FormatNCPDP                    // NCPDP Telecommunication
)

var formatNames = [...]string{"unreadable", "837p", "837i", "837d", "x12", "ack", "ncpdp"}

// String returns the format as it is spelled in JSON.
func (f Format) String() string { return nameOf(formatNames[:], int(f), "format") }

// MarshalText implements encoding.TextMarshaler.
func (f Format) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// The streams. Each has a policy of its own; acknowledgments have no claims.
const (
	StreamX12   = "837"
	StreamNCPDP = "ncpdp"
	StreamAcks  = "acks"
)

// Streams lists every stream.
var Streams = []string{StreamX12, StreamNCPDP, StreamAcks}

// PayloadRef points at sealed bytes in a vault: which unit, and which range of
// its plaintext. Its text is random as far as anybody can tell: no identifier,
// no path. The zero PayloadRef points at nothing.
type PayloadRef struct {
	// Unit is the vault's own name of the sealed unit, [a-z0-9.]{1,64}.
	Unit string
	// Offset and Length are the byte range inside the unit's plaintext.
	Offset, Length int64
}

// IsZero reports whether the ref points at nothing.
func (r PayloadRef) IsZero() bool { return r.Unit == "" }

// Record is the PHI-free metadata of one transaction set (837), one transaction
// (NCPDP), or one claim that parted from its set. No field may hold a service
// date, a patient control number, a member id or free text.
//
// Times are UTC with millisecond resolution. Counts never go back, with one
// exception: ReceiveCount starts again at 0 with each replay.
type Record struct {
	ID       ID     `json:"id"`
	Revision uint32 `json:"revision"` // raised by every step; compare-and-set on it

	Key     Key    `json:"-"`
	Digest  Digest `json:"-"` // of the payload as received; a correction does not change it
	KeyTerm uint32 `json:"key_term"`
	// Batch is how answers find it: of BHT03 with GS02/GS03 for a 277CA, of the fill
	// (ncpdp.Claim.Lineage) for a pharmacy claim, its reversals and their answers.
	Batch Ref `json:"-"`

	Format  Format `json:"format"`
	Scope   Scope  `json:"scope"`
	Parent  ID     `json:"parent,omitempty"`
	Ordinal uint32 `json:"ordinal,omitempty"` // from 1: the CLM's place in its ST, or the transaction's in its transmission

	InterchangeID string `json:"interchange_id,omitempty"` // ISA13 as received
	GroupID       string `json:"group_id,omitempty"`       // GS06 as received; the record that a pharmacy claim began with
	TransactionID string `json:"transaction_id,omitempty"` // ST02 as received; 103-A3 of a pharmacy claim, such as B1
	Sender        string `json:"sender,omitempty"`         // ISA05:ISA06 or 202-B2:201-B1, trimmed
	Partner       string `json:"partner,omitempty"`        // ISA07:ISA08 or 101-A1:104-A4, trimmed: who must act
	Stream        string `json:"stream"`                   // one of Streams
	Usage         string `json:"usage,omitempty"`          // ISA15: P or T

	State       State       `json:"state"`
	Hold        Hold        `json:"hold,omitempty"`
	Reason      Reason      `json:"reason_code,omitempty"`
	Class       Class       `json:"class,omitempty"`
	Detail      Detail      `json:"error_detail"`
	Disposition Disposition `json:"disposition,omitempty"`
	RuleVersion string      `json:"rule_version"` // the rules that judged it last

	Payload PayloadRef `json:"-"`
	// Response is the sealed answer that decided last, where it came with the
	// delivery: an NCPDP response. It is PHI like the claim.
	Response        PayloadRef `json:"-"`
	PayloadRevision uint16     `json:"payload_revision"` // 1 as received; +1 per correction
	// RefusedRevision is the last payload revision that was found wanting, by our
	// rules or by the payer. A replay needs a later one, or rules that now pass it.
	RefusedRevision uint16 `json:"refused_revision,omitempty"`
	// FateUnknown: some revision was sent and its fate was never learned. It stays
	// set through parking, so that no detour leads to a blind re-send.
	FateUnknown bool `json:"fate_unknown,omitempty"`

	Claims       uint32 `json:"claims"`        // claims this record answers for; parted claims are not among them
	Parted       uint32 `json:"parted"`        // claims of its ST that have records of their own
	AmountCents  int64  `json:"amount_cents"`  // sum of CLM02 of Claims
	AttemptCount uint32 `json:"attempt_count"` // deliveries ever
	ReceiveCount uint32 `json:"receive_count"` // deliveries since intake or the last replay
	ReplayCount  uint32 `json:"replay_count"`  // replays ever, counted when released
	Unparked     uint32 `json:"unparked"`      // replays allowed beyond the cap, by named persons

	// Answered marks the claims of a submitted set that an acknowledgment has
	// accepted so far, one bit per ordinal; empty when none or all are.
	Answered Bits `json:"-"`

	CreatedAt     time.Time `json:"created_at"`
	FirstFailedAt time.Time `json:"first_failed_at,omitzero"`
	UpdatedAt     time.Time `json:"updated_at"`
	NotBefore     time.Time `json:"not_before,omitzero"` // back-off: not delivered earlier

	Submission SubmissionID `json:"submission,omitempty"` // the latest that carried it, or the earlier one whose acceptance settled it
}

// DisplayKey returns ISA13:ST02, or for a pharmacy claim the first 24 hex
// characters of its key: what people say and logs show. It is a look-up, not an
// identity: two partners may send the same numbers.
func (r Record) DisplayKey() string {
	switch {
	case r.Format == FormatNCPDP:
		return r.Key.String()[:24]
	case r.InterchangeID == "" && r.TransactionID == "":
		return "unreadable:" + r.Key.String()[:24]
	case r.TransactionID == "":
		return r.InterchangeID + ":-"
	}
	return r.InterchangeID + ":" + r.TransactionID
}

// Refs returns the look-up values under which a store must find the record: its
// display key, its batch number, and its parent.
func (r Record) Refs() []Ref {
	refs := append(make([]Ref, 0, 3), DisplayRef(r.DisplayKey()))
	if r.Batch != 0 {
		refs = append(refs, r.Batch)
	}
	if r.Parent != 0 {
		refs = append(refs, ParentRef(r.Parent))
	}
	return refs
}

// ParentRef returns the look-up value shared by the claims that parted from the
// set with the given id.
func ParentRef(id ID) Ref {
	x := uint64(id) ^ 0x9e3779b97f4a7c15 // spread, so that it does not meet a DisplayRef by being small
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return Ref(x ^ x>>31)
}

// Bits is an immutable set of ordinals from 1, comparable and compact.
type Bits string

// Has reports whether n is in the set.
func (b Bits) Has(n uint32) bool {
	i := int(n-1) / 8
	return n > 0 && i < len(b) && b[i]>>((n-1)%8)&1 == 1
}

// maxOrdinal bounds a set at 2 MiB: no transaction set has 16 million claims.
const maxOrdinal = 1 << 24

// With returns the set with ns added; ordinals of 0 or over 16,777,216 are ignored.
func (b Bits) With(ns ...uint32) Bits {
	out := []byte(b)
	for _, n := range ns {
		if n == 0 || n > maxOrdinal {
			continue
		}
		for i := int(n-1) / 8; i >= len(out); {
			out = append(out, 0)
		}
		out[(n-1)/8] |= 1 << ((n - 1) % 8)
	}
	return Bits(out)
}

// Len returns how many ordinals are in the set.
func (b Bits) Len() (n int) {
	for i := range len(b) {
		n += bits.OnesCount8(b[i])
	}
	return n
}

// Age returns how long ago the record first failed, never negative whatever the
// clock did; 0 if it never failed.
func (r Record) Age(now time.Time) time.Duration {
	if r.FirstFailedAt.IsZero() {
		return 0
	}
	return max(0, now.Sub(r.FirstFailedAt))
}

// SubmissionID is a submission's number, given by its store, from 1.
type SubmissionID uint64

// SubmissionState is where a submission stands.
type SubmissionState uint8

// The states of a submission.
const (
	SubmissionReady    SubmissionState = iota + 1 // waits to be delivered
	SubmissionLeased                              // a worker has it; nothing may have been sent yet
	SubmissionSending                             // the intent is durable: from here on it may have been sent
	SubmissionSent                                // the target has it
	SubmissionInDoubt                             // nobody knows
	SubmissionAnswered                            // every member's fate is known
	SubmissionDead                                // budget spent, or refused whole: certainly not accepted
)

var submissionNames = [...]string{
	"", "ready", "leased", "sending", "sent", "in_doubt", "answered", "dead",
}

// String returns the submission state as it is spelled in JSON.
func (s SubmissionState) String() string { return nameOf(submissionNames[:], int(s), "submission") }

// MarshalText implements encoding.TextMarshaler.
func (s SubmissionState) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Submission is one interchange handed to one target: the members it carries
// and the numbers it went out under. The first delivery of an interchange keeps
// the numbers it was received with; a replay carries one record under new ones. A
// pharmacy transmission has no numbers; the digest of its bytes is known from the
// beginning.
type Submission struct {
	ID       SubmissionID    `json:"id"`
	Revision uint32          `json:"revision"`
	State    SubmissionState `json:"state"`
	Replay   bool            `json:"replay,omitempty"`
	Bulk     bool            `json:"bulk,omitempty"`     // urgent ones go first
	Fallback bool            `json:"fallback,omitempty"` // it went to the partner's fallback target
	Partner  string          `json:"partner"`
	Stream   string          `json:"stream"`

	// Envelope, ISA13 and Groups are what is written on the outside.
	Envelope Envelope       `json:"envelope"`
	ISA13    uint32         `json:"isa13"`
	Groups   []GroupControl `json:"groups"`

	// Members are runs of consecutive record ids.
	Members []IDRange `json:"members"`

	Digest     Digest    `json:"-"` // of the exact bytes, set by the intent at the latest
	Bytes      int64     `json:"bytes"`
	Receives   uint32    `json:"receives"` // deliveries of this submission
	NotBefore  time.Time `json:"not_before,omitzero"`
	LeaseUntil time.Time `json:"lease_until,omitzero"`
	CreatedAt  time.Time `json:"created_at"`
	SentAt     time.Time `json:"sent_at,omitzero"`
	Last       Detail    `json:"last,omitzero"` // code of the latest outcome or acknowledgment
}

// Queue returns the queue in which the submission waits.
func (s Submission) Queue() Queue { return Queue{s.Stream, s.Partner, s.Bulk} }

// Queue is where submissions wait for their turn: one for each partner of a
// stream, and another for what can wait. Queues take turns, so that no partner's
// backlog stands in another's way, and urgent ones come before bulk.
type Queue struct {
	Stream, Partner string
	Bulk            bool
}

// IDRange is a run of record ids, both ends included.
type IDRange struct {
	First ID `json:"first"`
	Last  ID `json:"last"`
}

// Envelope is the addressing of an interchange. Spaces are trimmed.
type Envelope struct {
	SenderQualifier   string `json:"isa05"`
	Sender            string `json:"isa06"`
	ReceiverQualifier string `json:"isa07"`
	Receiver          string `json:"isa08"`
	Date              string `json:"isa09"` // YYMMDD, of the interchange
	Time              string `json:"isa10"` // HHMM
	Usage             string `json:"isa15"`
}

// GroupControl is the addressing and number of one functional group.
type GroupControl struct {
	Sender   string `json:"gs02"`
	Receiver string `json:"gs03"`
	Number   uint32 `json:"gs06"`
}

// Lane returns the allocator lane of the envelope: control numbers are unique
// per (ISA05, ISA06, ISA07, ISA08), X12.5 section 5.1.2.
func (e Envelope) Lane() string {
	return e.SenderQualifier + ":" + e.Sender + ">" + e.ReceiverQualifier + ":" + e.Receiver
}
