// Package store is the port to where records live: a few atomic steps, never a
// generic row store. Each adapter (memstore, filestore) passes storetest.
//
// # Contract
//
// Commit is the only way to change anything. It is atomic: after it returns nil
// everything in the batch is durable (fsynced or committed) and visible to every
// reader; after it returns an error, nothing is. Records and submissions change
// by compare-and-set on their Revision, and claimdlq.Check must allow the step.
// An fsync error stops the process: it is never retried and never returned.
//
// Claims are conserved: a batch that would make the claims that records answer
// for differ from the claims received is Refused. A claim leaves its set's record
// (claimdlq.Record.Part) in the commit that inserts a record of its own.
//
// All methods are safe for concurrent use. Times are arguments, never read here.
package store

import (
	"context"
	"strconv"
	"time"

	"claimdlq"
)

// Batch is what one Commit makes durable, all of it or nothing.
type Batch struct {
	// Insert holds records that do not exist yet: ID and Revision 0. An ID is given
	// in order; consecutive inserts of one batch get consecutive ids unless one of
	// them turns out to be a duplicate. A Parent of ParentIndex(i) stands for the id
	// that Insert[i] of the same batch gets; i is below the insert's own index. What
	// is inserted has Revision 1.
	Insert []claimdlq.Record
	// Update holds records as they will be; Revision is the one that was read, and
	// is one more afterwards. No record may be updated twice in a batch (Conflict).
	Update []claimdlq.Record
	// NewSubmissions have ID and Revision 0. A member range of
	// {ParentIndex(i), ParentIndex(j)} stands for the ids of Insert[i] to Insert[j];
	// it is kept as the fewest runs of ids.
	NewSubmissions []claimdlq.Submission
	Submissions    []claimdlq.Submission // updates, by compare-and-set on Revision
	// Releases replay many records by one step. A record of a release is in no other and
	// not in Update (Conflict).
	Releases []Release
	// Entries go to the audit log, in this order; Seq is given by the store. Record
	// may be ParentIndex(i).
	Entries []claimdlq.Entry
	// Fingerprints of the claims taken in with this batch. Record may be ParentIndex(i).
	Fingerprints []Fingerprint
}

// Release is claimdlq.Record.Replay of many records of one partner, each with a new
// submission that sends again the bytes of an earlier one. It is worth as much as an
// Update and a NewSubmission for each, and written in a fraction. Submissions get their
// ids in order, after those of NewSubmissions, and are not in the Receipt. Entries for
// it are the caller's. Errors: Conflict where a record has another revision, Refused
// where it is not quarantined or of another partner or stream, or where there are no
// records, more than MaxReleased, or they do not ascend.
type Release struct {
	At              time.Time // of the step; when the submissions are made
	RuleVersion     string
	Partner, Stream string
	Bulk            bool // of the submissions
	Records         []Released
}

// MaxReleased is the most records of one Release.
const MaxReleased = 4096

// Released is one record of a Release: as it was read, and what of its submission is
// its own.
type Released struct {
	ID        claimdlq.ID
	Revision  uint32
	Bytes     uint32
	Digest    claimdlq.Digest
	NotBefore time.Time // of record and submission
}

// Record returns the ith record as it will be, given what it was; its Revision is not
// raised.
func (r *Release) Record(i int, prev claimdlq.Record) (claimdlq.Record, error) {
	if prev.Partner != r.Partner || prev.Stream != r.Stream {
		return prev, &claimdlq.Error{Code: claimdlq.Refused, Op: "release record " + prev.ID.String(), On: "it is of another partner or stream"}
	}
	n, err := prev.Replay(r.RuleVersion, r.At)
	n.NotBefore = r.Records[i].NotBefore
	return n, err
}

// Submission returns the ith submission as it will be, but for its ID.
func (r *Release) Submission(i int) claimdlq.Submission {
	m := &r.Records[i]
	return claimdlq.Submission{
		Revision: 1, State: claimdlq.SubmissionReady, Replay: true, Bulk: r.Bulk, Partner: r.Partner, Stream: r.Stream,
		Members: []claimdlq.IDRange{{First: m.ID, Last: m.ID}}, Digest: m.Digest, Bytes: int64(m.Bytes), CreatedAt: r.At, NotBefore: m.NotBefore,
	}
}

// Check refuses a release that no store could take.
func (r *Release) Check() error {
	why := ""
	switch {
	case len(r.Records) == 0 || len(r.Records) > MaxReleased:
		why = "of no records, or of too many"
	case r.At.IsZero():
		why = "without a time"
	}
	for i := 1; i < len(r.Records) && why == ""; i++ {
		if r.Records[i].ID <= r.Records[i-1].ID {
			why = "whose records do not ascend"
		}
	}
	if why != "" {
		return &claimdlq.Error{Code: claimdlq.Refused, Op: "release records", On: why}
	}
	return nil
}

// Fingerprint recognises one claim sent again under other control numbers: an
// HMAC of what is billed for whom, never of less than 128 bits.
type Fingerprint struct {
	Key    claimdlq.Key
	Record claimdlq.ID
}

// parentBit marks an id that is an index into Batch.Insert.
const parentBit claimdlq.ID = 1 << 63

// ParentIndex returns the placeholder for the id that Batch.Insert[i] will get.
func ParentIndex(i int) claimdlq.ID { return parentBit | claimdlq.ID(i) }

// IsParentIndex reports whether id is a placeholder, and for which index.
func IsParentIndex(id claimdlq.ID) (int, bool) { return int(id &^ parentBit), id&parentBit != 0 }

// InsertStatus says what became of one inserted record.
type InsertStatus uint8

// The insert statuses.
const (
	Inserted InsertStatus = iota
	// Duplicate: the key exists with the same digest. Nothing of this record was
	// written; ID is the existing record's. Its entries and fingerprints were
	// dropped, and so were inserts, entries and submissions that refer to it by
	// ParentIndex, except that a NewSubmission keeps its other members. An insert
	// dropped for its parent's sake has its parent's status and ID 0.
	Duplicate
	// Conflict: the key exists with another digest; otherwise as Duplicate.
	Conflict
)

// InsertResult is the outcome of one Insert.
type InsertResult struct {
	ID     claimdlq.ID
	Status InsertStatus
}

// Receipt is proof of a durable commit.
type Receipt struct {
	Inserted    []InsertResult          // one per Batch.Insert
	Submissions []claimdlq.SubmissionID // one per Batch.NewSubmissions; 0 if nothing was left of it
	// Proof shows to a vault that the entries are durable. It is zero when the
	// batch had no entries.
	Proof claimdlq.Proof
}

// Filter selects records. Zero fields do not restrict.
type Filter struct {
	State   claimdlq.State
	Reason  claimdlq.Reason
	Detail  claimdlq.Detail
	Partner string
	Stream  string
	Format  *claimdlq.Format
	// Older selects records whose first failure (creation where none) is before it.
	Older time.Time
}

// Sending is what of a submission it takes to send its bytes again.
type Sending struct {
	Record claimdlq.ID // the one that it is of; 0 where there are several
	Bytes  int64
	Digest claimdlq.Digest
}

// SendingOf returns what the submission sends.
func SendingOf(s *claimdlq.Submission) Sending {
	o := Sending{Bytes: s.Bytes, Digest: s.Digest}
	if len(s.Members) == 1 && s.Members[0].First == s.Members[0].Last {
		o.Record = s.Members[0].First
	}
	return o
}

// DueQuery selects submissions in State whose NotBefore and, for leased and sending
// ones, LeaseUntil are not after Now.
type DueQuery struct {
	State claimdlq.SubmissionState
	Now   time.Time
	// After leaves out the ids up to it; 0 begins with the oldest.
	After claimdlq.SubmissionID
	// Skip, if not nil, leaves out the submissions of queues for which it is true. It
	// may be called once for a queue or once for each of its submissions, so its answer
	// must be the same throughout; it must not call the store.
	Skip func(claimdlq.Queue) bool
	// Limit is the most that are returned.
	Limit int
}

// Group is one cause: records that share state, reason, detail, partner and stream.
// OldestAt is when the first of them failed (was created where it never failed).
type Group struct {
	State    claimdlq.State  `json:"state"`
	Reason   claimdlq.Reason `json:"reason_code"`
	Detail   claimdlq.Detail `json:"error_detail"`
	Partner  string          `json:"partner"`
	Stream   string          `json:"stream"`
	Records  int64           `json:"records"`
	Claims   int64           `json:"claims"`
	OldestAt time.Time       `json:"oldest_at,omitzero"`
}

// Stats are counters the store keeps, not scans.
type Stats struct {
	// Received counts claims ever taken in: Claims and Parted of every record
	// inserted without a Parent. Conservation: it equals the sum of ByState, at all
	// times (DESIGN promise 9).
	Received int64
	// ByState counts claims by the state of the record that answers for them.
	ByState map[claimdlq.State]int64
	// Rejected is the part of ByState[StateSettled] with disposition Rejected.
	Rejected int64
	// Records counts records by state, acknowledgment files not included.
	Records map[claimdlq.State]int64
	// Quarantined counts quarantined records by reason: every reason is present.
	Quarantined map[claimdlq.Reason]int64
	// OldestAt is the earliest FirstFailedAt of a quarantined record; zero if none.
	OldestAt time.Time
	// OldestParkedAt likewise of a parked one.
	OldestParkedAt time.Time
	// Orphans counts acknowledgment records that are not settled.
	Orphans int64
	// Streams has the figures of each of claimdlq.Streams that has records, settled
	// ones too, but for acks.
	Streams map[string]StreamStats
}

// Difference returns claims taken in less claims accounted for: 0 unless a claim was
// lost or counted twice (DESIGN promise 9).
func (s Stats) Difference() int64 {
	d := s.Received
	for _, n := range s.ByState {
		d -= n
	}
	return d
}

// StreamStats are the part of Stats that a stream's alarms look at.
type StreamStats struct {
	// Records counts records by state; Quarantined the quarantined ones by reason,
	// every reason present.
	Records     map[claimdlq.State]int64
	Quarantined map[claimdlq.Reason]int64
	// The earliest first failure (creation where it never failed) in the state; zero
	// if there is none.
	OldestAt, OldestParkedAt, OldestInDoubtAt time.Time
}

// Store is the port. Errors carry a claimdlq.Code: NotFound, Conflict (read again
// and decide anew), Refused (the step is not legal), Corrupt, Unavailable (disk
// full: nothing was written, try later).
type Store interface {
	// Commit makes the batch durable. Errors: Conflict, Refused, Unavailable, and
	// NotFound for an update of what does not exist.
	Commit(ctx context.Context, b Batch) (Receipt, error)

	// Get returns the record with the id. Errors: NotFound, Corrupt.
	Get(ctx context.Context, id claimdlq.ID) (claimdlq.Record, error)
	// Records appends to out the records with the ids, in that order; what their memory
	// holds is used again. Errors: those of Get of the first that has one.
	Records(ctx context.Context, ids []claimdlq.ID, out []claimdlq.Record) ([]claimdlq.Record, error)
	// Find returns the record with the key. Errors: NotFound, Corrupt.
	Find(ctx context.Context, k claimdlq.Key) (claimdlq.Record, error)
	// Lookup returns the records for which Record.Refs holds ref, oldest first, at
	// most limit. None is not an error.
	Lookup(ctx context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Record, error)
	// List returns up to limit records that match f, newest first, with ids below
	// before (0: from the newest).
	List(ctx context.Context, f Filter, before claimdlq.ID, limit int) ([]claimdlq.Record, error)
	// IDs is List for who needs the ids alone.
	IDs(ctx context.Context, f Filter, before claimdlq.ID, limit int) ([]claimdlq.ID, error)
	// Sole returns for each ref the id of the record that may hold it, where it is only
	// one, else 0: a record for which its own ref gives its own id is alone with it. The
	// zero Ref is nobody's.
	Sole(ctx context.Context, refs []claimdlq.Ref) ([]claimdlq.ID, error)
	// Groups returns the causes that match f, largest first, at most limit. Settled
	// and withdrawn records are not grouped.
	Groups(ctx context.Context, f Filter, limit int) ([]Group, error)
	// Stats returns the counters, in less than a millisecond at any size.
	Stats(ctx context.Context) (Stats, error)

	// Submission returns the submission with the id. Errors: NotFound, Corrupt.
	Submission(ctx context.Context, id claimdlq.SubmissionID) (claimdlq.Submission, error)
	// Sendings appends to out what each of the submissions sends, in the order of the ids.
	// Errors: those of Submission of the first that has one.
	Sendings(ctx context.Context, ids []claimdlq.SubmissionID, out []Sending) ([]Sending, error)
	// FindSubmissions returns the submissions for which SubmissionRefs holds ref,
	// newest first, at most limit.
	FindSubmissions(ctx context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Submission, error)
	// Due returns the submissions that q selects, oldest first.
	Due(ctx context.Context, q DueQuery) ([]claimdlq.Submission, error)

	// NextControl allocates n control numbers of the lane and returns the first:
	// 1 to 999999999, wrapping to 1, never one that was given before the wrap. The
	// allocation is durable on return; a number may be lost, never given twice. The
	// n numbers are consecutive. Errors: Invalid for n below 1 or above 999999999.
	NextControl(ctx context.Context, lane string, n int) (uint32, error)

	// Seen returns, for each fingerprint, a record that carried it, or 0.
	Seen(ctx context.Context, fps []claimdlq.Key) ([]claimdlq.ID, error)

	// Entries calls f for the audit entries from the given sequence number on that
	// the store still holds, in order, until f returns false. An audit follower
	// moves them to the audit log; see Truncate.
	Entries(ctx context.Context, from uint64, f func(claimdlq.Entry) bool) error
	// AuditedTo tells the store that the audit log holds all entries up to seq
	// durably, so that it may drop its own copy.
	AuditedTo(ctx context.Context, seq uint64) error

	// Close makes a clean stop. The store must not be used afterwards.
	Close() error
}

// SubmissionRefs returns the look-up values under which a store must find the
// submission: its interchange (for a TA1) and each of its groups (for a 999).
// Numbers compare as numbers, so padding does not matter.
func SubmissionRefs(s claimdlq.Submission) []claimdlq.Ref {
	if s.ISA13 == 0 && len(s.Groups) == 0 {
		return nil // it has no numbers: a pharmacy transmission
	}
	refs := []claimdlq.Ref{InterchangeRef(s.Envelope, s.ISA13)}
	for _, g := range s.Groups {
		refs = append(refs, GroupRef(g.Sender, g.Receiver, g.Number))
	}
	return refs
}

// InterchangeRef is the look-up value of an interchange that was sent.
func InterchangeRef(e claimdlq.Envelope, isa13 uint32) claimdlq.Ref {
	return claimdlq.DisplayRef("isa/" + e.Lane() + "/" + strconv.FormatUint(uint64(isa13), 10))
}

// GroupRef is the look-up value of a functional group that was sent. It is by
// application codes and number only, because a 999 carries no ISA13.
func GroupRef(gsSender, gsReceiver string, gs06 uint32) claimdlq.Ref {
	return claimdlq.DisplayRef("gs/" + gsSender + ">" + gsReceiver + "/" + strconv.FormatUint(uint64(gs06), 10))
}
