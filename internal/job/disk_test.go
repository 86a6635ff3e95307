package job_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"claimdlq/internal/job"
	"claimdlq/store/filestore"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
)

// onDisk opens store and vault of the world on disk, and returns what closes them.
func (w *world) onDisk() (end func()) {
	w.t.Helper()
	kr, err := keyring.Open(filepath.Join(w.dir, "keys"))
	w.must(err)
	v, err := filevault.Open(filepath.Join(w.dir, "vault"), filepath.Join(w.dir, "keys"), kr)
	w.must(err)
	st, err := filestore.Open(filepath.Join(w.dir, "journal"), filestore.Options{})
	w.must(err)
	w.st, w.v = &spy{Store: st}, v
	w.wire("")
	w.c.Poll = time.Millisecond
	return func() { w.must(errors.Join(st.Close(), v.Close())) }
}

// TestDisk_AJobGoesOnInTheNextProcess runs over the journal and the vault on disk, in
// time as it is, and opens all of it again in the middle.
func TestDisk_AJobGoesOnInTheNextProcess(t *testing.T) {
	t.Parallel()
	w := newWorld(t.Context(), t, t.TempDir(), "")
	shut := w.onDisk()
	w.open()
	ids := w.failed(200)
	w.serve()
	plan := w.run(job.Policy{Canary: 3, StartRate: 200, MaxRate: 200})
	w.until(plan.ID, func(p job.Progress) bool { return p.Results["replayed"] >= 60 })
	w.must(w.jobs.Close())
	w.stop()
	before := len(w.st.replays())
	shut()

	shut = w.onDisk()
	defer shut()
	defer w.end()
	w.must(w.flow.Attempt.Recover(w.ctx))
	w.serve()
	w.open()
	p := w.is(plan.ID, job.Done)
	same(t, "results", p.Results, map[string]int{"replayed": len(ids)})
	same(t, "ends", p.Ends, map[string]int{"settled": len(ids)})
	if n := before + len(w.st.replays()); n != len(ids) || before < 60 || before == len(ids) {
		t.Errorf("%d releases, %d of them in the first process", n, before)
	}
	for id, n := range w.byJob(plan.ID) {
		if n != 1 {
			t.Errorf("record %d was released %d times", id, n)
		}
	}
}
