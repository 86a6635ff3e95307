package job_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"claimdlq"
	"claimdlq/internal/atomicfile"
	"claimdlq/internal/job"
)

func TestJournal_ATornEndIsCutOffAndDamageIsNot(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(30)
		plan := w.run(job.Policy{Canary: -1, StartRate: 5, MaxRate: 5})
		w.until(plan.ID, func(p job.Progress) bool { return p.Ends["settled"] >= 10 })
		w.must2(w.jobs.Pause(w.ctx, ana, plan.ID))
		time.Sleep(time.Minute)
		before := w.progress(plan.ID)
		w.must(w.jobs.Close())
		path := filepath.Join(w.c.Dir, string(plan.ID)+".journal")
		whole, err := os.ReadFile(path)
		w.must(err)
		for _, tail := range [][]byte{{1}, {9, 0, 0, 0, 1, 2, 3, 4, 'R'}, whole[:7], make([]byte, 5000)} {
			w.must(os.WriteFile(path, append(append([]byte(nil), whole...), tail...), 0o600))
			w.open()
			p := w.progress(plan.ID)
			if p.State != job.Paused || p.Results["replayed"] != before.Results["replayed"] || p.Ends["settled"] != before.Ends["settled"] {
				w.t.Fatalf("%d torn bytes: %+v, before %+v", len(tail), p, before)
			}
			w.must(w.jobs.Close())
			if b, err := os.ReadFile(path); err != nil || string(b) != string(whole) {
				w.t.Fatalf("%d torn bytes: the journal has %d bytes, want %d, %v", len(tail), len(b), len(whole), err)
			}
		}
		for _, at := range []int{0, 5, 9, len(whole) / 2} {
			bad := append([]byte(nil), whole...)
			bad[at] ^= 0x40
			w.must(os.WriteFile(path, bad, 0o600))
			w.open()
			if _, _, err := w.jobs.Get(plan.ID); !errors.Is(err, claimdlq.Corrupt) {
				w.t.Fatalf("byte %d of %d changed: %v", at, len(whole), err)
			}
			w.must(w.jobs.Close())
		}
		w.must(os.WriteFile(path, whole, 0o600))
		w.open()
		w.must2(w.jobs.Resume(w.ctx, ana, plan.ID))
		same(w.t, "results", w.is(plan.ID, job.Done).Results, map[string]int{"replayed": 30})
	})
}

func TestJournal_FramesThatCannotBeAreDamage(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(3)
		plan := w.plan(job.Policy{})
		w.must(w.jobs.Close())
		path := filepath.Join(w.c.Dir, string(plan.ID)+".journal")
		run := job.Frame('E', []byte(`{"what":"run","at":"2026-07-18T10:00:00Z","by":"ana"}`))
		for name, frames := range map[string][]byte{
			"taken before it ran":   job.Frame('T', binary.LittleEndian.AppendUint32(nil, 1)),
			"more than it has":      append(append([]byte(nil), run...), job.Frame('T', binary.LittleEndian.AppendUint32(nil, 4))...),
			"an item it has not":    append(append([]byte(nil), run...), job.Frame('R', []byte{3, 0, 0, 0, 1, 0})...),
			"a result there is not": append(append([]byte(nil), run...), job.Frame('R', []byte{0, 0, 0, 0, 99, 0})...),
			"half a mark":           append(append([]byte(nil), run...), job.Frame('R', []byte{0, 0, 0})...),
			"another kind":          job.Frame('X', nil),
			"no JSON":               job.Frame('E', []byte("{")),
		} {
			w.must(os.WriteFile(path, frames, 0o600))
			w.open()
			if _, _, err := w.jobs.Get(plan.ID); !errors.Is(err, claimdlq.Corrupt) {
				w.t.Errorf("%s: %v", name, err)
			}
			w.must(w.jobs.Close())
		}
	})
}

func FuzzJournal(f *testing.F) {
	frame := job.Frame('R', []byte{1, 0, 0, 0, 1, 2})
	for _, s := range []string{"", "x", string(frame), string(frame) + string(frame[:9]), string(frame[:5]) + string(frame), string(job.Frame('E', []byte("{}")))} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := job.ReadFrames(b)
		if n < 0 || n > int64(len(b)) {
			t.Fatalf("%d good bytes of %d", n, len(b))
		}
		if err == nil {
			if again, err := job.ReadFrames(b[:n]); again != n || err != nil {
				t.Errorf("what is good is not the second time: %d, %d, %v", n, again, err)
			}
		}
	})
}

func TestSubscribe_GivesTheLatestAndEnds(t *testing.T) { // ServicePulse#265
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(200)
		plan := w.plan(job.Policy{Canary: 2, StartRate: 50, MaxRate: 50})
		slow, _, err := w.jobs.Subscribe(plan.ID)
		w.must(err)
		quick, _, err := w.jobs.Subscribe(plan.ID)
		w.must(err)
		gone, end, err := w.jobs.Subscribe(plan.ID)
		w.must(err)
		end()
		end()
		var seen int
		var last job.Progress
		done := make(chan struct{})
		go func() {
			defer close(done)
			for p := range quick {
				if p.Seq <= last.Seq && seen > 0 {
					w.t.Errorf("seq %d after %d", p.Seq, last.Seq)
				}
				seen, last = seen+1, p
			}
		}()
		w.must2(w.jobs.Run(w.ctx, ana, plan.ID))
		w.is(plan.ID, job.Done)
		<-done
		if seen < 20 || last.State != job.Done || last.Ends["settled"] != 200 || last.Watching {
			w.t.Errorf("%d snapshots, the last %+v", seen, last)
		}
		if p := <-slow; p.State != job.Done {
			w.t.Errorf("who was slow got %+v", p)
		}
		if _, open := <-slow; open {
			w.t.Error("it goes on")
		}
		n := 0
		for range gone {
			n++
		}
		if n > 1 {
			w.t.Error("who had left was told")
		}
		late, _, err := w.jobs.Subscribe(plan.ID)
		w.must(err)
		if p, open := <-late; !open || p.State != job.Done {
			w.t.Errorf("who came late got %+v", p)
		}
		if _, open := <-late; open {
			w.t.Error("it goes on")
		}
	})
}

func TestSubscribe_TooManyAreRefusedAndCloseEndsAll(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		w.failed(1)
		plan := w.plan(job.Policy{})
		var all []<-chan job.Progress
		for {
			ch, _, err := w.jobs.Subscribe(plan.ID)
			if err != nil {
				if !errors.Is(err, claimdlq.Unavailable) || len(all) != 64 {
					w.t.Errorf("the %dth: %v", len(all)+1, err)
				}
				break
			}
			all = append(all, ch)
		}
		w.must(w.jobs.Close())
		for _, ch := range all {
			for range ch {
			}
		}
	})
}

func TestJournal_AFlushThatFailsEndsTheProcess(t *testing.T) { // DESIGN 6
	t.Parallel()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t.Context(), t, dir, "")
		fatal := make(chan error, 1)
		w.c.Fatal = func(err error) {
			select {
			case fatal <- err:
			default: // it is dead already
			}
		}
		appends := 0
		job.SetStep(&w.c, func(what string) error {
			if what != "journal" {
				return nil
			}
			if appends++; appends < 4 {
				return nil
			}
			return atomicfile.ErrSync
		})
		w.serve()
		w.open()
		w.failed(30)
		plan := w.run(job.Policy{Canary: -1, StartRate: 1, MaxRate: 1})
		if err := <-fatal; !errors.Is(err, atomicfile.ErrSync) {
			t.Errorf("got %v", err)
		}
		n := len(w.st.replays())
		time.Sleep(time.Hour)
		if p := w.progress(plan.ID); p.State != job.Stopped || len(w.st.replays()) != n {
			t.Errorf("it goes on: %+v", p)
		}
		if _, err := w.jobs.Resume(w.ctx, ana, plan.ID); !errors.Is(err, claimdlq.Unavailable) {
			t.Errorf("resume: %v", err)
		}
		w.must(w.jobs.Close())
		job.SetStep(&w.c, nil)
		w.open()
		defer w.end()
		same(t, "results", w.is(plan.ID, job.Done).Results, map[string]int{"replayed": 30})
	})
}
