// Package sortedrun keeps what a store no longer holds in memory: immutable runs
// on disk of keys in ascending order, each with a value of up to 64 KiB. Memory
// holds a filter (12 bits per key) and a sparse index (24 bytes per block of 8
// KiB) of each run, and nothing that grows otherwise.
//
//	s, err := sortedrun.Open(fsys, dir, sortedrun.Options{}) // removes leftovers of a crash
//	err = s.Add(n, entries)         // a new run, newest; n is at least the number of entries
//	v, ok, err := s.Get(key)        // the newest value of the key
//	err = s.Descend(before, f)      // down from the key below before, newest values only
//	err = s.Ascend(from, f)         // up from from
//	err = s.Prefixed(prefix, f)     // up through the keys that begin with it
//	more, err := s.Merge(ctx)       // one merge, where one is due; call it until more is false
//
// # What is durable
//
// A run is written to its end and flushed, its name is flushed, and then the
// manifest (MANIFEST) that names all runs, oldest first, is replaced by rename
// and flushed. Add and Merge return after that: a crash at any point leaves
// either the old runs or the new ones, and files no manifest names, which Open
// removes. An error that wraps ErrSync means that nobody knows what is on disk:
// the process should stop.
//
// # What is checked
//
// The manifest, every block, index, filter and footer carries a checksum that
// includes where it belongs. What fails its check is an error with code Corrupt
// that names the file and the offset; it is never skipped.
//
// # Merging
//
// Runs are merged by size: Fanout adjacent runs of one tier become one of the
// next, where newer values replace older ones of the same key. So every byte is
// written about once per tier, log(Fanout) of the data over the first run's size.
// Nothing is merged in the background: the caller says when.
package sortedrun
