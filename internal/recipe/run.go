package recipe

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/correct"
	"claimdlq/internal/background"
)

// perTurn is how many items are worked on between two writes of the journal.
const perTurn = 64

// Apply begins to correct what was clean in the preview. It goes on behind the answer.
// Errors: NotFound; Refused (no name or reason); Conflict where it was cancelled or is
// done, or the digest is another.
func (s *Recipes) Apply(ctx context.Context, by claimdlq.By, id ID, digest string) (Progress, error) {
	const op = "apply recipe"
	if err := audited.Named(by, op); err != nil {
		return Progress{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.all[id] // under the lock: a new preview may take the place of the oldest
	if r == nil {
		return Progress{}, notFound()
	}
	running := 0
	for _, x := range s.all {
		x.mu.Lock()
		if x.state == Running && x != r {
			running++
		}
		x.mu.Unlock()
	}
	var err error
	r.mu.Lock()
	switch {
	case r.state != Previewed && r.state != Stopped:
		err = &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: string(id), Hint: "it is " + string(r.state)}
	case digest != r.plan.Digest:
		err = &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: string(id), Hint: "the digest is not the preview's: look at it again"}
	case running >= maxOpen:
		err = &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, On: "16 recipes run", Hint: "wait until one is done"}
	case s.closed:
		err = &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, On: "the process is ending"}
	default:
		if err = s.audit(ctx, by, "APPLY", id, digest); err == nil {
			err = r.append(&line{What: lineApply, At: s.c.Now().UTC(), By: by.Actor})
		}
	}
	p := r.progress()
	r.mu.Unlock()
	if err == nil {
		s.run(r)
	}
	return p, err
}

// Cancel ends a recipe for good: what is corrected stays so, the rest is left alone.
// Errors: NotFound; Refused (no name or reason); Conflict where it is over.
func (s *Recipes) Cancel(ctx context.Context, by claimdlq.By, id ID) (Progress, error) {
	if err := audited.Named(by, "cancel recipe"); err != nil {
		return Progress{}, err
	}
	r, err := s.find(id)
	if err != nil {
		return Progress{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.state == Done || r.state == Cancelled {
		return r.progress(), &claimdlq.Error{Code: claimdlq.Conflict, Op: "cancel recipe", On: string(id), Hint: "it is " + string(r.state)}
	}
	if err := s.audit(ctx, by, "CANCEL", id, ""); err != nil {
		return Progress{}, err
	}
	if r.running { // its turn has to end first, so that what it corrects is in the journal
		return r.progress(), r.append(&line{What: lineAsked, At: r.s.c.Now().UTC(), By: by.Actor})
	}
	if len(r.intents) > 0 { // a turn that a failure broke off is settled first
		if err := r.resolve(ctx); err != nil {
			return Progress{}, err
		}
	}
	return r.progress(), r.over(lineCancel)
}

// append makes a line durable and takes it in. The caller holds r.mu.
func (r *recipe) append(l *line) error {
	j, err := openJournal(r.s.path(r.plan.ID, extJournal))
	if err != nil {
		return err
	}
	err = j.add(l)
	if err = errors.Join(err, j.close()); err != nil {
		r.s.c.Fatal(err)
		return err
	}
	r.take(l)
	return nil
}

// over ends the recipe, and removes its values. The caller holds r.mu.
func (r *recipe) over(what string) error {
	if err := r.append(&line{What: what, At: r.s.c.Now().UTC()}); err != nil {
		return err
	}
	r.plan.Sealed, r.plan.KeyTerm = nil, 0
	return r.s.write(&r.plan)
}

// work corrects item after item until nothing is left, or it has to stop.
func (r *recipe) work(ctx context.Context) {
	err := r.items(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.running = false
	if err == nil || ctx.Err() != nil {
		return
	}
	r.s.c.Log.Error("A recipe stops", slog.String("recipe", string(r.plan.ID)), slog.String("code", codeOf(err)))
	if r.state == Running {
		r.state, r.seq = Stopped, r.seq+1
	}
}

func (r *recipe) items(ctx context.Context) error {
	rc, err := r.values()
	if err != nil {
		return err
	}
	r.mu.Lock()
	err = r.resolve(ctx)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	for at := 0; ; {
		r.mu.Lock()
		turn := r.next(&at)
		cancelled := r.cancelled
		if len(turn) == 0 || cancelled {
			what := lineDone
			if cancelled {
				what = lineCancel
			}
			var err error
			if !cancelled {
				err = r.s.audit(ctx, claimdlq.System("recipe"), "DONE", r.plan.ID, "")
			}
			if err == nil {
				err = r.over(what)
			}
			r.mu.Unlock()
			return err
		}
		r.mu.Unlock()
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := r.turn(ctx, turn, rc); err != nil {
			return err
		}
	}
}

// values opens what the rules set.
func (r *recipe) values() (*correct.Recipe, error) {
	r.mu.Lock()
	sealed, term, id := r.plan.Sealed, r.plan.KeyTerm, r.plan.ID
	r.mu.Unlock()
	b, err := r.s.c.Keys.UnwrapKey(nil, term, sealed, aadOf(id))
	if err != nil {
		return nil, err
	}
	rc := &correct.Recipe{}
	if err := json.Unmarshal(b, rc); err != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read recipe", On: string(id)}
	}
	return rc, nil
}

// next returns the next items that are to be corrected. The caller holds r.mu.
func (r *recipe) next(at *int) (turn []Item) {
	for ; *at < len(r.plan.Items) && len(turn) < perTurn; *at++ {
		if it := &r.plan.Items[*at]; it.Verdict == correct.Clean && it.Outcome == "" {
			turn = append(turn, *it)
		}
	}
	return turn
}

// by is in whose name records are corrected. The reason names the recipe; the runner's
// own is in the recipe's audit entry.
func (r *recipe) by() claimdlq.By {
	r.mu.Lock()
	defer r.mu.Unlock()
	return claimdlq.By{Actor: r.runner, Reason: "recipe " + string(r.plan.ID)}
}

// results are what became of the items of a turn.
type results struct {
	verdicts []correct.Verdict
	codes    []claimdlq.Detail
}

// turn corrects some items: looked at and judged together, sealed, then each committed
// by itself.
func (r *recipe) turn(ctx context.Context, items []Item, rc *correct.Recipe) error {
	by := r.by()
	res := results{make([]correct.Verdict, len(items)), make([]claimdlq.Detail, len(items))}
	sealed, err := r.sealed(ctx, by, items, rc, &res)
	if err != nil {
		return err
	}
	l := &line{What: lineIntent, At: r.s.c.Now().UTC()}
	for i, s := range sealed {
		if s != nil {
			l.Items, l.Units = append(l.Items, items[i].Index), append(l.Units, s.Unit())
		}
	}
	if err := r.keep(l); err != nil {
		return err
	}
	if err := r.s.at("commit"); err != nil {
		return err
	}
	err = background.Each(len(items), r.s.c.Workers, nil, func(i int) error {
		if sealed[i] == nil {
			return nil
		}
		_, err := sealed[i].Commit(ctx)
		switch {
		case err == nil:
			res.verdicts[i] = Applied
		case errors.Is(err, claimdlq.Conflict):
			res.verdicts[i] = Moved
		default: // nobody knows: resolve asks the record
			return err
		}
		return nil
	})
	if aerr := r.s.at("outcome"); aerr != nil {
		return aerr
	}
	out := &line{What: lineOutcome, At: r.s.c.Now().UTC()}
	for i, v := range res.verdicts {
		if v != "" {
			out.Items, out.Outcomes, out.Codes = append(out.Items, items[i].Index), append(out.Outcomes, v), append(out.Codes, res.codes[i])
		}
	}
	return errors.Join(err, r.keep(out))
}

func (r *recipe) keep(l *line) error {
	if len(l.Items) == 0 {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.append(l)
}

// sealed judges the items and seals what is clean. Where an item is nil, res says why.
func (r *recipe) sealed(ctx context.Context, by claimdlq.By, items []Item, rc *correct.Recipe, res *results) ([]*correct.Sealed, error) {
	records := make([]claimdlq.Record, len(items))
	for i := range items {
		rec, err := r.s.c.Store.Get(ctx, items[i].Record)
		switch {
		case errors.Is(err, claimdlq.NotFound):
			res.verdicts[i] = NotFound
		case err != nil:
			return nil, err
		case rec.Revision != items[i].Revision:
			res.verdicts[i] = Moved
		default:
			records[i] = rec
		}
	}
	out := make([]*correct.Sealed, len(items))
	return out, r.s.try(ctx, by, records, rc, func(i int, t *correct.Trial) error {
		if res.verdicts[i] != "" {
			return nil
		}
		if t.Verdict != correct.Clean {
			res.verdicts[i], res.codes[i] = t.Verdict, t.Code
			return nil
		}
		var err error
		out[i], err = r.s.c.Correct.Seal(ctx, by, t.Draft.Proposal)
		switch {
		case err == nil:
		case errors.Is(err, claimdlq.Conflict), errors.Is(err, claimdlq.Refused):
			res.verdicts[i] = Moved
		case ctx.Err() == nil && !errors.Is(err, claimdlq.Unavailable):
			res.verdicts[i] = Failed
		default:
			return err
		}
		return nil
	})
}

// resolve says what became of items of which nobody knows: a record that has the unit it
// was about to have is corrected, one that has its old revision has its turn again. The
// caller holds r.mu.
func (r *recipe) resolve(ctx context.Context) error {
	l := &line{What: lineOutcome, At: r.s.c.Now().UTC()}
	var again []int
	for i, unit := range r.intents {
		if i < 0 || i >= len(r.plan.Items) {
			again = append(again, i)
			continue
		}
		it := &r.plan.Items[i]
		rec, err := r.s.c.Store.Get(ctx, it.Record)
		if err != nil && !errors.Is(err, claimdlq.NotFound) {
			return err
		}
		v := Moved
		switch {
		case err != nil:
			v = NotFound
		case rec.Payload.Unit == unit:
			v = Applied
		case rec.Revision == it.Revision:
			again = append(again, i)
			continue
		}
		l.Items, l.Outcomes, l.Codes = append(l.Items, i), append(l.Outcomes, v), append(l.Codes, claimdlq.Detail{})
	}
	for _, i := range again {
		delete(r.intents, i)
	}
	if len(l.Items) == 0 {
		return nil
	}
	return r.append(l)
}
