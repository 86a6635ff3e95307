package filestore

import (
	"context"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/store"
)

// withRevisions appends changes of submissions with the revisions they have now, 0
// where there is none.
func (s *Store) withRevisions(list []subChange, subs []claimdlq.Submission) []subChange {
	s.index.mu.RLock()
	defer s.index.mu.RUnlock()
	for i := range subs {
		c := subChange{sub: subs[i], revived: true}
		if id := subs[i].ID; id <= maxRows {
			r, ok := s.index.subs.at(uint32(id))
			c.expect, c.revived = r.rev, !ok
		}
		list = append(list, c)
	}
	return list
}

// Submission implements store.Store.
func (s *Store) Submission(_ context.Context, id claimdlq.SubmissionID) (claimdlq.Submission, error) {
	for range readTries {
		if id > maxRows {
			break
		}
		s.index.mu.RLock()
		p, ok := s.index.subPlace(uint32(id))
		s.index.mu.RUnlock()
		if !ok {
			return s.readSubRun(id)
		}
		if sub, ok := s.submission(&p); ok {
			return sub, nil
		}
		w := s.openWindow()
		sub, err := w.submission([]place{p})
		if w.close(); !errors.Is(err, errMoved) {
			return sub, err
		}
	}
	return claimdlq.Submission{}, s.answer(failure(claimdlq.NotFound, "get submission", decimal(uint64(id))))
}

// Sendings implements store.Store. Neighbours in the journal are read together.
func (s *Store) Sendings(ctx context.Context, ids []claimdlq.SubmissionID, out []store.Sending) ([]store.Sending, error) {
	w := s.openWindow()
	defer w.close()
	s.index.mu.RLock()
	for _, id := range ids {
		var p place
		if id <= maxRows {
			p, _ = s.index.subPlace(uint32(id))
		}
		w.ahead = append(w.ahead, p)
	}
	s.index.mu.RUnlock()
	for i, id := range ids {
		o, err := w.sending(w.ahead[i:])
		if errors.Is(err, errMoved) {
			var sub claimdlq.Submission
			sub, err = s.Submission(ctx, id)
			o = store.SendingOf(&sub)
		}
		if err != nil {
			return nil, err
		}
		out = append(out, o)
	}
	return out, s.answer(nil)
}

// submissionAt returns the submission at the first of the places. One that had no place, or
// has moved since, is looked up.
func (s *Store) submissionAt(ctx context.Context, w *window, places []place, id claimdlq.SubmissionID) (claimdlq.Submission, error) {
	if places[0].f != nil {
		if sub, err := w.submission(places); !errors.Is(err, errMoved) {
			return sub, err
		}
	}
	return s.Submission(ctx, id)
}

func (x *index) subPlace(id uint32) (p place, ok bool) {
	r, ok := x.subs.at(id)
	if !ok {
		return p, false
	}
	return x.placeAt(id, r.loc)
}

// submission returns the submission at a place, if it was written lately.
func (s *Store) submission(p *place) (sub claimdlq.Submission, ok bool) {
	sub, ok = s.submissions.get(p.id, p.loc)
	sub.Members, sub.Groups = slices.Clone(sub.Members), slices.Clone(sub.Groups)
	return sub, ok
}

// FindSubmissions implements store.Store.
func (s *Store) FindSubmissions(ctx context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Submission, error) {
	s.index.mu.RLock()
	ids := s.index.subs.refs.rows(hashRef(ref), nil)
	s.index.mu.RUnlock()
	var out []claimdlq.Submission
	for _, id := range slices.Backward(ids) {
		if len(out) >= limit {
			break
		}
		sub, err := s.Submission(ctx, claimdlq.SubmissionID(id))
		if err != nil {
			return nil, err
		}
		if slices.Contains(store.SubmissionRefs(sub), ref) {
			out = append(out, sub)
		}
	}
	return out, s.answer(nil)
}

// Due implements store.Store. Of a queue that is left out no submission is read.
func (s *Store) Due(ctx context.Context, q store.DueQuery) ([]claimdlq.Submission, error) {
	if q.State == 0 || int(q.State) >= subStates || q.Limit <= 0 || q.After > maxRows {
		return nil, nil
	}
	for {
		epoch := s.epoch.Load()
		out, err := s.dueMemory(ctx, &q)
		if err == nil {
			out, err = s.dueRuns(&q, out)
		}
		if err != nil || epoch == s.epoch.Load() { // else one may have come or gone between the two
			return out, s.answer(err)
		}
	}
}

func (s *Store) dueMemory(ctx context.Context, q *store.DueQuery) (out []claimdlq.Submission, err error) {
	w := s.openWindow()
	defer w.close()
	scan := dueScan{state: q.State, now: q.Now.UnixMilli(), skip: s.skipped(q), next: uint64(q.After) + 1}
	for more := true; more && len(out) < q.Limit; {
		var rows []dueRow
		s.index.mu.RLock()
		rows, more = s.index.subs.due(&scan, q.Limit-len(out))
		places := s.index.duePlaces(rows)
		s.index.mu.RUnlock()
		out = slices.Grow(out, len(rows))
		for i, row := range rows {
			sub, err := s.submissionAt(ctx, w, places[i:], claimdlq.SubmissionID(row.id))
			if err != nil {
				return nil, err
			}
			if sub.State != q.State || dueOf(&sub) > scan.now { // it has moved on since
				continue
			}
			if q.Skip == nil || row.queue != noQueue || !q.Skip(sub.Queue()) {
				out = append(out, sub)
			}
		}
	}
	return out, nil
}

// duePlaces returns where the rows are.
func (x *index) duePlaces(rows []dueRow) []place {
	places := make([]place, len(rows))
	for i, row := range rows {
		places[i], _ = x.subPlace(row.id) // a row that is due has one
	}
	return places
}

// skipped asks the caller about each queue, once and without a lock.
func (s *Store) skipped(q *store.DueQuery) []bool {
	if q.Skip == nil {
		return nil
	}
	s.index.mu.RLock()
	list, some := s.index.subs.known(q.State)
	s.index.mu.RUnlock()
	skip := make([]bool, len(list))
	for n := 1; n < len(list); n++ {
		if some == nil || some[n] {
			skip[n] = q.Skip(list[n])
		}
	}
	return skip
}
