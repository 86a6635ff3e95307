package replay

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/store"
)

// Summary counts what a bulk replay decided, in records.
type Summary struct {
	Requeued         int `json:"requeued"`
	SkippedDuplicate int `json:"skipped_duplicate"`
	Parked           int `json:"parked"`
	NotCorrected     int `json:"not_corrected"`
	InDoubt          int `json:"in_doubt"`
}

func (s *Summary) count(r claimdlq.ReplayResult) {
	switch r {
	case claimdlq.Replayed:
		s.Requeued++
	case claimdlq.DuplicateSuppressed, claimdlq.ReplayNotFound:
		s.SkippedDuplicate++
	case claimdlq.ParkedAtCap:
		s.Parked++
	case claimdlq.NotCorrected:
		s.NotCorrected++
	case claimdlq.InDoubtFirst:
		s.InDoubt++
	}
}

const (
	page    = 1000
	workers = 16 // their commits share a flush
)

// Select replays every record that matches the filter when it is called, oldest
// first by and large. What it did by the time of an error stays done.
func (p *Replay) Select(ctx context.Context, by claimdlq.By, f store.Filter, o Options) (Summary, error) {
	if o.Unchanged {
		if err := audited.Named(by, "replay records unchanged"); err != nil {
			return Summary{}, err
		}
	}
	ids, err := p.matching(ctx, f)
	if err != nil {
		return Summary{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	work := make(chan claimdlq.ID)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		sum   Summary
		first error
	)
	for range min(workers, len(ids)) {
		wg.Go(func() {
			for id := range work {
				result, _, err := p.One(ctx, by, id, o)
				mu.Lock()
				if err == nil {
					sum.count(result)
				} else {
					first = cmp.Or(first, err)
					cancel()
				}
				mu.Unlock()
			}
		})
	}
	for _, id := range ids {
		if ctx.Err() != nil {
			break
		}
		work <- id
	}
	close(work)
	wg.Wait()
	return sum, cmp.Or(first, context.Cause(ctx))
}

// matching returns the ids that match now: what is quarantined again while the
// drain runs is not taken a second time.
func (p *Replay) matching(ctx context.Context, f store.Filter) ([]claimdlq.ID, error) {
	var ids []claimdlq.ID
	for before := claimdlq.ID(0); ; {
		rs, err := p.c.Store.List(ctx, f, before, page)
		if err != nil {
			return nil, err
		}
		for _, r := range rs {
			ids = append(ids, r.ID)
		}
		if len(rs) < page {
			slices.Reverse(ids)
			return ids, nil
		}
		before = rs[len(rs)-1].ID
	}
}
