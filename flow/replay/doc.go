// Package replay releases quarantined records for delivery.
//
// What enters: a record a person chose, or all that match a filter. What leaves:
// the record queued with a new budget, one replay more, and a submission of its
// own under new numbers (ISA13, GS06, ST02 0001, BHT03 R and its ISA13); or the
// guard's answer why not.
//
// The guard's order is claimdlq.Record.GuardReplay's. Before anything goes out
// the payload is judged by the current rules, whose version is recorded, and its
// fingerprints are looked up: a claim that its submitter has sent again since, and
// that is under way or with the payer, is a duplicate. One that was parked or written
// off in doubt must be settled first; where it was written off nothing can settle it, and
// a named person may say of one record that the payer does not have the claim
// (Options.WrittenOff).
//
// Numbers are reserved durably first; then record, submission and audit entry are
// one commit, by compare-and-set. Two people, or a drain run twice, release once.
//
// # Pharmacy claims
//
// A pharmacy transaction goes out alone, without numbers; the digest of its bytes is
// in its submission from the beginning. Its place among the records of its fill is
// looked up while the fill is held (package lineage): another record of the claim that
// is under way or with the payer, or a reversal accepted since, suppresses it; so does
// a later reversal that is under way and does not wait for it (REPLAY:CROSSED), and for
// a reversal what was billed since. One in doubt must be settled first; behind a
// reversal that is not decided it is held.
//
// A drain goes by the page of a thousand records: their fills are held, looked up, and
// decided in one commit. Where the rules are those that passed the claim, it is alone in
// its fill or apart from all in it (lineage.Apart), and it went out alone before, its
// payload is not opened: nothing in it can have changed, and its digest is known. That is
// what an outage leaves, by the hundred thousand. Others are opened a page at a time,
// which is audited first. Where somebody else moves a record meanwhile, the page is done
// one by one.
//
// Options.Rate spreads the deliveries of a drain: each submission has the time at which
// it is due, so that the pace outlives the process that set it. What is due waits for
// its partner's breaker as everything does.
package replay
