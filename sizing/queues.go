package sizing

import (
	"math/bits"
	"time"
)

// event is something that happens to a claim at a time.
type event struct {
	at      time.Duration
	order   uint32 // among events of the same time and kind
	claim   uint32
	receive uint16 // deliveries so far
	kind    kind
	call    call   // what the call was, for callEnds
	outage  uint16 // that it fell into, from 1
}

// kind orders events of the same time: a call that ends comes before what its end
// decides about.
type kind uint8

const (
	callEnds kind = iota
	retryDue
)

// call is what is known of a delivery when it starts.
type call uint8

const (
	callFails call = 1 << iota
	callProbe
	callReplay
	callCanary
	callBad // the claim is refused for what it says
)

func (e event) before(o event) bool {
	if e.at != o.at {
		return e.at < o.at
	}
	if e.kind != o.kind {
		return e.kind < o.kind
	}
	return e.order < o.order
}

// heap is a heap of events with four children to a node: shallow, and the children
// lie beside each other.
type heap struct{ es []event }

func (h *heap) push(e event) {
	h.es = append(h.es, e)
	i := len(h.es) - 1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(h.es[parent]) {
			break
		}
		h.es[i] = h.es[parent]
		i = parent
	}
	h.es[i] = e
}

func (h *heap) pop() event {
	top := h.es[0]
	last := len(h.es) - 1
	e := h.es[last]
	h.es = h.es[:last]
	if last == 0 {
		return top
	}
	i := 0
	for {
		first := 4*i + 1
		if first >= last {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, last); c++ {
			if h.es[c].before(h.es[least]) {
				least = c
			}
		}
		if !h.es[least].before(e) {
			break
		}
		h.es[i] = h.es[least]
		i = least
	}
	h.es[i] = e
	return top
}

// lanes is a queue of events. Events that are all the same wait away come in order,
// so most find a lane in which they are the last; what does not goes into a heap.
type lanes struct {
	lane  [16]ring
	ahead [17]event // the first of each lane, then of the heap
	used  uint32    // which of them there are, a bit each
	rest  heap
	order uint32
}

// push adds an event; hint says which lane it probably fits.
func (l *lanes) push(e event, hint int) {
	e.order = l.order
	l.order++
	i := min(hint, len(l.lane)-1)
	if q := &l.lane[i]; q.len() == 0 || q.last().at <= e.at {
		q.push(e)
	} else {
		i = len(l.lane)
		l.rest.push(e)
	}
	l.look(i)
}

// first returns which holds the event that is next, -1 if there is none.
func (l *lanes) first() int {
	least := -1
	for left := l.used; left != 0; left &= left - 1 {
		if i := bits.TrailingZeros32(left); least < 0 || l.ahead[i].before(l.ahead[least]) {
			least = i
		}
	}
	return least
}

// pop removes the event that first named.
func (l *lanes) pop(i int) event {
	e := l.ahead[i]
	if i == len(l.lane) {
		l.rest.pop()
	} else {
		l.lane[i].pop()
	}
	l.look(i)
	return e
}

// look notes the first event of lane i.
func (l *lanes) look(i int) {
	switch {
	case i < len(l.lane) && l.lane[i].len() > 0:
		l.ahead[i] = *l.lane[i].first()
	case i == len(l.lane) && len(l.rest.es) > 0:
		l.ahead[i] = l.rest.es[0]
	default:
		l.used &^= 1 << i
		return
	}
	l.used |= 1 << i
}

// ring is a queue of events.
type ring struct {
	es   []event
	head int
}

func (r *ring) len() int      { return len(r.es) - r.head }
func (r *ring) first() *event { return &r.es[r.head] }
func (r *ring) last() *event  { return &r.es[len(r.es)-1] }
func (r *ring) push(e event)  { r.es = append(r.es, e) }

func (r *ring) pop() {
	r.head++
	if r.head == len(r.es) || r.head > 4096 && 2*r.head > len(r.es) {
		r.es, r.head = r.es[:copy(r.es, r.es[r.head:])], 0
	}
}

// fifo is a queue of claims.
type fifo struct {
	ids  []uint32
	head int
}

func (q *fifo) len() int { return len(q.ids) - q.head }

func (q *fifo) push(id uint32) { q.ids = append(q.ids, id) }

func (q *fifo) pop() uint32 {
	id := q.ids[q.head]
	q.head++
	switch {
	case q.head == len(q.ids):
		q.ids, q.head = q.ids[:0], 0
	case q.head > 4096 && 2*q.head > len(q.ids):
		q.ids, q.head = q.ids[:copy(q.ids, q.ids[q.head:])], 0
	}
	return id
}

// recent tells when the nth event within a minute happens.
type recent struct {
	times []time.Duration // the latest n, a ring
	next  int
	seen  int64
}

func newRecent(n int64) *recent {
	if n < 1 || n > 50_000_000 {
		return &recent{}
	}
	return &recent{times: make([]time.Duration, n)}
}

// add reports whether the event makes it n within a minute.
func (r *recent) add(t time.Duration) bool {
	if len(r.times) == 0 {
		return false
	}
	r.times[r.next] = t
	r.next = (r.next + 1) % len(r.times)
	r.seen++
	return r.seen >= int64(len(r.times)) && t-r.times[r.next] < time.Minute
}
