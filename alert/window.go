package alert

import "time"

// point is a value at a time of the evaluator's own clock.
type point struct {
	at    time.Duration
	value int64
}

// window keeps the values of the last while, enough to tell how far the value now
// lies above the lowest. It holds about a hundred points, however often it is told.
type window struct {
	length time.Duration
	points []point
}

// rise takes the value at now, which is not before the last, and returns how far it
// lies above the lowest of the window. The window begins with the newest value that
// is as old as it is long, or older; so a rise over exactly its length counts. Where
// samples are further apart than that, what rose between two of them counts too: an
// alarm too many is better than none. After a gap in which a series goes stale
// nobody knows when it rose.
func (w *window) rise(now time.Duration, v int64) int64 {
	w.push(point{now, v})
	old := 0
	for old+1 < len(w.points) && w.points[old+1].at <= now-w.length {
		old++
	}
	if w.points[old].at < now-max(2*w.length, stale) {
		old++ // never the last point, which is now
	}
	w.points = append(w.points[:0], w.points[old:]...)
	low := v
	for _, p := range w.points {
		low = min(low, p.value)
	}
	return v - low
}

// push appends p. Points closer together than a hundredth of the window become one,
// the lower value at the earlier time: what was low is forgotten that much too early.
func (w *window) push(p point) {
	if n := len(w.points); n >= 2 && w.points[n-1].at-w.points[n-2].at < w.length/100 {
		w.points[n-2].value = min(w.points[n-2].value, w.points[n-1].value)
		w.points = w.points[:n-1]
	}
	w.points = append(w.points, p)
}

// counter turns a counter that may begin again at 0 into one that never falls. The
// zero counter has seen nothing: its first value counts for nothing.
type counter struct {
	seen        bool
	last, total int64
}

func (c *counter) add(v int64) int64 {
	switch {
	case !c.seen:
		c.seen = true
	case v < c.last: // it began again
		c.total = sum(c.total, v)
	default:
		c.total = sum(c.total, v-c.last)
	}
	c.last = v
	return c.total
}

// sum adds two numbers that are not negative, and stops at the largest.
func sum(a, b int64) int64 {
	if a+b < 0 {
		return 1<<63 - 1
	}
	return a + b
}
