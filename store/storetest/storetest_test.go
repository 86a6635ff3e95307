package storetest_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/store/storetest"
)

func TestRunReopen_PassesAStoreThatKeepsEverything(t *testing.T) {
	t.Parallel()
	storetest.RunReopen(t, storetest.Durable{Open: openReplayed, Maintain: func(store.Store) error { return nil }})
}

// replayed is a memstore whose changes are told again to a new one when it is
// opened. The changes stay in this process; the directory holds which, and how
// many of them.
type replayed struct {
	store.Store
	file    string
	history int
	changes int
}

var (
	historiesMu sync.Mutex
	histories   [][]func(store.Store)
)

func openReplayed(dir string) (store.Store, error) {
	historiesMu.Lock()
	defer historiesMu.Unlock()
	r := &replayed{Store: memstore.New(), file: filepath.Join(dir, "changes")}
	b, err := os.ReadFile(r.file)
	if os.IsNotExist(err) {
		r.history = len(histories)
		histories = append(histories, nil)
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	r.history, r.changes = int(b[0])<<16|int(b[1])<<8|int(b[2]), 0
	if r.changes, err = strconv.Atoi(string(b[3:])); err != nil {
		return nil, err
	}
	old := histories[r.history][:r.changes]
	r.history = len(histories)
	histories = append(histories, append([]func(store.Store){}, old...))
	for _, change := range old {
		change(r.Store)
	}
	return r, r.save()
}

func (r *replayed) save() error {
	b := []byte{byte(r.history >> 16), byte(r.history >> 8), byte(r.history)}
	return os.WriteFile(r.file, strconv.AppendInt(b, int64(r.changes), 10), 0o600)
}

func (r *replayed) changed(change func(store.Store)) error {
	historiesMu.Lock()
	defer historiesMu.Unlock()
	histories[r.history] = append(histories[r.history], change)
	r.changes++
	return r.save()
}

func (r *replayed) Commit(ctx context.Context, b store.Batch) (store.Receipt, error) {
	b.NewSubmissions = owned(b.NewSubmissions) // the caller may change what it gave
	b.Submissions = owned(b.Submissions)
	receipt, err := r.Store.Commit(ctx, b)
	if err != nil {
		return receipt, err
	}
	return receipt, r.changed(func(s store.Store) { _, _ = s.Commit(context.Background(), b) })
}

func (r *replayed) NextControl(ctx context.Context, lane string, n int) (uint32, error) {
	first, err := r.Store.NextControl(ctx, lane, n)
	if err != nil {
		return first, err
	}
	return first, r.changed(func(s store.Store) { _, _ = s.NextControl(context.Background(), lane, n) })
}

func (r *replayed) AuditedTo(ctx context.Context, seq uint64) error {
	if err := r.Store.AuditedTo(ctx, seq); err != nil {
		return err
	}
	return r.changed(func(s store.Store) { _ = s.AuditedTo(context.Background(), seq) })
}

func owned(subs []claimdlq.Submission) []claimdlq.Submission {
	subs = slices.Clone(subs)
	for i, s := range subs {
		subs[i].Members, subs[i].Groups = slices.Clone(s.Members), slices.Clone(s.Groups)
	}
	return subs
}
