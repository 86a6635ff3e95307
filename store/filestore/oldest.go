package filestore

import (
	"slices"

	"claimdlq"
)

// The states whose oldest record is watched.
const (
	watchQuarantined = iota
	watchParked
	watchInDoubt
	watchedStates
	// watchedFailed of them are watched for the first failure alone as well.
	watchedFailed = watchInDoubt
)

// watched returns the place of a state whose oldest record is watched, or -1.
func watched(s claimdlq.State) int8 {
	switch s {
	case claimdlq.StateQuarantined:
		return watchQuarantined
	case claimdlq.StateParked:
		return watchParked
	case claimdlq.StateInDoubt:
		return watchInDoubt
	}
	return -1
}

// oldest is the exact minimum, or a lower bound of it where stale.
type oldest struct {
	age   age // 0: none
	stale bool
}

// join and leave keep o.age the minimum, or below it where o is stale.
func (o *oldest) join(a age) {
	if a>>1 == 0 {
		return
	}
	if o.age == 0 || a <= o.age {
		o.age, o.stale = a, false
	}
}

func (o *oldest) leave(a age) {
	if a == o.age {
		o.stale = true
	}
}

// counted is an oldest that knows how many there are: when the last one leaves,
// nothing has to be looked at again.
type counted struct {
	age   age // 0: none
	n     int32
	stale bool
}

func (c *counted) join(a age) {
	if a>>1 == 0 {
		return
	}
	if c.n++; c.age == 0 || a <= c.age {
		c.age, c.stale = a, false
	}
}

func (c *counted) leave(a age) {
	if a>>1 == 0 {
		return
	}
	switch c.n--; {
	case c.n == 0:
		c.age, c.stale = 0, false
	case a == c.age:
		c.stale = true
	}
}

// minima say how old the oldest records in the watched states are.
type minima struct {
	// failed are the first failures of store.Stats, of all streams.
	failed [watchedFailed]counted
	// streams are those of store.StreamStats: the creation of what never failed too.
	streams [streamSlots][watchedStates]counted
}

// join takes a record of the cause into account; leave is the reverse.
func (m *minima) join(c *cause, a age) {
	if c.watch < 0 {
		return
	}
	m.streams[c.slot][c.watch].join(a)
	if c.watch < watchedFailed && a.failed() {
		m.failed[c.watch].join(a)
	}
}

func (m *minima) leave(c *cause, a age) {
	if c.watch < 0 {
		return
	}
	m.streams[c.slot][c.watch].leave(a)
	if c.watch < watchedFailed && a.failed() {
		m.failed[c.watch].leave(a)
	}
}

// each calls f for each minimum and its equal in o.
func (m *minima) each(o *minima, f func(a, b *counted)) {
	for i := range m.failed {
		f(&m.failed[i], &o.failed[i])
	}
	for s := range m.streams {
		for w := range m.streams[s] {
			f(&m.streams[s][w], &o.streams[s][w])
		}
	}
}

// oldest returns how old the oldest records in the watched states are. It looks
// again at the rows of those zones only whose oldest may be the one.
func (x *index) oldest() (best minima) {
	x.lazy.Lock()
	defer x.lazy.Unlock()
	for _, b := range x.blocks {
		if b == nil {
			continue
		}
		for z := range b.zone {
			best.each(&b.zone[z].minima, func(a, o *counted) {
				if !o.stale {
					a.age = earlier(a.age, o.age)
				}
			})
		}
	}
	for _, b := range x.blocks {
		if b == nil {
			continue
		}
		for z := range b.zone {
			m, again := &b.zone[z].minima, false
			best.each(m, func(a, o *counted) { again = again || o.stale && (a.age == 0 || o.age < a.age) })
			if again {
				*m = x.minimaOf(b, z)
				best.each(m, func(a, o *counted) { a.age = earlier(a.age, o.age) })
			}
		}
	}
	return best
}

// minimaOf looks at the rows of one zone.
func (x *index) minimaOf(b *block, zone int) (m minima) {
	first, last := zone*zoneRows, (zone+1)*zoneRows
	if b.offs != nil {
		i, _ := slices.BinarySearch(b.offs, uint16(first))
		j := len(b.offs)
		if last < blockRows {
			j, _ = slices.BinarySearch(b.offs, uint16(last))
		}
		first, last = i, j
	}
	for i := first; i < last; i++ {
		if b.rev[i] == 0 {
			continue
		}
		if c := x.causes.list[b.cause[i]]; c.watch >= 0 {
			m.join(c, b.get(i).age)
		}
	}
	return m
}

// soundMinima looks at every row and reports whether what is known about the oldest
// is true.
func (x *index) soundMinima() (sound bool) {
	x.lazy.Lock()
	defer x.lazy.Unlock()
	sound = true
	for _, b := range x.blocks {
		if b == nil {
			continue
		}
		for z := range b.zone {
			real := x.minimaOf(b, z)
			real.each(&b.zone[z].minima, func(is, known *counted) {
				sound = sound && known.n == is.n && known.age <= is.age && (known.stale || known.age == is.age)
			})
		}
	}
	return sound
}
