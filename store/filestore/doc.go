// Package filestore keeps records, submissions and audit entries on local disk. It
// is the default store: one process, one directory, nothing to install.
//
// # Journal
//
// An append-only journal is the only truth. One Commit is one frame (frame.go): its
// audit entries and the full new state of every record and submission it touches,
// with a checksum and the SHA-256 that links it to the frame before. Frames are in
// chunk files (chunk.go) of 128 MiB. One goroutine, the writer, takes all that
// waits, judges it in order, and makes it durable with one write and one flush:
// what 64 callers commit at once costs one flush (writer.go).
//
//	caller   judge against the index (plan.go), encode (encode.go), queue (queue.go)
//	writer   compare revisions, number, checksum and chain (accept.go), write, flush
//	         publish in the index (publish.go), answer
//
// # Index
//
// In memory, about 60 bytes a record, outside the garbage-collected heap: columns
// (columns.go), tables from keys and look-up values to ids (hashtab.go), a bitmap
// for each value that can be filtered by (bitmap.go), counters for each cause
// (cause.go). Records themselves are read from the journal. So List, Groups and
// Stats never scan records, whatever their number.
//
// Settled and withdrawn records beyond Options.KeepSettled leave memory for sorted
// runs on disk (letgo.go); every method still finds them, List more slowly.
// Unresolved records never leave.
//
// # Opening
//
// A snapshot of the index (snapshot.go) saves reading the whole journal. It is
// never needed: a damaged one is passed over. Then what the journal has behind it is
// replayed (recover.go, replay.go). Where a crash cut the last group short, that
// group is taken off: nobody was told that it was durable. Anything else that does
// not hold together is an error with code Corrupt that names the chunk and the
// offset, and nothing is changed (tail.go).
//
// # Compaction
//
// The oldest chunk goes when it holds mostly garbage: what is of use is written
// again at the end (compact.go). No chunk goes before the audit log has its entries.
//
// # Failures
//
// A flush that fails stops the process, because nobody knows what is on disk after
// it. A full disk refuses commits with code Unavailable: first those that bring new
// claims, while a reserve is kept for outcomes of known ones; reading goes on, and
// so does everything when there is space again (room.go). Verify holds all of it
// against all of it (verify.go).
package filestore
