// Package retain decides what happens to records that nothing else moves: people
// park, un-park and withdraw them, expiry parks what is unresolved for too long,
// and payloads are destroyed once nobody needs them.
//
// No cap and no retention ever evicts an unresolved claim: expiry parks it and
// alarms. Every act is in the audit log in the same commit, or before the key is
// destroyed.
package retain
