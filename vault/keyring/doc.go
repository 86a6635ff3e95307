// Package keyring keeps the secrets of one data directory: the key-encryption
// keys that wrap the vault's data keys, the HMAC keys that identities are made
// with, the key that makes unit names unreadable, and the key that signs the
// audit log.
//
// # Terms
//
// A key-encryption key and an HMAC key have terms, numbered from 1. One active
// term is primary: new things are made with it. The order of a rotation is that
// of NIST SP 800-57: add the new term, make it primary, re-wrap what the old one
// wrapped, retire the old one. A retired term still unwraps (and still makes
// look-ups), so that a restored backup can be read; destroying it is a separate
// act and cannot be undone.
//
// # On disk
//
// The directory (mode 0700) holds keyring.json (mode 0600): term numbers, states,
// dates, and every secret wrapped by a KMS. The default KMS is a root key in
// root.key (32 bytes, mode 0600) beside it. Files are replaced whole, fsynced and
// renamed; a change is durable when the method that made it returns nil.
//
// All cryptography is the standard library's and passes GODEBUG=fips140=only:
// AES-256-GCM with random nonces, HMAC-SHA-256, Ed25519. Secrets are held in
// closures: no formatting verb and no encoder can print them.
package keyring
