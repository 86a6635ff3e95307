package sizing

import (
	"iter"
	"slices"
	"sort"
	"time"
)

// The alarms that Size knows, by the names of their rules.
const (
	AlarmBreaker = "breaker_open"
	AlarmRetries = "retry_rate"
	AlarmDepth   = "dlq_increase"
	AlarmAge     = "dlq_oldest_age"
)

// Alarm is when an alarm's condition first holds, from the beginning of the
// incident on. It pages when it is looked at next.
type Alarm struct {
	Name  string `json:"name"`
	After Span   `json:"after_ms"`
}

func (l *Loss) ring(name string, at time.Duration) {
	if at >= 0 {
		l.Alarms = append(l.Alarms, Alarm{name, Span(at)})
	}
}

// rings works out which alarms ring, the first first.
func (in *Input) rings(l *Loss) {
	if l.failures != nil {
		l.ring(AlarmRetries, within(l.failures, in.RetryAlarm))
		dead := l.failures.dead()
		l.ring(AlarmDepth, within(dead, in.DepthAlarm))
		if l.DeadLettered > 0 {
			l.ring(AlarmAge, time.Duration(l.FirstDead)+in.AgeAlarm)
		}
	}
	if l.Alarms == nil {
		l.Alarms = []Alarm{}
	}
	slices.SortStableFunc(l.Alarms, func(a, b Alarm) int { return int(min(max(a.After-b.After, -1), 1)) })
}

// failures are the failed calls of an incident in the order in which they end.
type failures interface {
	// all gives the times at which they end.
	all() iter.Seq[time.Duration]
	// upTo returns how many have ended at or before t.
	upTo(t time.Duration) int64
	// marks returns times, in order, up to each of which from the one before the
	// count of the last minute never falls.
	marks() []time.Duration
	// dead returns those that dead-letter a claim.
	dead() failures
}

// walked is how many failures are looked at one by one for an alarm.
const walked = 1_000_000

// within returns when n of them first lie within a minute; negative if they never
// do. It is exact where an alarm rings within the first million; after that, to a
// few claims' spacing.
func within(f failures, n int64) time.Duration {
	if n < 1 {
		return never
	}
	if n <= walked {
		r, seen := newRecent(n), 0
		for t := range f.all() {
			if r.add(t) {
				return t
			}
			if seen++; seen == walked {
				return search(f, n)
			}
		}
		return never
	}
	return search(f, n)
}

// search is within by halving.
func search(f failures, n int64) time.Duration {
	lately := func(t time.Duration) bool { return f.upTo(t)-f.upTo(t-time.Minute) >= n }
	from := time.Duration(0)
	for _, to := range f.marks() {
		if to >= from && lately(to) {
			return from + time.Duration(sort.Search(int(to-from), func(t int) bool { return lately(from + time.Duration(t)) }))
		}
		from = max(from, to)
	}
	return never
}

// spread are the failures without a breaker: each claim's deliveries apart. They
// become more until claims are dead-lettered as fast as they arrive.
type spread struct {
	in      *Input
	offsets []time.Duration
	length  time.Duration
}

func (s *spread) all() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		var h heap // of the next failure of each delivery
		next := func(delivery uint16, claim int64) {
			if o := s.offsets[delivery]; claim < s.in.Rate.before(s.length-o) {
				h.push(event{at: s.in.Rate.at(claim) + o + s.in.FailLatency, claim: uint32(claim), receive: delivery})
			}
		}
		for i := range s.offsets {
			next(uint16(i), 0)
		}
		for len(h.es) > 0 {
			e := h.pop()
			if !yield(e.at) {
				return
			}
			next(e.receive, int64(e.claim)+1)
		}
	}
}

func (s *spread) upTo(t time.Duration) int64 {
	n := int64(0)
	for _, o := range s.offsets {
		// It started at the arrival + o, before length, and took FailLatency.
		n = sum(n, min(s.in.Rate.upTo(t-s.in.FailLatency-o), s.in.Rate.before(s.length-o)))
	}
	return n
}

func (s *spread) marks() []time.Duration {
	end := s.length + s.in.FailLatency
	return []time.Duration{min(s.offsets[0]+s.in.FailLatency+time.Minute-1, end), end}
}

func (s *spread) dead() failures {
	return &spread{in: s.in, offsets: s.offsets[len(s.offsets)-1:], length: s.length}
}

// few are the failures with the breaker: those that open it, and probes.
type few struct {
	in     *Input
	first  int64
	probes []time.Duration
}

func (f *few) all() iter.Seq[time.Duration] {
	return func(yield func(time.Duration) bool) {
		for k := range f.first {
			if !yield(f.in.Rate.at(k) + f.in.FailLatency) {
				return
			}
		}
		for _, t := range f.probes {
			if !yield(t) {
				return
			}
		}
	}
}

func (f *few) upTo(t time.Duration) int64 {
	n := min(f.in.Rate.upTo(t-f.in.FailLatency), f.first)
	i, _ := slices.BinarySearch(f.probes, t+1)
	return n + int64(i)
}

func (f *few) marks() []time.Duration {
	opening := f.in.Rate.at(max(f.first-1, 0)) + f.in.FailLatency
	return append([]time.Duration{min(opening, f.in.FailLatency+time.Minute-1), opening}, f.probes...)
}

func (f *few) dead() failures {
	if f.in.Policy.MaxReceive == 1 {
		return f
	}
	return &few{in: f.in}
}
