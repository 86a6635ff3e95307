package memstore

import (
	"context"
	"slices"
	"strconv"
	"time"

	"claimdlq"
	"claimdlq/store"
)

// Get implements store.Store.
func (s *Store) Get(_ context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == 0 || uint64(id) > uint64(len(s.records)) {
		return claimdlq.Record{}, failure(claimdlq.NotFound, "get record", id.String())
	}
	return s.records[id-1], nil
}

// Find implements store.Store.
func (s *Store) Find(_ context.Context, k claimdlq.Key) (claimdlq.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.byKey[k]
	if id == 0 {
		return claimdlq.Record{}, failure(claimdlq.NotFound, "find record", "by key")
	}
	return s.records[id-1], nil
}

// Lookup implements store.Store.
func (s *Store) Lookup(_ context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []claimdlq.Record
	for _, id := range slices.Sorted(slices.Values(s.byRef[ref])) {
		r := s.records[id-1]
		if len(out) < limit && slices.Contains(r.Refs(), ref) {
			out = append(out, r)
		}
	}
	return out, nil
}

// List implements store.Store.
func (s *Store) List(_ context.Context, f store.Filter, before claimdlq.ID, limit int) ([]claimdlq.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []claimdlq.Record
	for _, r := range slices.Backward(s.records) {
		if len(out) < limit && (before == 0 || r.ID < before) && matches(f, r) {
			out = append(out, r)
		}
	}
	return out, nil
}

// IDs implements store.Store.
func (s *Store) IDs(ctx context.Context, f store.Filter, before claimdlq.ID, limit int) ([]claimdlq.ID, error) {
	rs, err := s.List(ctx, f, before, limit)
	out := make([]claimdlq.ID, 0, len(rs))
	for i := range rs {
		out = append(out, rs[i].ID)
	}
	return out, err
}

// Sole implements store.Store.
func (s *Store) Sole(ctx context.Context, refs []claimdlq.Ref) ([]claimdlq.ID, error) {
	out := make([]claimdlq.ID, len(refs))
	for i, ref := range refs {
		if rs, err := s.Lookup(ctx, ref, 2); err != nil {
			return nil, err
		} else if len(rs) == 1 && ref != 0 {
			out[i] = rs[0].ID
		}
	}
	return out, nil
}

// Records implements store.Store.
func (s *Store) Records(ctx context.Context, ids []claimdlq.ID, out []claimdlq.Record) ([]claimdlq.Record, error) {
	for _, id := range ids {
		r, err := s.Get(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// Sendings implements store.Store.
func (s *Store) Sendings(ctx context.Context, ids []claimdlq.SubmissionID, out []store.Sending) ([]store.Sending, error) {
	for _, id := range ids {
		sub, err := s.Submission(ctx, id)
		if err != nil {
			return nil, err
		}
		out = append(out, store.SendingOf(&sub))
	}
	return out, nil
}

func matches(f store.Filter, r claimdlq.Record) bool {
	switch {
	case f.State != 0 && r.State != f.State,
		f.Reason != claimdlq.ReasonNone && r.Reason != f.Reason,
		!f.Detail.IsZero() && r.Detail != f.Detail,
		f.Partner != "" && r.Partner != f.Partner,
		f.Stream != "" && r.Stream != f.Stream,
		f.Format != nil && r.Format != *f.Format,
		!f.Older.IsZero() && !since(r).Before(f.Older):
		return false
	}
	return true
}

// since is when the record first failed, or came where it never did.
func since(r claimdlq.Record) time.Time {
	if r.FirstFailedAt.IsZero() {
		return r.CreatedAt
	}
	return r.FirstFailedAt
}

// Submission implements store.Store.
func (s *Store) Submission(_ context.Context, id claimdlq.SubmissionID) (claimdlq.Submission, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == 0 || uint64(id) > uint64(len(s.submissions)) {
		return claimdlq.Submission{}, failure(claimdlq.NotFound, "get submission", strconv.FormatUint(uint64(id), 10))
	}
	return cloned(s.submissions[id-1]), nil
}

// FindSubmissions implements store.Store.
func (s *Store) FindSubmissions(_ context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Submission, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []claimdlq.Submission
	ids := slices.Sorted(slices.Values(s.bySubmission[ref]))
	for _, id := range slices.Backward(ids) {
		sub := s.submissions[id-1]
		if len(out) < limit && slices.Contains(store.SubmissionRefs(sub), ref) {
			out = append(out, cloned(sub))
		}
	}
	return out, nil
}

// Due implements store.Store.
func (s *Store) Due(_ context.Context, q store.DueQuery) ([]claimdlq.Submission, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	leased := q.State == claimdlq.SubmissionLeased || q.State == claimdlq.SubmissionSending
	var out []claimdlq.Submission
	for _, sub := range s.submissions {
		waits := sub.NotBefore.After(q.Now) || leased && sub.LeaseUntil.After(q.Now)
		if len(out) >= q.Limit || sub.State != q.State || waits || sub.ID <= q.After {
			continue
		}
		if q.Skip == nil || !q.Skip(sub.Queue()) {
			out = append(out, cloned(sub))
		}
	}
	return out, nil
}

// NextControl implements store.Store.
func (s *Store) NextControl(_ context.Context, lane string, n int) (uint32, error) {
	if n < 1 || n > maxControl {
		return 0, failure(claimdlq.Invalid, "allocate control numbers", strconv.Itoa(n))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.control[lane]
	if int(last)+n > maxControl {
		last = 0 // the numbers left before the wrap are lost
	}
	s.control[lane] = last + uint32(n)
	return last + 1, nil
}

// Seen implements store.Store; it returns the first record that carried each.
func (s *Store) Seen(_ context.Context, fps []claimdlq.Key) ([]claimdlq.ID, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]claimdlq.ID, len(fps))
	for i, k := range fps {
		out[i] = s.seen[k]
	}
	return out, nil
}

// Entries implements store.Store.
func (s *Store) Entries(_ context.Context, from uint64, f func(claimdlq.Entry) bool) error {
	s.mu.Lock()
	entries := s.entries // never changed in place, so f may call the store
	s.mu.Unlock()
	for _, e := range entries {
		if e.Seq >= from && !f(e) {
			return nil
		}
	}
	return nil
}

// AuditedTo implements store.Store.
func (s *Store) AuditedTo(_ context.Context, seq uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	keep := 0
	for keep < len(s.entries) && s.entries[keep].Seq <= seq {
		keep++
	}
	s.entries = s.entries[keep:]
	return nil
}
