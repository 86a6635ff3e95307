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
// that is under way or with the payer, is a duplicate.
//
// Numbers are reserved durably first; then record, submission and audit entry are
// one commit, by compare-and-set. Two people, or a drain run twice, release once.
package replay
