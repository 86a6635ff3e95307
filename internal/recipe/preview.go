package recipe

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/correct"
	"claimdlq/internal/atomicfile"
	"claimdlq/internal/background"
)

const (
	maxItems   = 10_000 // records of a recipe: it is held in memory
	openBatch  = 256    // records that one audit commit opens
	mostPlaces = 5      // that an item keeps
	mostForm   = 40     // bytes of a form

	opPreview = "preview recipe"
)

// Preview freezes what the selection names now with what the recipe makes of each. It
// changes no record; every document that it opens is in the audit log before. Of what a
// filter selects it takes as many as a recipe may have, the newest, and says how many
// remain and where the next preview begins.
//
// Errors: Refused (no name or reason, nothing selected, over 10,000 ids), Invalid and
// Refused (the recipe), and those of the store and the vault.
func (s *Recipes) Preview(ctx context.Context, by claimdlq.By, sel Selection, part Part, rc correct.Recipe) (Plan, error) {
	if err := audited.Named(by, opPreview); err != nil {
		return Plan{}, err
	}
	if err := rc.Check(); err != nil {
		return Plan{}, err
	}
	f, err := s.selected(ctx, &sel, part)
	if err != nil {
		return Plan{}, err
	}
	now := s.c.Now().UTC()
	p := Plan{
		ID: ID(background.NewID(now)), At: now, Author: by.Actor, Rules: s.c.Correct.Rules(), Recipe: withoutValues(rc), Counts: map[string]int{},
		Corrected: f.corrected, Remaining: f.remaining, Next: f.next,
	}
	why := by
	why.Reason = audited.Note("recipe " + string(p.ID) + ": " + by.Reason)
	if p.Items, err = s.tried(ctx, why, f.records, &rc); err != nil {
		return Plan{}, err
	}
	for i := range p.Items {
		it := &p.Items[i]
		p.Counts[string(it.Verdict)]++
		if it.Verdict == correct.Clean {
			p.Claims, p.Cents = p.Claims+int64(it.Claims), p.Cents+it.Cents
		}
	}
	if err := s.freeze(ctx, by, &p, &rc); err != nil {
		return Plan{}, err
	}
	p.Sealed = nil
	return p, nil
}

// freeze seals the values, and makes the plan durable and audited.
func (s *Recipes) freeze(ctx context.Context, by claimdlq.By, p *Plan, rc *correct.Recipe) error {
	secret, err := json.Marshal(rc)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: opPreview, Err: err}
	}
	p.KeyTerm, p.Sealed = s.c.Keys.WrapKey(nil, secret, aadOf(p.ID))
	if p.Digest, err = p.digest(); err != nil {
		return err
	}
	if err := s.write(p); err != nil {
		return err
	}
	if err := s.audit(ctx, by, "PREVIEW", p.ID, p.Digest); err != nil {
		s.remove(p.ID) // nobody knows of it
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range p.Items {
		p.Items[i].Index = i
	}
	s.all[p.ID] = s.newRecipe(*p)
	s.forget()
	return nil
}

func aadOf(id ID) []byte { return []byte("claimdlq recipe " + string(id)) }

func (s *Recipes) write(p *Plan) error {
	b, err := json.Marshal(p)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "write recipe", Err: err}
	}
	if err := atomicfile.WriteFile(s.path(p.ID, extPlan), b, 0o600); err != nil {
		if errors.Is(err, atomicfile.ErrSync) {
			s.c.Fatal(err)
		}
		return ioError("write recipe", err)
	}
	return nil
}

// forget removes the oldest previews that nobody has applied, and the oldest of those
// that are over. The caller holds s.mu.
func (s *Recipes) forget() {
	var idle, over []ID
	for id, r := range s.all {
		r.mu.Lock()
		switch {
		case r.state == Previewed:
			idle = append(idle, id)
		case r.final():
			over = append(over, id)
		}
		r.mu.Unlock()
	}
	slices.Sort(idle)
	slices.Sort(over)
	for _, id := range append(idle[:max(0, len(idle)-maxPreviews)], over[:max(0, len(over)-maxOver)]...) {
		delete(s.all, id)
		s.remove(id)
	}
}

// found is what a selection names now.
type found struct {
	records   []claimdlq.Record // the newest first; one that is not there has no revision
	corrected int               // left out: they are corrected already
	remaining int               // match, and are for another recipe
	next      claimdlq.ID       // where that begins, 0 at the end
}

// selected looks at all that is selected and keeps the first. What is corrected stays
// quarantined under its cause until it is replayed, so that the same filter would select
// it again and again.
func (s *Recipes) selected(ctx context.Context, sel *Selection, part Part) (f found, err error) {
	named := len(sel.IDs) > 0
	err = sel.Each(ctx, s.c.Store, func(r *claimdlq.Record) error {
		switch {
		case !named && part.Before > 0 && r.ID >= part.Before:
		case !named && !part.Again && corrected(r):
			f.corrected++
		case len(f.records) < s.c.MaxItems:
			f.records = append(f.records, *r)
		case named:
			return &claimdlq.Error{Code: claimdlq.Refused, Op: opPreview, On: "over 10,000 records are named", Hint: "name some of them, then the others; or select them by a filter"}
		default:
			f.remaining++
			f.next = f.records[len(f.records)-1].ID
		}
		return nil
	})
	switch {
	case err != nil || len(f.records) > 0:
	case f.corrected > 0:
		err = &claimdlq.Error{Code: claimdlq.Refused, Op: opPreview, On: "all that is selected is corrected already", Hint: "replay it; or ask for what is corrected, too"}
	default:
		err = &claimdlq.Error{Code: claimdlq.Refused, Op: opPreview, On: "nothing is selected", Hint: "look what there is with: GET /v1/groups"}
	}
	return f, err
}

// corrected reports that a record has a payload that nobody has refused.
func corrected(r *claimdlq.Record) bool { return r.PayloadRevision > max(r.RefusedRevision, 1) }

// tried is what the recipe makes of the records.
func (s *Recipes) tried(ctx context.Context, by claimdlq.By, records []claimdlq.Record, rc *correct.Recipe) ([]Item, error) {
	items := make([]Item, len(records))
	for at := 0; at < len(records); at += openBatch {
		batch := records[at:min(at+openBatch, len(records))]
		err := s.try(ctx, by, batch, rc, func(i int, t *correct.Trial) error {
			items[at+i] = itemOf(&batch[i], t)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return items, nil
}

func itemOf(r *claimdlq.Record, t *correct.Trial) Item {
	it := Item{Record: r.ID, Revision: r.Revision, Claims: r.Claims, Cents: r.AmountCents, Partner: r.Partner, Verdict: t.Verdict, Code: t.Code}
	it.Places, it.More = placesOf(&t.Draft)
	if to := t.Draft.Goes(); to != r.Partner {
		it.To = to
	}
	return it
}

// try opens the documents of some records under one audit commit, several at a time, and
// hands over what the recipe makes of each: a document may be megabytes, and is held no
// longer than that takes.
func (s *Recipes) try(ctx context.Context, by claimdlq.By, records []claimdlq.Record, rc *correct.Recipe, then func(int, *correct.Trial) error) error {
	var there []claimdlq.Record
	for i := range records {
		if records[i].Revision > 0 {
			there = append(there, records[i])
		}
	}
	var proof claimdlq.Proof
	if len(there) > 0 {
		var err error
		if proof, err = s.c.Correct.OpenGroup(ctx, by, there); err != nil {
			return err
		}
	}
	return background.Each(len(records), s.c.Workers, nil, func(i int) error {
		if records[i].Revision == 0 {
			return then(i, &correct.Trial{Verdict: NotFound})
		}
		t, err := s.c.Correct.Try(ctx, proof, records[i], rc)
		if err != nil {
			if ctx.Err() != nil || errors.Is(err, claimdlq.Unavailable) {
				return err
			}
			s.c.Log.Warn("A record of a recipe cannot be opened", slog.String("record", records[i].ID.String()), slog.String("code", codeOf(err)))
			t = correct.Trial{Verdict: Failed}
		}
		return then(i, &t)
	})
}

func codeOf(err error) string {
	if e, ok := errors.AsType[*claimdlq.Error](err); ok {
		return string(e.Code)
	}
	return string(claimdlq.Internal)
}

// placesOf returns where a draft differs, by the form of the values, and how many places
// are left out.
func placesOf(d *correct.Draft) (out []Place, more int) {
	for i := range d.Places[:min(len(d.Places), mostPlaces)] {
		x := &d.Places[i]
		out = append(out, Place{
			Segment: x.Segment, Loop: x.Loop, Position: x.Position, Element: x.Element, Kind: x.Kind, Before: form(x.Old), After: form(x.New),
		})
	}
	for i := range d.RxPlaces[:min(len(d.RxPlaces), mostPlaces)] {
		x := &d.RxPlaces[i]
		out = append(out, Place{Rx: true, Transaction: x.Transaction, Segment: x.Segment, Element: x.Field, Kind: x.Kind, Before: form(x.Old), After: form(x.New)})
	}
	return out, len(d.Places) + len(d.RxPlaces) - len(out)
}

func form(s string) string { return correct.Form(s, mostForm) }
