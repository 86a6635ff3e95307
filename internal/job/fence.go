package job

import (
	"context"
	"errors"

	"claimdlq"
	"claimdlq/store"
)

// errMoved says that a record's revision is not the planned one.
var errMoved = errors.New("the record has moved since it was planned")

// turn is the one record that a call of package replay may release, and the revision
// at which it was planned.
type turn struct {
	record   claimdlq.ID
	revision uint32
	urgent   bool // before what is taken in, as a single replay is; else after it
}

type turnKey struct{}

func withTurn(ctx context.Context, t turn) context.Context {
	return context.WithValue(ctx, turnKey{}, t)
}

// fence is the store that a job's replays work on. It shows the record whose turn it is
// at its planned revision or not at all, and changes no other record. Revisions only
// rise and the store compares them, so what it lets through is released at most once.
type fence struct{ store.Store }

// Get implements store.Store.
func (f fence) Get(ctx context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	r, err := f.Store.Get(ctx, id)
	t, ok := ctx.Value(turnKey{}).(turn)
	if err == nil && ok && t.record == id && r.Revision != t.revision {
		return r, errMoved
	}
	return r, err
}

// Commit implements store.Store.
func (f fence) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	t, ok := ctx.Value(turnKey{}).(turn)
	if !ok && len(b.Update)+len(b.NewSubmissions) > 0 || len(b.Insert)+len(b.Releases) > 0 {
		return store.Receipt{}, outside(0)
	}
	for i := range b.Update {
		switch u := &b.Update[i]; {
		case u.ID != t.record:
			return store.Receipt{}, outside(u.ID)
		case u.Revision != t.revision:
			return store.Receipt{}, errMoved
		}
	}
	for i := range b.NewSubmissions {
		b.NewSubmissions[i].Bulk = !t.urgent
	}
	return f.Store.Commit(ctx, b)
}

func outside(id claimdlq.ID) error {
	return &claimdlq.Error{Code: claimdlq.Internal, Op: "replay by a job", On: "record " + id.String() + " is not of the plan"}
}
