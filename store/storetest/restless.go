package storetest

import (
	"context"

	"claimdlq"
	"claimdlq/store"
)

// restless is a durable store that stops before each call after a change.
type restless struct {
	h     *home
	stop  func(*home, tb)
	dirty bool
}

// now returns the store, after a stop where something has changed.
func (r *restless) now() store.Store {
	if r.dirty {
		r.stop(r.h, r.h.t)
		r.dirty = false
	}
	return r.h.store
}

// changing returns the store for a call that changes something.
func (r *restless) changing() store.Store {
	s := r.now()
	r.dirty = true
	return s
}

func (r *restless) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	return r.changing().Commit(ctx, b)
}

func (r *restless) Get(ctx context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	return r.now().Get(ctx, id)
}

func (r *restless) Find(ctx context.Context, k claimdlq.Key) (claimdlq.Record, error) {
	return r.now().Find(ctx, k)
}

func (r *restless) Lookup(ctx context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Record, error) {
	return r.now().Lookup(ctx, ref, limit)
}

func (r *restless) List(ctx context.Context, f store.Filter, before claimdlq.ID, limit int) ([]claimdlq.Record, error) {
	return r.now().List(ctx, f, before, limit)
}

func (r *restless) IDs(ctx context.Context, f store.Filter, before claimdlq.ID, limit int) ([]claimdlq.ID, error) {
	return r.now().IDs(ctx, f, before, limit)
}

func (r *restless) Sole(ctx context.Context, refs []claimdlq.Ref) ([]claimdlq.ID, error) {
	return r.now().Sole(ctx, refs)
}

func (r *restless) Records(ctx context.Context, ids []claimdlq.ID, out []claimdlq.Record) ([]claimdlq.Record, error) {
	return r.now().Records(ctx, ids, out)
}

func (r *restless) Sendings(ctx context.Context, ids []claimdlq.SubmissionID, out []store.Sending) ([]store.Sending, error) {
	return r.now().Sendings(ctx, ids, out)
}

func (r *restless) Groups(ctx context.Context, f store.Filter, limit int) ([]store.Group, error) {
	return r.now().Groups(ctx, f, limit)
}

func (r *restless) Stats(ctx context.Context) (store.Stats, error) { return r.now().Stats(ctx) }

func (r *restless) Submission(ctx context.Context, id claimdlq.SubmissionID) (claimdlq.Submission, error) {
	return r.now().Submission(ctx, id)
}

func (r *restless) FindSubmissions(ctx context.Context, ref claimdlq.Ref, limit int) ([]claimdlq.Submission, error) {
	return r.now().FindSubmissions(ctx, ref, limit)
}

func (r *restless) Due(ctx context.Context, q store.DueQuery) ([]claimdlq.Submission, error) {
	return r.now().Due(ctx, q)
}

func (r *restless) NextControl(ctx context.Context, lane string, n int) (uint32, error) {
	return r.changing().NextControl(ctx, lane, n)
}

func (r *restless) Seen(ctx context.Context, fps []claimdlq.Key) ([]claimdlq.ID, error) {
	return r.now().Seen(ctx, fps)
}

func (r *restless) Entries(ctx context.Context, from uint64, f func(claimdlq.Entry) bool) error {
	return r.now().Entries(ctx, from, f)
}

func (r *restless) AuditedTo(ctx context.Context, seq uint64) error {
	return r.changing().AuditedTo(ctx, seq)
}

func (r *restless) Close() error { return r.h.store.Close() }
