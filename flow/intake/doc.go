// Package intake takes files of claims in.
//
// What enters: bytes, from any source. What leaves: one record per transaction
// set, queued when it is clean; one more per claim that must be held; and, when
// an interchange was judged good to its end, the submission that carries its
// queued sets. What cannot be read is kept too: its bytes are sealed and a record
// is quarantined.
//
// # What is durable when
//
// A batch of about a thousand claims is sealed, the vault is synced, then its
// records and audit entries are committed. A crash between leaves orphan
// payloads, which retention sweeps. Records of an interchange that has not been
// read to its end are held (HoldIntake) and nothing delivers them; giving the
// file again adopts them and finishes. File returns when everything it counts is
// durable.
//
// # Identity
//
// A set's key is its full source identity (ISA05 to ISA10, ISA13, GS02, GS03,
// GS06, ST02); its digest covers its bytes. Same key, same digest: a redelivery,
// a no-op. Same key, other digest: a conflict; both are kept and the second is
// parked under a key of its own.
//
// # Memory
//
// A set larger than the scanner's part size is sealed as it streams. What grows
// with the file are runs of record ids; with a set, some 40 bytes a claim.
package intake
