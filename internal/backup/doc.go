// Package backup copies a data directory as it was at one moment, says in a signed
// manifest what the copy is, and puts it back so that nothing is sent twice.
//
// # A backup
//
// A backup is two directories of one name, the time it was begun: what opens payloads
// (keys/, auth/) apart from what they open (vault/, journal/, audit/ and the rest), in
// two places that the same thief or fire should not reach. Each is written under a
// hidden name and renamed when all of it is durable, the keys first: a directory with a
// name of that form is whole.
//
//	TO/20260717T120000Z/      manifest.json manifest.sig journal/ audit/ vault/ jobs/ *.json
//	KEYS/20260717T120000Z/    manifest.json manifest.sig keys/ auth/
//
// manifest.json lists every file with its size and SHA-256, the position of the
// journal and the audit log's newest checkpoint; manifest.sig is a signed note, by the
// audit log's key, over its SHA-256. Files that have not changed since the backup
// before it in the same place are hard links to that one's: only new ciphertext is
// copied.
//
// # A restored copy
//
// What was delivered after the backup was made is not known to the copy. So everything
// in it that could still be sent is fenced before anybody can open it; see Fence.
package backup
