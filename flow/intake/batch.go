package intake

import (
	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/lineage"
	"claimdlq/store"
)

// pending is a new record on its way into the store, with the claims that part
// from it.
type pending struct {
	record       claimdlq.Record
	action       claimdlq.Action
	group        *group // which collects it once it has an id; nil for what stands alone
	children     []claimdlq.Record
	notes        []string       // one per child
	fingerprints []claimdlq.Key // of the claims that go out
}

// batch is what the next commit will hold.
type batch struct {
	sets    []pending
	entries []claimdlq.Entry // of records that are there already
	claims  int
	bytes   int64

	held         []claimdlq.Key        // fingerprints of the claims that go out with it
	fingerprints []store.Fingerprint   // of sets that are there already
	keys         map[claimdlq.Key]bool // of its sets
	lookup       []claimdlq.Key        // scratch
	got          []bool                // scratch
}

func (b *batch) add(p pending, bytes int64) {
	b.sets = append(b.sets, p)
	b.bytes += bytes
	b.claims += int(p.record.Claims) + len(p.children)
}

func (f *file) flushIfFull() error {
	if f.batch.claims >= f.o.BatchClaims || f.batch.bytes >= f.o.BatchBytes || len(f.batch.entries) >= f.o.BatchClaims {
		return f.flush()
	}
	return nil
}

// flush makes the batch durable: payloads first, then records and audit entries
// in one commit. Sets come before the claims that part from them, so that their
// ids run on.
func (f *file) flush() error {
	b := &f.batch
	if len(b.sets)+len(b.entries)+len(b.fingerprints) == 0 {
		f.free() // claims that were looked at, and stand as they stood
		return nil
	}
	if len(b.sets) > 0 {
		if err := f.o.Vault.Sync(f.ctx); err != nil {
			return err
		}
	}
	c := store.Batch{Entries: b.entries, Fingerprints: b.fingerprints}
	for i, p := range b.sets {
		c.Insert = append(c.Insert, p.record)
		c.Entries = append(c.Entries, f.entry(p.action, i, p.record, ""))
		for _, k := range p.fingerprints {
			c.Fingerprints = append(c.Fingerprints, store.Fingerprint{Key: k, Record: store.ParentIndex(i)})
		}
	}
	for i, p := range b.sets {
		for n, child := range p.children {
			child.Parent = store.ParentIndex(i)
			action := claimdlq.ActEnqueue
			if child.State == claimdlq.StateParked {
				action = claimdlq.ActConflict
			}
			c.Entries = append(c.Entries, f.entry(action, len(c.Insert), child, p.notes[n]))
			c.Insert = append(c.Insert, child)
		}
	}
	receipt, err := f.o.Store.Commit(f.ctx, c)
	if err != nil {
		return err
	}
	conflicts := f.count(receipt)
	clear(b.sets)
	b.sets, b.entries, b.claims, b.bytes = append(b.sets[:0], conflicts...), nil, 0, 0
	f.free()
	b.fingerprints = nil
	clear(b.keys)
	return f.flush() // nothing, but for conflicts
}

// free lets the claims go that are held until the batch is durable.
func (f *file) free() {
	f.o.Guard.Free(f.batch.held)
	f.batch.held = f.batch.held[:0]
}

func (f *file) entry(a claimdlq.Action, index int, r claimdlq.Record, note string) claimdlq.Entry {
	return claimdlq.Entry{
		At: r.CreatedAt, Actor: f.by.Actor, Action: a, Record: store.ParentIndex(index),
		PayloadRevision: r.PayloadRevision, Detail: r.Detail, To: r.State, Note: note,
	}
}

// count puts what was committed into the result and hands ids to their groups.
// A duplicate or conflict here was taken in elsewhere since it was looked up; it
// returns the conflicting copies, which are still to be kept.
func (f *file) count(receipt store.Receipt) (conflicts []pending) {
	next := len(f.batch.sets) // of the claims that part, which come after all sets
	for i, p := range f.batch.sets {
		all := int64(p.record.Claims) + int64(p.record.Parted)
		in, children := receipt.Inserted[i], receipt.Inserted[next:next+len(p.children)]
		next += len(children)
		r := p.record
		r.ID = in.ID
		switch {
		case in.Status == store.Duplicate:
			f.result.Duplicates += all
			continue
		case in.Status == store.Conflict:
			conflicts = append(conflicts, f.late(p))
			continue
		case p.record.State == claimdlq.StateParked:
			f.result.Conflicts += all
			f.result.hold(&r, Conflict)
			copied(f.ctx, f.o.Log, r)
		case p.record.State == claimdlq.StateQueued:
			p.group.add(in.ID, int64(p.record.Claims))
		case p.record.State == claimdlq.StateInDoubt:
			p.group.add(in.ID, int64(p.record.Claims))
		default:
			f.result.Quarantined += all
			f.result.hold(&r, Quarantined)
			f.enqueued(r)
		}
		if p.group == nil {
			f.result.Claims += all
		}
		for n, child := range p.children {
			child.ID = children[n].ID
			f.countPart(child)
		}
	}
	return conflicts
}

// countPart counts a claim that was parted from its set and held.
func (f *file) countPart(r claimdlq.Record) {
	if r.State == claimdlq.StateParked {
		f.result.Conflicts++
		f.result.hold(&r, Conflict)
		copied(f.ctx, f.o.Log, r)
		return
	}
	f.result.Quarantined++
	f.result.hold(&r, Quarantined)
	dlqlog.Enqueued(f.ctx, f.o.Log, r)
}

// enqueued says that the record was dead-lettered.
func (f *file) enqueued(r claimdlq.Record) {
	if r.Stream == claimdlq.StreamNCPDP {
		dlqlog.RxPoison(f.ctx, f.o.RxLog, r)
		return
	}
	dlqlog.Enqueued(f.ctx, f.o.Log, r)
}

// late returns the set as a conflicting copy, whole again.
func (f *file) late(p pending) pending {
	r := p.record
	for _, c := range p.children {
		r.AmountCents += c.AmountCents
	}
	r.Claims, r.Parted, r.Hold = r.Claims+r.Parted, 0, claimdlq.HoldNone
	r.Key = f.ids[0].Key("x12/conflict", r.Key[:], r.Digest[:])
	if f.dead.doubts() { // it stays in doubt
		return pending{record: r, action: claimdlq.ActConflict, group: p.group}
	}
	return pending{record: parked(r, lineage.KeyConflict, f.now()), action: claimdlq.ActConflict, group: p.group}
}
