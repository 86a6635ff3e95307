package filestore

import (
	"claimdlq"
	"claimdlq/store"
)

// maxControl is the largest X12 control number: nine digits (ISA13, N0 9/9).
const maxControl = 999_999_999

func (w *writer) acceptCommit(next *state, r *request) error {
	if !w.fresh(r.plan) {
		p := &plan{}
		if err := (view{w.s, w.keys}).judge(&r.batch, p); err != nil {
			return err
		}
		r.plan = p
		r.enc.encode(p)
	}
	p := r.plan
	if err := w.compare(p); err != nil {
		return err
	}
	id, sub := next.totals.lastID+1, next.totals.lastSub+1
	if uint64(id)+uint64(p.inserts) > maxRows || uint64(sub)+uint64(p.newSubs+p.released) > maxRows {
		return failure(claimdlq.Unavailable, "commit", "the store has no ids left")
	}
	w.number(p, r, id, sub)
	if p.empty() {
		r.receipt = p.receipt(id, sub, 0)
		return nil
	}
	at := len(w.buf)
	w.buf = append(w.buf, r.enc.frame...)
	r.enc.fill(w.buf[at:], id, sub)
	r.receipt = p.receipt(id, sub, next.totals.lastSeq+1)
	for i := range p.records {
		if c := &p.records[i]; c.revived {
			next.gone.add(c.previous.key(), -1, -int64(c.previous.claims))
		}
	}
	next.totals.lastID += claimdlq.ID(p.inserts)
	next.totals.lastSub += claimdlq.SubmissionID(p.newSubs + p.released)
	next.totals.lastSeq += uint64(len(p.entries))
	next.totals.received += p.received
	return nil
}

// fresh reports whether the plan still holds as far as it depends on which keys
// are known and on where records are.
func (w *writer) fresh(p *plan) bool {
	if len(p.records) == 0 && len(p.subs) == p.newSubs && len(p.releases) == 0 {
		return true
	}
	if p.epoch != w.s.epoch.Load() {
		return false
	}
	var buf [4]uint32
	for i := range p.records {
		c := &p.records[i]
		if i >= p.inserts {
			if _, ram := w.s.index.at(uint32(c.record.ID)); ram == c.revived {
				return false
			}
			continue
		}
		if _, ok := w.keys[c.record.Key]; ok || len(w.s.index.keys.rows(c.key, buf[:0])) > 0 {
			return false
		}
	}
	return true
}

// compare holds the plan's revisions against those of now, which is the
// compare-and-set, and marks what it changes as changed.
func (w *writer) compare(p *plan) error {
	for i := p.inserts; i < len(p.records); i++ {
		c := &p.records[i]
		id := uint32(c.record.ID)
		if row, ram := w.s.index.at(id); w.touched[id] || (ram && row.rev != c.expect) {
			return failure(claimdlq.Conflict, "update record", c.record.ID.String())
		}
	}
	if err := w.compareReleases(p); err != nil {
		return err
	}
	for i := p.newSubs; i < len(p.subs); i++ {
		c := &p.subs[i]
		id := uint32(c.sub.ID)
		if row, ram := w.s.index.subs.at(id); w.subs[id] || ram == c.revived || (ram && row.rev != c.expect) {
			return failure(claimdlq.Conflict, "update submission", decimal(uint64(id)))
		}
	}
	if len(w.group) == 1 {
		return nil
	}
	for i := p.inserts; i < len(p.records); i++ {
		w.touched[uint32(p.records[i].record.ID)] = true
	}
	w.touchReleases(p)
	for i := p.newSubs; i < len(p.subs); i++ {
		w.subs[uint32(p.subs[i].sub.ID)] = true
	}
	return nil
}

// number gives the plan its ids.
func (w *writer) number(p *plan, r *request, id claimdlq.ID, sub claimdlq.SubmissionID) {
	real := func(v claimdlq.ID) claimdlq.ID {
		if i, ok := store.IsParentIndex(v); ok {
			return id + claimdlq.ID(i)
		}
		return v
	}
	if p.late {
		for i := range p.subs {
			var members []claimdlq.IDRange
			for _, m := range p.subs[i].sub.Members {
				members = join(members, claimdlq.IDRange{First: real(m.First), Last: real(m.Last)})
			}
			p.subs[i].sub.Members = members
		}
		r.enc.encode(p)
	}
	for i := range p.records[:p.inserts] {
		c := &p.records[i]
		c.record.ID = id + claimdlq.ID(i)
		if parent := real(c.record.Parent); parent != c.record.Parent {
			c.record.Parent = parent
			c.setRefs(&c.record)
		}
		if len(w.group) > 1 {
			w.keys[c.record.Key] = pending{c.record.ID, c.record.Digest}
		}
	}
	for i := range p.subs[:p.newSubs] {
		p.subs[i].sub.ID = sub + claimdlq.SubmissionID(i)
	}
	for i := range p.releases {
		p.releases[i].sub += int(sub)
	}
	for i := range p.prints {
		p.prints[i].Record = real(p.prints[i].Record)
	}
}

func (p *plan) empty() bool {
	return len(p.records) == 0 && len(p.subs) == 0 && len(p.releases) == 0 && len(p.entries) == 0 && len(p.prints) == 0
}

// receipt is the answer to the plan, whose ids and audit entries begin as given.
func (p *plan) receipt(id claimdlq.ID, sub claimdlq.SubmissionID, seq uint64) (r store.Receipt) {
	r.Inserted = p.results
	for i := range r.Inserted {
		v := &r.Inserted[i]
		if v.Status == store.Inserted {
			v.ID += id - 1
		} else if at, again := store.IsParentIndex(v.ID); again {
			v.ID = id + claimdlq.ID(at)
		}
	}
	r.Submissions = p.subIDs
	for i := range r.Submissions {
		if r.Submissions[i] != 0 {
			r.Submissions[i] += sub - 1
		}
	}
	if n := len(p.entries); n > 0 {
		r.Proof = claimdlq.NewProof(seq, seq+uint64(n)-1)
	}
	return r
}

func (w *writer) acceptControl(r *request) {
	last := w.lanes[r.lane]
	w.undo = append(w.undo, laneBefore{r.lane, last})
	if int(last)+r.n > maxControl {
		last = 0 // the numbers left before the wrap are lost
	}
	r.first = last + 1
	last += uint32(r.n)
	w.lanes[r.lane] = last
	w.openFrame()
	w.put(itemControl, func(b []byte) []byte { return appendLane(b, r.lane, last) })
}

func (w *writer) acceptAudited(next *state, r *request) {
	to := min(r.audited, next.totals.lastSeq)
	if to <= next.totals.audited {
		return
	}
	next.totals.audited = to
	w.openFrame()
	w.put(itemAudited, func(b []byte) []byte { return put64(b, to) })
}

func appendLane(b []byte, lane string, last uint32) []byte {
	return putString(put32(b, last), lane)
}

func decodeLane(b []byte) (lane string, last uint32, err error) {
	d := newDecoder(b)
	last, lane = d.fixed32(), d.string()
	return lane, last, d.end()
}
