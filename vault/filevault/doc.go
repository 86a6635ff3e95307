// Package filevault keeps sealed payloads in files: ciphertext in one directory,
// wrapped data keys in another, so that the two can be backed up apart and
// destroying a key destroys the payload (NIST SP 800-88, cryptographic erase).
//
// # Units
//
// A unit is sealed with a data key of its own, AES-256-GCM with random nonces, in
// frames of 1 MiB of plaintext, or of 8 KiB where it is over 32 KiB and not over
// 1 MiB: such a unit may hold the payloads of hundreds of records, of which one is
// opened. Its slot says which; units sealed before there were small frames say 1 MiB.
// Each frame is bound to the unit's name, its own number and whether it is the last
// one; the data key is wrapped under the keyring's primary term and bound to name,
// place, length, size of frames and term. So frames cannot be reordered, cut off, or
// moved to another unit, nor keys to another place, without the seal failing. A
// corrected payload is a unit of its own, so the name stands for the revision as well.
//
// Attributes are one more sealed frame behind the last, under the same data key, with
// additional data that no frame of a payload has; the slot says how long they are, and the
// wrapped key is bound to that. They are read without the payload, and a unit that has
// none is as it was before there were any.
//
// A unit's name is its slot number and 80 random bits under the keyring's name
// cipher, 26 characters: it says nothing to anybody else and needs no index here.
//
// # Files
//
//	DIR/00000001.chunk       units of known length, back to back
//	DIR/00000002.unit        one unit that arrived in pieces and is over 1 MiB
//	KEYS/00000001.slots      slots of 128 bytes: place, length, wrapped data key
//	KEYS/00000001.gone       nothing: the slots of this number were all shredded
//
// Nothing is scanned to find a unit, so a torn tail is harmless: what a crash cut
// off was never synced, and nobody was told of it. New data goes behind it.
//
// # Durability
//
// Stage copies into a shared buffer; Sync writes the buffers and fsyncs the
// ciphertext and the slots side by side. Callers of Sync share flushes: one that
// arrives during a flush waits for the next, because the running one may have
// begun before its bytes were written. A failed fsync ends the process, for the
// kernel may have dropped the pages; a full disk does not: Sync returns
// Unavailable, keeps what was staged, and the next Sync tries again.
package filevault
