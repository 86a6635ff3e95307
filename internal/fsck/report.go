package fsck

import "claimdlq"

// Code names what is wrong. The set is closed.
type Code string

// The codes.
const (
	RecordInvalid     Code = "record_invalid"     // a record that no step of its life can leave so
	KeyLost           Code = "key_lost"           // a record that its own key does not find
	PayloadMissing    Code = "payload_missing"    // unresolved, and its bytes or their key are gone
	KeyMissing        Code = "key_missing"        // resolved, and its key is gone without having been destroyed
	PayloadCorrupt    Code = "payload_corrupt"    // the seal does not hold
	ParentMissing     Code = "parent_missing"     // a claim whose set is not there
	PartedCount       Code = "parted_count"       // a set and the claims that parted from it disagree
	SubmissionMissing Code = "submission_missing" // carried by a submission that is not there
	NotAMember        Code = "not_a_member"       // carried by a submission that does not name it
	SubmissionState   Code = "submission_state"   // record and submission contradict each other
	Stranded          Code = "stranded"           // queued, and nothing will deliver it
	SubmissionInvalid Code = "submission_invalid" // a submission that cannot be
	NumberReused      Code = "number_reused"      // two submissions under one ISA13 of a lane (X12.5 section 5.1.2; TA1 025)
	Counters          Code = "counters"           // a counter differs from what was counted
	Conservation      Code = "conservation"       // claims have appeared or vanished
	AuditDamaged      Code = "audit"              // the audit log is not what was written
	AuditGap          Code = "audit_gap"          // entries are in neither the store nor the audit log
)

// next is what to do about each code.
var next = map[Code]string{
	RecordInvalid:     "keep a copy of the data directory and report this",
	KeyLost:           "keep a copy of the data directory and report this",
	PayloadMissing:    "ask the sender for the file again, then: claimdlq withdraw",
	KeyMissing:        "restore the key directory from a backup",
	PayloadCorrupt:    "restore the vault from a backup, or ask the sender for the file again, then: claimdlq withdraw",
	ParentMissing:     "restore the journal from a backup",
	PartedCount:       "restore the journal from a backup",
	SubmissionMissing: "restore the journal from a backup",
	NotAMember:        "keep a copy of the data directory and report this",
	SubmissionState:   "claimdlq show; ask the payer what became of it, then: claimdlq resolve",
	Stranded:          "claimdlq park, then unpark and replay it",
	SubmissionInvalid: "keep a copy of the data directory and report this",
	NumberReused:      "ask the payer which of the two arrived, then: claimdlq resolve",
	Counters:          "keep a copy of the data directory and report this",
	Conservation:      "keep a copy of the data directory and report this",
	AuditDamaged:      "claimdlq audit verify",
	AuditGap:          "restore the journal from a backup",
}

// Finding is one thing that is wrong.
type Finding struct {
	Code       Code                  `json:"what"`
	Record     claimdlq.ID           `json:"record,omitempty"`
	Submission claimdlq.SubmissionID `json:"submission,omitempty"`
	// Detail says more, without any value of a claim.
	Detail string `json:"error,omitempty"`
	// Next is what an operator does about it.
	Next string `json:"next"`
}

// maxFindings is how many findings a report lists, maxOrphans how many orphans.
const (
	maxFindings = 1000
	maxOrphans  = 100
)

// Report is what was read and what is wrong with it.
type Report struct {
	Records     int64 `json:"records"`
	Claims      int64 `json:"claims"`
	Submissions int64 `json:"submissions"`
	Units       int64 `json:"units"` // sealed payloads with a live key
	// Unreferenced counts the units that no record points at; Orphans names the
	// first of them.
	Unreferenced int64    `json:"unreferenced"`
	Orphans      []string `json:"orphans,omitempty"`
	// Shredded counts resolved records whose payload was destroyed.
	Shredded int64 `json:"shredded"`
	// Unfinished counts records of interchanges whose intake was interrupted.
	Unfinished int64 `json:"unfinished"`
	// Entries counts the entries in the audit log, Unaudited those that still wait
	// in the store.
	Entries   uint64 `json:"audit_entries"`
	Unaudited uint64 `json:"unaudited"`

	Findings []Finding `json:"problems"`
	More     int64     `json:"more_problems,omitempty"` // beyond those listed
}

// OK reports whether nothing is wrong.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

func newReport() Report { return Report{Findings: []Finding{}} }

func (r *Report) add(f Finding) {
	if len(r.Findings) == maxFindings {
		r.More++
		return
	}
	f.Next = next[f.Code]
	r.Findings = append(r.Findings, f)
}

func (r *Report) record(id claimdlq.ID, code Code, detail string) {
	r.add(Finding{Code: code, Record: id, Detail: detail})
}

func (r *Report) submission(id claimdlq.SubmissionID, code Code, detail string) {
	r.add(Finding{Code: code, Submission: id, Detail: detail})
}
