// Package fsck compares everything that is stored with everything else: records
// with the rules of their states, with their parents and claims, with the
// submissions that carried them and with their sealed payloads; the counters with
// the records; the audit log with its chain, its signatures and what the store
// still holds for it.
//
// It reads and changes nothing. Payloads are decrypted to check their seals;
// nothing of them is kept or shown. Memory is about 20 bytes per sealed unit.
//
// What is only unfinished is counted, not a finding: an interchange whose intake
// was interrupted (give its file again), a payload that no record points at (a
// crash between sealing and committing, or a revision that a correction replaced;
// the next sweep destroys its key), an entry that waits for the audit log.
package fsck
