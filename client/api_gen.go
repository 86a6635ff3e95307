// Code generated from the API's document. DO NOT EDIT.

package client

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"
)

// Access is of the API's document.
type Access struct {
	// Patterns: BIN:PCN or ISA07:ISA08, the part before the colon, a beginning and a star, or * for all.
	Partners []string `json:"partners"`
	Roles    []string `json:"roles"`
}

// ActOutputBody is of the API's document.
type ActOutputBody struct {
	Plan     ActPlan     `json:"plan"`
	Progress ActProgress `json:"progress"`
}

// ActPlan is of the API's document.
type ActPlan struct {
	Act    string    `json:"act"`
	At     time.Time `json:"at"`
	Author string    `json:"author"`
	// What the records had when they were planned; at most 100.
	Causes []JobCause `json:"causes"`
	Cents  int64      `json:"cents"`
	Claims int64      `json:"claims"`
	// SHA-256 of all of it, of every record and revision: send it back to run.
	Digest     string `json:"digest"`
	ID         string `json:"id"`
	Items      int64  `json:"items"`
	MoreCauses int64  `json:"more_causes,omitempty"`
	// How many have their turn a second.
	PerSecond float64 `json:"per_second"`
	// What would become of the records as they were planned: done, refused (its state does not allow it), not_found.
	Verdicts map[string]int64 `json:"verdicts"`
}

// ActProgress is of the API's document.
type ActProgress struct {
	Act           string     `json:"act"`
	ApprovedBy    string     `json:"approved_by,omitempty"`
	EndedAt       *time.Time `json:"ended_at,omitempty"`
	Items         int64      `json:"items"`
	Job           string     `json:"job"`
	NeedsApproval bool       `json:"needs_approval"`
	Rate          float64    `json:"rate"`
	// What became of records when their turn came: done, refused, moved, not_found, failed; of an inquiry known, unknown (the payer cannot tell), unanswered.
	Results   map[string]int64 `json:"results"`
	Runner    string           `json:"runner,omitempty"`
	Seq       int64            `json:"seq"`
	StartedAt *time.Time       `json:"started_at,omitempty"`
	State     string           `json:"state"`
	// Why it stopped by itself.
	Stop *JobStop `json:"stop,omitempty"`
	// It may still change.
	Watching bool `json:"watching"`
}

// Alarm is of the API's document.
type Alarm struct {
	Alarm string `json:"alarm"`
	// Why claims are refused.
	Cause string `json:"cause,omitempty"`
	// The console's page that shows its cause: a path.
	Console string `json:"console"`
	// Names the alarm and what it is about.
	Fingerprint string `json:"fingerprint"`
	Partner     string `json:"partner,omitempty"`
	// The figure at its worst since it began to ring.
	Peak float64 `json:"peak"`
	// Since when it is not so any more. It rings on for five minutes, so that one that comes and goes rings once.
	QuietSince *time.Time `json:"quiet_since,omitempty"`
	Reason     string     `json:"reason,omitempty"`
	// What ends it: a path of the documentation.
	Runbook   string    `json:"runbook"`
	Severity  string    `json:"severity"`
	Silence   *Silence  `json:"silence,omitempty"`
	StartsAt  time.Time `json:"starts_at"`
	Stream    string    `json:"stream,omitempty"`
	Summary   string    `json:"summary"`
	Threshold float64   `json:"threshold"`
	Value     float64   `json:"value"`
}

// AlarmListBody is of the API's document.
type AlarmListBody struct {
	Alarms []Alarm `json:"alarms"`
}

// ApplyRecipeRequest is of the API's document.
type ApplyRecipeRequest struct {
	// Of the recipe, as it was shown.
	Digest string `json:"digest"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// Approval is of the API's document.
type Approval struct {
	Answer  string    `json:"answer,omitempty"`
	AskedAt time.Time `json:"asked_at"`
	AskedBy string    `json:"asked_by"`
	// Who asks here may decide it.
	Decidable bool       `json:"decidable"`
	DecidedAt *time.Time `json:"decided_at,omitempty"`
	DecidedBy string     `json:"decided_by,omitempty"`
	// SHA-256 of exactly what is to be done: who approves sends it back, as he was shown it.
	Digest    string    `json:"digest"`
	Expired   bool      `json:"expired"`
	ExpiresAt time.Time `json:"expires_at"`
	ID        string    `json:"id"`
	// Who asks here asked for it.
	Mine bool `json:"mine"`
	// What it is about: RECORD:17, or JOB: and a replay's id, or ACT: and the id of an act on many records.
	On string `json:"on"`
	// Whose things it is about; none for all.
	Partners   []string   `json:"partners"`
	Permission string     `json:"permission"`
	Reason     string     `json:"reason"`
	State      string     `json:"state"`
	UsedAt     *time.Time `json:"used_at,omitempty"`
}

// ApprovalListBody is of the API's document.
type ApprovalListBody struct {
	// Newest first.
	Approvals []Approval `json:"approvals"`
}

// ApproveRequest is of the API's document.
type ApproveRequest struct {
	// Of the request, as it was shown.
	Digest string `json:"digest"`
	Reason string `json:"reason,omitempty"`
}

// ApprovedInputBody is of the API's document.
type ApprovedInputBody struct {
	// The id of the approval that a second person gave.
	Approval string `json:"approval,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// AuditPage is of the API's document.
type AuditPage struct {
	Entries []Entry `json:"entries"`
	// How many entries were read for this page, of at most 1 GiB.
	LookedAt int64 `json:"looked_at"`
	// Continues the page; absent at the log's beginning. A page may be short and still have one: see looked_at.
	NextCursor string `json:"next_cursor,omitempty"`
}

// AuditProblem is of the API's document.
type AuditProblem struct {
	File string `json:"file,omitempty"`
	Kind string `json:"kind"`
	Last int64  `json:"last,omitempty"`
	Line int64  `json:"line,omitempty"`
	Seq  int64  `json:"seq"`
}

// Because is of the API's document.
type Because struct {
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// Breaker is of the API's document.
type Breaker struct {
	Partner string     `json:"partner"`
	Since   *time.Time `json:"since,omitempty"`
	State   string     `json:"state"`
	Stream  string     `json:"stream"`
}

// ChangePasswordRequest is of the API's document.
type ChangePasswordRequest struct {
	New string `json:"new"`
	Old string `json:"old"`
}

// ClaimView is of the API's document.
type ClaimView struct {
	Bytes int64 `json:"bytes"`
	// It has more fields than are shown, 5,000.
	Cut        bool        `json:"cut,omitempty"`
	Delimiters *Delimiters `json:"delimiters,omitempty"`
	// All that the current rules find in the whole document, also outside the page; at most 1,000.
	Findings []Finding `json:"findings"`
	Format   string    `json:"format"`
	// The from of the next page; absent at the end. Each page is a look, with its entry in the audit log.
	Next            int64 `json:"next,omitempty"`
	PayloadRevision int32 `json:"payload_revision"`
	// Otherwise it has no structure, and can be revealed as it is only.
	Readable bool  `json:"readable"`
	Record   int64 `json:"record"`
	Revision int32 `json:"revision"`
	// Of a pharmacy claim: the header, then all segments.
	RxSegments []RxSegment `json:"rx_segments"`
	// Of an interchange: a page of them, in order.
	Segments []Segment `json:"segments"`
	// How many segments it has.
	Total int64 `json:"total"`
}

// CodeInputBody is of the API's document.
type CodeInputBody struct {
	Code string `json:"code,omitempty"`
}

// Conservation is of the API's document.
type Conservation struct {
	Accounted int64 `json:"accounted"`
	// 0 unless a claim was lost or counted twice.
	Difference int64 `json:"difference"`
	Received   int64 `json:"received"`
}

// Correction is of the API's document.
type Correction struct {
	// Instead of edits: the whole document, in base64, byte for byte what is to be sealed.
	Document []byte `json:"document,omitempty"`
	// Of an interchange.
	Edits []Edit `json:"edits,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
	// Of a pharmacy claim.
	RxEdits []RxEdit `json:"rx_edits,omitempty"`
}

// CountOutputBody is of the API's document.
type CountOutputBody struct {
	// How many were ended.
	Sessions int64 `json:"sessions"`
}

// CreateTokenRequest is of the API's document.
type CreateTokenRequest struct {
	Days int64  `json:"days,omitempty"`
	Name string `json:"name"`
	// Default: oneself.
	Owner       string   `json:"owner,omitempty"`
	Partners    []string `json:"partners"`
	Permissions []string `json:"permissions"`
}

// CreateUserRequest is of the API's document.
type CreateUserRequest struct {
	Login   string `json:"login"`
	Machine bool   `json:"machine,omitempty"`
	// Patterns: BIN:PCN or ISA07:ISA08, the part before the colon, a beginning and a star, or * for all.
	Partners []string `json:"partners"`
	// 12 to 256 bytes; none for a machine.
	Password string   `json:"password,omitempty"`
	Roles    []string `json:"roles"`
}

// DeadLetters is of the API's document.
type DeadLetters struct {
	// How many ring dlq_increase; absent where it is off, or looks at another time than a minute.
	AlarmAt int64 `json:"alarm_at,omitempty"`
	// Records more in quarantine than at its lowest within the minute: what alarm dlq_increase looks at.
	Rise   int64  `json:"rise"`
	Stream string `json:"stream"`
}

// Deadline is of the API's document.
type Deadline struct {
	// Until the last day begins, in UTC: 0 on that day, below 0 after it. PHI likewise.
	DaysLeft int64 `json:"days_left,omitempty"`
	// The last day on which the payer takes it. It may tell a date of service: PHI. Absent where no day is known.
	LastDay    string `json:"last_day,omitempty"`
	Record     Record `json:"record"`
	Stage      string `json:"stage"`
	WindowDays int64  `json:"window_days"`
}

// DeadlinePage is of the API's document.
type DeadlinePage struct {
	// Continues the list; absent at its end.
	NextAfter int64      `json:"next_after,omitempty"`
	Records   []Deadline `json:"records"`
	// Whether any filing window is configured (timely_filing_days).
	Windows bool `json:"windows"`
}

// DeadlinesBody is of the API's document.
type DeadlinesBody struct {
	// The next_after of the page before.
	After int64 `json:"after,omitempty"`
	Limit int64 `json:"limit,omitempty"`
	// ISA07:ISA08 or BIN:PCN.
	Partner string `json:"partner,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
	// Default: warning, alert and passed: 80 % of the window have gone, 90 %, and its last day is over.
	Stages []string `json:"stages,omitempty"`
	State  string   `json:"state,omitempty"`
	Stream string   `json:"stream,omitempty"`
}

// Delimiters is of the API's document.
type Delimiters struct {
	Component  string `json:"component,omitempty"`
	Element    string `json:"element"`
	Repetition string `json:"repetition,omitempty"`
	Segment    string `json:"segment"`
}

// Deliveries is of the API's document.
type Deliveries struct {
	DeadLettered int64  `json:"dead_lettered"`
	Deliveries   int64  `json:"deliveries"`
	Failures     int64  `json:"failures"`
	InDoubt      int64  `json:"in_doubt"`
	Recovered    int64  `json:"recovered"`
	Retries      int64  `json:"retries"`
	Stream       string `json:"stream"`
	UnknownCodes int64  `json:"unknown_codes"`
}

// Difference is of the API's document.
type Difference struct {
	// Likewise.
	After string `json:"after"`
	// By its form, unless it was to be revealed: letters as A, digits as 9; at most 80 characters.
	Before string `json:"before"`
	// Such as 05-3.
	Element     string `json:"element,omitempty"`
	ElementName string `json:"element_name,omitempty"`
	// Such as D7.
	Field     string `json:"field,omitempty"`
	FieldName string `json:"field_name,omitempty"`
	Kind      string `json:"kind"`
	// Such as 2010BA.
	Loop       string `json:"loop,omitempty"`
	LoopName   string `json:"loop_name,omitempty"`
	NewLen     int64  `json:"new_len"`
	Occurrence int64  `json:"occurrence,omitempty"`
	// Bytes.
	OldLen int64 `json:"old_len"`
	// Of the segment in its set, ST is 1.
	Position int64 `json:"position,omitempty"`
	// Such as NM1, or 07.
	Segment     string `json:"segment,omitempty"`
	SegmentName string `json:"segment_name,omitempty"`
	// Of the segment in the document, where it was opened: ISA is 1.
	SegmentNumber int64 `json:"segment_number,omitempty"`
	// Of a pharmacy message, from 1.
	Transaction int64 `json:"transaction,omitempty"`
}

// Edit is of the API's document.
type Edit struct {
	// Left out: the whole element.
	Component int64 `json:"component,omitempty"`
	Element   int64 `json:"element,omitempty"`
	// set: an element, or a component of it. insert: a segment behind the one that is named. delete: the segment.
	Op     string `json:"op"`
	Repeat int64  `json:"repeat,omitempty"`
	// Its number in the document as view shows it, whatever other edits do: ISA is 1.
	Segment int64 `json:"segment"`
	// Of insert: a segment with * between elements, : between components and ^ between repetitions, whatever the document uses.
	Text string `json:"text,omitempty"`
	// Of set; empty clears it. That of a whole element has the document's own separators inside.
	Value string `json:"value,omitempty"`
}

// EnrolmentOutputBody is of the API's document.
type EnrolmentOutputBody struct {
	// The same to type. It is a secret.
	Key string `json:"key"`
	// For a QR code. It is a secret.
	URL string `json:"url"`
}

// Entry is of the API's document.
type Entry struct {
	Action string    `json:"action"`
	Actor  string    `json:"actor"`
	At     time.Time `json:"at"`
	Detail string    `json:"detail,omitempty"`
	From   string    `json:"from,omitempty"`
	// The detail in words.
	Meaning string `json:"meaning,omitempty"`
	// A person's reason.
	Note            string `json:"note,omitempty"`
	PayloadRevision int32  `json:"payload_revision,omitempty"`
	Record          int64  `json:"record,omitempty"`
	// All that one act moved together, as runs of ids: 12-511,513. record is absent then.
	Records    string `json:"records,omitempty"`
	Seq        int64  `json:"seq"`
	Submission int64  `json:"submission,omitempty"`
	To         string `json:"to,omitempty"`
}

// Fault is of the API's document.
type Fault struct {
	// Such as body.reason or query.limit.
	Location string `json:"location,omitempty"`
	Message  string `json:"message"`
}

// FaultMap is of the API's document.
type FaultMap struct {
	// Of the record, and of the claims of its set that have records of their own; at most 1,001.
	Findings []Finding `json:"findings"`
	// Always false: a record keeps one fault, the first that matters. All are found by /view, which opens it.
	Opened bool `json:"opened"`
}

// Figures is of the API's document.
type Figures struct {
	Claims int64 `json:"claims"`
	// When the oldest first failed, or came in.
	OldestAt *time.Time `json:"oldest_at,omitempty"`
	Records  int64      `json:"records"`
}

// Finding is of the API's document.
type Finding struct {
	// The claim of the set that it is in, from 1.
	Claim int64 `json:"claim,omitempty"`
	// As a record's error_detail has it.
	Code string `json:"code"`
	// Such as 05-3.
	Element     string `json:"element,omitempty"`
	ElementName string `json:"element_name,omitempty"`
	// Such as D7.
	Field     string `json:"field,omitempty"`
	FieldName string `json:"field_name,omitempty"`
	// How it probably came about.
	Hint string `json:"hint,omitempty"`
	// Such as 2010BA.
	Loop       string `json:"loop,omitempty"`
	LoopName   string `json:"loop_name,omitempty"`
	Meaning    string `json:"meaning,omitempty"`
	Occurrence int64  `json:"occurrence,omitempty"`
	// Of the segment in its set, ST is 1.
	Position int64 `json:"position,omitempty"`
	// The record that it is known of.
	Record int64 `json:"record,omitempty"`
	// Such as NM1, or 07.
	Segment     string `json:"segment,omitempty"`
	SegmentName string `json:"segment_name,omitempty"`
	// Of the segment in the document, where it was opened: ISA is 1.
	SegmentNumber int64 `json:"segment_number,omitempty"`
	// Of a pharmacy message, from 1.
	Transaction int64 `json:"transaction,omitempty"`
}

// Group is of the API's document.
type Group struct {
	Claims      int64  `json:"claims"`
	ErrorDetail string `json:"error_detail"`
	// The detail in words.
	Meaning    string     `json:"meaning,omitempty"`
	OldestAt   *time.Time `json:"oldest_at,omitempty"`
	Partner    string     `json:"partner"`
	ReasonCode string     `json:"reason_code"`
	Records    int64      `json:"records"`
	State      string     `json:"state"`
	Stream     string     `json:"stream"`
}

// GroupList is of the API's document.
type GroupList struct {
	Claims int64   `json:"claims"`
	Groups []Group `json:"groups"`
	// There are more than were asked for.
	More bool `json:"more"`
	// Records in all groups that match, also in those that are not listed.
	Records int64 `json:"records"`
}

// Health is of the API's document.
type Health struct {
	Status string `json:"status"`
}

// InquireRecordRequest is of the API's document.
type InquireRecordRequest struct {
	Reason string `json:"reason,omitempty"`
}

// IntakeReceipt is of the API's document.
type IntakeReceipt struct {
	Records []IntakeTaken `json:"records"`
}

// IntakeResult is of the API's document.
type IntakeResult struct {
	Accepted        int64         `json:"accepted"`
	Batches         int64         `json:"batches,omitempty"`
	Claims          int64         `json:"claims"`
	Conflicts       int64         `json:"conflicts"`
	Duplicates      int64         `json:"duplicates"`
	Error           string        `json:"error,omitempty"`
	File            string        `json:"file"`
	Held            []IntakeTaken `json:"held,omitempty"`
	InDoubt         int64         `json:"in_doubt,omitempty"`
	Interchanges    int64         `json:"interchanges"`
	Quarantined     int64         `json:"quarantined"`
	TransactionSets int64         `json:"transaction_sets"`
	Transmissions   int64         `json:"transmissions,omitempty"`
}

// IntakeTaken is of the API's document.
type IntakeTaken struct {
	Disposition int32  `json:"disposition,omitempty"`
	ErrorDetail string `json:"error_detail,omitempty"`
	ID          int64  `json:"id"`
	Key         string `json:"key"`
	State       string `json:"state"`
	Status      string `json:"status"`
}

// Item is of the API's document.
type Item struct {
	AmountCents int64 `json:"amount_cents"`
	// Index among the plan's causes.
	Cause           int64  `json:"cause"`
	Claims          int32  `json:"claims"`
	End             string `json:"end,omitempty"`
	Index           int64  `json:"index"`
	PayloadRevision int32  `json:"payload_revision"`
	Record          int64  `json:"record"`
	ReplayCount     int32  `json:"replay_count"`
	Result          string `json:"result,omitempty"`
	// At which it is released, or not at all; 0: there was no such record.
	Revision int32 `json:"revision"`
	// The last dry run's; of an act, what its state says.
	Verdict string `json:"verdict,omitempty"`
}

// ItemsOutputBody is of the API's document.
type ItemsOutputBody struct {
	Items []Item `json:"items"`
	// The from of the next page; absent at the end.
	Next int64 `json:"next,omitempty"`
}

// JobCause is of the API's document.
type JobCause struct {
	Cents       int64  `json:"cents"`
	Claims      int64  `json:"claims"`
	ErrorDetail string `json:"error_detail"`
	Items       int64  `json:"items"`
	Partner     string `json:"partner"`
	ReasonCode  string `json:"reason_code"`
	State       string `json:"state"`
	Stream      string `json:"stream"`
}

// JobOutputBody is of the API's document.
type JobOutputBody struct {
	Plan     Plan     `json:"plan"`
	Progress Progress `json:"progress"`
}

// JobStop is of the API's document.
type JobStop struct {
	At      time.Time `json:"at"`
	Code    string    `json:"code"`
	Partner string    `json:"partner,omitempty"`
}

// Key is of the API's document.
type Key struct {
	CreatedAt *time.Time `json:"created_at,omitempty"`
	// What is new is made with it.
	Primary bool   `json:"primary"`
	State   string `json:"state"`
	Term    int32  `json:"term"`
	// payload wraps the data keys of payloads; identity is what keys of claims and digests are made with.
	Use string `json:"use"`
}

// KeyListBody is of the API's document.
type KeyListBody struct {
	Keys []Key `json:"keys"`
}

// Limits is of the API's document.
type Limits struct {
	// Deliveries in a budget; receive_count are spent.
	MaxReceive int32 `json:"max_receive"`
	// When retention parks it, if it is unresolved until then.
	ParksAt *time.Time `json:"parks_at,omitempty"`
	// How many replays it may have in all; replay_count are spent.
	Replays int32 `json:"replays"`
}

// ListActsResponse is of the API's document.
type ListActsResponse struct {
	Acts []ActProgress `json:"acts"`
}

// ListRecipesResponse is of the API's document.
type ListRecipesResponse struct {
	Recipes []Recipe `json:"recipes"`
}

// ListReplaysResponse is of the API's document.
type ListReplaysResponse struct {
	Replays []Progress `json:"replays"`
}

// Moved is of the API's document.
type Moved struct {
	Next   []Next `json:"next"`
	Record Record `json:"record"`
	// Of a replay: replayed, or what kept it back: duplicate_suppressed, parked, not_corrected, in_doubt. Of an inquiry: known, or unknown where the payer cannot tell.
	Result string `json:"result,omitempty"`
}

// NcpdpChange is of the API's document.
type NcpdpChange struct {
	Field       string `json:"field"`
	Kind        string `json:"kind"`
	NewLen      int64  `json:"new_len"`
	Occurrence  int64  `json:"occurrence"`
	OldLen      int64  `json:"old_len"`
	Segment     string `json:"segment"`
	Transaction int64  `json:"transaction"`
}

// NcpdpEntry is of the API's document.
type NcpdpEntry struct {
	Field      string `json:"field"`
	Locked     bool   `json:"locked"`
	Meaning    string `json:"meaning,omitempty"`
	Name       string `json:"name,omitempty"`
	Occurrence int64  `json:"occurrence"`
	Offset     int64  `json:"offset"`
	Value      string `json:"value"`
}

// Need is of the API's document.
type Need struct {
	Count      int64  `json:"count"`
	Permission string `json:"permission"`
	What       string `json:"what"`
}

// Next is of the API's document.
type Next struct {
	// The last part of the path: correct, replay, park and so on; acknowledge stands for handing in the payer's answer.
	Action string `json:"action"`
	// Whether who asks may do it; a reason or a second person may be needed all the same.
	Allowed    bool   `json:"allowed"`
	Permission string `json:"permission"`
}

// Overview is of the API's document.
type Overview struct {
	// How many ring that nobody has acknowledged.
	Alarms int64 `json:"alarms"`
	// Of every partner; otherwise of those whom one may see, and figures of all together are absent.
	All bool `json:"all"`
	// Partners whose circuit breaker is not closed.
	Breakers     []Breaker     `json:"breakers"`
	Conservation *Conservation `json:"conservation,omitempty"`
	Deliveries   []Deliveries  `json:"deliveries,omitempty"`
	// What waits for who asks, the most urgent first.
	NeedsMe []Need `json:"needs_me"`
	// Acknowledgment files that could not be matched in full.
	Orphans int64 `json:"orphans,omitempty"`
	// Records in quarantine, every reason present.
	QuarantinedByReason map[string]int64 `json:"quarantined_by_reason"`
	QuarantinedByStream map[string]int64 `json:"quarantined_by_stream"`
	// What the last minute brought; from the second look of the alarms on.
	Rates *Rates `json:"rates,omitempty"`
	// By state, every state present; settled and withdrawn only where all is true.
	States map[string]Figures `json:"states"`
	// What people have stopped.
	Stopped []Switch `json:"stopped"`
}

// Partner is of the API's document.
type Partner struct {
	Partner     string `json:"partner"`
	Quarantined int64  `json:"quarantined"`
	// That are neither settled nor withdrawn.
	Records int64  `json:"records"`
	Stream  string `json:"stream"`
}

// PartnersOutputBody is of the API's document.
type PartnersOutputBody struct {
	// There are more than were asked for.
	More bool `json:"more"`
	// Those with the most in quarantine first.
	Partners []Partner `json:"partners"`
}

// Plan is of the API's document.
type Plan struct {
	At     time.Time `json:"at"`
	Author string    `json:"author"`
	// What the records had when they were planned, the most frequent first; at most 100.
	Causes []JobCause `json:"causes"`
	Cents  int64      `json:"cents"`
	Claims int64      `json:"claims"`
	// SHA-256 of all of it, of every record and revision: send it back to run.
	Digest     string `json:"digest"`
	ID         string `json:"id"`
	Items      int64  `json:"items"`
	MoreCauses int64  `json:"more_causes,omitempty"`
	Policy     Policy `json:"policy"`
	// The rule versions of the streams.
	Rules map[string]string `json:"rules"`
}

// PlanActInputBody is of the API's document.
type PlanActInputBody struct {
	Act string `json:"act"`
	// What matches it now.
	Filter *WhichMatch `json:"filter,omitempty"`
	// These records. Or else:
	IDs []int64 `json:"ids,omitempty"`
	// How many have their turn a second. Default: 500; inquiries, which the payer has to answer, 10.
	PerSecond float64 `json:"per_second,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// PlanInputBody is of the API's document.
type PlanInputBody struct {
	// What matches it now.
	Filter *WhichMatch `json:"filter,omitempty"`
	// These records. Or else:
	IDs    []int64 `json:"ids,omitempty"`
	Policy *Policy `json:"policy,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
	// Or else: the records that this recipe has corrected.
	Recipe string `json:"recipe,omitempty"`
}

// Policy is of the API's document.
type Policy struct {
	// How many go alone at first; -1 is none. Default: 5.
	Canary int64 `json:"canary,omitempty"`
	// Default: 900.
	CanaryWaitSeconds float64 `json:"canary_wait_seconds,omitempty"`
	// A second. Default: 50.
	MaxRate float64 `json:"max_rate,omitempty"`
	// A second. Default: 1.
	StartRate float64 `json:"start_rate,omitempty"`
	// Every step doubles the rate. Default: 30.
	StepSeconds float64 `json:"step_seconds,omitempty"`
	// Of those that came back at all. Default: 0.5.
	StopFailures float64 `json:"stop_failures,omitempty"`
	// The share that came back with a cause of the plan at which it stops. Default: 0.2.
	StopSameCause float64 `json:"stop_same_cause,omitempty"`
	// Payloads were refused as they are: the cause lies outside them and is gone.
	Unchanged bool `json:"unchanged,omitempty"`
	// Default: 72 h.
	WatchForSeconds float64 `json:"watch_for_seconds,omitempty"`
	// How many of the latest ends are judged. Default: 100.
	Window int64 `json:"window,omitempty"`
	// How many it needs to judge. Default: 10.
	WindowMin int64 `json:"window_min,omitempty"`
}

// PreviewInputBody is of the API's document.
type PreviewInputBody struct {
	// Of a filter: what is corrected already, too. It stays quarantined under its cause until it is replayed.
	Again bool `json:"again,omitempty"`
	// Of a filter: the next of the preview before.
	Before int64 `json:"before,omitempty"`
	// What matches it now.
	Filter *WhichMatch `json:"filter,omitempty"`
	// These records. Or else:
	IDs []int64 `json:"ids,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
	// Of interchanges.
	Rules []Rule `json:"rules,omitempty"`
	// Of pharmacy claims.
	RxRules []RxRule `json:"rx_rules,omitempty"`
}

// Problem is of the API's document.
type Problem struct {
	// What kind of failure it is.
	Code string `json:"code"`
	// What was being done, and on what: ids and positions.
	Detail string `json:"detail,omitempty"`
	// What is wrong with the request, field by field.
	Errors []Fault `json:"errors,omitempty"`
	// What to do next.
	Hint string `json:"hint,omitempty"`
	// Of 401: a browser can also sign in at /v1/session/oidc.
	SingleSignOn bool   `json:"single_sign_on,omitempty"`
	Status       int64  `json:"status"`
	Title        string `json:"title"`
	// Always about:blank: the code says what kind it is.
	Type string `json:"type"`
}

// Progress is of the API's document.
type Progress struct {
	ApprovedBy string           `json:"approved_by,omitempty"`
	DryRun     map[string]int64 `json:"dry_run,omitempty"`
	// When the last dry run ended; absent while one is under way.
	DryRunAt *time.Time `json:"dry_run_at,omitempty"`
	EndedAt  *time.Time `json:"ended_at,omitempty"`
	// What became of released ones afterwards.
	Ends          map[string]int64 `json:"ends"`
	Items         int64            `json:"items"`
	Job           string           `json:"job"`
	MaxRate       float64          `json:"max_rate"`
	NeedsApproval bool             `json:"needs_approval"`
	Phase         string           `json:"phase,omitempty"`
	Rate          float64          `json:"rate"`
	// What became of records when their turn came.
	Results   map[string]int64 `json:"results"`
	Runner    string           `json:"runner,omitempty"`
	Seq       int64            `json:"seq"`
	StartedAt *time.Time       `json:"started_at,omitempty"`
	State     string           `json:"state"`
	// Why it stopped by itself.
	Stop     *JobStop `json:"stop,omitempty"`
	UnderWay int64    `json:"under_way"`
	// Of a planned job: partners whose breakers were open when the last dry run ended. A run would stop at them (BREAKER_OPEN).
	Unreachable []string `json:"unreachable,omitempty"`
	Watching    bool     `json:"watching"`
}

// Proposal is of the API's document.
type Proposal struct {
	AmountCents int64 `json:"amount_cents"`
	// Where it differs, as the command line has it.
	Changes []X12Change `json:"changes"`
	// It can be applied.
	Clean bool `json:"clean"`
	// Likewise, where no segment is to blame.
	Codes []string `json:"codes"`
	// Where it differs from what is there; at most 1,000.
	Differences []Difference `json:"differences"`
	// What stands in its way, as the command line has it.
	Faults []X12Fault `json:"faults"`
	// What stands in its way by the current rules, in words, with its place.
	Findings []Finding `json:"findings"`
	// before and after show the form of the values only.
	Masked          bool  `json:"masked"`
	MoreDifferences int64 `json:"more_differences,omitempty"`
	Record          int64 `json:"record"`
	// Of the record it was compared with: the ETag to apply it with.
	Revision    int32         `json:"revision"`
	RuleVersion string        `json:"rule_version"`
	RxChanges   []NcpdpChange `json:"rx_changes,omitempty"`
}

// ProposeInputBody is of the API's document.
type ProposeInputBody struct {
	// Instead of edits: the whole document, in base64, byte for byte what is to be sealed.
	Document []byte `json:"document,omitempty"`
	// Of an interchange.
	Edits []Edit `json:"edits,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
	// Show the values that differ: needs payload.reveal.
	Reveal bool `json:"reveal,omitempty"`
	// Of a pharmacy claim.
	RxEdits []RxEdit `json:"rx_edits,omitempty"`
}

// Rates is of the API's document.
type Rates struct {
	// By stream.
	DeadLetteredPerMinute []DeadLetters `json:"dead_lettered_per_minute"`
	// Claims taken in, of all streams.
	ReceivedPerMinute int64 `json:"received_per_minute"`
}

// Recipe is of the API's document.
type Recipe struct {
	At     time.Time `json:"at"`
	Author string    `json:"author"`
	Cents  int64     `json:"cents"`
	// Of the items that are clean.
	Claims int64 `json:"claims"`
	// Of what the filter selected: left out, because they are corrected already and wait for a replay.
	Corrected int64 `json:"corrected,omitempty"`
	// Items by verdict of the preview.
	Counts map[string]int64 `json:"counts"`
	// SHA-256 of all of it, of every record and revision: send it back to apply.
	Digest  string     `json:"digest"`
	EndedAt *time.Time `json:"ended_at,omitempty"`
	ID      string     `json:"id"`
	Items   int64      `json:"items"`
	// Clean ones that had not.
	Left int64 `json:"left"`
	// The before of the next preview; absent where nothing remains.
	Next int64 `json:"next,omitempty"`
	// What became of those that had their turn.
	Outcomes map[string]int64 `json:"outcomes"`
	// Of what the filter selected: over the 10,000 of a recipe. Preview them with before.
	Remaining int64 `json:"remaining,omitempty"`
	// That judged the preview, by stream.
	RuleVersions map[string]string `json:"rule_versions"`
	// Without their values.
	Rules   []Rule   `json:"rules"`
	Runner  string   `json:"runner,omitempty"`
	RxRules []RxRule `json:"rx_rules"`
	// Raised by all that happens.
	Seq       int64      `json:"seq"`
	StartedAt *time.Time `json:"started_at,omitempty"`
	// stopped: the store or the vault has failed; apply it again.
	State string `json:"state"`
}

// RecipeItem is of the API's document.
type RecipeItem struct {
	AmountCents int64 `json:"amount_cents"`
	Claims      int32 `json:"claims"`
	// Why it is faulty: the first.
	Code string `json:"code,omitempty"`
	// The first five, by the form of the values, 40 characters of it.
	Differences     []Difference `json:"differences"`
	Index           int64        `json:"index"`
	Meaning         string       `json:"meaning,omitempty"`
	MoreDifferences int64        `json:"more_differences,omitempty"`
	// Absent before its turn; moved: its revision was not the previewed one.
	Outcome     string `json:"outcome,omitempty"`
	OutcomeCode string `json:"outcome_code,omitempty"`
	Partner     string `json:"partner,omitempty"`
	Record      int64  `json:"record"`
	// At which it is corrected, or not at all; 0: there was no such record.
	Revision int32 `json:"revision"`
	// The preview's. faulty: the rules still do not pass it. not_applicable: no place in it is what the recipe is about. unchanged: it is so already.
	Verdict string `json:"verdict"`
}

// RecipeItemsOutputBody is of the API's document.
type RecipeItemsOutputBody struct {
	Items []RecipeItem `json:"items"`
	// The from of the next page; absent at the end.
	Next int64 `json:"next,omitempty"`
}

// Record is of the API's document.
type Record struct {
	AmountCents  int64     `json:"amount_cents"`
	AttemptCount int32     `json:"attempt_count"`
	Claims       int32     `json:"claims"`
	Class        string    `json:"class,omitempty"`
	CreatedAt    time.Time `json:"created_at"`
	Disposition  string    `json:"disposition,omitempty"`
	ErrorDetail  string    `json:"error_detail"`
	// Some revision was sent and nobody knows what became of it.
	FateUnknown   bool       `json:"fate_unknown,omitempty"`
	FirstFailedAt *time.Time `json:"first_failed_at,omitempty"`
	Format        string     `json:"format"`
	GroupID       string     `json:"group_id,omitempty"`
	Hold          string     `json:"hold,omitempty"`
	ID            int64      `json:"id"`
	InterchangeID string     `json:"interchange_id,omitempty"`
	// What people say and logs show; a look-up, no identity.
	Key       string     `json:"key"`
	NotBefore *time.Time `json:"not_before,omitempty"`
	Ordinal   int32      `json:"ordinal,omitempty"`
	// The set it parted from.
	Parent          int64  `json:"parent,omitempty"`
	Parted          int32  `json:"parted"`
	Partner         string `json:"partner,omitempty"`
	PayloadRevision int32  `json:"payload_revision"`
	ReasonCode      string `json:"reason_code,omitempty"`
	ReceiveCount    int32  `json:"receive_count"`
	RefusedRevision int32  `json:"refused_revision,omitempty"`
	ReplayCount     int32  `json:"replay_count"`
	// Raised by every step; the ETag.
	Revision      int32     `json:"revision"`
	RuleVersion   string    `json:"rule_version"`
	Scope         string    `json:"scope"`
	Sender        string    `json:"sender,omitempty"`
	State         string    `json:"state"`
	Stream        string    `json:"stream"`
	Submission    int64     `json:"submission,omitempty"`
	TransactionID string    `json:"transaction_id,omitempty"`
	Unparked      int32     `json:"unparked"`
	UpdatedAt     time.Time `json:"updated_at"`
	Usage         string    `json:"usage,omitempty"`
}

// RecordDetails is of the API's document.
type RecordDetails struct {
	// Of its set, those with records of their own; at most 1,000.
	Claims []Record `json:"claims"`
	Limits Limits   `json:"limits"`
	// The cause in words.
	Meaning string `json:"meaning,omitempty"`
	// What a person may do now, the likeliest first.
	Next []Next `json:"next"`
	// What happens next without anybody.
	Outlook     string                      `json:"outlook"`
	Record      Record                      `json:"record"`
	Submissions []Submission                `json:"submissions"`
	Timeline    RecordDetailsTimelineStruct `json:"timeline"`
}

// RecordDetailsTimelineStruct is of the API's document.
type RecordDetailsTimelineStruct struct {
	// How many older ones are left out: see /v1/audit.
	Cut int64 `json:"cut,omitempty"`
	// Oldest first.
	Entries []Entry `json:"entries"`
	// Otherwise the log is longer than what is read for one answer, 1 GiB: see /v1/audit.
	Whole bool `json:"whole"`
}

// RecordPage is of the API's document.
type RecordPage struct {
	// How many records were read for this page, at most 5,000: what the store cannot select by is looked for record by record.
	LookedAt int64 `json:"looked_at"`
	// Continues the list; absent at its end. A page may be short, or empty, and still have one: see looked_at.
	NextCursor string   `json:"next_cursor,omitempty"`
	Records    []Record `json:"records"`
	// How many there are in all, on the first page, where that is known without counting.
	Total int64 `json:"total,omitempty"`
}

// ReplayInputBody is of the API's document.
type ReplayInputBody struct {
	// Decide, and change nothing. The payload may be opened for it, which is audited.
	DryRun bool `json:"dry_run,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
	// The payload was refused as it is: the cause lies outside it and is gone.
	Unchanged bool `json:"unchanged,omitempty"`
}

// ResolveRecordRequest is of the API's document.
type ResolveRecordRequest struct {
	// true: it waits for its acknowledgment; false: it may be replayed as it is.
	Arrived bool `json:"arrived"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// RevealRecordRequest is of the API's document.
type RevealRecordRequest struct {
	// Only this claim of a set, by its place from 1.
	Claim int32 `json:"claim,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// RotateInputBody is of the API's document.
type RotateInputBody struct {
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
	Use    string `json:"use"`
}

// Rule is of the API's document.
type Rule struct {
	Component int64  `json:"component,omitempty"`
	Element   int64  `json:"element,omitempty"`
	Equals    string `json:"equals,omitempty"`
	// Such as 2010BB; left out for any.
	Loop string `json:"loop,omitempty"`
	// replace: set, where the value is equals now. delete: an element; without one, the segment.
	Op string `json:"op"`
	// Such as NM1.
	Segment string `json:"segment"`
	// Of insert_after: a segment with * between elements and : between components.
	Text  string `json:"text,omitempty"`
	Value string `json:"value,omitempty"`
	// What else the segment has to have, such as element 1 85.
	Where []RuleMatch `json:"where,omitempty"`
}

// RuleMatch is of the API's document.
type RuleMatch struct {
	Component int64  `json:"component,omitempty"`
	Element   int64  `json:"element"`
	Value     string `json:"value"`
}

// RunInputBody is of the API's document.
type RunInputBody struct {
	Approval string `json:"approval,omitempty"`
	// Of the plan, as it was shown.
	Digest string `json:"digest"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// RxEdit is of the API's document.
type RxEdit struct {
	// Such as D7.
	Field      string `json:"field,omitempty"`
	Occurrence int64  `json:"occurrence,omitempty"`
	// insert: one more of the field behind those that are there; without a field, a segment. delete: the field; without one, the segment.
	Op string `json:"op"`
	// Such as 07; left out for the header.
	Segment string `json:"segment,omitempty"`
	// 0 for what belongs to all; a record's document has one.
	Transaction int64  `json:"transaction,omitempty"`
	Value       string `json:"value,omitempty"`
}

// RxRule is of the API's document.
type RxRule struct {
	Equals string `json:"equals,omitempty"`
	// Such as D7.
	Field string `json:"field,omitempty"`
	// replace: set, where the value is equals now. insert and delete without a field: the segment.
	Op string `json:"op"`
	// Such as 07; left out for the header.
	Segment string `json:"segment,omitempty"`
	Value   string `json:"value,omitempty"`
}

// RxSegment is of the API's document.
type RxSegment struct {
	Fields []NcpdpEntry `json:"fields"`
	// What is found in it: places in findings.
	Findings []int64 `json:"findings,omitempty"`
	// It cannot be deleted.
	Locked        bool   `json:"locked"`
	Name          string `json:"name,omitempty"`
	Offset        int64  `json:"offset"`
	Segment       string `json:"segment"`
	SegmentNumber int64  `json:"segment_number"`
	Transaction   int64  `json:"transaction"`
}

// Segment is of the API's document.
type Segment struct {
	Elements []X12Element `json:"elements"`
	// What is found in it: places in findings.
	Findings []int64 `json:"findings,omitempty"`
	ID       string  `json:"id"`
	Locked   bool    `json:"locked"`
	Loop     string  `json:"loop,omitempty"`
	LoopName string  `json:"loop_name,omitempty"`
	Name     string  `json:"name,omitempty"`
	Offset   int64   `json:"offset"`
	Position int64   `json:"position,omitempty"`
	Segment  int64   `json:"segment"`
}

// Session is of the API's document.
type Session struct {
	// The name in the audit log.
	Actor string `json:"actor"`
	// When a break-glass ends.
	ElevatedUntil *time.Time `json:"elevated_until,omitempty"`
	ExpiresAt     *time.Time `json:"expires_at,omitempty"`
	// What he has to do before anything else: change_password or enrol_code.
	Must string `json:"must,omitempty"`
	// Patterns: whose things he may see.
	Partners    []string `json:"partners"`
	Permissions []string `json:"permissions"`
	Roles       []string `json:"roles"`
	Source      string   `json:"source"`
}

// SetDisabledRequest is of the API's document.
type SetDisabledRequest struct {
	Disabled bool `json:"disabled"`
}

// SetPasswordRequest is of the API's document.
type SetPasswordRequest struct {
	Password string `json:"password"`
}

// SetReplayRateRequest is of the API's document.
type SetReplayRateRequest struct {
	PerSecond float64 `json:"per_second"`
	// Why; it is in the audit log and must name no patient.
	Reason string `json:"reason,omitempty"`
}

// SettleResult is of the API's document.
type SettleResult struct {
	Accepted     int64  `json:"accepted"`
	Answers      int64  `json:"answers"`
	Duplicate    bool   `json:"duplicate"`
	Error        string `json:"error,omitempty"`
	File         string `json:"file"`
	Interchanges int64  `json:"interchanges"`
	Orphans      int64  `json:"orphans"`
	Pending      int64  `json:"pending"`
	Record       int64  `json:"record,omitempty"`
	Rejected     int64  `json:"rejected"`
	Requeued     int64  `json:"requeued"`
}

// SignInInputBody is of the API's document.
type SignInInputBody struct {
	// The one-time code; ignored for accounts without.
	Code     string `json:"code,omitempty"`
	Login    string `json:"login"`
	Password string `json:"password"`
}

// Silence is of the API's document.
type Silence struct {
	Alarm       string    `json:"alarm"`
	At          time.Time `json:"at"`
	By          string    `json:"by"`
	Fingerprint string    `json:"fingerprint"`
	Reason      string    `json:"reason"`
	// Nobody is told of the alarm before.
	Until time.Time `json:"until"`
}

// SilenceAlarmRequest is of the API's document.
type SilenceAlarmRequest struct {
	Minutes int64 `json:"minutes"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// SizingInputBody is of the API's document.
type SizingInputBody struct {
	// Share of claims that are dead-lettered at first sight.
	Bad                 string  `json:"bad,omitempty"`
	BaseSeconds         float64 `json:"base_seconds,omitempty"`
	BlipSeconds         float64 `json:"blip_seconds,omitempty"`
	CapSeconds          float64 `json:"cap_seconds,omitempty"`
	DepthAlarmPerMinute int64   `json:"depth_alarm_per_minute,omitempty"`
	FailLatencySeconds  float64 `json:"fail_latency_seconds,omitempty"`
	// How long the other side may be down. Default: 300 and 1800.
	IncidentSeconds []float64 `json:"incident_seconds,omitempty"`
	LatencySeconds  float64   `json:"latency_seconds,omitempty"`
	// Take rate, shares and the longest incident from the history here, where nothing else is said. For those who see every partner.
	Learn bool `json:"learn,omitempty"`
	// Default: the default policy's.
	MaxReceive int32 `json:"max_receive,omitempty"`
	// Calls that the other side takes.
	Quota string `json:"quota,omitempty"`
	// Claims at the busiest time: 400/s, 20000/h. Required unless it is learned.
	Rate          string `json:"rate,omitempty"`
	RetentionDays int64  `json:"retention_days,omitempty"`
	// Share of deliveries that fail on a normal day: 0.1%.
	Transient         string  `json:"transient,omitempty"`
	TurnaroundSeconds float64 `json:"turnaround_seconds,omitempty"`
	Workers           int64   `json:"workers,omitempty"`
}

// StopInputBody is of the API's document.
type StopInputBody struct {
	// BIN:PCN, or ISA07:ISA08; BIN or ISA08 alone for all who have it. Default: the whole stream.
	Partner string `json:"partner,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
	// Stop a partner of whom no claim has come yet. Without it a name that is not known is refused: GET /v1/partners lists those with something unresolved.
	Unseen bool `json:"unseen,omitempty"`
}

// Submission is of the API's document.
type Submission struct {
	Bytes     int64     `json:"bytes"`
	CreatedAt time.Time `json:"created_at"`
	Fallback  bool      `json:"fallback,omitempty"`
	ID        int64     `json:"id"`
	ISA13     int32     `json:"isa13,omitempty"`
	// Code of the latest outcome or acknowledgment.
	Last string `json:"last,omitempty"`
	// The code in words.
	Meaning   string     `json:"meaning,omitempty"`
	NotBefore *time.Time `json:"not_before,omitempty"`
	Partner   string     `json:"partner"`
	// Deliveries of it.
	Receives int32 `json:"receives"`
	// How many records it carries.
	Records  int64      `json:"records"`
	Replay   bool       `json:"replay,omitempty"`
	Revision int32      `json:"revision"`
	SentAt   *time.Time `json:"sent_at,omitempty"`
	State    string     `json:"state"`
	Stream   string     `json:"stream"`
}

// Switch is of the API's document.
type Switch struct {
	// Absent: the whole stream.
	Partner string `json:"partner,omitempty"`
	Stream  string `json:"stream"`
}

// SwitchInputBody is of the API's document.
type SwitchInputBody struct {
	// BIN:PCN, or ISA07:ISA08; BIN or ISA08 alone for all who have it. Default: the whole stream.
	Partner string `json:"partner,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// SwitchListBody is of the API's document.
type SwitchListBody struct {
	Stopped []Switch `json:"stopped"`
}

// Token is of the API's document.
type Token struct {
	CreatedAt time.Time `json:"created_at"`
	CreatedBy string    `json:"created_by"`
	ExpiresAt time.Time `json:"expires_at"`
	ID        string    `json:"id"`
	// To the hour.
	LastUsed    *time.Time `json:"last_used,omitempty"`
	Name        string     `json:"name"`
	Owner       string     `json:"owner"`
	Partners    []string   `json:"partners"`
	Permissions []string   `json:"permissions"`
	RevokedAt   *time.Time `json:"revoked_at,omitempty"`
	// The token itself: in the answer that made it, and never again.
	Text string `json:"text,omitempty"`
}

// TokenListBody is of the API's document.
type TokenListBody struct {
	Tokens []Token `json:"tokens"`
}

// User is of the API's document.
type User struct {
	CreatedAt time.Time `json:"created_at"`
	Disabled  bool      `json:"disabled"`
	// One-time codes are confirmed.
	HasCode bool   `json:"has_code"`
	Login   string `json:"login"`
	// For programs: it has tokens and no password.
	Machine bool `json:"machine"`
	// The password is another's: it has to be changed at sign-in.
	MustChange bool     `json:"must_change"`
	Partners   []string `json:"partners"`
	// Of roles, partners and disabled; the ETag.
	Revision int64    `json:"revision"`
	Roles    []string `json:"roles"`
}

// UserListBody is of the API's document.
type UserListBody struct {
	Users []User `json:"users"`
}

// VerifyAuditRequest is of the API's document.
type VerifyAuditRequest struct {
	// A checkpoint that was kept elsewhere, to find a rollback of the whole log.
	Kept string `json:"kept,omitempty"`
}

// VerifyOutputBody is of the API's document.
type VerifyOutputBody struct {
	// The newest signed checkpoint: keep it elsewhere.
	Checkpoint  string `json:"checkpoint"`
	Checkpoints int64  `json:"checkpoints"`
	Entries     int64  `json:"entries"`
	// Further problems.
	More     int64          `json:"more,omitempty"`
	Problems []AuditProblem `json:"problems"`
	// Root hash over all entries.
	Root string `json:"root"`
	// Up to which entry the newest checkpoint signs; the rest has the chain only.
	Signed int64 `json:"signed"`
	Whole  bool  `json:"whole"`
}

// ViewInputBody is of the API's document.
type ViewInputBody struct {
	// Only this claim of a set, by its place from 1.
	Claim int32 `json:"claim,omitempty"`
	// The next of the page before.
	From int64 `json:"from,omitempty"`
	// Segments. Default: 500.
	Limit int64 `json:"limit,omitempty"`
	// Why, for the audit log: it must name no patient.
	Reason string `json:"reason"`
}

// WhichMatch is of the API's document.
type WhichMatch struct {
	// 0 is no bound.
	AmountMaxCents int64 `json:"amount_max_cents,omitempty"`
	AmountMinCents int64 `json:"amount_min_cents,omitempty"`
	// A cause, such as IK4:SV102.
	Detail string `json:"detail,omitempty"`
	Format string `json:"format,omitempty"`
	// What first failed, or came in, longer ago: 90m, 36h, 14d.
	OlderThan string `json:"older_than,omitempty"`
	// ISA07:ISA08 or BIN:PCN.
	Partner string `json:"partner,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Which rules judged it last. This and the amounts are looked for record by record.
	RuleVersion string `json:"rule_version,omitempty"`
	// Default: quarantined.
	State  string `json:"state,omitempty"`
	Stream string `json:"stream,omitempty"`
}

// X12Change is of the API's document.
type X12Change struct {
	Element  string `json:"element,omitempty"`
	Kind     string `json:"kind"`
	Loop     string `json:"loop,omitempty"`
	NewLen   int64  `json:"new_len"`
	OldLen   int64  `json:"old_len"`
	Position int64  `json:"position"`
	Segment  string `json:"segment"`
}

// X12Component is of the API's document.
type X12Component struct {
	Component int64  `json:"component"`
	Name      string `json:"name,omitempty"`
	Repeat    int64  `json:"repeat"`
	Value     string `json:"value"`
}

// X12Element is of the API's document.
type X12Element struct {
	Components []X12Component `json:"components,omitempty"`
	Cut        bool           `json:"cut,omitempty"`
	Element    int64          `json:"element"`
	Locked     bool           `json:"locked"`
	Name       string         `json:"name,omitempty"`
	Value      string         `json:"value"`
}

// X12Fault is of the API's document.
type X12Fault struct {
	Claim    int64  `json:"claim,omitempty"`
	Element  string `json:"element"`
	Ik304    string `json:"ik304"`
	Ik403    string `json:"ik403"`
	Loop     string `json:"loop"`
	Offset   int64  `json:"offset"`
	Position int64  `json:"position"`
	Rule     string `json:"rule,omitempty"`
	Segment  string `json:"segment"`
	Stc      string `json:"stc,omitempty"`
}

// ApplyRecipe is apply-recipe. Permission: record.correct.
//
//	Correct what was clean in the preview, behind the answer
func (c *Client) ApplyRecipe(ctx context.Context, id string, body ApplyRecipeRequest) (out Recipe, err error) {
	err = c.json(ctx, call{op: "apply-recipe", method: http.MethodPost, command: true, path: "/v1/recipes/" + part(id) + "/apply", body: body}, &out)
	return out, err
}

// Approve is approve. Permission: record.approve.
//
//	Say yes to exactly what has the digest
func (c *Client) Approve(ctx context.Context, id string, body ApproveRequest) (out Approval, err error) {
	err = c.json(ctx, call{op: "approve", method: http.MethodPost, command: true, path: "/v1/approvals/" + part(id) + "/approve", body: body}, &out)
	return out, err
}

// AskAct is ask-act. Permission: record.park|record.unpark|record.withdraw|record.inquire.
//
//	Ask a second person for the run of a plan
func (c *Client) AskAct(ctx context.Context, id string, body Because) (out Approval, err error) {
	err = c.json(ctx, call{op: "ask-act", method: http.MethodPost, command: true, path: "/v1/acts/" + part(id) + "/run:ask", body: body}, &out)
	return out, err
}

// AskRun is ask-run. Permission: replay.run.
//
//	Ask a second person for the run of a plan
func (c *Client) AskRun(ctx context.Context, id string, body Because) (out Approval, err error) {
	err = c.json(ctx, call{op: "ask-run", method: http.MethodPost, command: true, path: "/v1/replays/" + part(id) + "/run:ask", body: body}, &out)
	return out, err
}

// AskUnpark is ask-unpark. Permission: record.unpark.
//
//	Ask a second person for it
func (c *Client) AskUnpark(ctx context.Context, id int64, revision int64, body Because) (out Approval, err error) {
	err = c.json(ctx, call{op: "ask-unpark", method: http.MethodPost, command: true, match: tag(revision), path: "/v1/records/" + part(id) + "/unpark:ask", body: body}, &out)
	return out, err
}

// AskWithdraw is ask-withdraw. Permission: record.withdraw.
//
//	Ask a second person for it
func (c *Client) AskWithdraw(ctx context.Context, id int64, revision int64, body Because) (out Approval, err error) {
	err = c.json(ctx, call{op: "ask-withdraw", method: http.MethodPost, command: true, match: tag(revision), path: "/v1/records/" + part(id) + "/withdraw:ask", body: body}, &out)
	return out, err
}

// BreakGlass is break-glass. Permission: payload.breakglass.
//
//	Break the glass: look into payloads for a while, with a reason
func (c *Client) BreakGlass(ctx context.Context, body Because) (out Session, err error) {
	err = c.json(ctx, call{op: "break-glass", method: http.MethodPost, path: "/v1/session/elevation", body: body}, &out)
	return out, err
}

// CancelAct is cancel-act. Permission: record.park|record.unpark|record.withdraw|record.inquire.
//
//	End it for good: what is not done is left alone
func (c *Client) CancelAct(ctx context.Context, id string, body Because) (out ActProgress, err error) {
	err = c.json(ctx, call{op: "cancel-act", method: http.MethodPost, command: true, path: "/v1/acts/" + part(id) + "/cancel", body: body}, &out)
	return out, err
}

// CancelRecipe is cancel-recipe. Permission: record.correct.
//
//	End it for good: what is corrected stays so, the rest is left alone
func (c *Client) CancelRecipe(ctx context.Context, id string, body Because) (out Recipe, err error) {
	err = c.json(ctx, call{op: "cancel-recipe", method: http.MethodPost, command: true, path: "/v1/recipes/" + part(id) + "/cancel", body: body}, &out)
	return out, err
}

// CancelReplay is cancel-replay. Permission: replay.run.
//
//	End it for good: what is not released stays where it is
func (c *Client) CancelReplay(ctx context.Context, id string, body Because) (out Progress, err error) {
	err = c.json(ctx, call{op: "cancel-replay", method: http.MethodPost, command: true, path: "/v1/replays/" + part(id) + "/cancel", body: body}, &out)
	return out, err
}

// ChangePassword is change-password. Permission: self.
//
//	Change one's own password
func (c *Client) ChangePassword(ctx context.Context, body ChangePasswordRequest) (out Session, err error) {
	err = c.json(ctx, call{op: "change-password", method: http.MethodPut, path: "/v1/session/password", body: body}, &out)
	return out, err
}

// ConfirmCode is confirm-code. Permission: self.
//
//	Confirm the secret with a code of it
func (c *Client) ConfirmCode(ctx context.Context, body CodeInputBody) (out Session, err error) {
	err = c.json(ctx, call{op: "confirm-code", method: http.MethodPut, path: "/v1/session/code", body: body}, &out)
	return out, err
}

// CorrectRecord is correct-record. Permission: record.correct.
//
//	Seal a correction as the record's next revision
func (c *Client) CorrectRecord(ctx context.Context, id int64, revision int64, body Correction) (out Moved, err error) {
	err = c.json(ctx, call{op: "correct-record", method: http.MethodPost, payload: true, command: true, match: tag(revision), path: "/v1/records/" + part(id) + "/correct", body: body}, &out)
	return out, err
}

// CreateToken is create-token. Permission: self.
//
//	Make a token: for oneself, or with users.admin for a machine
func (c *Client) CreateToken(ctx context.Context, body CreateTokenRequest) (out Token, err error) {
	err = c.json(ctx, call{op: "create-token", method: http.MethodPost, command: true, path: "/v1/tokens", body: body}, &out)
	return out, err
}

// CreateUser is create-user. Permission: users.admin.
//
//	Make an account
func (c *Client) CreateUser(ctx context.Context, body CreateUserRequest) (out User, err error) {
	err = c.json(ctx, call{op: "create-user", method: http.MethodPost, command: true, path: "/v1/users", body: body}, &out)
	return out, err
}

// DryRunReplay is dry-run-replay. Permission: replay.plan.
//
//	Decide about every record as a run would, and change none
func (c *Client) DryRunReplay(ctx context.Context, id string, body Because) (out Progress, err error) {
	err = c.json(ctx, call{op: "dry-run-replay", method: http.MethodPost, command: true, path: "/v1/replays/" + part(id) + "/dry-run", body: body}, &out)
	return out, err
}

// EndSilence is end-silence. Permission: alarms.ack.
//
//	Let it ring again
func (c *Client) EndSilence(ctx context.Context, fingerprint string) (out Alarm, err error) {
	err = c.json(ctx, call{op: "end-silence", method: http.MethodDelete, command: true, path: "/v1/alarms/" + part(fingerprint) + "/silence"}, &out)
	return out, err
}

// EnrolCode is enrol-code. Permission: self.
//
//	Make a secret for one-time codes, which is shown once
func (c *Client) EnrolCode(ctx context.Context, body CodeInputBody) (out EnrolmentOutputBody, err error) {
	err = c.json(ctx, call{op: "enrol-code", method: http.MethodPost, command: true, path: "/v1/session/code", body: body}, &out)
	return out, err
}

// FollowAct is follow-act. Permission: records.read.
//
//	An act's progress, as server-sent events
func (c *Client) FollowAct(ctx context.Context, id string, last string) (*Events, error) {
	return c.events(ctx, call{op: "follow-act", method: http.MethodGet, last: last, path: "/v1/acts/" + part(id) + "/events"})
}

// FollowOverview is follow-overview. Permission: metrics.read.
//
//	The overview whenever it changes, as server-sent events
func (c *Client) FollowOverview(ctx context.Context, last string) (*Events, error) {
	return c.events(ctx, call{op: "follow-overview", method: http.MethodGet, last: last, path: "/v1/streams"})
}

// FollowReplay is follow-replay. Permission: records.read.
//
//	A job's progress, as server-sent events
func (c *Client) FollowReplay(ctx context.Context, id string, last string) (*Events, error) {
	return c.events(ctx, call{op: "follow-replay", method: http.MethodGet, last: last, path: "/v1/replays/" + part(id) + "/events"})
}

// GetAct is get-act. Permission: records.read.
//
//	An act on many records: its plan, and where it stands
func (c *Client) GetAct(ctx context.Context, id string) (out ActOutputBody, err error) {
	err = c.json(ctx, call{op: "get-act", method: http.MethodGet, path: "/v1/acts/" + part(id)}, &out)
	return out, err
}

// GetHealth is get-health. Permission: none.
//
//	The process answers
func (c *Client) GetHealth(ctx context.Context) (out Health, err error) {
	err = c.json(ctx, call{op: "get-health", method: http.MethodGet, path: "/healthz"}, &out)
	return out, err
}

// GetMetrics is get-metrics. Permission: metrics.read.
//
//	Figures for Prometheus, of all partners
func (c *Client) GetMetrics(ctx context.Context) ([]byte, error) {
	return c.bytes(ctx, call{op: "get-metrics", method: http.MethodGet, path: "/metrics"})
}

// GetOverview is get-overview. Permission: metrics.read.
//
//	Depth, ages, rates, reasons, breakers, conservation, and what needs me
func (c *Client) GetOverview(ctx context.Context) (out Overview, err error) {
	err = c.json(ctx, call{op: "get-overview", method: http.MethodGet, path: "/v1/overview"}, &out)
	return out, err
}

// GetReadiness is get-readiness. Permission: none.
//
//	Claims can be taken in
func (c *Client) GetReadiness(ctx context.Context) (out Health, err error) {
	err = c.json(ctx, call{op: "get-readiness", method: http.MethodGet, path: "/readyz"}, &out)
	return out, err
}

// GetRecipe is get-recipe. Permission: records.read.
//
//	A correction of a group: what was frozen, and where it stands
func (c *Client) GetRecipe(ctx context.Context, id string) (out Recipe, err error) {
	err = c.json(ctx, call{op: "get-recipe", method: http.MethodGet, path: "/v1/recipes/" + part(id)}, &out)
	return out, err
}

// GetRecord is get-record. Permission: records.read.
//
//	One record: what it is, why, what happened, and what may be done
func (c *Client) GetRecord(ctx context.Context, id int64) (out RecordDetails, err error) {
	err = c.json(ctx, call{op: "get-record", method: http.MethodGet, path: "/v1/records/" + part(id)}, &out)
	return out, err
}

// GetReplay is get-replay. Permission: records.read.
//
//	A job: its plan, and where it stands
func (c *Client) GetReplay(ctx context.Context, id string) (out JobOutputBody, err error) {
	err = c.json(ctx, call{op: "get-replay", method: http.MethodGet, path: "/v1/replays/" + part(id)}, &out)
	return out, err
}

// GetSession is get-session. Permission: self.
//
//	Who am I, and what may I do
func (c *Client) GetSession(ctx context.Context) (out Session, err error) {
	err = c.json(ctx, call{op: "get-session", method: http.MethodGet, path: "/v1/session"}, &out)
	return out, err
}

// GetUser is get-user. Permission: users.admin.
//
//	One account
func (c *Client) GetUser(ctx context.Context, login string) (out User, err error) {
	err = c.json(ctx, call{op: "get-user", method: http.MethodGet, path: "/v1/users/" + part(login)}, &out)
	return out, err
}

// HistoryRecord is history-record. Permission: payload.reveal.
//
//	Every revision of a corrected record's document, oldest first, back to back: PHI
func (c *Client) HistoryRecord(ctx context.Context, id int64, body Because) ([]byte, error) {
	return c.bytes(ctx, call{op: "history-record", method: http.MethodPost, payload: true, path: "/v1/records/" + part(id) + "/history", body: body})
}

// InquireRecord is inquire-record. Permission: record.inquire.
//
//	Ask the payer what became of it
func (c *Client) InquireRecord(ctx context.Context, id int64, revision int64, body InquireRecordRequest) (out Moved, err error) {
	err = c.json(ctx, call{op: "inquire-record", method: http.MethodPost, command: true, match: tag(revision), path: "/v1/records/" + part(id) + "/inquire", body: body}, &out)
	return out, err
}

// ListActItemsQuery is what ListActItems may ask for; what is zero is not asked.
type ListActItemsQuery struct {
	// The next of the page before.
	From    int64
	Limit   int64
	Verdict string
	Result  string
}

func (q *ListActItemsQuery) values() url.Values {
	v := url.Values{}
	put(v, "from", q.From)
	put(v, "limit", q.Limit)
	put(v, "verdict", q.Verdict)
	put(v, "result", q.Result)
	return v
}

// ListActItems is list-act-items. Permission: records.read.
//
//	The records of an act and what became of each, in the plan's order
func (c *Client) ListActItems(ctx context.Context, id string, q ListActItemsQuery) (out ItemsOutputBody, err error) {
	err = c.json(ctx, call{op: "list-act-items", method: http.MethodGet, path: "/v1/acts/" + part(id) + "/items", query: q.values()}, &out)
	return out, err
}

// ListActsQuery is what ListActs may ask for; what is zero is not asked.
type ListActsQuery struct {
	Limit int64
}

func (q *ListActsQuery) values() url.Values {
	v := url.Values{}
	put(v, "limit", q.Limit)
	return v
}

// ListActs is list-acts. Permission: records.read.
//
//	Acts on many records, the newest first
func (c *Client) ListActs(ctx context.Context, q ListActsQuery) (out ListActsResponse, err error) {
	err = c.json(ctx, call{op: "list-acts", method: http.MethodGet, path: "/v1/acts", query: q.values()}, &out)
	return out, err
}

// ListAlarms is list-alarms. Permission: metrics.read.
//
//	What rings, the most urgent first
func (c *Client) ListAlarms(ctx context.Context) (out AlarmListBody, err error) {
	err = c.json(ctx, call{op: "list-alarms", method: http.MethodGet, path: "/v1/alarms"}, &out)
	return out, err
}

// ListApprovalsQuery is what ListApprovals may ask for; what is zero is not asked.
type ListApprovalsQuery struct {
	State string
}

func (q *ListApprovalsQuery) values() url.Values {
	v := url.Values{}
	put(v, "state", q.State)
	return v
}

// ListApprovals is list-approvals. Permission: records.read.
//
//	Requests for a second person: one's own, and those about one's partners
func (c *Client) ListApprovals(ctx context.Context, q ListApprovalsQuery) (out ApprovalListBody, err error) {
	err = c.json(ctx, call{op: "list-approvals", method: http.MethodGet, path: "/v1/approvals", query: q.values()}, &out)
	return out, err
}

// ListAuditQuery is what ListAudit may ask for; what is zero is not asked.
type ListAuditQuery struct {
	Record int64
	Actor  string
	Action string
	// Entries since this time.
	From time.Time
	// Entries before this time.
	To time.Time
	// The next_cursor of the page before.
	Cursor string
	Limit  int64
}

func (q *ListAuditQuery) values() url.Values {
	v := url.Values{}
	put(v, "record", q.Record)
	put(v, "actor", q.Actor)
	put(v, "action", q.Action)
	put(v, "from", q.From)
	put(v, "to", q.To)
	put(v, "cursor", q.Cursor)
	put(v, "limit", q.Limit)
	return v
}

// ListAudit is list-audit. Permission: audit.read.
//
//	Who did what to which record, when and why; newest first
func (c *Client) ListAudit(ctx context.Context, q ListAuditQuery) (out AuditPage, err error) {
	err = c.json(ctx, call{op: "list-audit", method: http.MethodGet, path: "/v1/audit", query: q.values()}, &out)
	return out, err
}

// ListDeadlines is list-deadlines. Permission: payload.reveal.
//
//	Unresolved records near the end of their filing windows, the nearest last day first: PHI
func (c *Client) ListDeadlines(ctx context.Context, body DeadlinesBody) (out DeadlinePage, err error) {
	err = c.json(ctx, call{op: "list-deadlines", method: http.MethodPost, payload: true, path: "/v1/deadlines", body: body}, &out)
	return out, err
}

// ListFaults is list-faults. Permission: records.read.
//
//	What is known to be wrong with it and where, without opening it
func (c *Client) ListFaults(ctx context.Context, id int64) (out FaultMap, err error) {
	err = c.json(ctx, call{op: "list-faults", method: http.MethodGet, path: "/v1/records/" + part(id) + "/faults"}, &out)
	return out, err
}

// ListGroupsQuery is what ListGroups may ask for; what is zero is not asked.
type ListGroupsQuery struct {
	State  string
	Stream string
	Format string
	Reason string
	// A cause, such as IK4:SV102.
	Detail string
	// ISA07:ISA08 or BIN:PCN.
	Partner string
	// What first failed, or came in, longer ago: 90m, 36h, 14d.
	OlderThan string
	// Which rules judged it last. This and the amounts are looked for record by record.
	RuleVersion    string
	AmountMinCents int64
	// 0 is no bound.
	AmountMaxCents int64
	// Queued records that wait for this, looked for record by record. Of all that waits for a partner the 256 next in turn show it.
	Hold  string
	Limit int64
}

func (q *ListGroupsQuery) values() url.Values {
	v := url.Values{}
	put(v, "state", q.State)
	put(v, "stream", q.Stream)
	put(v, "format", q.Format)
	put(v, "reason", q.Reason)
	put(v, "detail", q.Detail)
	put(v, "partner", q.Partner)
	put(v, "older_than", q.OlderThan)
	put(v, "rule_version", q.RuleVersion)
	put(v, "amount_min_cents", q.AmountMinCents)
	put(v, "amount_max_cents", q.AmountMaxCents)
	put(v, "hold", q.Hold)
	put(v, "limit", q.Limit)
	return v
}

// ListGroups is list-groups. Permission: groups.read.
//
//	Records by cause, largest first
func (c *Client) ListGroups(ctx context.Context, q ListGroupsQuery) (out GroupList, err error) {
	err = c.json(ctx, call{op: "list-groups", method: http.MethodGet, path: "/v1/groups", query: q.values()}, &out)
	return out, err
}

// ListKeys is list-keys. Permission: keys.admin.
//
//	The terms of the keyring, never a key
func (c *Client) ListKeys(ctx context.Context) (out KeyListBody, err error) {
	err = c.json(ctx, call{op: "list-keys", method: http.MethodGet, path: "/v1/keys"}, &out)
	return out, err
}

// ListPartnersQuery is what ListPartners may ask for; what is zero is not asked.
type ListPartnersQuery struct {
	Limit int64
}

func (q *ListPartnersQuery) values() url.Values {
	v := url.Values{}
	put(v, "limit", q.Limit)
	return v
}

// ListPartners is list-partners. Permission: groups.read.
//
//	The partners that unresolved records are for
func (c *Client) ListPartners(ctx context.Context, q ListPartnersQuery) (out PartnersOutputBody, err error) {
	err = c.json(ctx, call{op: "list-partners", method: http.MethodGet, path: "/v1/partners", query: q.values()}, &out)
	return out, err
}

// ListRecipeItemsQuery is what ListRecipeItems may ask for; what is zero is not asked.
type ListRecipeItemsQuery struct {
	// The next of the page before.
	From    int64
	Limit   int64
	Verdict string
	Outcome string
}

func (q *ListRecipeItemsQuery) values() url.Values {
	v := url.Values{}
	put(v, "from", q.From)
	put(v, "limit", q.Limit)
	put(v, "verdict", q.Verdict)
	put(v, "outcome", q.Outcome)
	return v
}

// ListRecipeItems is list-recipe-items. Permission: records.read.
//
//	The records of a recipe: where each would differ, by the form of the values, and what became of it
func (c *Client) ListRecipeItems(ctx context.Context, id string, q ListRecipeItemsQuery) (out RecipeItemsOutputBody, err error) {
	err = c.json(ctx, call{op: "list-recipe-items", method: http.MethodGet, path: "/v1/recipes/" + part(id) + "/items", query: q.values()}, &out)
	return out, err
}

// ListRecipesQuery is what ListRecipes may ask for; what is zero is not asked.
type ListRecipesQuery struct {
	Limit int64
}

func (q *ListRecipesQuery) values() url.Values {
	v := url.Values{}
	put(v, "limit", q.Limit)
	return v
}

// ListRecipes is list-recipes. Permission: records.read.
//
//	Corrections of groups, the newest first
func (c *Client) ListRecipes(ctx context.Context, q ListRecipesQuery) (out ListRecipesResponse, err error) {
	err = c.json(ctx, call{op: "list-recipes", method: http.MethodGet, path: "/v1/recipes", query: q.values()}, &out)
	return out, err
}

// ListRecordsQuery is what ListRecords may ask for; what is zero is not asked.
type ListRecordsQuery struct {
	State  string
	Stream string
	Format string
	Reason string
	// A cause, such as IK4:SV102.
	Detail string
	// ISA07:ISA08 or BIN:PCN.
	Partner string
	// What first failed, or came in, longer ago: 90m, 36h, 14d.
	OlderThan string
	// Which rules judged it last. This and the amounts are looked for record by record.
	RuleVersion    string
	AmountMinCents int64
	// 0 is no bound.
	AmountMaxCents int64
	// Queued records that wait for this, looked for record by record. Of all that waits for a partner the 256 next in turn show it.
	Hold string
	// Alone: the records with this key, ISA13:ST02, ISA13:ST02:N for the Nth claim of the set, or the 24 characters of a pharmacy claim's key; at most 1,000.
	Key string
	// The next_cursor of the page before.
	Cursor string
	Limit  int64
}

func (q *ListRecordsQuery) values() url.Values {
	v := url.Values{}
	put(v, "state", q.State)
	put(v, "stream", q.Stream)
	put(v, "format", q.Format)
	put(v, "reason", q.Reason)
	put(v, "detail", q.Detail)
	put(v, "partner", q.Partner)
	put(v, "older_than", q.OlderThan)
	put(v, "rule_version", q.RuleVersion)
	put(v, "amount_min_cents", q.AmountMinCents)
	put(v, "amount_max_cents", q.AmountMaxCents)
	put(v, "hold", q.Hold)
	put(v, "key", q.Key)
	put(v, "cursor", q.Cursor)
	put(v, "limit", q.Limit)
	return v
}

// ListRecords is list-records. Permission: records.read.
//
//	List records, newest first
func (c *Client) ListRecords(ctx context.Context, q ListRecordsQuery) (out RecordPage, err error) {
	err = c.json(ctx, call{op: "list-records", method: http.MethodGet, path: "/v1/records", query: q.values()}, &out)
	return out, err
}

// ListReplayItemsQuery is what ListReplayItems may ask for; what is zero is not asked.
type ListReplayItemsQuery struct {
	// The next of the page before.
	From    int64
	Limit   int64
	Result  string
	End     string
	Verdict string
}

func (q *ListReplayItemsQuery) values() url.Values {
	v := url.Values{}
	put(v, "from", q.From)
	put(v, "limit", q.Limit)
	put(v, "result", q.Result)
	put(v, "end", q.End)
	put(v, "verdict", q.Verdict)
	return v
}

// ListReplayItems is list-replay-items. Permission: records.read.
//
//	The records of a job and what became of each, in the plan's order
func (c *Client) ListReplayItems(ctx context.Context, id string, q ListReplayItemsQuery) (out ItemsOutputBody, err error) {
	err = c.json(ctx, call{op: "list-replay-items", method: http.MethodGet, path: "/v1/replays/" + part(id) + "/items", query: q.values()}, &out)
	return out, err
}

// ListReplaysQuery is what ListReplays may ask for; what is zero is not asked.
type ListReplaysQuery struct {
	Limit int64
}

func (q *ListReplaysQuery) values() url.Values {
	v := url.Values{}
	put(v, "limit", q.Limit)
	return v
}

// ListReplays is list-replays. Permission: records.read.
//
//	Replay jobs, the newest first
func (c *Client) ListReplays(ctx context.Context, q ListReplaysQuery) (out ListReplaysResponse, err error) {
	err = c.json(ctx, call{op: "list-replays", method: http.MethodGet, path: "/v1/replays", query: q.values()}, &out)
	return out, err
}

// ListSwitches is list-switches. Permission: metrics.read.
//
//	What people have stopped
func (c *Client) ListSwitches(ctx context.Context) (out SwitchListBody, err error) {
	err = c.json(ctx, call{op: "list-switches", method: http.MethodGet, path: "/v1/switches"}, &out)
	return out, err
}

// ListTokens is list-tokens. Permission: self.
//
//	One's own tokens; with users.admin all of them
func (c *Client) ListTokens(ctx context.Context) (out TokenListBody, err error) {
	err = c.json(ctx, call{op: "list-tokens", method: http.MethodGet, path: "/v1/tokens"}, &out)
	return out, err
}

// ListUsers is list-users. Permission: users.admin.
//
//	List accounts
func (c *Client) ListUsers(ctx context.Context) (out UserListBody, err error) {
	err = c.json(ctx, call{op: "list-users", method: http.MethodGet, path: "/v1/users"}, &out)
	return out, err
}

// ParkRecord is park-record. Permission: record.park.
//
//	Take it out of reach of replays
func (c *Client) ParkRecord(ctx context.Context, id int64, revision int64, body Because) (out Moved, err error) {
	err = c.json(ctx, call{op: "park-record", method: http.MethodPost, command: true, match: tag(revision), path: "/v1/records/" + part(id) + "/park", body: body}, &out)
	return out, err
}

// PauseAct is pause-act. Permission: record.park|record.unpark|record.withdraw|record.inquire.
//
//	Do no more for now
func (c *Client) PauseAct(ctx context.Context, id string, body Because) (out ActProgress, err error) {
	err = c.json(ctx, call{op: "pause-act", method: http.MethodPost, command: true, path: "/v1/acts/" + part(id) + "/pause", body: body}, &out)
	return out, err
}

// PauseReplay is pause-replay. Permission: replay.run.
//
//	Release no more for now
func (c *Client) PauseReplay(ctx context.Context, id string, body Because) (out Progress, err error) {
	err = c.json(ctx, call{op: "pause-replay", method: http.MethodPost, command: true, path: "/v1/replays/" + part(id) + "/pause", body: body}, &out)
	return out, err
}

// PlanAct is plan-act. Permission: record.park|record.unpark|record.withdraw|record.inquire.
//
//	Freeze what is to be parked, un-parked, withdrawn or asked about; nothing is done
func (c *Client) PlanAct(ctx context.Context, body PlanActInputBody) (out ActOutputBody, err error) {
	err = c.json(ctx, call{op: "plan-act", method: http.MethodPost, command: true, path: "/v1/acts", body: body}, &out)
	return out, err
}

// PlanReplay is plan-replay. Permission: replay.plan.
//
//	Freeze what is to be replayed; nothing is released
func (c *Client) PlanReplay(ctx context.Context, body PlanInputBody) (out JobOutputBody, err error) {
	err = c.json(ctx, call{op: "plan-replay", method: http.MethodPost, command: true, path: "/v1/replays", body: body}, &out)
	return out, err
}

// PlotSize is plot-size. Permission: sizing.read.
//
//	The same as a picture: the longest incident, with a breaker and without
func (c *Client) PlotSize(ctx context.Context, body SizingInputBody) ([]byte, error) {
	return c.bytes(ctx, call{op: "plot-size", method: http.MethodPost, path: "/v1/sizing/plot", body: body})
}

// PreviewRecipe is preview-recipe. Permission: record.correct.
//
//	Freeze a correction of a group, and judge what it makes of each record; none is changed
func (c *Client) PreviewRecipe(ctx context.Context, body PreviewInputBody) (out Recipe, err error) {
	err = c.json(ctx, call{op: "preview-recipe", method: http.MethodPost, payload: true, command: true, path: "/v1/recipes:preview", body: body}, &out)
	return out, err
}

// ProposeCorrection is propose-correction. Permission: record.correct.
//
//	Judge a correction and compare it with what is there; nothing is changed
func (c *Client) ProposeCorrection(ctx context.Context, id int64, body ProposeInputBody) (out Proposal, err error) {
	err = c.json(ctx, call{op: "propose-correction", method: http.MethodPost, payload: true, path: "/v1/records/" + part(id) + "/correct:propose", body: body}, &out)
	return out, err
}

// Refuse is refuse. Permission: self.
//
//	Say no, or take back what one asked for
func (c *Client) Refuse(ctx context.Context, id string, body Because) (out Approval, err error) {
	err = c.json(ctx, call{op: "refuse", method: http.MethodPost, command: true, path: "/v1/approvals/" + part(id) + "/refuse", body: body}, &out)
	return out, err
}

// ReplayRecord is replay-record. Permission: replay.run.
//
//	Release it for delivery, or say why not
func (c *Client) ReplayRecord(ctx context.Context, id int64, revision int64, body ReplayInputBody) (out Moved, err error) {
	err = c.json(ctx, call{op: "replay-record", method: http.MethodPost, command: true, match: tag(revision), path: "/v1/records/" + part(id) + "/replay", body: body}, &out)
	return out, err
}

// ResetCode is reset-code. Permission: users.admin.
//
//	Take somebody's one-time codes away
func (c *Client) ResetCode(ctx context.Context, login string) (out User, err error) {
	err = c.json(ctx, call{op: "reset-code", method: http.MethodDelete, command: true, path: "/v1/users/" + part(login) + "/code"}, &out)
	return out, err
}

// ResolveRecord is resolve-record. Permission: record.resolve.
//
//	Say what became of what was sent: it arrived, or it did not
func (c *Client) ResolveRecord(ctx context.Context, id int64, revision int64, body ResolveRecordRequest) (out Moved, err error) {
	err = c.json(ctx, call{op: "resolve-record", method: http.MethodPost, command: true, match: tag(revision), path: "/v1/records/" + part(id) + "/resolve", body: body}, &out)
	return out, err
}

// ResumeAct is resume-act. Permission: record.park|record.unpark|record.withdraw|record.inquire.
//
//	Let a paused or stopped act go on, in one's own name
func (c *Client) ResumeAct(ctx context.Context, id string, body Because) (out ActProgress, err error) {
	err = c.json(ctx, call{op: "resume-act", method: http.MethodPost, command: true, path: "/v1/acts/" + part(id) + "/resume", body: body}, &out)
	return out, err
}

// ResumeReplay is resume-replay. Permission: replay.run.
//
//	Let a paused or stopped job go on
func (c *Client) ResumeReplay(ctx context.Context, id string, body Because) (out Progress, err error) {
	err = c.json(ctx, call{op: "resume-replay", method: http.MethodPost, command: true, path: "/v1/replays/" + part(id) + "/resume", body: body}, &out)
	return out, err
}

// RevealRecord is reveal-record. Permission: payload.reveal.
//
//	Open what a record stands for: PHI
func (c *Client) RevealRecord(ctx context.Context, id int64, body RevealRecordRequest) ([]byte, error) {
	return c.bytes(ctx, call{op: "reveal-record", method: http.MethodPost, payload: true, path: "/v1/records/" + part(id) + "/reveal", body: body})
}

// RevokeToken is revoke-token. Permission: self.
//
//	End a token at once: one's own, or with users.admin any
func (c *Client) RevokeToken(ctx context.Context, id string) (out Token, err error) {
	err = c.json(ctx, call{op: "revoke-token", method: http.MethodDelete, command: true, path: "/v1/tokens/" + part(id)}, &out)
	return out, err
}

// RotateKey is rotate-key. Permission: keys.admin.
//
//	Make a new key; the old one is retired
func (c *Client) RotateKey(ctx context.Context, body RotateInputBody) (out KeyListBody, err error) {
	err = c.json(ctx, call{op: "rotate-key", method: http.MethodPost, command: true, path: "/v1/keys/rotate", body: body}, &out)
	return out, err
}

// RunAct is run-act. Permission: record.park|record.unpark|record.withdraw|record.inquire.
//
//	Begin to do what was planned, behind the answer
func (c *Client) RunAct(ctx context.Context, id string, body RunInputBody) (out ActProgress, err error) {
	err = c.json(ctx, call{op: "run-act", method: http.MethodPost, command: true, path: "/v1/acts/" + part(id) + "/run", body: body}, &out)
	return out, err
}

// RunReplay is run-replay. Permission: replay.run.
//
//	Begin to release what was planned
func (c *Client) RunReplay(ctx context.Context, id string, body RunInputBody) (out Progress, err error) {
	err = c.json(ctx, call{op: "run-replay", method: http.MethodPost, command: true, path: "/v1/replays/" + part(id) + "/run", body: body}, &out)
	return out, err
}

// SetAccess is set-access. Permission: users.admin.
//
//	Change roles and partners, at once
func (c *Client) SetAccess(ctx context.Context, login string, revision int64, body Access) (out User, err error) {
	err = c.json(ctx, call{op: "set-access", method: http.MethodPut, command: true, match: tag(revision), path: "/v1/users/" + part(login) + "/access", body: body}, &out)
	return out, err
}

// SetDisabled is set-disabled. Permission: users.admin.
//
//	Disable an account, or let it sign in again
func (c *Client) SetDisabled(ctx context.Context, login string, body SetDisabledRequest) (out User, err error) {
	err = c.json(ctx, call{op: "set-disabled", method: http.MethodPut, command: true, path: "/v1/users/" + part(login) + "/disabled", body: body}, &out)
	return out, err
}

// SetPassword is set-password. Permission: users.admin.
//
//	Give somebody a password that he has to change
func (c *Client) SetPassword(ctx context.Context, login string, body SetPasswordRequest) (out User, err error) {
	err = c.json(ctx, call{op: "set-password", method: http.MethodPut, command: true, path: "/v1/users/" + part(login) + "/password", body: body}, &out)
	return out, err
}

// SetReplayRate is set-replay-rate. Permission: replay.run.
//
//	Change how many a second may be released, at once
func (c *Client) SetReplayRate(ctx context.Context, id string, body SetReplayRateRequest) (out Progress, err error) {
	err = c.json(ctx, call{op: "set-replay-rate", method: http.MethodPut, command: true, path: "/v1/replays/" + part(id) + "/rate", body: body}, &out)
	return out, err
}

// SignIn is sign-in. Permission: none.
//
//	Sign in with login, password and one-time code
func (c *Client) SignIn(ctx context.Context, body SignInInputBody) (out Session, err error) {
	err = c.json(ctx, call{op: "sign-in", method: http.MethodPost, path: "/v1/session", body: body}, &out)
	return out, err
}

// SignOut is sign-out. Permission: self.
//
//	Sign out
func (c *Client) SignOut(ctx context.Context) error {
	return c.json(ctx, call{op: "sign-out", method: http.MethodDelete, path: "/v1/session"}, nil)
}

// SignOutAll is sign-out-all. Permission: self.
//
//	End every session of an actor: one's own, or with users.admin anybody's
func (c *Client) SignOutAll(ctx context.Context, actor string) (out CountOutputBody, err error) {
	err = c.json(ctx, call{op: "sign-out-all", method: http.MethodDelete, command: true, path: "/v1/sessions/" + part(actor)}, &out)
	return out, err
}

// SilenceAlarm is silence-alarm. Permission: alarms.ack.
//
//	Acknowledge an alarm: nobody is told of it for a while
func (c *Client) SilenceAlarm(ctx context.Context, fingerprint string, body SilenceAlarmRequest) (out Alarm, err error) {
	err = c.json(ctx, call{op: "silence-alarm", method: http.MethodPut, command: true, path: "/v1/alarms/" + part(fingerprint) + "/silence", body: body}, &out)
	return out, err
}

// Size is size. Permission: sizing.read.
//
//	What a stream's levers survive, cost and need
func (c *Client) Size(ctx context.Context, body SizingInputBody) (out json.RawMessage, err error) {
	err = c.json(ctx, call{op: "size", method: http.MethodPost, path: "/v1/sizing", body: body}, &out)
	return out, err
}

// StartStream is start-stream. Permission: switches.set.
//
//	Let it go on
func (c *Client) StartStream(ctx context.Context, stream string, body SwitchInputBody) (out SwitchListBody, err error) {
	err = c.json(ctx, call{op: "start-stream", method: http.MethodDelete, command: true, path: "/v1/switches/" + part(stream), body: body}, &out)
	return out, err
}

// StopStream is stop-stream. Permission: switches.set.
//
//	Stop a stream, or one partner of it, at once
func (c *Client) StopStream(ctx context.Context, stream string, body StopInputBody) (out SwitchListBody, err error) {
	err = c.json(ctx, call{op: "stop-stream", method: http.MethodPut, command: true, path: "/v1/switches/" + part(stream), body: body}, &out)
	return out, err
}

// TakeAcknowledgments is take-acknowledgments. Permission: acks.intake.
//
//	Take in a file of the payer's answers: TA1, 999, 277CA, pharmacy responses
func (c *Client) TakeAcknowledgments(ctx context.Context, body io.Reader) (out SettleResult, err error) {
	err = c.json(ctx, call{op: "take-acknowledgments", method: http.MethodPost, path: "/v1/acknowledgments", file: body}, &out)
	return out, err
}

// TakeBatch is take-batch. Permission: claims.intake.
//
//	Take a file in: NCPDP batch, several transmissions, or X12
func (c *Client) TakeBatch(ctx context.Context, body io.Reader) (out IntakeResult, err error) {
	err = c.json(ctx, call{op: "take-batch", method: http.MethodPost, path: "/v1/claims/batch", file: body}, &out)
	return out, err
}

// TakeClaimQuery is what TakeClaim may ask for; what is zero is not asked.
type TakeClaimQuery struct {
	// With any value: it gives way to claims that somebody waits for.
	Bulk string
}

func (q *TakeClaimQuery) values() url.Values {
	v := url.Values{}
	put(v, "bulk", q.Bulk)
	return v
}

// TakeClaim is take-claim. Permission: claims.intake.
//
//	Take one transmission or X12 file in
func (c *Client) TakeClaim(ctx context.Context, q TakeClaimQuery, body io.Reader) (out json.RawMessage, err error) {
	err = c.json(ctx, call{op: "take-claim", method: http.MethodPost, path: "/v1/claims", query: q.values(), file: body}, &out)
	return out, err
}

// TakeDeadLetterQuery is what TakeDeadLetter may ask for; what is zero is not asked.
type TakeDeadLetterQuery struct {
	// Default: RETRIES_EXHAUSTED.
	Reason string
	// The last error as a code, such as HTTP_503.
	Detail string
	// How often it was delivered.
	Attempts int64
	// The payer may have acted on it: it is taken in as in doubt.
	Ambiguous bool
}

func (q *TakeDeadLetterQuery) values() url.Values {
	v := url.Values{}
	put(v, "reason", q.Reason)
	put(v, "detail", q.Detail)
	put(v, "attempts", q.Attempts)
	put(v, "ambiguous", q.Ambiguous)
	return v
}

// TakeDeadLetter is take-dead-letter. Permission: deadletters.intake.
//
//	Take in what another pipeline gave up on; nothing goes out
func (c *Client) TakeDeadLetter(ctx context.Context, q TakeDeadLetterQuery, body io.Reader) (out IntakeResult, err error) {
	err = c.json(ctx, call{op: "take-dead-letter", method: http.MethodPost, path: "/v1/dead-letters", query: q.values(), file: body}, &out)
	return out, err
}

// TakeStreamQuery is what TakeStream may ask for; what is zero is not asked.
type TakeStreamQuery struct {
	// With any value: it gives way to claims that somebody waits for.
	Bulk string
}

func (q *TakeStreamQuery) values() url.Values {
	v := url.Values{}
	put(v, "bulk", q.Bulk)
	return v
}

// TakeStream is take-stream. Permission: claims.intake.
//
//	Take transmissions in for as long as they come, each between STX and ETX
func (c *Client) TakeStream(ctx context.Context, q TakeStreamQuery, body io.Reader) ([]byte, error) {
	return c.bytes(ctx, call{op: "take-stream", method: http.MethodPost, path: "/v1/claims/stream", query: q.values(), file: body})
}

// UnparkRecord is unpark-record. Permission: record.unpark.
//
//	Give it back, with one more replay allowed
func (c *Client) UnparkRecord(ctx context.Context, id int64, revision int64, body ApprovedInputBody) (out Moved, err error) {
	err = c.json(ctx, call{op: "unpark-record", method: http.MethodPost, command: true, match: tag(revision), path: "/v1/records/" + part(id) + "/unpark", body: body}, &out)
	return out, err
}

// VerifyAudit is verify-audit. Permission: audit.verify.
//
//	Recompute the audit log and find any change to it
func (c *Client) VerifyAudit(ctx context.Context, body VerifyAuditRequest) (out VerifyOutputBody, err error) {
	err = c.json(ctx, call{op: "verify-audit", method: http.MethodPost, path: "/v1/audit/verify", body: body}, &out)
	return out, err
}

// ViewRecord is view-record. Permission: payload.reveal.
//
//	Open it as a structure: segments, elements and fields by name, with the faults at their places: PHI
func (c *Client) ViewRecord(ctx context.Context, id int64, body ViewInputBody) (out ClaimView, err error) {
	err = c.json(ctx, call{op: "view-record", method: http.MethodPost, payload: true, path: "/v1/records/" + part(id) + "/view", body: body}, &out)
	return out, err
}

// WithdrawRecord is withdraw-record. Permission: record.withdraw.
//
//	Write it off, for good
func (c *Client) WithdrawRecord(ctx context.Context, id int64, revision int64, body ApprovedInputBody) (out Moved, err error) {
	err = c.json(ctx, call{op: "withdraw-record", method: http.MethodPost, command: true, match: tag(revision), path: "/v1/records/" + part(id) + "/withdraw", body: body}, &out)
	return out, err
}
