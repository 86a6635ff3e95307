package filestore

import (
	"claimdlq"
)

// hits are the inserts whose keys may be known.
type hits struct {
	all  bool
	some map[int]bool // by index
}

func (h *hits) at(i int) bool { return h.all || h.some[i] }

// hits looks many keys up together: nearly always, nobody knows any of them.
func (v view) hits(list []claimdlq.Record) (h hits) {
	if len(v.pending) > 0 || v.s.runs.Load() != nil {
		return hits{all: true}
	}
	var buf [8]uint32
	x := v.s.index
	x.mu.RLock()
	defer x.mu.RUnlock()
	for i := range list {
		if len(x.keys.rows(hashKey(list[i].Key), buf[:0])) == 0 {
			continue
		}
		if h.some == nil {
			h.some = map[int]bool{}
		}
		h.some[i] = true
	}
	return h
}

// knownIf is known for a key that may be known, and nothing for another.
func (v view) knownIf(hit bool, k claimdlq.Key) (p pending, ok bool, err error) {
	if !hit {
		return p, false, nil
	}
	return v.known(k)
}

// known finds the record that has the key, if any.
func (v view) known(k claimdlq.Key) (pending, bool, error) {
	if p, ok := v.pending[k]; ok {
		return p, true, nil
	}
	r, ok, err := v.s.find(k)
	return pending{r.ID, r.Digest}, ok, err
}
