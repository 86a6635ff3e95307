// Package app wires a data directory together: lock, keys, vault, store, audit
// log, targets and flow. It is the only package that knows which adapters there
// are.
//
// A data directory belongs to one process at a time:
//
//	LOCK      who has it
//	journal/  records, submissions and their history (the store)
//	audit/    the audit log
//	vault/    sealed payloads, ciphertext only
//	keys/     the keyring and the wrapped data keys
package app
