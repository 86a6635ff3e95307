package settle

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"claimdlq"
	"claimdlq/store"
)

// Inquiries counts what InquireAll did, in records.
type Inquiries struct {
	Asked   int `json:"asked"`
	Known   int `json:"known"`    // settled, quarantined, or waiting for the payer's answer
	InDoubt int `json:"in_doubt"` // the payer gave no clear answer
	// Unanswered are those whose target could not be reached or did not answer. Asked is
	// Known, InDoubt and Unanswered.
	Unanswered int `json:"unanswered"`
	// Skipped were not asked about: their partner did not answer about others, cannot be
	// asked, or has no target; or what was sent cannot be sent as it was, or another claim
	// of the fill is in its way. Inquire says which.
	Skipped int `json:"skipped"`
}

// patience is how many inquiries in a row a partner may leave unanswered.
const patience = 3

// inquirers is how many inquiries are under way at a time.
const inquirers = 16

// InquireAll asks about every record in doubt that matches, oldest first: the worklist
// after an outage. It goes on where a target cannot be reached; a partner that does not
// answer is left alone after a few. What it
// did by the time of an error stays done. Errors: those of store and vault.
func (t *Settle) InquireAll(ctx context.Context, by claimdlq.By, f store.Filter) (Inquiries, error) {
	f.State = claimdlq.StateInDoubt
	w := &worklist{t: t, by: by, missed: map[string]int{}, asked: map[claimdlq.SubmissionID]bool{}}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var ids []claimdlq.ID
	for before := claimdlq.ID(0); ; {
		rs, err := t.o.Store.List(ctx, f, before, maxCandidates)
		if err != nil {
			return Inquiries{}, err
		}
		for _, r := range rs {
			ids = append(ids, r.ID)
		}
		if len(rs) < maxCandidates {
			break
		}
		before = rs[len(rs)-1].ID
	}
	slices.Reverse(ids)
	work := make(chan claimdlq.ID)
	var wg sync.WaitGroup
	for range min(inquirers, len(ids)) {
		wg.Go(func() {
			for id := range work {
				if err := w.ask(ctx, id); err != nil {
					w.fail(err)
					cancel()
				}
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
	return w.sum, cmp.Or(w.first, context.Cause(ctx))
}

// worklist is one InquireAll.
type worklist struct {
	t  *Settle
	by claimdlq.By

	mu     sync.Mutex
	sum    Inquiries
	first  error
	missed map[string]int // unanswered in a row, by stream and partner
	asked  map[claimdlq.SubmissionID]bool
}

func (w *worklist) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.first = cmp.Or(w.first, err)
}

// ask inquires about one record, unless its submission was asked about already.
func (w *worklist) ask(ctx context.Context, id claimdlq.ID) error {
	r, err := w.t.o.Store.Get(ctx, id)
	if err != nil || r.State != claimdlq.StateInDoubt {
		return err // another record's inquiry has answered it
	}
	lane := r.Stream + " " + r.Partner
	if !w.enter(r, lane) {
		return nil
	}
	_, known, err := w.t.Inquire(ctx, w.by, id)
	switch {
	case errors.Is(err, errOvertaken) || gone(err): // that says nothing of its partner
		w.leave(lane, func() { w.sum.Skipped++ }, true)
		return nil
	case errors.Is(err, claimdlq.Refused) || errors.Is(err, claimdlq.Conflict): // it moves after all
		return nil
	case errors.Is(err, errNoAnswer):
		w.leave(lane, func() { w.sum.Asked++; w.sum.Unanswered++ }, false)
		return nil
	case errors.Is(err, claimdlq.Unavailable) && ctx.Err() == nil:
		w.leave(lane, func() { w.sum.Skipped++ }, false)
		return nil
	case err != nil:
		return err
	}
	w.leave(lane, func() {
		w.sum.Asked++
		if known {
			w.sum.Known++
		} else {
			w.sum.InDoubt++
		}
	}, known)
	return nil
}

// enter reports whether the record is to be asked about.
func (w *worklist) enter(r claimdlq.Record, lane string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.asked[r.Submission] {
		return false
	}
	if w.missed[lane] >= patience {
		w.sum.Skipped++
		return false
	}
	w.asked[r.Submission] = true
	return true
}

func (w *worklist) leave(lane string, count func(), answered bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	count()
	if answered {
		w.missed[lane] = 0
	} else {
		w.missed[lane]++
	}
}
