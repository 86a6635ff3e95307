package sortedrun

import (
	"slices"
	"sort"
	"sync"
)

// cursor stands on one entry of a run, or past its end.
type cursor struct {
	run *run
	up  bool
	i   int // block

	buf    []byte
	block  []byte   // its entries
	starts []uint32 // of them
	at     int      // the one it stands on
	now    entry
	done   bool
}

// cursors are used again, for their memory.
var cursors = sync.Pool{New: func() any { return new(cursor) }}

func newCursor(r *run, up bool) *cursor {
	c := cursors.Get().(*cursor)
	c.run, c.up, c.done = r, up, false
	return c
}

func (c *cursor) free() {
	c.run, c.now = nil, entry{}
	cursors.Put(c)
}

// seek goes to the first key from start on, or the last one below it.
func (c *cursor) seek(start Key) error {
	c.i = max(0, c.run.find(start))
	if err := c.load(); err != nil {
		return err
	}
	c.at = sort.Search(len(c.starts), func(i int) bool { return !less(entryAt(c.block, c.starts[i]).key, start) })
	if !c.up {
		c.at--
	}
	return c.settle()
}

func (c *cursor) next() error {
	if c.up {
		c.at++
	} else {
		c.at--
	}
	return c.settle()
}

// settle goes on to the neighbouring block at a block's end, and reads the entry.
func (c *cursor) settle() error {
	switch {
	case c.at >= 0 && c.at < len(c.starts):
	case c.up && c.i+1 < len(c.run.index):
		c.i++
		if err := c.load(); err != nil {
			return err
		}
		c.at = 0
	case !c.up && c.i > 0:
		c.i--
		if err := c.load(); err != nil {
			return err
		}
		c.at = len(c.starts) - 1
	default:
		c.done = true
		return nil
	}
	c.now = entryAt(c.block, c.starts[c.at])
	return nil
}

func (c *cursor) load() error {
	b, err := c.run.block(c.i, &c.buf)
	if err != nil {
		return err
	}
	starts, ok := startsOf(b, c.starts)
	if !ok {
		return c.run.corrupt("block", c.run.index[c.i].offset)
	}
	c.block, c.starts = b, starts
	return nil
}

// merger walks several runs, oldest first, as one: of a key in several of them it
// shows the newest.
type merger struct {
	cursors []*cursor
	up      bool
	best    *cursor
}

func newMerger(runs []*run, start Key, up bool) (*merger, error) {
	m := &merger{up: up}
	for _, r := range runs {
		if up && less(r.last, start) || !up && !less(r.first, start) {
			continue
		}
		c := newCursor(r, up)
		m.cursors = append(m.cursors, c)
		if err := c.seek(start); err != nil {
			m.free()
			return nil, err
		}
	}
	m.choose()
	return m, nil
}

func (m *merger) valid() bool   { return m.best != nil }
func (m *merger) key() Key      { return m.best.now.key }
func (m *merger) value() []byte { return m.best.now.value }

// free gives the cursors back; the merger must not be used afterwards.
func (m *merger) free() {
	for _, c := range m.cursors {
		c.free()
	}
}

// choose takes the newest cursor among those that stand on the next key. Sets
// have few runs: a heap would not pay.
func (m *merger) choose() {
	m.best = nil
	for _, c := range slices.Backward(m.cursors) {
		if c.done {
			continue
		}
		if m.best == nil || (m.up && less(c.now.key, m.key())) || (!m.up && less(m.key(), c.now.key)) {
			m.best = c
		}
	}
}

// next leaves the key in every run that has it.
func (m *merger) next() error {
	k := m.key()
	for _, c := range m.cursors {
		if !c.done && c.now.key == k {
			if err := c.next(); err != nil {
				return err
			}
		}
	}
	m.choose()
	return nil
}
