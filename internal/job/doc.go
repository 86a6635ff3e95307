// Package job releases, parks, un-parks, withdraws or asks about many records as one
// durable job.
//
// What enters: a filter or a list of ids, a person's name and reason. What leaves:
// what package replay made of each record, and what became of it afterwards; of another
// act, whether it was done.
//
//	Plan ─► planned ─► DryRun (any number of times, changes nothing)
//	            │
//	            ▼ Run (above the threshold: after Approve by somebody else)
//	        running: canary ─► ramp ─► watch ─► done
//	          │  ▲
//	   Pause  │  │ Resume
//	   a stop ▼  │
//	  paused, stopped ─► Cancel ─► cancelled
//
// It is beside the flow and not in it: a stage of the flow knows no other stage and
// reaches records only through the store, while a job drives one (flow/replay), does
// nothing else to a record, and keeps files in the data directory.
//
// # What is frozen
//
// A plan names each record with the revision at which a person saw it. The job can
// release nothing else: flow/replay works on a store (fence) that shows it the planned
// revision of the planned record or says that it has moved, and the store's
// compare-and-set makes that hold until the commit. So one job releases one record at
// most once, whatever crashes and whoever else is at work: a release raises the
// revision. The SHA-256 of the plan is in the audit log.
//
// # What is durable when
//
//	JOB.plan     plan        written whole before Plan returns; never changed
//	JOB.dry      dry run     each record's verdict; replaced whole by the next dry run
//	JOB.journal  progress    appended and flushed: "these may be released from now on"
//	                         before a commit of the store, what became of them after it
//	JOB.done     the end     written whole once nothing more is expected
//
// After a crash between a commit and its line in the journal the record says by its
// revision and its replays what happened: nothing, a release, or another's move.
//
// # Other acts
//
// PlanAct freezes them in the same files, and they run in the same loop at one pace, with
// no dry run, canary or watch: what would become of a record follows from its state, and
// what becomes of it is over with its turn. The fence holds for them too, but for an
// inquiry, which is about all that went out in one interchange and changes only what the
// payer's answer changes. Each record's audit entry names the job and repeats the reason.
//
// They are kept in a directory of their own, by Jobs of their own: a backup leaves it out,
// so that none goes on by itself in a copy, which does not know what was done since.
// Replays are in it, because the copy has moved all of their records.
//
// The files hold ids, codes, counts and amounts, no PHI and, of replays, nobody's
// reasons: those are in the audit log.
package job
