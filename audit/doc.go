// Package audit is the log of who did what to which record, when and why
// (45 CFR 164.312(b)), written so that any change to it is found offline.
//
// # Files
//
//	00000000000000000001.jsonl  entries, one JSON object a line, named by the first
//	hashes                      the Merkle tree over the lines (RFC 6962), 32 bytes each
//	checkpoints                 signed tree heads, oldest first
//
// A line has its fields in a fixed order and ends with "chain", the SHA-256 over
// the chain value before it and the line up to that field. The Merkle leaf is the
// line without its newline. A checkpoint is a signed note (golang.org/x/mod/sumdb/
// note) with the text "claimdlq audit log", size and root hash; one is written
// every 4,096 entries, whenever the follower has caught up, and at the end.
//
// # What is found
//
// Verify recomputes everything from the lines. The chain and the sequence numbers
// say where a line was changed, inserted, removed or moved. Whoever recomputes the
// chain as well is found by the signed checkpoints, which need the signing key.
// Whoever puts back an older copy of the whole directory is found by a checkpoint
// that an auditor kept elsewhere. Entries behind the last checkpoint have only the
// chain; a report says how many they are.
//
// # Durability and retention
//
// Entries become durable in the store's commit; Follow copies them here, fsyncs,
// and only then lets the store drop its copy. A crash at any point repeats work
// and loses nothing. The files hold no PHI and are never rewritten. 45 CFR
// 164.316(b)(2)(i) asks for six years: keep the whole directory at least that long
// after its newest entry, because an archived head is what proves the rest.
package audit
