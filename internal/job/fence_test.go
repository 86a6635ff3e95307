package job_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/job"
	"claimdlq/store"
)

func TestFence_LetsOnlyThePlannedRecordAtItsRevisionThrough(t *testing.T) {
	t.Parallel()
	inTime(t, "", func(w *world) {
		ids := w.failed(2)
		f := job.Fence(w.st.Store)
		planned, other := w.record(ids[0]), w.record(ids[1])
		release := func(ctx context.Context, r claimdlq.Record) error {
			n, err := r.Replay("v", time.Now().UTC())
			w.must(err)
			_, err = f.Commit(ctx, store.Batch{Update: []claimdlq.Record{n}})
			return err
		}
		turn := job.WithTurn(w.ctx, planned.ID, planned.Revision)
		if err := release(w.ctx, planned); !errors.Is(err, claimdlq.Internal) {
			w.t.Errorf("nobody's turn: %v", err)
		}
		if err := release(turn, other); !errors.Is(err, claimdlq.Internal) {
			w.t.Errorf("another record: %v", err)
		}
		if _, err := f.Commit(turn, store.Batch{Insert: []claimdlq.Record{{}}}); !errors.Is(err, claimdlq.Internal) {
			w.t.Errorf("a new record: %v", err)
		}
		many := store.Release{At: time.Now(), RuleVersion: "v", Partner: planned.Partner, Stream: planned.Stream}
		for _, r := range []claimdlq.Record{planned, other} {
			many.Records = append(many.Records, store.Released{ID: r.ID, Revision: r.Revision})
		}
		for _, ctx := range []context.Context{w.ctx, turn} {
			if _, err := f.Commit(ctx, store.Batch{Releases: []store.Release{many}}); !errors.Is(err, claimdlq.Internal) {
				w.t.Errorf("many records: %v", err)
			}
		}
		if _, err := f.Get(turn, other.ID); err != nil {
			w.t.Errorf("a look at another: %v", err)
		}
		stale := job.WithTurn(w.ctx, planned.ID, planned.Revision-1)
		if err := release(stale, planned); err == nil {
			w.t.Error("another revision than planned is released")
		}
		if _, err := f.Get(stale, planned.ID); err == nil {
			w.t.Error("another revision than planned is shown")
		}
		if w.record(ids[0]).ReplayCount+w.record(ids[1]).ReplayCount != 0 {
			w.t.Fatal("something was released")
		}
		if err := release(turn, planned); err != nil || w.record(ids[0]).ReplayCount != 1 {
			w.t.Errorf("its turn: %v", err)
		}
		if err := release(turn, planned); !errors.Is(err, claimdlq.Conflict) {
			w.t.Errorf("once more: %v", err)
		}
	})
}
