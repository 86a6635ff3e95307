package filestore

import (
	"context"
	"strconv"

	"claimdlq"
	"claimdlq/store"
)

// Commit implements store.Store.
func (s *Store) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	if err := ctx.Err(); err != nil {
		return store.Receipt{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "commit", Err: err}
	}
	r := newRequest()
	defer r.release()
	p := &r.own
	if err := (view{s: s}).judge(&b, p); err != nil {
		return store.Receipt{}, s.answer(err)
	}
	if p.empty() {
		return p.receipt(0, 0, 0), nil
	}
	r.batch, r.plan = b, p
	if r.enc.encode(p); len(r.enc.frame) > frameMost {
		return store.Receipt{}, failure(claimdlq.Refused, "commit", "batch of more than 64 MiB")
	}
	if err := s.do(ctx, r); err != nil {
		return store.Receipt{}, err
	}
	if r.pos > 0 {
		s.remember(r.plan, r.pos)
	}
	return r.receipt, nil
}

// NextControl implements store.Store.
func (s *Store) NextControl(ctx context.Context, lane string, n int) (uint32, error) {
	if n < 1 || n > maxControl {
		return 0, failure(claimdlq.Invalid, "allocate control numbers", strconv.Itoa(n))
	}
	r := newRequest()
	defer r.release()
	r.lane, r.n = lane, n
	err := s.do(ctx, r)
	return r.first, err
}

// AuditedTo implements store.Store.
func (s *Store) AuditedTo(ctx context.Context, seq uint64) error {
	if seq == 0 {
		return nil
	}
	r := newRequest()
	defer r.release()
	r.audited = seq
	return s.do(ctx, r)
}

// Seen implements store.Store. Of several records that carried a fingerprint it
// returns the first.
func (s *Store) Seen(_ context.Context, fps []claimdlq.Key) ([]claimdlq.ID, error) {
	out := make([]claimdlq.ID, len(fps))
	s.index.mu.RLock()
	for i, k := range fps {
		out[i] = s.index.seen.get(k)
	}
	s.index.mu.RUnlock()
	runs := s.runs.Load()
	if runs == nil {
		return out, s.answer(nil)
	}
	for i, k := range fps { // what a run has came first
		id, err := find(runs.prints, k)
		if err != nil {
			return nil, err
		}
		if id != 0 {
			out[i] = id
		}
	}
	return out, nil
}
