// Package job releases many quarantined records as one durable job.
//
// What enters: a filter or a list of ids, a person's name and reason. What leaves:
// what package replay made of each record, and what became of it afterwards.
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
// The files hold ids, codes, counts and amounts, no PHI and nobody's reasons: those
// are in the audit log.
package job
