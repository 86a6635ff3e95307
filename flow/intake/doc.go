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
// # Pharmacy claims
//
// A pharmacy message has one record for each of its transactions; all that goes of it
// goes in one submission, as it came, or each transaction alone where one is held
// back. Messages of one call share a sealed unit, a flush and a commit. A
// transaction's digest covers it alone, without frame, so that the same claim in
// another transmission is the same; its key and generation are those of package
// lineage, which says whether it is new, a duplicate, a conflict, a rightful successor,
// or must wait for another of its fill.
//
// A file is sensed by its first bytes: a message, several each between STX and ETX, or
// batches, one after the other. Of a broken frame what is whole is taken, and what is
// not is kept. The details of a batch are held until its trailer is judged: a fault of
// its frame quarantines all of them with the batch's code (NCPDP:BATCH:RECORD_COUNT), and the same
// claims in a good batch, or alone, take them over.
//
// # Dead letters
//
// DeadLetter takes in what another pipeline gives up, of either stream: nothing of it
// goes out.
//
// # Memory
//
// A set larger than the scanner's part size is sealed as it streams. What grows
// with the file are runs of record ids; with a set, some 40 bytes a claim; with a batch,
// the references of its details, some 60 bytes each, and 100 bytes for each 256.
package intake
