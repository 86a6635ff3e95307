package intake

import (
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/lineage"
	"claimdlq/store"
)

// endBatch judges the batch at its end: what it holds goes out, or is quarantined with
// the batch's code.
func (x *rxFile) endBatch() error {
	if err := x.endJunk(); err != nil {
		return err
	}
	if err := x.chunk(); err != nil {
		return err
	}
	if !x.b.bad.IsZero() {
		x.f.fault("batch %s is refused: %s", x.d.number, x.b.bad)
	}
	for _, c := range x.b.chunks {
		var err error
		if x.b.bad.IsZero() {
			err = settled(func() error { return x.release(c) })
		} else {
			err = settled(func() error { return x.holdBack(c) })
		}
		if err != nil {
			return err
		}
	}
	return x.f.flush() // audit entries of what was there already
}

// run calls f for the records of the chunk in order, once for each.
func (x *rxFile) run(c rxChunk, f func(claimdlq.Record) error) error {
	if len(c.revived) > 0 {
		f = once(f)
	}
	if c.again && c.first != 0 {
		if err := x.earlierRun(c.first, f); err != nil {
			return err
		}
	}
	for id := c.first; !c.again && id != 0 && id <= c.last; id++ {
		if err := x.with(id, f); err != nil {
			return err
		}
	}
	for _, id := range c.revived {
		if err := x.with(id, f); err != nil {
			return err
		}
	}
	return nil
}

// once keeps f from being called for a record twice: what a chunk brings again may be its
// own, of an earlier delivery.
func once(f func(claimdlq.Record) error) func(claimdlq.Record) error {
	done := map[claimdlq.ID]bool{}
	return func(r claimdlq.Record) error {
		if done[r.ID] {
			return nil
		}
		done[r.ID] = true
		return f(r)
	}
}

func (x *rxFile) with(id claimdlq.ID, f func(claimdlq.Record) error) error {
	r, err := x.f.o.Store.Get(x.f.ctx, id)
	if err != nil {
		return err
	}
	return f(r)
}

// earlierRun calls f for the records of a chunk that an earlier delivery took in: they
// share its unit. What a person has corrected since goes its own way.
func (x *rxFile) earlierRun(first claimdlq.ID, f func(claimdlq.Record) error) error {
	unit := ""
	for id := first; ; id++ {
		r, err := x.f.o.Store.Get(x.f.ctx, id)
		if errors.Is(err, claimdlq.NotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case r.PayloadRevision > 1:
			continue
		case unit == "":
			unit = r.Payload.Unit
		case r.Payload.Unit != unit:
			return nil
		}
		if err := f(r); err != nil {
			return err
		}
	}
}

// releasing gathers what one commit releases.
type releasing struct {
	x     *rxFile
	c     rxChunk
	batch store.Batch
	group []claimdlq.Record // of one transmission
	gaps  []int64           // offsets of transmissions of which something does not go
	out   int64             // claims
}

// maxRounds bounds how often a chunk is looked at anew because somebody else has moved
// one of its records: a claim that a batch holds may come alone meanwhile, and goes.
const maxRounds = 16

// settled calls f until nobody else has moved what it commits.
func settled(f func() error) (err error) {
	for range maxRounds {
		if err = f(); !errors.Is(err, claimdlq.Conflict) {
			return err
		}
	}
	return err
}

// release puts the records of the chunk into submissions. Each is updated with the
// commit, so that nobody else has done the same since it was read.
func (x *rxFile) release(c rxChunk) error {
	x.d.now = x.f.now()
	g := &releasing{x: x, c: c}
	fills, err := x.hold(c)
	if err != nil {
		return err
	}
	defer x.f.o.Guard.Free(fills)
	err = x.run(c, func(r claimdlq.Record) error {
		waits, ok, err := g.goes(r)
		if err != nil {
			return err
		}
		if !ok {
			g.gaps = append(g.gaps, r.Payload.Offset)
			return nil
		}
		return g.add(r, waits)
	})
	if err != nil {
		return err
	}
	g.end()
	first := c.first
	if first == 0 && len(c.revived) > 0 {
		first = c.revived[0]
	}
	for _, id := range x.d.ids { // whichever term the chunk was recognised under
		if first != 0 {
			g.batch.Fingerprints = append(g.batch.Fingerprints, store.Fingerprint{Key: released(id, c.key), Record: first})
		}
	}
	if len(g.batch.NewSubmissions)+len(g.batch.Update)+len(g.batch.Fingerprints) > 0 {
		if _, err := x.f.o.Store.Commit(x.f.ctx, g.batch); err != nil {
			return err
		}
	}
	x.f.result.Accepted += g.out
	x.f.result.Duplicates += c.taken - g.out
	return nil
}

// hold holds the fills of a chunk whose records were held back and may go now: until that
// is durable nobody else may bring their claims. What is only held blocks them itself.
func (x *rxFile) hold(c rxChunk) (fills []claimdlq.Key, err error) {
	if !c.again {
		return nil, nil
	}
	err = x.run(c, func(r claimdlq.Record) error {
		if r.Batch != 0 && heldBack(r) {
			fills = append(fills, lineage.RefKey(r.Batch))
		}
		return nil
	})
	if err == nil {
		err = x.f.o.Guard.Hold(x.f.ctx, fills)
	}
	if err != nil {
		return nil, err
	}
	return fills, nil
}

// goes reports whether the record goes out with this batch, and whether it must wait
// for another of its fill.
func (g *releasing) goes(r claimdlq.Record) (waits, ok bool, err error) {
	switch {
	case interrupted(r):
		return r.Detail == detailLineage, true, nil
	case !g.c.again || !heldBack(r):
		return false, false, nil
	}
	if r.Batch == 0 {
		return false, true, nil
	}
	mates, err := g.mates(r)
	if err != nil {
		return false, false, err
	}
	for _, m := range mates {
		if m.ID > r.ID && m.Payload.Unit != r.Payload.Unit && lineage.Root(m) == lineage.Root(r) && lineage.Stands(m) {
			return false, false, nil // the claim came another way since
		}
	}
	return lineage.WaitAmong(r, mates).Move != lineage.Goes, true, nil
}

// mates returns the records of the fill as they will be after this commit.
func (g *releasing) mates(r claimdlq.Record) ([]claimdlq.Record, error) {
	mates, err := g.x.f.o.Store.Lookup(g.x.f.ctx, r.Batch, lineage.MaxMates)
	for i := range mates {
		for _, u := range g.batch.Update {
			if u.ID == mates[i].ID {
				mates[i] = u
			}
		}
	}
	return mates, err
}

// add takes one record out of what held it and into the submission of its transmission.
func (g *releasing) add(r claimdlq.Record, waits bool) error {
	g.out += int64(r.Claims)
	g.x.d.held = false
	n, err := g.x.d.requeued(r, waits)
	g.x.d.held = true
	if err != nil {
		return err
	}
	if r.State == claimdlq.StateQuarantined {
		g.batch.Entries = append(g.batch.Entries, claimdlq.Entry{
			At: n.UpdatedAt, Actor: g.x.f.by.Actor, Action: claimdlq.ActReceive, Record: n.ID,
			PayloadRevision: n.PayloadRevision, From: r.State, To: n.State,
		})
	}
	g.batch.Update = append(g.batch.Update, n)
	r = n
	if len(g.group) > 0 && (g.group[0].Payload != r.Payload || r.Hold == claimdlq.HoldLineage) {
		g.end()
	}
	g.group = append(g.group, r)
	if r.Hold == claimdlq.HoldLineage {
		g.end()
	}
	return nil
}

// end puts the transmission that was gathered into a submission, or each of its
// transactions into one of its own where they do not go out whole.
func (g *releasing) end() {
	rs := g.group
	g.group = nil
	if len(rs) == 0 {
		return
	}
	at := rs[0].Payload.Offset
	alone := g.c.again || slices.Contains(g.gaps, at) || slices.Contains(g.c.apart, at) || slices.Contains(g.c.revived, rs[0].ID)
	if !alone {
		s := g.x.d.submission(rs[0], rs[0].ID, rs[len(rs)-1].ID)
		if len(rs) == 1 { // the digest of a transaction alone is that of its bytes
			s.Digest, s.Bytes = rs[0].Digest, rs[0].Payload.Length
		}
		g.batch.NewSubmissions = append(g.batch.NewSubmissions, s)
		return
	}
	for _, r := range rs {
		g.batch.NewSubmissions = append(g.batch.NewSubmissions, g.x.d.submission(r, r.ID, r.ID))
	}
}

// holdBack quarantines the records of the chunk with the batch's code.
func (x *rxFile) holdBack(c rxChunk) error {
	now := x.f.now()
	why := claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: x.b.bad, RuleVersion: rules}
	var b store.Batch
	var claims int64
	err := x.run(c, func(r claimdlq.Record) error {
		if !interrupted(r) {
			return nil
		}
		n, err := r.Quarantine(why, now)
		if err != nil {
			return err
		}
		claims += int64(r.Claims)
		b.Update = append(b.Update, n)
		b.Entries = append(b.Entries, claimdlq.Entry{
			At: now, Actor: x.f.by.Actor, Action: claimdlq.ActEnqueue, Record: n.ID, PayloadRevision: n.PayloadRevision,
			Detail: n.Detail, From: r.State, To: n.State,
		})
		return nil
	})
	if err != nil {
		return err
	}
	if len(b.Update) > 0 {
		if _, err := x.f.o.Store.Commit(x.f.ctx, b); err != nil {
			return err
		}
	}
	for _, r := range b.Update {
		x.f.result.hold(&r, Quarantined)
		dlqlog.RxPoison(x.f.ctx, x.f.o.RxLog, r)
	}
	x.f.result.Quarantined += claims
	x.f.result.Duplicates += c.taken - claims
	return nil
}
