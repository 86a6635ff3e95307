// Package retain decides what happens to records that nothing else moves: people
// park, un-park and withdraw them, expiry parks what is unresolved for too long,
// and payloads are destroyed once nobody needs them.
//
// No cap and no retention ever evicts an unresolved claim: expiry parks it and
// alarms. Every act is in the audit log in the same commit, or before the key is
// destroyed.
//
// A sealed unit may belong to many records: a set and the claims that parted from it,
// the transactions of a transmission, a chunk of a batch, the answers of one commit.
// It is destroyed only when all of them are final, and what is unresolved is looked
// at once more just before.
package retain
