package claimdlq

import "time"

// Action names what an audit entry records. The set is closed.
type Action string

// The actions.
const (
	ActReceive     Action = "receive"     // taken in, queued
	ActDuplicate   Action = "duplicate"   // a redelivery, answered with the first result
	ActConflict    Action = "conflict"    // same identity, other bytes: both kept
	ActEnqueue     Action = "enqueue"     // dead-lettered
	ActLease       Action = "lease"       // taken for delivery; covers the decryption for it
	ActIntent      Action = "intent"      // about to be sent
	ActOutcome     Action = "outcome"     // how a delivery ended
	ActAcknowledge Action = "acknowledge" // a TA1, 999, 277CA or answer was matched
	ActOrphan      Action = "orphan"      // an acknowledgment that answers nothing we sent
	ActCorrect     Action = "correct"     // a new payload revision
	ActReplay      Action = "replay"      // released for delivery
	ActSuppress    Action = "suppress"    // a replay was refused by the guard
	ActPark        Action = "park"
	ActUnpark      Action = "unpark"
	ActWithdraw    Action = "withdraw"
	ActResolve     Action = "resolve" // a person settled a doubt
	ActReveal      Action = "reveal"  // a payload was opened for a person
	ActOpen        Action = "open"    // a payload was opened by the system
	ActSweep       Action = "sweep"   // orphan payloads were removed
	ActKeyRotate   Action = "key_rotate"
	ActKeyShred    Action = "key_shred"  // a data key was destroyed
	ActCheckpoint  Action = "checkpoint" // the audit log was signed
	ActRestart     Action = "restart"    // leases of a dead process were taken back
	ActExport      Action = "export"     // the audit log was exported
	ActSetting     Action = "setting"    // a configuration was changed
	ActBackup      Action = "backup"     // the data directory was copied
	ActRestore     Action = "restore"    // the data directory is a copy, and what that means for a record
)

// Entry is one line of the audit log (45 CFR 164.312(b)): who did what to which
// record, when and why. It holds no PHI: Note is for people's reasons, which the
// surfaces that accept them say must name no patient, and is kept out of logs.
type Entry struct {
	Seq    uint64    `json:"seq"` // from 1, given by the store in commit order
	At     time.Time `json:"at"`
	Actor  string    `json:"actor"` // see By
	Action Action    `json:"action"`
	Record ID        `json:"record,omitempty"`
	// Records are all that one act moved together, each the same way; Record is 0 then.
	Records IDSet `json:"records,omitempty"`
	// Submission and PayloadRevision say which sending and which bytes.
	Submission      SubmissionID `json:"submission,omitempty"`
	PayloadRevision uint16       `json:"payload_revision,omitempty"`
	Detail          Detail       `json:"detail,omitzero"`
	From            State        `json:"from,omitempty"`
	To              State        `json:"to,omitempty"`
	Note            string       `json:"note,omitempty"` // a person's reason, at most 200 bytes
}

// About reports whether the entry is about the record.
func (e Entry) About(id ID) bool {
	return id != 0 && (e.Record == id || e.Records.Has(id))
}
