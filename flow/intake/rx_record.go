package intake

import (
	"encoding/hex"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/wire/ncpdp"
)

// insert puts the record of a transaction among the inserts, as its place and its
// faults say.
func (d *desk) insert(index int, it *item, p lineage.Place) {
	r := d.record(it)
	r.Key, r.Batch, r.GroupID = p.Key, p.Batch, lineage.GroupID(store.ParentIndex(len(d.batch.Insert)), p.Root)
	action := claimdlq.ActEnqueue
	it.status = Quarantined
	switch {
	case d.dead.doubts(): // whatever stands against it: it may be with the payer
		r = d.dead.stamp(r, it, d.now)
	case p.Standing == lineage.Conflict:
		it.status, action = Conflict, claimdlq.ActConflict
		why := lineage.KeyConflict
		if p.InDoubt {
			why = lineage.EarlierInDoubt
		}
		r = parked(r, why, d.now)
	case p.Standing == lineage.Crowded:
		r = dead(r, claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: detailCrowded}, d.now)
	case d.dead != nil:
		r = d.dead.stamp(r, it, d.now)
	case it.bad:
		r = dead(r, it.fault, d.now)
	default:
		it.status, action, it.waits = TakenIn, claimdlq.ActReceive, p.Waits
		r.State, r.Hold = claimdlq.StateQueued, holdOf(d.held, p.Waits)
		if p.Waits {
			r.Detail = detailLineage
		}
	}
	it.insert = len(d.batch.Insert)
	d.before = append(d.before, -1)
	if it.ref == 0 || p.Standing == lineage.Crowded {
		d.loose[r.Key] = it.insert
	} else {
		if n, ok := d.pending[it.ref]; ok {
			d.before[it.insert] = n
		}
		d.pending[it.ref] = it.insert
	}
	d.batch.Insert, d.origin = append(d.batch.Insert, r), append(d.origin, index)
	d.batch.Entries = append(d.batch.Entries, claimdlq.Entry{
		At: d.now, Actor: d.by.Actor, Action: action, Record: store.ParentIndex(it.insert), PayloadRevision: 1,
		Detail: r.Detail, To: r.State,
	})
}

// record returns what the record of an item has, whatever becomes of it.
func (d *desk) record(it *item) claimdlq.Record {
	r := claimdlq.Record{
		Digest: it.digest, KeyTerm: d.ids[0].Term, Format: claimdlq.FormatNCPDP, Scope: claimdlq.ScopeTransaction, Stream: claimdlq.StreamNCPDP,
		Ordinal: it.ordinal, TransactionID: d.code(it.code), Sender: it.sender, Partner: it.partner,
		InterchangeID: d.number, Usage: d.usage, RuleVersion: rules, PayloadRevision: 1,
		Claims: it.claims, AmountCents: it.amount, CreatedAt: d.now, UpdatedAt: d.now,
	}
	if it.whole {
		r.Scope = claimdlq.ScopeInterchange
	}
	return r
}

// code is 103-A3, or nothing where there is no such code.
func (d *desk) code(c [2]byte) string {
	if !ncpdp.KnownTransaction(c[:]) {
		return ""
	}
	return d.intern(c[:])
}

// note audits that something happened to a record that is there already.
func (d *desk) note(a claimdlq.Action, from, to claimdlq.Record) {
	d.batch.Entries = append(d.batch.Entries, claimdlq.Entry{
		At: d.now, Actor: d.by.Actor, Action: a, Record: to.ID, PayloadRevision: to.PayloadRevision,
		Detail: to.Detail, From: from.State, To: to.State,
	})
}

// submit puts what goes out of a transmission into submissions: all of it together
// where all of it goes, as it came; else each transaction alone.
func (d *desk) submit(m *message, items []item, first int) error {
	if d.held && !d.dead.doubts() {
		return nil
	}
	if d.together(m, items) {
		s := d.submission(d.batch.Insert[first], store.ParentIndex(first), store.ParentIndex(first+len(items)-1))
		s.Digest, s.Bytes = d.exact(m), int64(len(m.raw))
		d.batch.NewSubmissions = append(d.batch.NewSubmissions, s)
		return nil
	}
	cut := false
	for i := range items {
		it := &items[i]
		if !d.goes(it) {
			continue
		}
		if !cut {
			d.msg.Reset(m.raw)
			cut = true
		}
		b, err := ncpdp.Cut(d.msg, int(it.ordinal))
		if err != nil {
			return err
		}
		id := store.ParentIndex(it.insert)
		s := d.submission(d.batch.Insert[it.insert], id, id)
		s.Digest, s.Bytes = d.sum(0, b), int64(len(b))
		d.batch.NewSubmissions = append(d.batch.NewSubmissions, s)
	}
	return nil
}

// goes reports whether the item is a new record that a submission must carry: it is
// to be sent, or may have been by another pipeline.
func (d *desk) goes(it *item) bool {
	if it.insert < 0 || it.status == Duplicate {
		return false
	}
	s := d.batch.Insert[it.insert].State
	return s == claimdlq.StateQueued || s == claimdlq.StateInDoubt
}

// together reports whether all of a transmission goes, at once and in order.
func (d *desk) together(m *message, items []item) bool {
	for i := range items {
		if !d.goes(&items[i]) || items[i].waits && len(items) > 1 {
			return false
		}
	}
	return len(items) == max(1, m.groups) || len(items) == 1 && items[0].whole
}

// submission carries the members of one transmission, a run of records of which r is
// the first.
func (d *desk) submission(r claimdlq.Record, first, last claimdlq.ID) claimdlq.Submission {
	if d.members == nil {
		d.members = make([]claimdlq.IDRange, 0, max(1, len(d.items)))
	}
	d.members = append(d.members, claimdlq.IDRange{First: first, Last: last})
	n := len(d.members)
	s := claimdlq.Submission{
		State: claimdlq.SubmissionReady, Stream: claimdlq.StreamNCPDP, Partner: r.Partner, Bulk: d.bulk,
		Members: d.members[n-1 : n : n], CreatedAt: d.now,
	}
	if r.State == claimdlq.StateInDoubt {
		s.State, s.SentAt, s.Last = claimdlq.SubmissionInDoubt, d.now, r.Detail
	}
	if r.Hold == claimdlq.HoldLineage {
		s.NotBefore, s.Last = d.now.Add(heldFor), detailLineage
	}
	return s
}

// log says what was dead-lettered.
func (d *desk) log() {
	for _, r := range d.done {
		switch r.State {
		case claimdlq.StateQuarantined:
			if r.Reason == claimdlq.RetriesExhausted {
				dlqlog.RxExhausted(d.ctx, d.o.RxLog, r)
			} else {
				dlqlog.RxPoison(d.ctx, d.o.RxLog, r)
			}
		case claimdlq.StateParked:
			copied(d.ctx, d.o.RxLog, r)
		case claimdlq.StateInDoubt:
			dlqlog.Doubt(d.ctx, d.o.RxLog, r)
		case claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateSettled, claimdlq.StateWithdrawn:
		}
	}
}

// receipts fills the receipts of the messages of a chunk that is durable.
func (d *desk) receipts(out []Receipt) {
	all := make([]Taken, 0, len(d.items))
	keys := d.displays()
	for i := range d.messages {
		m := &d.messages[i]
		if m.response {
			out[i].Refused = responseGiven()
			continue
		}
		for n := m.first; n < m.first+m.n; n++ {
			it := &d.items[n]
			all = append(all, taken(d.outcome(it), it.status, keys[n*displayLen:(n+1)*displayLen]))
		}
		out[i].Records = all[len(all)-m.n : len(all) : len(all)]
	}
}

// displayLen is the length of what people see of a claim key.
const displayLen = 24

// displays returns the display keys of all items in one string.
func (d *desk) displays() string {
	b := make([]byte, 0, len(d.items)*displayLen)
	for i := range d.items {
		b = hex.AppendEncode(b, d.outcome(&d.items[i]).Key[:displayLen/2])
	}
	return string(b)
}

// outcome is the record that answers for an item.
func (d *desk) outcome(it *item) *claimdlq.Record {
	if it.insert >= 0 {
		return &d.done[it.insert]
	}
	return &it.record
}
