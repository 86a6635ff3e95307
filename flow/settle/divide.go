package settle

import (
	"time"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/wire/x12ack"
)

// set applies the verdicts on the claims that have not parted. Where they agree,
// or the record stands for one claim, it moves as a whole; otherwise claims whose
// fate differs part from it.
func (d *division) set(verdicts map[int]x12ack.Answer, code claimdlq.Detail) error {
	r := d.c.record
	stale, err := d.stale(r)
	if err != nil {
		return err
	}
	stands := d.standing(r, stale)
	var own []sentClaim
	for _, cl := range d.c.claims {
		if _, parted := d.c.children[cl.ordinal]; parted && r.Scope == claimdlq.ScopeTransaction {
			continue
		}
		if _, ok := verdicts[cl.ordinal]; ok {
			own = append(own, cl)
		}
	}
	if a, one := unanimous(own, verdicts); one && len(own) == int(r.Claims) {
		return d.single(r, a, stale)
	}
	if stale && (r.State == claimdlq.StateLeased || r.State == claimdlq.StateInDoubt) {
		stands = standsClosed // nothing parts from what is being delivered or in doubt
	}
	n := r
	if stands == standsWaiting { // an answer about any claim proves that all arrived
		if n, err = d.waits(r, code); err != nil {
			return err
		}
	}
	var accepted []uint32
	for _, cl := range own {
		a := verdicts[cl.ordinal]
		f := fateOf(a)
		switch {
		case f == fateWait:
			d.m.pending++
		case !stands.acts(f):
		case f == fateAccepted && stands == standsWaiting:
			accepted = append(accepted, uint32(cl.ordinal))
		default:
			if n, err = d.part(n, cl, f, a); err != nil {
				return err
			}
		}
	}
	return d.finish(r, n, accepted, verdicts, own)
}

// unanimous returns the answer that all claims share, if they do.
func unanimous(own []sentClaim, verdicts map[int]x12ack.Answer) (x12ack.Answer, bool) {
	if len(own) == 0 {
		return x12ack.Answer{}, false
	}
	first := verdicts[own[0].ordinal]
	for _, cl := range own[1:] {
		if a := verdicts[cl.ordinal]; fateOf(a) != fateOf(first) || fateOf(a) == fateRejected && a.Detail() != first.Detail() {
			return first, false
		}
	}
	return first, true
}

// part gives the claim a record of its own with the fate, and returns the set's
// record without it. Counts go along: the cap holds for the claim as well.
func (d *division) part(set claimdlq.Record, cl sentClaim, f fate, a x12ack.Answer) (claimdlq.Record, error) {
	now := d.now()
	rest, err := set.Part(1, cl.cents, now)
	if err != nil {
		return set, err
	}
	child := d.c.record
	child.ID, child.Revision, child.Parent = 0, 0, d.c.record.ID
	child.Key = lineage.ClaimKey(d.ids[0], d.c.record.Key, uint32(cl.ordinal))
	child.KeyTerm = d.ids[0].Term
	child.Scope, child.Ordinal, child.Batch, child.Answered = claimdlq.ScopeClaim, uint32(cl.ordinal), 0, ""
	child.Claims, child.Parted, child.AmountCents = 1, 0, cl.cents
	// Its own document is the first revision: cut out of what its set was.
	child.PayloadRevision, child.RefusedRevision = 1, 0
	child.CreatedAt, child.FirstFailedAt, child.Disposition = now, time.Time{}, claimdlq.DispositionNone
	ended, err := d.end(child, f, a)
	if err != nil {
		return set, err
	}
	index := d.m.insert(d.c.record, ended)
	if d.newly == nil {
		d.newly = map[int]bool{}
	}
	d.newly[cl.ordinal] = true
	if ended.State == claimdlq.StateQueued {
		if err := d.resubmit(child, ended, store.ParentIndex(index)); err != nil {
			return set, err
		}
	}
	return rest, d.register(cl, index)
}

// finish closes the set's own record: settled when every claim that is left has
// been accepted, otherwise with what has been accepted so far.
func (d *division) finish(was, n claimdlq.Record, accepted []uint32, verdicts map[int]x12ack.Answer, own []sentClaim) error {
	var code claimdlq.Detail
	if len(own) > 0 {
		code = verdicts[own[len(own)-1].ordinal].Detail()
	}
	var err error
	if len(accepted) > 0 {
		if n, err = n.Answer(accepted, code, d.now()); err != nil {
			return err
		}
	}
	switch left := d.left(n); {
	case n.State != claimdlq.StateSubmitted && n.Claims > 0:
	case n.Claims == 0 && n.State != claimdlq.StateSettled:
		if n, err = n.Settle(claimdlq.Rejected, code, d.now()); err != nil {
			return err
		}
	case n.Claims > 0 && left == 0:
		if n, err = n.Settle(claimdlq.Accepted, code, d.now()); err != nil {
			return err
		}
	}
	if n.State == was.State && n.Claims == was.Claims && n.Answered == was.Answered {
		return nil
	}
	d.m.update(claimdlq.ActAcknowledge, was, n)
	return nil
}

// left returns how many claims of the record no acknowledgment has accepted yet.
func (d *division) left(n claimdlq.Record) int {
	accepted := 0
	for _, cl := range d.c.claims {
		if n.Answered.Has(uint32(cl.ordinal)) && !d.parted(cl.ordinal) {
			accepted++
		}
	}
	return int(n.Claims) - accepted
}

// parted reports whether the claim has a record of its own, or gets one now.
func (d *division) parted(ordinal int) bool {
	_, before := d.c.children[ordinal]
	return before || d.newly[ordinal]
}
