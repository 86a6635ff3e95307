package job

import (
	"context"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/flow/replay"
	"claimdlq/internal/background"
)

// maxTurn is how many items have their turn between two writes of the journal.
const maxTurn = 512

// release gives up to n items their turn: first those of which nobody knows whether
// they had it.
func (j *job) release(ctx context.Context, n int, urgent bool) error {
	items, again, err := j.take(ctx, n)
	if err != nil || len(items) == 0 {
		return err
	}
	marks := make([]mark, len(items))
	halted := func() bool { return j.halt.Load() || ctx.Err() != nil }
	err = background.Each(len(items), j.s.c.Workers, halted, func(i int) error {
		r, err := j.give(ctx, &items[i], i < again, urgent)
		marks[i] = mark{index: uint32(items[i].Index), result: r}
		return err
	})
	j.s.c.Released()
	j.mu.Lock()
	defer j.mu.Unlock()
	j.moved = j.s.now()
	return errors.Join(err, j.took(ctx, items, marks))
}

// give gives one item its turn.
func (j *job) give(ctx context.Context, it *Item, again, urgent bool) (Result, error) {
	if j.plan.Act != Replay {
		return j.perform(ctx, j.by(), it, again)
	}
	return j.decide(ctx, j.by(), it, replay.Options{Unchanged: j.plan.Policy.Unchanged}, again, urgent)
}

// reason is what each record's entry repeats of the runner's reason. A replay's names the
// job alone: there the reason is in the job's own entry.
func (j *job) reason(by claimdlq.By) string {
	if j.plan.Act == Replay {
		return ""
	}
	return by.Reason
}

// by is in whose name records have their turn. The reason names the job.
func (j *job) by() claimdlq.By {
	if p := j.snap.Load(); p.Act != Replay {
		return claimdlq.By{Actor: p.Runner, Reason: string(p.Act) + " job " + string(j.id) + ": " + p.Reason}
	}
	return claimdlq.By{Actor: j.snap.Load().Runner, Reason: "replay job " + string(j.id)}
}

// take makes durable that the next n items may be released from now on, and returns
// them; of the first again of them nobody knows whether they were.
func (j *job) take(ctx context.Context, n int) (items []Item, again int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.state != Running {
		return nil, 0, nil
	}
	again = min(n, len(j.redo))
	for _, i := range j.redo[:again] {
		if items, err = j.file.items(items, int(i), 1); err != nil {
			return nil, 0, err
		}
	}
	if items, err = j.file.items(items, j.next, n-again); err != nil {
		return nil, 0, err
	}
	if partner, open := j.breaker(items); open && (j.plan.Act == Replay || j.plan.Act == Inquire) {
		return nil, 0, j.stopFor(ctx, StopBreaker, partner)
	}
	if fresh := len(items) - again; fresh > 0 {
		if err := j.log.taken(j.next + fresh); err != nil {
			return nil, 0, j.s.fatal(err, err)
		}
		j.next += fresh
	}
	j.redo = j.redo[again:]
	j.busy = make(chan struct{})
	return items, again, nil
}

// breaker returns the partner of the items whose breaker is open.
func (j *job) breaker(items []Item) (string, bool) {
	asked := -1
	for i := range items {
		if items[i].Cause == asked {
			continue
		}
		asked = items[i].Cause
		c := &j.plan.Causes[asked]
		if c.Partner != "" && j.s.c.BreakerOpen(c.Stream, c.Partner) {
			return c.Partner, true
		}
	}
	return "", false
}

// unreachable lists the partners of the plan whose breakers are open.
func (j *job) unreachable() (out []string) {
	seen := map[[2]string]bool{}
	for i := range j.plan.Causes {
		c := &j.plan.Causes[i]
		lane := [2]string{c.Stream, c.Partner}
		if c.Partner != "" && !seen[lane] && j.s.c.BreakerOpen(c.Stream, c.Partner) && !slices.Contains(out, c.Partner) {
			out = append(out, c.Partner)
		}
		seen[lane] = true
	}
	return out
}

// took makes durable what became of items, and keeps those of which nobody knows for
// the next turn.
func (j *job) took(ctx context.Context, items []Item, marks []mark) error {
	defer func() {
		close(j.busy)
		j.busy = nil
	}()
	known := marks[:0]
	for i := range items {
		m := marks[i]
		if m.result == NotYet {
			j.redo = append(j.redo, uint32(items[i].Index))
			continue
		}
		known = append(known, m)
	}
	if err := j.marked(known); err != nil {
		return err
	}
	for _, m := range known {
		if m.result == Replayed {
			j.out = append(j.out, m.index)
			j.looks = 0
		}
		j.recent.add(verdictOf(m.result, UnderWay), j.plan.Policy.Window)
	}
	if code := j.recent.judge(&j.plan.Policy); code != "" && j.rest() > 0 {
		return j.stopFor(ctx, code, "")
	}
	return nil
}

// decide lets package replay decide about one item. An error means that nobody knows,
// and is not the item's own.
func (j *job) decide(ctx context.Context, by claimdlq.By, it *Item, o replay.Options, again, urgent bool) (Result, error) {
	t := turn{record: it.Record, revision: it.Revision, urgent: urgent}
	got, _, err := j.s.replay.One(withTurn(ctx, t), by, it.Record, o)
	switch {
	case err == nil:
		return resultOf(got), nil
	case errors.Is(err, errMoved) && again:
		return j.resolve(ctx, it)
	case errors.Is(err, errMoved):
		return Moved, nil
	case ctx.Err() != nil, errors.Is(err, claimdlq.Unavailable):
		return NotYet, err
	}
	j.fault(it, err)
	return Failed, nil
}

// resolve says what became of an item that had its turn before a crash, and has moved.
func (j *job) resolve(ctx context.Context, it *Item) (Result, error) {
	r, err := j.s.store.Get(ctx, it.Record)
	switch {
	case err != nil:
		return NotYet, err
	case r.ReplayCount > it.Replays:
		return Replayed, nil
	case r.State == claimdlq.StateParked && it.State != claimdlq.StateParked:
		return ParkedAtCap, nil
	}
	return Moved, nil
}

func resultOf(r claimdlq.ReplayResult) Result {
	for i, s := range resultNames {
		if s == string(r) && i > 0 {
			return Result(i)
		}
	}
	return Failed
}
