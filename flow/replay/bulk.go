package replay

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

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
	workers = 16 // whose commits share a flush
	pages   = 4  // of pharmacy records under way at a time
	matched = 64 << 10
)

// Select replays every record that matches the filter when it is called, oldest
// first by and large. What it did by the time of an error stays done. Errors: those of One;
// Refused for Options.WrittenOff.
func (p *Replay) Select(ctx context.Context, by claimdlq.By, f store.Filter, o Options) (Summary, error) {
	if o.WrittenOff {
		return Summary{}, &claimdlq.Error{
			Code: claimdlq.Refused, Op: "replay records", On: "written off in doubt", Hint: "replay each by itself: only a person knows that the payer does not have it",
		}
	}
	if o.Unchanged {
		if err := audited.Named(by, "replay records unchanged"); err != nil {
			return Summary{}, err
		}
	}
	ids, err := p.matching(ctx, f)
	if err != nil {
		return Summary{}, err
	}
	if o.Limit > 0 && len(ids) > o.Limit {
		ids = ids[:o.Limit]
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := &drain{p: p, ctx: ctx, cancel: cancel, by: by, o: o, pace: newPace(p.c.Now().UTC(), o.Rate)}
	d.run(ids)
	return d.sum, cmp.Or(d.first, context.Cause(ctx))
}

// drain is one Select.
type drain struct {
	p      *Replay
	ctx    context.Context
	cancel context.CancelFunc
	by     claimdlq.By
	o      Options
	pace   *pace

	mu    sync.Mutex
	sum   Summary
	first error
}

// run takes pharmacy records by the page, and the others one by one.
func (d *drain) run(ids []claimdlq.ID) {
	one, many := make(chan other), make(chan []claimdlq.ID)
	var ones, manys sync.WaitGroup
	for range min(workers, len(ids)) {
		ones.Go(func() {
			for o := range one {
				j := d.p.job(d.ctx, d.by, d.o, nil)
				j.ahead = o.ahead
				result, _, err := j.one(o.id)
				d.note(err, result)
			}
		})
	}
	for range min(pages, (len(ids)+page-1)/page) {
		manys.Go(func() {
			j := d.p.job(d.ctx, d.by, d.o, d.pace)
			for ids := range many {
				d.note(d.page(j, ids, one))
			}
		})
	}
	for len(ids) > 0 && d.ctx.Err() == nil {
		n := min(page, len(ids))
		many <- ids[:n]
		ids = ids[n:]
	}
	close(many)
	manys.Wait()
	close(one)
	ones.Wait()
}

// note counts results; an error ends the drain.
func (d *drain) note(err error, results ...claimdlq.ReplayResult) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.first = cmp.Or(d.first, err)
		d.cancel()
		return
	}
	for _, r := range results {
		d.sum.count(r)
	}
}

// other is a record that is replayed by itself, with what was read of it ahead.
type other struct {
	id    claimdlq.ID
	ahead *ahead
}

// page replays the pharmacy records among ids, in order, and hands the others on.
func (d *drain) page(j *job, ids []claimdlq.ID, one chan<- other) error {
	rs, err := d.p.c.Store.Records(d.ctx, ids, j.read[:0])
	if err != nil {
		return err
	}
	j.read = rs
	read, err := j.readAhead(rs)
	if err != nil {
		return err
	}
	n := 0
	for i := range rs {
		r := &rs[i]
		if isRx(r) {
			if n != i {
				rs[n] = *r
			}
			n++
			continue
		}
		select {
		case one <- other{r.ID, read[r.ID]}:
		case <-d.ctx.Done():
			return nil
		}
	}
	done, err := j.rx(rs[:n])
	if errors.Is(err, claimdlq.Conflict) {
		return d.each(j, done)
	}
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range done {
		d.sum.count(done[i].result)
	}
	return nil
}

// each replays one by one what is not done of a page because somebody else moved
// some of it.
func (d *drain) each(j *job, items []rxItem) error {
	type decided struct {
		id     claimdlq.ID
		result claimdlq.ReplayResult
	}
	all := make([]decided, 0, len(items)) // the items are used again
	for i := range items {
		it := decided{id: items[i].r.ID}
		if items[i].done {
			it.result = items[i].result
		}
		all = append(all, it)
	}
	for _, it := range all {
		if it.result == "" {
			var err error
			if it.result, _, err = j.one(it.id); err != nil {
				return err
			}
		}
		d.note(nil, it.result)
	}
	return nil
}

// matching returns the ids that match now: what is quarantined again while the
// drain runs is not taken a second time.
func (p *Replay) matching(ctx context.Context, f store.Filter) ([]claimdlq.ID, error) {
	var ids []claimdlq.ID
	for before := claimdlq.ID(0); ; {
		some, err := p.c.Store.IDs(ctx, f, before, matched)
		if err != nil {
			return nil, err
		}
		ids = append(ids, some...)
		if len(some) < matched {
			slices.Reverse(ids)
			return ids, nil
		}
		before = some[len(some)-1]
	}
}

// pace says when releases are due: so many a second.
type pace struct {
	mu    sync.Mutex
	begin time.Time
	every time.Duration
	given int64
}

func newPace(begin time.Time, rate float64) *pace {
	p := &pace{begin: begin}
	if rate > 0 {
		p.every = time.Duration(float64(time.Second) / rate)
	}
	return p
}

// next returns when the next release is due; the zero time for at once.
func (p *pace) next() time.Time {
	if p == nil || p.every == 0 {
		return time.Time{}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.given++
	return p.begin.Add(time.Duration(p.given-1) * p.every)
}
