package filestore

import (
	"encoding/binary"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"claimdlq"
	"claimdlq/store/filestore/sortedrun"
)

// runs are what memory has let go, on disk: settled and withdrawn records by id,
// where to find them by key and by look-up value, and fingerprints.
type runs struct {
	byID   *sortedrun.Set // id -> the record, encoded
	byKey  *sortedrun.Set // key -> id
	byRef  *sortedrun.Set // look-up value and id -> nothing
	prints *sortedrun.Set // fingerprint -> id of the first record that carried it
	subs   *sortedrun.Set // id -> the submission, encoded
}

// needRuns returns the runs, which are made when they are first needed.
func (s *Store) needRuns() (*runs, error) {
	if r := s.runs.Load(); r != nil {
		return r, nil
	}
	r, err := openRuns(s.o.FS, s.dir)
	if err != nil {
		if errors.Is(err, sortedrun.ErrSync) {
			s.fatal(err)
		}
		return nil, err
	}
	s.runs.Store(r)
	return r, nil
}

// findRuns opens the runs if there are any.
func (s *Store) findRuns() error {
	names, err := s.o.FS.Names(filepath.Join(s.dir, "runs", "ids"))
	if err == nil && len(names) > 0 {
		_, err = s.needRuns()
		return err
	}
	if s.index.gone.all > 0 || s.index.subs.live < int64(s.index.totals.lastSub) {
		return failure(claimdlq.Corrupt, "open store", "sorted runs are missing")
	}
	return nil
}

func openRuns(fs FS, dir string) (r *runs, err error) {
	r = &runs{}
	for _, set := range []struct {
		to   **sortedrun.Set
		name string
		o    sortedrun.Options
	}{
		{&r.byID, "ids", sortedrun.Options{}},
		{&r.byKey, "keys", sortedrun.Options{}},
		{&r.byRef, "refs", sortedrun.Options{Prefix: true}}, // most look-ups find nothing
		{&r.prints, "fingerprints", sortedrun.Options{}},
		{&r.subs, "submissions", sortedrun.Options{}},
	} {
		if *set.to, err = sortedrun.Open(runFS{fs}, filepath.Join(dir, "runs", set.name), set.o); err != nil {
			_ = r.close()
			return nil, err
		}
	}
	return r, nil
}

func (r *runs) sets() []*sortedrun.Set {
	return []*sortedrun.Set{r.byID, r.byKey, r.byRef, r.prints, r.subs}
}

func (r *runs) close() error {
	var errs []error
	for _, s := range r.sets() {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// runFS lets sorted runs use the store's file system.
type runFS struct{ FS }

func (f runFS) OpenFile(name string, flag int, perm os.FileMode) (sortedrun.File, error) {
	return f.FS.OpenFile(name, flag, perm)
}

// pair makes a key of two numbers that sorts by the first, then the second.
func pair(a, b uint64) (k sortedrun.Key) {
	binary.BigEndian.PutUint64(k[:8], a)
	binary.BigEndian.PutUint64(k[8:], b)
	return k
}

func idValue(id claimdlq.ID) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(id)) }

func valueID(v []byte) (claimdlq.ID, bool) {
	if len(v) != 8 {
		return 0, false
	}
	id := claimdlq.ID(binary.LittleEndian.Uint64(v))
	return id, id > 0 && id <= maxRows
}

// record returns the record with the id, if a run holds it.
func (r *runs) record(id claimdlq.ID) (rec claimdlq.Record, ok bool, err error) {
	v, ok, err := r.byID.Get(pair(0, uint64(id)))
	if err != nil || !ok {
		return rec, false, err
	}
	if rec, err = decodeRecord(v); err != nil || rec.ID != id {
		return rec, false, failure(claimdlq.Corrupt, "read run of records", id.String())
	}
	return rec, true, nil
}

// find returns the id under a key of one of the sets that map to ids.
func find(set *sortedrun.Set, k claimdlq.Key) (claimdlq.ID, error) {
	v, ok, err := set.Get(sortedrun.Key(k))
	if err != nil || !ok {
		return 0, err
	}
	id, ok := valueID(v)
	if !ok {
		return 0, failure(claimdlq.Corrupt, "read run of keys", "")
	}
	return id, nil
}

// withRef appends the ids under a look-up value, in ascending order.
func (r *runs) withRef(ref claimdlq.Ref, ids []uint32) ([]uint32, error) {
	err := r.byRef.Prefixed(uint64(ref), func(k sortedrun.Key, _ []byte) bool {
		ids = append(ids, uint32(binary.BigEndian.Uint64(k[8:])))
		return true
	})
	return ids, err
}

// runEntry is one entry of a run being made.
type runEntry struct {
	key   sortedrun.Key
	value []byte
}

// addRun writes the entries as one run; they need not be sorted.
func (s *Store) addRun(set *sortedrun.Set, entries []runEntry) error {
	slices.SortFunc(entries, func(a, b runEntry) int { return slices.Compare(a.key[:], b.key[:]) })
	entries = slices.CompactFunc(entries, func(a, b runEntry) bool { return a.key == b.key })
	err := set.Add(len(entries), iter.Seq2[sortedrun.Key, []byte](func(yield func(sortedrun.Key, []byte) bool) {
		for _, e := range entries {
			if !yield(e.key, e.value) {
				return
			}
		}
	}))
	if errors.Is(err, sortedrun.ErrSync) {
		s.fatal(err)
	}
	return err
}
