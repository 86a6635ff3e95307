package filestore

import (
	"context"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/store"
)

// subRevision returns the revision of a submission.
func (s *Store) subRevision(id claimdlq.SubmissionID) (uint32, error) {
	if id <= maxRows {
		s.index.mu.RLock()
		r, ok := s.index.subs.at(uint32(id))
		s.index.mu.RUnlock()
		if ok {
			return r.rev, nil
		}
	}
	return 0, failure(claimdlq.NotFound, "get submission", decimal(uint64(id)))
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
			break
		}
		sub, err := s.submissionAt(p)
		if !errors.Is(err, errMoved) {
			return sub, err
		}
	}
	return claimdlq.Submission{}, s.answer(failure(claimdlq.NotFound, "get submission", decimal(uint64(id))))
}

func (x *index) subPlace(id uint32) (p place, ok bool) {
	r, ok := x.subs.at(id)
	if !ok {
		return p, false
	}
	return x.placeAt(id, r.loc)
}

func (s *Store) submissionAt(p place) (claimdlq.Submission, error) {
	b, err := s.content(p.f, p.loc, p.base, itemSubmission, itemMovedSub)
	if err != nil {
		return claimdlq.Submission{}, err
	}
	sub, err := decodeSubmission(b)
	if err != nil || sub.ID != claimdlq.SubmissionID(p.id) {
		return claimdlq.Submission{}, corrupt("read submission", p.loc)
	}
	return sub, nil
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

// Due implements store.Store.
func (s *Store) Due(ctx context.Context, q store.DueQuery) ([]claimdlq.Submission, error) {
	if int(q.State) >= subStates || q.Limit <= 0 {
		return nil, nil
	}
	var out []claimdlq.Submission
	for after := uint64(q.After); ; {
		s.index.mu.RLock()
		ids := s.index.subs.due(q.State, q.Now.UnixMilli(), after, q.Limit)
		s.index.mu.RUnlock()
		for _, id := range ids {
			sub, err := s.Submission(ctx, claimdlq.SubmissionID(id))
			if err != nil {
				return nil, err
			}
			if sub.State != q.State || dueOf(&sub) > q.Now.UnixMilli() { // it has moved on since
				continue
			}
			if q.Skip == nil || !q.Skip(sub.Queue()) {
				out = append(out, sub)
			}
			if len(out) == q.Limit {
				return out, s.answer(nil)
			}
		}
		if len(ids) < q.Limit {
			return out, s.answer(nil)
		}
		after = uint64(ids[len(ids)-1])
	}
}

// due returns the oldest submissions of a state that are due.
func (x *subIndex) due(state claimdlq.SubmissionState, now int64, after uint64, limit int) (ids []uint32) {
	set := x.states[state]
	for i, c := range set.sets {
		c.ascend(func(off uint16) bool {
			id := set.blocks[i]<<blockBits | uint32(off)
			if r, _ := x.at(id); r.due <= now && uint64(id) > after {
				ids = append(ids, id)
			}
			return len(ids) < limit
		})
		if len(ids) >= limit {
			break
		}
	}
	return ids
}
