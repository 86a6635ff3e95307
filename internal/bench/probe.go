package bench

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"time"
)

// probe emits what the machine does in the same minute, so that a figure can be
// compared with one of another day: SHA-256 on one core, and flushes of 4 KiB to the
// disk by one writer. Neither is part of the program.
func probe(o Options, scenario string, emit func(Result)) error {
	block := make([]byte, 1<<20)
	n, start := 0, time.Now()
	for time.Since(start) < min(o.For/10, 200*time.Millisecond) || n == 0 {
		sum := sha256.Sum256(block)
		copy(block, sum[:])
		n++
	}
	emit(Result{scenario, "reference: SHA-256, one core", float64(n) * float64(len(block)) / 1e6 / time.Since(start).Seconds(), "MB/s"})
	path := filepath.Join(o.Dir, "claimdlq-bench-probe")
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }()
	defer f.Close()
	n, start = 0, time.Now()
	for time.Since(start) < min(o.For/10, 200*time.Millisecond) || n == 0 {
		if _, err := f.Write(block[:4096]); err != nil {
			return err
		}
		if err := f.Sync(); err != nil {
			return err
		}
		n++
	}
	emit(Result{scenario, "reference: flushes, one writer", float64(n) / time.Since(start).Seconds(), "per second"})
	return nil
}
