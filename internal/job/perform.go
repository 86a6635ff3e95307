package job

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"claimdlq"
)

// perform does a job's act to one item. An error means that nobody knows whether it was
// done, and is not the item's own.
func (j *job) perform(ctx context.Context, by claimdlq.By, it *Item, again bool) (Result, error) {
	var err error
	turned := withTurn(ctx, turn{record: it.Record, revision: it.Revision})
	switch j.plan.Act {
	case Park:
		_, err = j.s.retain.Park(turned, by, it.Record)
	case Unpark:
		_, err = j.s.retain.Unpark(turned, by, it.Record)
	case Withdraw:
		_, err = j.s.retain.Withdraw(turned, by, it.Record)
	case Inquire:
		return j.inquire(ctx, by, it, again)
	case Replay:
		return Failed, nil
	}
	switch {
	case err == nil:
		return Acted, nil
	case errors.Is(err, errMoved) && again:
		return j.wasDone(ctx, it)
	}
	return j.why(ctx, it, err)
}

// wasDone says what became of an item that had its turn before a crash, and has moved.
func (j *job) wasDone(ctx context.Context, it *Item) (Result, error) {
	r, err := j.s.store.Get(ctx, it.Record)
	switch {
	case err != nil:
		return NotYet, err
	case r.Revision == it.Revision+1 && j.plan.Act.did(r.State):
		return Acted, nil
	}
	return Moved, nil
}

// why says what an error means for an item.
func (j *job) why(ctx context.Context, it *Item, err error) (Result, error) {
	switch {
	case errors.Is(err, errMoved), errors.Is(err, claimdlq.Conflict):
		return Moved, nil
	case ctx.Err() != nil, errors.Is(err, claimdlq.Unavailable):
		return NotYet, err
	case errors.Is(err, claimdlq.NotFound):
		return NotFound, nil
	case errors.Is(err, claimdlq.Refused):
		return NotAllowed, nil
	}
	j.fault(it, err)
	return Failed, nil
}

// fault logs why an item has failed.
func (j *job) fault(it *Item, err error) {
	code := claimdlq.Internal
	if e, ok := errors.AsType[*claimdlq.Error](err); ok {
		code = e.Code
	}
	j.s.c.Replay.Log.Warn("a record of a job has failed", slog.String("job", string(j.id)), slog.String("record", it.Record.String()), slog.String("code", string(code)))
}

// asked are the submissions that a job has inquired about. What went out together is
// answered together, so it is asked about once. A restart forgets them: to ask again
// changes nothing.
type asked struct {
	mu  sync.Mutex
	all map[claimdlq.SubmissionID]*question
}

type question struct {
	done   chan struct{}
	result Result // once it is done
}

// begin returns the question about a submission, and whether the caller is to ask it.
func (a *asked) begin(id claimdlq.SubmissionID) (*question, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := a.all[id]; q != nil {
		return q, false
	}
	if a.all == nil {
		a.all = map[claimdlq.SubmissionID]*question{}
	}
	q := &question{done: make(chan struct{})}
	a.all[id] = q
	return q, true
}

// end answers a question; NotYet lets it be asked again.
func (a *asked) end(id claimdlq.SubmissionID, q *question, r Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q.result = r; r == NotYet {
		delete(a.all, id)
	}
	close(q.done)
}

// known returns the answer about a submission, NotYet where there is none.
func (a *asked) known(id claimdlq.SubmissionID) Result {
	a.mu.Lock()
	defer a.mu.Unlock()
	if q := a.all[id]; q != nil {
		select {
		case <-q.done:
			return q.result
		default:
		}
	}
	return NotYet
}

// inquire asks the payer about one item. It is not behind the fence: the answer is about
// all that went out with it.
func (j *job) inquire(ctx context.Context, by claimdlq.By, it *Item, again bool) (Result, error) {
	r, err := j.s.store.Get(ctx, it.Record)
	if err != nil {
		return j.why(ctx, it, err)
	}
	if r.Revision != it.Revision {
		switch res := j.asked.known(r.Submission); {
		case r.State != claimdlq.StateInDoubt && (res == Known || again):
			return Known, nil // with another of its interchange, or before a crash
		default:
			return Moved, nil
		}
	}
	if r.State != claimdlq.StateInDoubt {
		return NotAllowed, nil
	}
	q, mine := j.asked.begin(r.Submission)
	if !mine {
		select {
		case <-q.done:
			return q.result, nil
		case <-ctx.Done():
			return NotYet, ctx.Err()
		}
	}
	res, err := j.ask(ctx, by, it)
	j.asked.end(r.Submission, q, res)
	return res, err
}

func (j *job) ask(ctx context.Context, by claimdlq.By, it *Item) (Result, error) {
	_, known, err := j.s.c.Inquire(ctx, by, it.Record)
	switch {
	case err == nil && known:
		return Known, nil
	case err == nil:
		return StillUnknown, nil
	case ctx.Err() != nil:
		return NotYet, err
	case errors.Is(err, claimdlq.Refused), errors.Is(err, claimdlq.Conflict): // it moves after all
		return Moved, nil
	case errors.Is(err, claimdlq.Unavailable):
		j.fault(it, err)
		return Unanswered, nil
	}
	j.fault(it, err)
	return Failed, nil
}
