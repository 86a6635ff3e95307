package sortedrun

import (
	"context"
	"path/filepath"
	"slices"
)

// tierUnit is the size below which all runs are of the lowest tier.
const tierUnit = 64 << 10

// Merge does one merge if one is due and reports whether another is due then.
// The result is durable on return; a merge that ctx stops, or that fails, has
// changed nothing. Errors: Corrupt, Unavailable.
func (s *Set) Merge(ctx context.Context) (more bool, err error) {
	s.write.Lock()
	defer s.write.Unlock()
	old, err := s.acquire()
	if err != nil {
		return false, err
	}
	defer old.release()
	from, to := s.due(old.runs)
	if from == to {
		return false, nil
	}
	parts := old.runs[from:to]
	made, err := s.build(total(parts), func(w *writer) error {
		m, err := newMerger(parts, Key{}, true)
		if err != nil {
			return err
		}
		defer m.free()
		for err == nil && m.valid() {
			if w.count%1024 == 0 && ctx.Err() != nil {
				return ioError("merge runs", w.name, ctx.Err())
			}
			if err = w.add(m.key(), m.value()); err == nil {
				err = m.next()
			}
		}
		return err
	})
	if err != nil {
		return false, err
	}
	runs := slices.Replace(slices.Clone(old.runs), from, to, made)
	if err := s.install(runs, made); err != nil {
		return false, err
	}
	for _, r := range parts {
		_ = s.fs.Remove(filepath.Join(s.dir, r.name)) // what stays is removed by the next Open
	}
	from, to = s.due(runs)
	return from < to, nil
}

func total(runs []*run) (n int) {
	for _, r := range runs {
		n += int(r.count)
	}
	return n
}

// due returns the adjacent runs from (included) to (excluded) to merge next: the
// lowest tier of which Fanout runs lie together, with nothing larger in between.
// Only neighbours are merged: newest wins must keep its meaning.
func (s *Set) due(runs []*run) (from, to int) {
	top := 0
	for _, r := range runs {
		top = max(top, s.tier(r))
	}
	for tier := 0; tier <= top; tier++ {
		start, members := 0, 0
		for i := 0; i <= len(runs); i++ {
			if i < len(runs) && s.tier(runs[i]) <= tier {
				if s.tier(runs[i]) == tier {
					members++
				}
				continue
			}
			if members >= s.o.Fanout {
				return start, i
			}
			start, members = i+1, 0
		}
	}
	return 0, 0
}

// tier is how often the run's size can be divided by Fanout.
func (s *Set) tier(r *run) (t int) {
	for n := r.bytes; n >= int64(tierUnit*s.o.Fanout); n /= int64(s.o.Fanout) {
		t++
	}
	return t
}
