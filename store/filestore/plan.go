package filestore

import (
	"slices"
	"strconv"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// plan is a batch that has been judged: what of it will be written, and what the
// index will say. Ids of inserted records and submissions count from 0 until the
// writer knows where they start.
type plan struct {
	results []store.InsertResult // as in a Receipt; Inserted ones have their index + 1
	records []recordChange
	subs    []subChange
	subIDs  []claimdlq.SubmissionID // as in a Receipt; made ones have their index + 1
	entries []claimdlq.Entry
	places  []place // of the records updated, when they were looked up
	prints  []store.Fingerprint

	releases []releaseChange
	released int // records in them

	inserts, newSubs int   // how many of records and subs are new
	received         int64 // claims that come with the inserts
	epoch            uint64
	// late says that the members of a submission can only be put together when the
	// ids are known: they may join on to ids that exist.
	late bool
	// revives says that a record or submission comes back from a sorted run.
	revives bool
}

// plansKept bounds what a plan keeps for the next batch.
const plansKept = 1024

// reset makes the plan ready for another batch, in the memory it has.
func (p *plan) reset() {
	records, subs, places, releases := p.records, p.subs, p.places, p.releases
	clear(places)
	clear(releases)
	*p = plan{places: places[:0], releases: releases[:0]}
	if cap(records) <= plansKept {
		clear(records)
		p.records = records[:0]
	}
	if cap(subs) <= plansKept {
		clear(subs)
		p.subs = subs[:0]
	}
}

// recordChange is one record after its step.
type recordChange struct {
	record   claimdlq.Record
	expect   uint32   // revision that the index must have; 0 for an insert
	newRefs  bool     // its look-up values are not those of the revision before
	revived  bool     // only a sorted run has the revision before
	previous gonePart // of a revived record; of others its claims

	off int // of its item in the frame
	rowChange
}

// subChange is one submission after its change.
type subChange struct {
	sub     claimdlq.Submission
	expect  uint32
	revived bool // only a sorted run has the revision before
	off     int
	due     int64
	refs    []uint64
}

// view is what a batch is judged against: the index, the runs, and what the writer
// has accepted but not made durable yet.
type view struct {
	s       *Store
	pending map[claimdlq.Key]pending
}

// pending is an insert that waits for its flush.
type pending struct {
	id     claimdlq.ID
	digest claimdlq.Digest
}

// judge decides what becomes of a batch. It reads the journal, so callers do it
// before they queue; the writer repeats it only where something came in between.
func (v view) judge(b *store.Batch, p *plan) error {
	p.epoch = v.s.epoch.Load()
	for _, step := range [...]func(view, *store.Batch) error{
		p.judgeInserts, p.judgeUpdates, p.judgeConservation, p.judgeNewSubmissions, p.judgeReleases, p.judgeSubmissions, p.judgeEntries, p.judgePrints,
	} {
		if err := step(v, b); err != nil {
			return err
		}
	}
	return nil
}

func (p *plan) judgeInserts(v view, b *store.Batch) error {
	if len(b.Insert) == 0 {
		return nil
	}
	p.results = make([]store.InsertResult, 0, len(b.Insert))
	p.records = slices.Grow(p.records, len(b.Insert)+len(b.Update))
	var first map[claimdlq.Key]int // of this batch, by index of p.records
	if len(b.Insert) > 1 {
		first = make(map[claimdlq.Key]int, len(b.Insert))
	}
	hits := v.hits(b.Insert)
	for i := range b.Insert {
		r := b.Insert[i]
		if r.ID != 0 || r.Revision != 0 {
			return failure(claimdlq.Refused, "insert record", "that has an id or a revision")
		}
		if up, ok := store.IsParentIndex(r.Parent); ok {
			if up >= i {
				return failure(claimdlq.Refused, "insert record", "before its parent")
			}
			if p.results[up].Status != store.Inserted {
				p.results = append(p.results, store.InsertResult{Status: p.results[up].Status})
				continue
			}
			r.Parent = store.ParentIndex(int(p.results[up].ID) - 1)
		}
		old, known, err := v.knownIf(hits.at(i), r.Key)
		if err != nil {
			return err
		}
		if at, again := first[r.Key]; again {
			old, known = pending{store.ParentIndex(at), p.records[at].record.Digest}, true
		}
		if known {
			status := store.Duplicate
			if old.digest != r.Digest {
				status = store.Conflict
			}
			p.results = append(p.results, store.InsertResult{ID: old.id, Status: status})
			continue
		}
		if err := claimdlq.Check(claimdlq.Record{}, r); err != nil {
			return err
		}
		if first != nil {
			first[r.Key] = len(p.records)
		}
		r.Revision = 1
		p.records = append(p.records, recordChange{record: r, newRefs: true})
		p.results = append(p.results, store.InsertResult{ID: claimdlq.ID(len(p.records))})
		if r.Parent == 0 {
			p.received += int64(r.Claims) + int64(r.Parted)
		}
	}
	p.inserts = len(p.records)
	return nil
}

func (p *plan) judgeUpdates(v view, b *store.Batch) error {
	if len(b.Update) == 0 {
		return nil
	}
	var changed map[claimdlq.ID]bool
	if !inOrder(b.Update, func(r *claimdlq.Record) uint64 { return uint64(r.ID) }) {
		changed = make(map[claimdlq.ID]bool, len(b.Update))
	}
	p.records = slices.Grow(p.records, len(b.Update))
	p.places = v.s.placesOf(p.places[:0], b.Update)
	w := v.s.openWindow()
	defer w.close()
	for i := range b.Update {
		id, rev := b.Update[i].ID, b.Update[i].Revision
		prev, ram, err := v.s.newest(w, p.places[i:], id)
		if err != nil {
			return err
		}
		if prev.Revision != rev || changed[id] {
			return failure(claimdlq.Conflict, "update record", id.String())
		}
		if changed != nil {
			changed[id] = true
		}
		p.records = append(p.records, recordChange{record: b.Update[i]})
		if err := p.records[len(p.records)-1].follows(&prev, ram); err != nil {
			return err
		}
		p.revives = p.revives || !ram
	}
	return nil
}

// follows completes a change of what a record was, which ram says is in memory.
func (c *recordChange) follows(prev *claimdlq.Record, ram bool) error {
	r := &c.record
	r.CreatedAt, r.FirstFailedAt = millis(r.CreatedAt), millis(r.FirstFailedAt)
	if err := claimdlq.Check(*prev, *r); err != nil {
		return err
	}
	r.Revision++
	c.expect, c.revived, c.newRefs = prev.Revision, !ram, !ram || !sameRefs(prev, r)
	if c.revived {
		c.previous = goneOf(prev)
	}
	c.previous.claims = prev.Claims
	return nil
}

// inOrder reports whether the ids ascend or descend, so that none is there twice.
func inOrder[T any](list []T, id func(*T) uint64) bool {
	up, down := true, true
	for i := 1; i < len(list) && (up || down); i++ {
		a, b := id(&list[i-1]), id(&list[i])
		up, down = up && a < b, down && a > b
	}
	return up || down
}

// sameRefs reports whether two revisions of a record are found by the same values.
func sameRefs(a, b *claimdlq.Record) bool {
	return a.InterchangeID == b.InterchangeID && a.TransactionID == b.TransactionID && a.Batch == b.Batch
}

// judgeConservation refuses a batch that would make claims appear or vanish.
func (p *plan) judgeConservation(view, *store.Batch) error {
	var delta int64
	for i := range p.records {
		delta += int64(p.records[i].record.Claims) - int64(p.records[i].previous.claims)
	}
	if delta != p.received {
		return failure(claimdlq.Refused, "commit", "claims are not conserved")
	}
	return nil
}

func (p *plan) judgeNewSubmissions(_ view, b *store.Batch) error {
	if n := len(b.NewSubmissions); n > 0 {
		p.subIDs = make([]claimdlq.SubmissionID, 0, n)
	}
	p.subs = slices.Grow(p.subs, len(b.NewSubmissions)+len(b.Submissions))
	for i := range b.NewSubmissions {
		s := b.NewSubmissions[i]
		if s.ID != 0 || s.Revision != 0 {
			return failure(claimdlq.Refused, "insert submission", "that has an id or a revision")
		}
		members, err := p.members(s.Members)
		if err != nil {
			return err
		}
		if len(members) == 0 {
			p.subIDs = append(p.subIDs, 0)
			continue
		}
		if err := checkState(&s); err != nil {
			return err
		}
		s.Members, s.Revision = members, 1
		p.subs = append(p.subs, subChange{sub: s})
		p.subIDs = append(p.subIDs, claimdlq.SubmissionID(len(p.subs)))
	}
	p.newSubs = len(p.subs)
	return nil
}

// members returns the ranges without what was not inserted, as the fewest runs.
// Indexes count the records that are inserted.
func (p *plan) members(ranges []claimdlq.IDRange) ([]claimdlq.IDRange, error) {
	var out []claimdlq.IDRange
	for _, m := range ranges {
		i, indexed := store.IsParentIndex(m.First)
		j, indexedToo := store.IsParentIndex(m.Last)
		if indexed != indexedToo || m.First == 0 || m.First > m.Last || (indexed && j >= len(p.results)) {
			return nil, failure(claimdlq.Refused, "insert submission", "with a member range that is none")
		}
		if !indexed {
			out = join(out, m)
			continue
		}
		for ; i <= j; i++ {
			if r := p.results[i]; r.Status == store.Inserted {
				id := store.ParentIndex(int(r.ID) - 1)
				out = join(out, claimdlq.IDRange{First: id, Last: id})
			}
		}
	}
	indexed := func(m claimdlq.IDRange) bool { _, ok := store.IsParentIndex(m.First); return ok }
	for i := 1; i < len(out); i++ {
		p.late = p.late || indexed(out[i]) != indexed(out[i-1])
	}
	return out, nil
}

// join appends a range, as part of the last one where it follows it.
func join(out []claimdlq.IDRange, m claimdlq.IDRange) []claimdlq.IDRange {
	if n := len(out); n > 0 && out[n-1].Last+1 == m.First {
		out[n-1].Last = m.Last
		return out
	}
	return append(out, m)
}

// checkState refuses a submission state that is none.
func checkState(s *claimdlq.Submission) error {
	if s.State < claimdlq.SubmissionReady || s.State > claimdlq.SubmissionDead {
		return failure(claimdlq.Refused, "write submission", "of a state that is none")
	}
	return nil
}

func (p *plan) judgeSubmissions(v view, b *store.Batch) error {
	var changed map[claimdlq.SubmissionID]bool
	if !inOrder(b.Submissions, func(s *claimdlq.Submission) uint64 { return uint64(s.ID) }) {
		changed = make(map[claimdlq.SubmissionID]bool, len(b.Submissions))
	}
	p.subs = v.s.withRevisions(p.subs, b.Submissions)
	for i := range p.subs[p.newSubs:] {
		c := &p.subs[p.newSubs+i]
		s := &c.sub
		if c.revived {
			gone, err := v.s.readSubRun(s.ID)
			if err != nil {
				return err
			}
			c.expect, p.revives = gone.Revision, true
		}
		rev := c.expect
		if rev != s.Revision || changed[s.ID] {
			return failure(claimdlq.Conflict, "update submission", strconv.FormatUint(uint64(s.ID), 10))
		}
		if changed != nil {
			changed[s.ID] = true
		}
		if err := checkState(s); err != nil {
			return err
		}
		s.Revision++
	}
	return nil
}

// resolve returns the id for what may be a placeholder; ok is false if that record
// is not inserted.
func (p *plan) resolve(id claimdlq.ID) (_ claimdlq.ID, ok bool, err error) {
	i, indexed := store.IsParentIndex(id)
	if !indexed {
		return id, true, nil
	}
	if i >= len(p.results) {
		return 0, false, failure(claimdlq.Refused, "commit", "an index beyond the inserts")
	}
	if p.results[i].Status != store.Inserted {
		return 0, false, nil
	}
	return store.ParentIndex(int(p.results[i].ID) - 1), true, nil
}

// judgeEntries takes the entries as they are, unless some go, or are of a record that
// is not inserted where the batch has it.
func (p *plan) judgeEntries(_ view, b *store.Batch) error {
	p.entries = b.Entries
	same := true
	for i := range b.Entries {
		e := &b.Entries[i]
		if e.Records != "" && (e.Record != 0 || !e.Records.Valid()) {
			return failure(claimdlq.Refused, "commit", "an entry whose records are no set")
		}
		id, ok, err := p.resolve(e.Record)
		if err != nil {
			return err
		}
		if same && (!ok || id != e.Record) {
			p.entries, same = append(make([]claimdlq.Entry, 0, len(b.Entries)), b.Entries[:i]...), false
		}
		if !same && ok {
			p.entries = append(p.entries, *e)
			p.entries[len(p.entries)-1].Record = id
		}
	}
	return nil
}

func (p *plan) judgePrints(_ view, b *store.Batch) error {
	for _, f := range b.Fingerprints {
		id, ok, err := p.resolve(f.Record)
		if err != nil {
			return err
		}
		if ok {
			p.prints = append(p.prints, store.Fingerprint{Key: f.Key, Record: id})
		}
	}
	return nil
}

// millis is t as a store keeps it: UTC, to the millisecond.
func millis(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

func failure(code claimdlq.Code, op, on string) error {
	return &claimdlq.Error{Code: code, Op: op, On: on}
}
