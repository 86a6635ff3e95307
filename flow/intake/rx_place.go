package intake

import (
	"context"
	"errors"
	"slices"
	"strings"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// place decides about every transaction of the ith message of the chunk, puts what is
// new among the inserts, and its bytes into the unit.
func (d *desk) place(i int) error {
	m := &d.messages[i]
	first := len(d.batch.Insert)
	items := d.items[m.first : m.first+m.n]
	for n := range items {
		it := &items[n]
		var err error
		switch {
		case it.known && it.ref != 0:
			err = d.placeFill(m.first+n, it)
		case it.known:
			err = d.placeQuestion(m.first+n, it)
		default:
			err = d.placeBytes(m.first+n, it)
		}
		if err != nil {
			return err
		}
	}
	if len(d.batch.Insert) > first {
		d.keep(m, first)
	}
	return d.submit(m, items, first)
}

// keep appends the transmission to the unit and points its new records at it.
func (d *desk) keep(m *message, first int) {
	all, lead := m.raw, 0
	if m.wrap != nil { // the reference in front of the message is kept, out of reach
		all, lead = m.wrap, len(m.wrap)-len(m.raw)-1
	}
	at := int64(len(d.buf) + lead)
	d.buf = append(d.buf, all...)
	d.basis.Add(uint64(at), m.day)
	for n := first; n < len(d.batch.Insert); n++ {
		d.batch.Insert[n].Payload.Offset, d.batch.Insert[n].Payload.Length = at, int64(len(m.raw))
	}
}

// placeFill places a transaction among the records of its fill.
func (d *desk) placeFill(index int, it *item) error {
	mates, batch, err := lineage.Mates(d.ctx, d.o.Store, d.ids, &it.claim, it.ref)
	if err != nil {
		return err
	}
	if _, here := d.pending[it.ref]; !here && len(mates) == 0 { // by far the most
		d.insert(index, it, lineage.Place{Key: it.claim.Key(d.ids[0], 0), Batch: batch})
		return nil
	}
	p, err := d.rx(it).Place(d.ctx, d.ids, d.current(mates, it.ref), batch)
	if err != nil {
		return err
	}
	switch p.Standing {
	case lineage.Duplicate:
		return d.again(it, p)
	case lineage.Crowded: // its mates are more than were looked at: it may be there already
		k, r, err := d.untaken(p.Key, func(r claimdlq.Record) bool { return r.State.Unresolved() })
		if err != nil {
			return err
		}
		if r.ID != 0 {
			return d.again(it, lineage.Place{Earlier: r, Blocked: true})
		}
		p.Key = k
	case lineage.Fresh, lineage.Successor, lineage.Conflict:
	}
	d.insert(index, it, p)
	return nil
}

// current returns the mates as they will be after what the chunk has placed so far.
func (d *desk) current(mates []claimdlq.Record, ref claimdlq.Ref) []claimdlq.Record {
	for i := range mates {
		if r, ok := d.moved[mates[i].ID]; ok {
			mates[i] = r
		}
	}
	n, ok := d.pending[ref]
	first := len(mates)
	for ; ok && n >= 0; n = d.before[n] {
		r := d.batch.Insert[n]
		r.ID = store.ParentIndex(n)
		mates = append(mates, r)
	}
	slices.Reverse(mates[first:])
	return mates
}

// again deals with a transaction that is there already. Mostly it is answered with
// the state of its record. But what was held back for a fault that was not its own,
// and never sent, has its second chance.
func (d *desk) again(it *item, p lineage.Place) error {
	r := p.Earlier
	it.status, it.record, it.insert = Duplicate, r, -1
	i, here := store.IsParentIndex(r.ID)
	if here {
		it.insert = i
	}
	if !here && !it.bad && d.dead == nil && (heldBack(r) && !p.Blocked || !d.held && interrupted(r)) {
		return d.revive(it, r, p.Waits || interrupted(r) && r.Detail == detailLineage)
	}
	if d.dead != nil && !here {
		left, err := unfinished(d.ctx, d.o.Store, r, d.dead.Detail)
		if err != nil {
			return err
		}
		if left {
			d.left = append(d.left, r)
		}
	}
	d.note(claimdlq.ActDuplicate, r, r)
	return nil
}

// batchPrefix begins the details of records that a broken batch held back.
const batchPrefix = "NCPDP:BATCH:"

// heldBack reports that a fault of a batch, or of what the claim waited for, held the
// record back, and that nobody has touched it since.
func heldBack(r claimdlq.Record) bool {
	if r.State != claimdlq.StateQuarantined || r.AttemptCount > 0 || r.ReplayCount > 0 || r.Submission != 0 || r.PayloadRevision > 1 {
		return false
	}
	s := r.Detail.String()
	return strings.HasPrefix(s, batchPrefix) || s == "LINEAGE:NOT_REVERSED"
}

// revive queues the record again, for the transaction that has come once more.
func (d *desk) revive(it *item, r claimdlq.Record, waits bool) error {
	n, err := d.requeued(r, waits)
	if err != nil {
		return err
	}
	it.status, it.record, it.waits = TakenIn, n, waits
	d.moved[r.ID] = n
	d.batch.Update = append(d.batch.Update, n)
	d.note(claimdlq.ActReceive, r, n)
	if d.held {
		d.revived = append(d.revived, r.ID)
		return nil
	}
	d.batch.NewSubmissions = append(d.batch.NewSubmissions, d.submission(n, r.ID, r.ID))
	return nil
}

// requeued returns the record as it waits for delivery.
func (d *desk) requeued(r claimdlq.Record, waits bool) (claimdlq.Record, error) {
	if r.State == claimdlq.StateQueued {
		return r.Held(holdOf(d.held, waits), d.now)
	}
	n, err := r.Requeue(claimdlq.Detail{}, r.NotBefore, d.now)
	n.Class, n.Reason, n.Hold = claimdlq.ClassNone, claimdlq.ReasonNone, holdOf(d.held, waits)
	if waits {
		n.Detail = detailLineage
	}
	return n, err
}

// holdOf says why a new record does not go out yet. Inside a batch that is the batch;
// that it waits for its fill then stands in its detail.
func holdOf(batch, waits bool) claimdlq.Hold {
	switch {
	case batch:
		return claimdlq.HoldIntake
	case waits:
		return claimdlq.HoldLineage
	}
	return claimdlq.HoldNone
}

// placeQuestion places a transaction that is about no fill: an eligibility question.
// It may rightly be asked again once it was answered.
func (d *desk) placeQuestion(index int, it *item) error {
	k, r, err := d.untaken(it.claim.Key(d.ids[0], 0), func(r claimdlq.Record) bool {
		return r.State.Unresolved() && r.Digest == it.digest
	})
	switch {
	case err != nil:
		return err
	case r.ID == 0:
		d.insert(index, it, lineage.Place{Key: k})
		return nil
	case r.State.Unresolved() && r.Digest == it.digest:
		return d.again(it, lineage.Place{Earlier: r})
	}
	return d.placeBytes(index, it) // it was asked too often
}

// untaken returns the first of the tries of the key that nobody has, or the record that
// answers before it; the last of them where there are too many.
func (d *desk) untaken(key claimdlq.Key, answers func(claimdlq.Record) bool) (k claimdlq.Key, r claimdlq.Record, err error) {
	for n := range byte(lineage.MaxMates) {
		k = key
		if n > 0 {
			k = d.ids[0].Key("ncpdp/again", key[:], []byte{n})
		}
		r, err = d.find(k)
		if errors.Is(err, claimdlq.NotFound) {
			return k, claimdlq.Record{}, nil
		}
		if err != nil || answers(r) {
			return k, r, err
		}
	}
	return k, r, nil
}

// find returns the record with the key, in the store or among the inserts.
func (d *desk) find(k claimdlq.Key) (claimdlq.Record, error) {
	if i, ok := d.loose[k]; ok {
		r := d.batch.Insert[i]
		r.ID = store.ParentIndex(i)
		return r, nil
	}
	return d.o.Store.Find(d.ctx, k)
}

// placeBytes places what no claim key identifies: the same bytes again are a redelivery.
func (d *desk) placeBytes(index int, it *item) error {
	var key claimdlq.Key
	for n, id := range d.ids {
		sum := d.digest(it, id.Term)
		k := id.Key("ncpdp/bytes", sum[:])
		if n == 0 {
			key = k
		}
		r, err := d.find(k)
		if err == nil {
			return d.again(it, lineage.Place{Earlier: r})
		}
		if !errors.Is(err, claimdlq.NotFound) {
			return err
		}
	}
	if it.known { // a question asked too often
		it.bad, it.fault = true, claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: detailCrowded}
	}
	d.insert(index, it, lineage.Place{Key: key})
	return nil
}

// open returns the claim of another record of the fill, which is audited.
func (d *desk) open(ctx context.Context, r claimdlq.Record) (ncpdp.Claim, error) {
	if i, ok := store.IsParentIndex(r.ID); ok { // still on the desk
		return d.items[d.origin[i]].claim, nil
	}
	receipt, err := d.o.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{{
		At: d.now, Actor: d.by.Actor, Action: claimdlq.ActOpen, Record: r.ID, PayloadRevision: r.PayloadRevision,
		Detail: detailLineage, From: r.State, To: r.State,
	}}})
	if err != nil {
		return ncpdp.Claim{}, err
	}
	raw, err := d.o.Vault.Open(ctx, r.Payload, receipt.Proof)
	switch {
	case errors.Is(err, claimdlq.NotFound), errors.Is(err, claimdlq.Corrupt):
		return ncpdp.Claim{}, nil // nobody can tell any more: another claim
	case err != nil:
		return ncpdp.Claim{}, err
	}
	m := ncpdp.Parse(raw.Reveal())
	n := 1
	if r.PayloadRevision <= 1 {
		n = int(r.Ordinal)
	}
	c, fault := m.Claim(min(n, m.Groups()))
	if fault != nil {
		return ncpdp.Claim{}, nil
	}
	return c, nil
}
