package filestore

import (
	"errors"
	"fmt"
	"os"
)

// Options tune a Store. The zero value of every field means its default.
type Options struct {
	// SegmentBytes is how large a chunk file of the journal grows before the next
	// one is started; 64 KiB to 1 GiB. Default: 128 MiB.
	SegmentBytes int64
	// PreallocBytes is how far a chunk file is filled with zeros ahead of what is
	// written: a flush of bytes that exist already costs half of one that grows the
	// file. Default: 8 MiB, or SegmentBytes if that is less.
	PreallocBytes int64
	// SnapshotEvery is how many changes of records and submissions may pass before
	// a snapshot of the index is written in the background. A negative value leaves
	// it to Snapshot and Close. Default: 1,000,000.
	SnapshotEvery int
	// KeepSettled is how many settled and withdrawn records stay in memory; older
	// ones move to sorted runs on disk. A negative value keeps none.
	// Default: 1,000,000.
	KeepSettled int
	// KeepFingerprints is how many claim fingerprints stay in memory, at 32 bytes
	// each, before they move to a sorted run on disk. A negative value keeps none.
	// Default: 500,000.
	KeepFingerprints int
	// GarbageBytes is how much of the journal may be of no use any more, beyond as
	// much as is of use, before its oldest chunk is compacted away. A negative value
	// compacts whatever can be. Default: 4 times SegmentBytes.
	GarbageBytes int64
	// Manual leaves snapshots, eviction and compaction to calls of Snapshot and
	// Compact. Default: a goroutine does them when they are due.
	Manual bool
	// FS is the file system. Default: the operating system's.
	FS FS
	// Fatal is called when a flush to disk failed, or when a failed write could not
	// be undone: nobody knows any more what is on disk, and trying again would hide
	// it. It must not return. Default: one line to stderr and exit status 70.
	Fatal func(error)
}

// DefaultOptions returns the options named as defaults in Options.
func DefaultOptions() Options {
	o := Options{}
	o.setDefaults()
	return o
}

func (o *Options) setDefaults() {
	def := func(v *int64, d int64) {
		if *v == 0 {
			*v = d
		}
	}
	def(&o.SegmentBytes, 128<<20)
	def(&o.PreallocBytes, min(8<<20, o.SegmentBytes))
	def(&o.GarbageBytes, 4*o.SegmentBytes)
	if o.SnapshotEvery == 0 {
		o.SnapshotEvery = 1_000_000
	}
	if o.KeepSettled == 0 {
		o.KeepSettled = 1_000_000
	}
	if o.KeepFingerprints == 0 {
		o.KeepFingerprints = 500_000
	}
	if o.FS == nil {
		o.FS = OS()
	}
	if o.Fatal == nil {
		o.Fatal = exit
	}
}

// Validate reports every field that is out of its range.
func (o Options) Validate() error {
	var errs []error
	if o.SegmentBytes != 0 && (o.SegmentBytes < 64<<10 || o.SegmentBytes > 1<<30) {
		errs = append(errs, errors.New("SegmentBytes must be 64 KiB to 1 GiB"))
	}
	if o.PreallocBytes < 0 || (o.PreallocBytes != 0 && o.PreallocBytes < 4<<10) {
		errs = append(errs, errors.New("PreallocBytes must be at least 4 KiB"))
	}
	return errors.Join(errs...)
}

// exit stops the process: status 70 is EX_SOFTWARE of sysexits.
func exit(err error) {
	fmt.Fprintln(os.Stderr, "claimdlq: the journal can no longer be trusted, stopping:", err)
	os.Exit(70)
}
