package memstore

import (
	"context"
	"slices"
	"strconv"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// commit is a batch on its way in: everything is judged before anything is
// written, so that a refused batch leaves nothing behind.
type commit struct {
	s       *Store
	results []store.InsertResult // one per Batch.Insert

	records        []claimdlq.Record
	updates        []claimdlq.Record
	newSubmissions []claimdlq.Submission
	submissions    []claimdlq.Submission
	entries        []claimdlq.Entry
	fingerprints   []store.Fingerprint
	received       int64
	receipt        store.Receipt
}

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return store.Receipt{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "commit", Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &commit{s: s}
	for _, step := range []func(store.Batch) error{
		c.judgeInserts, c.judgeUpdates, c.judgeConservation, c.judgeNewSubmissions, c.judgeReleases, c.judgeSubmissions, c.judgeEntries, c.judgeFingerprints,
	} {
		if err := step(b); err != nil {
			return store.Receipt{}, err
		}
	}
	c.write()
	c.receipt.Inserted = c.results
	return c.receipt, nil
}

func (c *commit) judgeInserts(b store.Batch) error {
	keys := map[claimdlq.Key]claimdlq.Record{} // of this batch
	for i, r := range b.Insert {
		if r.ID != 0 || r.Revision != 0 {
			return failure(claimdlq.Refused, "insert record", "that has an id or a revision")
		}
		if p, ok := store.IsParentIndex(r.Parent); ok {
			if p >= i {
				return failure(claimdlq.Refused, "insert record", "before its parent")
			}
			if c.results[p].Status != store.Inserted {
				c.results = append(c.results, store.InsertResult{Status: c.results[p].Status})
				continue
			}
			r.Parent = c.results[p].ID
		}
		old, known := keys[r.Key]
		if id := c.s.byKey[r.Key]; id != 0 {
			old, known = c.s.records[id-1], true
		}
		if known {
			status := store.Duplicate
			if old.Digest != r.Digest {
				status = store.Conflict
			}
			c.results = append(c.results, store.InsertResult{ID: old.ID, Status: status})
			continue
		}
		if err := claimdlq.Check(claimdlq.Record{}, r); err != nil {
			return err
		}
		r.ID, r.Revision = claimdlq.ID(len(c.s.records)+len(c.records)+1), 1
		r = rounded(r)
		keys[r.Key] = r
		c.records = append(c.records, r)
		c.results = append(c.results, store.InsertResult{ID: r.ID})
		if r.Parent == 0 {
			c.received += int64(r.Claims) + int64(r.Parted)
		}
	}
	return nil
}

func (c *commit) judgeUpdates(b store.Batch) error {
	changed := map[claimdlq.ID]bool{}
	for _, r := range b.Update {
		if r.ID == 0 || uint64(r.ID) > uint64(len(c.s.records)) {
			return failure(claimdlq.NotFound, "update record", r.ID.String())
		}
		prev := c.s.records[r.ID-1]
		if prev.Revision != r.Revision || changed[r.ID] {
			return failure(claimdlq.Conflict, "update record", r.ID.String())
		}
		r = rounded(r)
		if err := claimdlq.Check(prev, r); err != nil {
			return err
		}
		changed[r.ID] = true
		r.Revision++
		c.updates = append(c.updates, r)
	}
	return nil
}

// judgeConservation refuses a batch that would make claims appear or vanish: a
// claim leaves its set's record in the same commit that inserts its own record.
func (c *commit) judgeConservation(store.Batch) error {
	var delta int64
	for _, r := range c.records {
		delta += int64(r.Claims)
	}
	for _, r := range c.updates {
		delta += int64(r.Claims) - int64(c.s.records[r.ID-1].Claims)
	}
	if delta != c.received {
		return failure(claimdlq.Refused, "commit", "claims are not conserved")
	}
	return nil
}

func (c *commit) judgeNewSubmissions(b store.Batch) error {
	for _, sub := range b.NewSubmissions {
		if sub.ID != 0 || sub.Revision != 0 {
			return failure(claimdlq.Refused, "insert submission", "that has an id or a revision")
		}
		members, err := c.members(sub.Members)
		if err != nil {
			return err
		}
		if len(members) == 0 {
			c.receipt.Submissions = append(c.receipt.Submissions, 0)
			continue
		}
		sub.Members, sub.Groups = members, slices.Clone(sub.Groups)
		sub.ID, sub.Revision = claimdlq.SubmissionID(len(c.s.submissions)+len(c.newSubmissions)+1), 1
		c.newSubmissions = append(c.newSubmissions, roundedSubmission(sub))
		c.receipt.Submissions = append(c.receipt.Submissions, sub.ID)
	}
	return nil
}

// judgeReleases makes of each release the steps and submissions that it stands for.
func (c *commit) judgeReleases(b store.Batch) error {
	changed := map[claimdlq.ID]bool{}
	for _, r := range c.updates {
		changed[r.ID] = true
	}
	for n := range b.Releases {
		l := &b.Releases[n]
		if err := l.Check(); err != nil {
			return err
		}
		for i, m := range l.Records {
			if m.ID == 0 || uint64(m.ID) > uint64(len(c.s.records)) {
				return failure(claimdlq.NotFound, "release record", m.ID.String())
			}
			prev := c.s.records[m.ID-1]
			if prev.Revision != m.Revision || changed[m.ID] {
				return failure(claimdlq.Conflict, "release record", m.ID.String())
			}
			r, err := l.Record(i, prev)
			if err != nil {
				return err
			}
			changed[m.ID] = true
			r.Revision++
			c.updates = append(c.updates, rounded(r))
			sub := l.Submission(i)
			sub.ID = claimdlq.SubmissionID(len(c.s.submissions) + len(c.newSubmissions) + 1)
			c.newSubmissions = append(c.newSubmissions, roundedSubmission(sub))
		}
	}
	return nil
}

// members puts ids in the place of indexes into Batch.Insert, without those that
// were not inserted, as the fewest runs.
func (c *commit) members(ranges []claimdlq.IDRange) ([]claimdlq.IDRange, error) {
	var out []claimdlq.IDRange
	add := func(first, last claimdlq.ID) {
		if n := len(out); n > 0 && out[n-1].Last+1 == first {
			out[n-1].Last = last
			return
		}
		out = append(out, claimdlq.IDRange{First: first, Last: last})
	}
	for _, m := range ranges {
		i, indexed := store.IsParentIndex(m.First)
		j, indexedToo := store.IsParentIndex(m.Last)
		if indexed != indexedToo || m.First == 0 || m.First > m.Last || (indexed && j >= len(c.results)) {
			return nil, failure(claimdlq.Refused, "insert submission", "with a member range that is none")
		}
		if !indexed {
			add(m.First, m.Last)
			continue
		}
		for ; i <= j; i++ {
			if r := c.results[i]; r.Status == store.Inserted {
				add(r.ID, r.ID)
			}
		}
	}
	return out, nil
}

func (c *commit) judgeSubmissions(b store.Batch) error {
	changed := map[claimdlq.SubmissionID]bool{}
	for _, sub := range b.Submissions {
		on := strconv.FormatUint(uint64(sub.ID), 10)
		if sub.ID == 0 || uint64(sub.ID) > uint64(len(c.s.submissions)) {
			return failure(claimdlq.NotFound, "update submission", on)
		}
		if c.s.submissions[sub.ID-1].Revision != sub.Revision || changed[sub.ID] {
			return failure(claimdlq.Conflict, "update submission", on)
		}
		changed[sub.ID] = true
		sub.Revision++
		c.submissions = append(c.submissions, roundedSubmission(cloned(sub)))
	}
	return nil
}

// resolve returns the id that the placeholder stands for; ok is false if that
// record was not inserted.
func (c *commit) resolve(id claimdlq.ID) (_ claimdlq.ID, ok bool, err error) {
	i, indexed := store.IsParentIndex(id)
	if !indexed {
		return id, true, nil
	}
	if i >= len(c.results) {
		return 0, false, failure(claimdlq.Refused, "commit", "an index beyond the inserts")
	}
	return c.results[i].ID, c.results[i].Status == store.Inserted, nil
}

func (c *commit) judgeEntries(b store.Batch) error {
	for _, e := range b.Entries {
		if e.Records != "" && (e.Record != 0 || !e.Records.Valid()) {
			return failure(claimdlq.Refused, "commit", "an entry whose records are no set")
		}
		id, ok, err := c.resolve(e.Record)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		e.Record, e.At = id, millis(e.At)
		e.Seq = c.s.lastSeq + uint64(len(c.entries)) + 1
		c.entries = append(c.entries, e)
	}
	if n := len(c.entries); n > 0 {
		c.receipt.Proof = claimdlq.NewProof(c.entries[0].Seq, c.entries[n-1].Seq)
	}
	return nil
}

func (c *commit) judgeFingerprints(b store.Batch) error {
	for _, f := range b.Fingerprints {
		id, ok, err := c.resolve(f.Record)
		if err != nil {
			return err
		}
		if ok {
			c.fingerprints = append(c.fingerprints, store.Fingerprint{Key: f.Key, Record: id})
		}
	}
	return nil
}

func (c *commit) write() {
	s := c.s
	for _, r := range c.records {
		s.records = append(s.records, r)
		s.byKey[r.Key] = r.ID
		s.index(r)
	}
	for _, r := range c.updates {
		s.records[r.ID-1] = r
		s.index(r)
	}
	for _, sub := range c.newSubmissions {
		s.submissions = append(s.submissions, sub)
		s.indexSubmission(sub)
	}
	for _, sub := range c.submissions {
		s.submissions[sub.ID-1] = sub
		s.indexSubmission(sub)
	}
	for _, f := range c.fingerprints {
		if s.seen[f.Key] == 0 {
			s.seen[f.Key] = f.Record
		}
	}
	s.entries = append(s.entries, c.entries...)
	s.lastSeq += uint64(len(c.entries))
	s.received += c.received
}

func (s *Store) index(r claimdlq.Record) {
	for _, ref := range r.Refs() {
		if !slices.Contains(s.byRef[ref], r.ID) {
			s.byRef[ref] = append(s.byRef[ref], r.ID)
		}
	}
}

func (s *Store) indexSubmission(sub claimdlq.Submission) {
	for _, ref := range store.SubmissionRefs(sub) {
		if !slices.Contains(s.bySubmission[ref], sub.ID) {
			s.bySubmission[ref] = append(s.bySubmission[ref], sub.ID)
		}
	}
}

// millis is t as a store keeps it: UTC, to the millisecond.
func millis(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

func rounded(r claimdlq.Record) claimdlq.Record {
	r.CreatedAt, r.FirstFailedAt = millis(r.CreatedAt), millis(r.FirstFailedAt)
	r.UpdatedAt, r.NotBefore = millis(r.UpdatedAt), millis(r.NotBefore)
	return r
}

func roundedSubmission(s claimdlq.Submission) claimdlq.Submission {
	s.NotBefore, s.LeaseUntil = millis(s.NotBefore), millis(s.LeaseUntil)
	s.CreatedAt, s.SentAt = millis(s.CreatedAt), millis(s.SentAt)
	return s
}

func cloned(s claimdlq.Submission) claimdlq.Submission {
	s.Groups, s.Members = slices.Clone(s.Groups), slices.Clone(s.Members)
	return s
}
