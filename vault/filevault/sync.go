package filevault

import (
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"sync"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// patience is how often a flush gives way in vain before it begins.
const patience = 64

// round is one flush that callers wait for together.
type round struct {
	done    chan struct{}
	waiters int
	err     error
}

// Sync implements vault.Vault. It returns Unavailable when the disk is full or
// ctx ends; what was staged is kept either way.
func (v *Vault) Sync(ctx context.Context) error {
	v.mu.Lock()
	if err := v.usable(); err != nil {
		v.mu.Unlock()
		return err
	}
	if v.next == nil {
		v.next = &round{done: make(chan struct{})}
	}
	r := v.next
	r.waiters++
	if !v.running {
		v.running = true
		v.wg.Go(v.flushRounds)
	}
	v.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "sync vault", Err: ctx.Err()}
	}
}

// flushRounds flushes for as long as somebody waits.
func (v *Vault) flushRounds() {
	for {
		v.mu.Lock()
		r := v.next
		v.next = nil
		if r == nil {
			v.running = false
			v.mu.Unlock()
			return
		}
		v.mu.Unlock()
		r.err = v.flush()
		close(r.done)
		v.gather(r.waiters)
	}
}

// gather lets the callers that a flush woke stage their next units before the
// next flush begins. Otherwise two halves of the callers would take turns, each
// waiting through the other's flush. It stops when all are back, or when giving
// way has brought nobody for a while: callers may have other things to do.
func (v *Vault) gather(woken int) {
	before, vain := -1, 0
	for vain < patience {
		v.mu.Lock()
		now := 0
		if v.next != nil {
			now = v.next.waiters
		}
		v.mu.Unlock()
		if before < 0 {
			woken += now
		}
		if now >= woken {
			return
		}
		if vain++; now > before {
			vain = 0
		}
		before = now
		runtime.Gosched()
	}
}

// work is what one flush has to make durable.
type work struct {
	files   []*file
	touched map[uint32]struct{}
	dirs    bool
}

// flush writes and fsyncs everything that was staged before it began.
func (v *Vault) flush() error {
	v.mu.Lock()
	v.cut()
	batches := append([]*batch(nil), v.pending...)
	v.mu.Unlock()
	if err := v.write(batches); err != nil {
		return err
	}
	w := v.takeWork()
	err := v.syncAll(w)
	v.finish(w, err == nil)
	if err != nil {
		return v.failed("sync vault", err)
	}
	return nil
}

// takeWork marks everything that was written so far as clean and returns it.
func (v *Vault) takeWork() work {
	v.mu.Lock()
	defer v.mu.Unlock()
	w := work{touched: v.touched, dirs: v.newFile}
	v.touched, v.newFile = map[uint32]struct{}{}, false
	for _, f := range append([]*file{v.chunk, v.slots}, v.retired...) {
		if f != nil && f.dirty {
			f.dirty = false
			f.users++
			w.files = append(w.files, f)
		}
	}
	return w
}

// finish ends what takeWork began. After a failure everything counts as written
// and not fsynced again: once too often is harmless. After success the files that
// nothing is appended to any more are closed.
func (v *Vault) finish(w work, done bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range w.files {
		f.users--
		f.dirty = f.dirty || !done
	}
	if !done {
		for no := range w.touched {
			v.touched[no] = struct{}{}
		}
		v.newFile = v.newFile || w.dirs
		return
	}
	v.retired = slices.DeleteFunc(v.retired, func(f *file) bool {
		idle := f.users == 0 && !f.dirty
		if idle {
			f.end()
		}
		return idle
	})
}

// syncAll fsyncs ciphertext and slots side by side, then directories.
func (v *Vault) syncAll(w work) error {
	errs := make([]error, len(w.files))
	var wg sync.WaitGroup
	for i, f := range w.files {
		if i == len(w.files)-1 {
			errs[i] = v.fsync(f.File) // the last one here: most flushes have two
			break
		}
		wg.Go(func() { errs[i] = v.fsync(f.File) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for no := range w.touched {
		if err := v.syncSlots(no); err != nil {
			return err
		}
	}
	if w.dirs {
		return errors.Join(atomicfile.SyncDir(v.dir), atomicfile.SyncDir(v.keysDir))
	}
	return nil
}

// syncSlots makes a slot file durable that is not being appended to.
func (v *Vault) syncSlots(no uint32) error {
	f, err := os.OpenFile(numbered(v.keysDir, no, slotExt), os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // reclaimed: all its slots were shredded
	}
	if err != nil {
		return err
	}
	defer f.Close()
	return v.fsync(f)
}

func (v *Vault) fsync(f *os.File) error {
	if err := v.disk.sync(f); err != nil {
		return errors.Join(atomicfile.ErrSync, err)
	}
	return nil
}

// failed ends all work if err is that of an fsync, for after one nobody knows
// what is on the disk; another error can be tried again.
func (v *Vault) failed(op string, err error) error {
	if !errors.Is(err, atomicfile.ErrSync) {
		return unavailable(op, err)
	}
	v.mu.Lock()
	v.dead = err
	v.mu.Unlock()
	v.o.Fatal(err)
	return unavailable(op, err)
}
