package job

import (
	"encoding/hex"
	"time"

	"claimdlq"
	"claimdlq/internal/background"
)

// ID names a job: when it was planned and six random characters, such as
// 20260718-100000-QK3T7A. In order of ids is in order of time, by the second.
type ID string

// ParseID returns the id spelled s, or an error with code NotFound: what is no id is
// no job's.
func ParseID(s string) (ID, error) {
	if !background.IsID(s) {
		return "", &claimdlq.Error{Code: claimdlq.NotFound, Op: "find job", Hint: "a job's id is like 20260718-100000-QK3T7A"}
	}
	return ID(s), nil
}

// State is where a job stands.
type State string

// The states of a job. Done and cancelled are final.
const (
	Planned   State = "planned"   // frozen; nothing of it was released
	Running   State = "running"   // see Phase
	Paused    State = "paused"    // by a person
	Stopped   State = "stopped"   // by itself; see Progress.Stop
	Cancelled State = "cancelled" // by a person: what is not released stays where it is
	Done      State = "done"      // all is released or refused, and has its end
)

// Phase is what a running job does.
type Phase string

// The phases.
const (
	PhaseCanary Phase = "canary" // a few are released and waited for
	PhaseRamp   Phase = "ramp"   // the others follow, faster by and by
	PhaseWatch  Phase = "watch"  // all are released; some have no end yet
)

// Result is what became of a record when its turn came: what package replay said,
// or Moved or Failed. In a dry run, what would become of it.
type Result uint8

// The results; the zero Result is for records whose turn has not come.
const (
	NotYet Result = iota
	Replayed
	DuplicateSuppressed
	ParkedAtCap
	NotCorrected
	InDoubtFirst
	NotFound
	Moved  // its revision is not the planned one: looked at by nobody, released by nobody
	Failed // its payload cannot be opened or composed; the log says why
	// Of other acts than a replay: Acted, or why not. Of an inquiry, what it brought.
	Acted
	NotAllowed   // its state does not allow it
	Known        // the payer says what became of it
	StillUnknown // the payer cannot say
	Unanswered   // the payer was not reached
	results
)

// End is what became of a released record afterwards.
type End uint8

// The ends; the zero End is for records that are under way.
const (
	UnderWay      End = iota
	Settled           // paid, accepted, reversed, or a duplicate of such
	Rejected          // the payer's final no, for another cause than it was planned with
	Requarantined     // it came back, for another cause
	SameCause         // it came back or was rejected with a cause of the plan
	InDoubt           // sent, and nobody knows; a later end replaces it
	ParkedAfter       // it came back and was parked
	Withdrawn         // somebody wrote it off
	TimedOut          // no end was seen while the job watched
	ends
)

var (
	resultNames = [results]string{
		"", string(claimdlq.Replayed), string(claimdlq.DuplicateSuppressed), string(claimdlq.ParkedAtCap),
		string(claimdlq.NotCorrected), string(claimdlq.InDoubtFirst), string(claimdlq.ReplayNotFound), "moved", "failed", "done", "refused", "known", "unknown", "unanswered",
	}
	endNames = [ends]string{"", "settled", "rejected", "requarantined", "same_cause", "in_doubt", "parked", "withdrawn", "timed_out"}
)

// String returns the result as JSON and the audit log spell it.
func (r Result) String() string {
	if r < results {
		return resultNames[r]
	}
	return "unknown"
}

// MarshalText implements encoding.TextMarshaler.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *Result) UnmarshalText(b []byte) error {
	for i, s := range resultNames {
		if s == string(b) {
			*r = Result(i)
			return nil
		}
	}
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "parse result"}
}

// String returns the end as JSON spells it.
func (e End) String() string {
	if e < ends {
		return endNames[e]
	}
	return "unknown"
}

// MarshalText implements encoding.TextMarshaler.
func (e End) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (e *End) UnmarshalText(b []byte) error {
	for i, s := range endNames {
		if s == string(b) {
			*e = End(i)
			return nil
		}
	}
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: "parse end"}
}

// failure reports an end that speaks against going on.
func (e End) failure() bool {
	return e == Rejected || e == Requarantined || e == SameCause || e == ParkedAfter
}

// StopCode says why a job stopped by itself.
type StopCode string

// The codes.
const (
	StopCanary      StopCode = "CANARY"       // a canary came back with its cause, or all came back
	StopSameCause   StopCode = "SAME_CAUSE"   // too many come back with the causes of the plan
	StopFailures    StopCode = "FAILURES"     // too many come back, or cannot be composed, for whatever cause
	StopBreaker     StopCode = "BREAKER_OPEN" // a partner's breaker has opened
	StopRate        StopCode = "HTTP_429"     // a payer asked for less
	StopRules       StopCode = "RULES"        // the validation rules are not those of the plan
	StopUnavailable StopCode = "UNAVAILABLE"  // the store or the vault cannot be used
)

// Stop says why and when a job stopped, and whose fault it seems to be.
type Stop struct {
	Code    StopCode  `json:"code"`
	At      time.Time `json:"at"`
	Partner string    `json:"partner,omitempty"`
}

// Hash is a SHA-256.
type Hash [32]byte

// String returns the hash as 64 hex characters.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText implements encoding.TextMarshaler.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hash) UnmarshalText(b []byte) error {
	n, err := hex.Decode(h[:], b[:min(len(b), 2*len(h))])
	if err != nil || n != len(h) || len(b) != 2*len(h) {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "parse hash"}
	}
	return nil
}

// Selection says what to plan.
type Selection = background.Selection

// Plan is what a job was frozen as.
type Plan struct {
	ID     ID        `json:"id"`
	At     time.Time `json:"at"`
	Author string    `json:"author"`
	Act    Act       `json:"act,omitempty"`
	Policy Policy    `json:"policy"`
	// Rules are the rule versions of the streams.
	Rules  map[string]string `json:"rules"`
	Items  int               `json:"items"`
	Claims int64             `json:"claims"`
	Cents  int64             `json:"cents"`
	// Causes are what the records had when they were planned, in the order in which they
	// were met: Item.Cause is an index.
	Causes []Cause `json:"causes"`
	// Digest is the SHA-256 of all items and of the fields above.
	Digest Hash `json:"digest"`
}

// Cause counts the planned records that share state, reason, detail, partner and
// stream. What does not exist has none of them.
type Cause struct {
	State   string `json:"state"`
	Reason  string `json:"reason_code"`
	Detail  string `json:"error_detail"`
	Partner string `json:"partner"`
	Stream  string `json:"stream"`
	Items   int    `json:"items"`
	Claims  int64  `json:"claims"`
	Cents   int64  `json:"cents"`
}

// Item is one record of a plan with what became of it.
type Item struct {
	Index           int            `json:"index"` // its place in the plan, from 0: oldest record first
	Record          claimdlq.ID    `json:"record"`
	Revision        uint32         `json:"revision"` // 0: there was no such record
	PayloadRevision uint16         `json:"payload_revision"`
	State           claimdlq.State `json:"state,omitzero"`
	Cause           int            `json:"cause"` // index in Plan.Causes
	Claims          uint32         `json:"claims"`
	Cents           int64          `json:"amount_cents"`
	Replays         uint32         `json:"replay_count"` // when it was planned
	Attempts        uint32         `json:"attempt_count"`
	// Verdict is the last dry run's, zero where there was none; of an act that is no
	// replay, what its state says.
	Verdict Result `json:"verdict,omitzero"`
	Result  Result `json:"result,omitzero"`
	End     End    `json:"end,omitzero"`
}

// Progress is where a job stands. It is a snapshot: a later one has a higher Seq.
type Progress struct {
	Job   ID     `json:"job"`
	Act   Act    `json:"act,omitempty"`
	Seq   uint64 `json:"seq"`
	State State  `json:"state"`
	Phase Phase  `json:"phase,omitempty"`
	Stop  *Stop  `json:"stop,omitempty"` // of a stopped job
	Items int    `json:"items"`
	// Results and Ends count items; what has neither yet is not among them. UnderWay
	// counts what is released and has no end, what is in doubt not included.
	Results  map[string]int `json:"results"`
	Ends     map[string]int `json:"ends"`
	UnderWay int            `json:"under_way"`
	// DryRun counts the verdicts of the last dry run; DryRunAt is when it ended, zero
	// while it is under way.
	DryRun   map[string]int `json:"dry_run,omitempty"`
	DryRunAt time.Time      `json:"dry_run_at,omitzero"`
	// Unreachable are the partners of a planned job whose breakers were not closed when the
	// last dry run ended: a run would stop at them.
	Unreachable []string `json:"unreachable,omitempty"`
	// Rate is how many releases a second the ramp has reached, MaxRate how many it may.
	Rate    float64 `json:"rate"`
	MaxRate float64 `json:"max_rate"`
	// NeedsApproval: somebody other than the author must approve before a run.
	NeedsApproval bool      `json:"needs_approval"`
	ApprovedBy    string    `json:"approved_by,omitempty"`
	Runner        string    `json:"runner,omitempty"` // whose name the releases bear
	Reason        string    `json:"reason,omitempty"` // the runner's, of an act that is no replay
	StartedAt     time.Time `json:"started_at,omitzero"`
	EndedAt       time.Time `json:"ended_at,omitzero"` // once it is done or cancelled
	// Watching: files and events may still change.
	Watching bool `json:"watching"`
}
