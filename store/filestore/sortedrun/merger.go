package sortedrun

import (
	"slices"
	"sort"
)

// cursor stands on one entry of a run, or past its end.
type cursor struct {
	run *run
	up  bool
	i   int // block
	es  []entry
	at  int // entry of the block
	buf []byte
}

func (c *cursor) valid() bool { return c.at >= 0 && c.at < len(c.es) }

// seek goes to the first key from start on, or the last one below it.
func (c *cursor) seek(start Key) error {
	c.i = max(0, c.run.find(start))
	if err := c.load(); err != nil {
		return err
	}
	c.at = sort.Search(len(c.es), func(i int) bool { return !less(c.es[i].key, start) })
	if c.up {
		return c.settle()
	}
	c.at--
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

// settle goes on to the neighbouring block at a block's end.
func (c *cursor) settle() error {
	switch {
	case c.valid():
		return nil
	case c.up && c.i+1 < len(c.run.index):
		c.i++
		err := c.load()
		c.at = 0
		return err
	case !c.up && c.i > 0:
		c.i--
		err := c.load()
		c.at = len(c.es) - 1
		return err
	}
	c.es = nil
	return nil
}

func (c *cursor) load() error {
	b, err := c.run.block(c.i, &c.buf)
	if err != nil {
		return err
	}
	es, ok := entriesOf(b, c.es)
	if !ok {
		return c.run.corrupt("block", c.run.index[c.i].offset)
	}
	c.es = es
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
		c := &cursor{run: r, up: up}
		if err := c.seek(start); err != nil {
			return nil, err
		}
		m.cursors = append(m.cursors, c)
	}
	m.choose()
	return m, nil
}

func (m *merger) valid() bool   { return m.best != nil }
func (m *merger) key() Key      { return m.best.es[m.best.at].key }
func (m *merger) value() []byte { return m.best.es[m.best.at].value }

// choose takes the newest cursor among those that stand on the next key. Sets
// have few runs: a heap would not pay.
func (m *merger) choose() {
	m.best = nil
	for _, c := range slices.Backward(m.cursors) {
		if !c.valid() {
			continue
		}
		if m.best == nil || (m.up && less(c.es[c.at].key, m.key())) || (!m.up && less(m.key(), c.es[c.at].key)) {
			m.best = c
		}
	}
}

// next leaves the key in every run that has it.
func (m *merger) next() error {
	k := m.key()
	for _, c := range m.cursors {
		if c.valid() && c.es[c.at].key == k {
			if err := c.next(); err != nil {
				return err
			}
		}
	}
	m.choose()
	return nil
}
