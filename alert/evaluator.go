package alert

import (
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"claimdlq"
)

// stale is after how long without a figure an alarm about it ends, as in Prometheus.
const stale = 5 * time.Minute

// maxRules bounds the rules of an Evaluator.
const maxRules = 4096

// Evaluator decides which alarms ring. Its memory is bounded by MaxStreams and
// MaxPartners. It is safe for concurrent use, but samples are of one source and come
// in order.
//
// It measures time by the samples, and by a clock of its own that never goes back:
// where a sample is dated before the last, no time has passed.
type Evaluator struct {
	mu      sync.Mutex
	rules   []Rule
	readers map[string][]int // the rules that read a metric; "" those that miss one

	last  time.Time     // of the latest sample
	now   time.Duration // its time on the clock of our own
	seq   uint64        // of the latest sample
	known map[Labels]presence
	of    struct{ streams, partners int } // how many of each are known

	alarms map[alarmKey]*alarm
}

type alarmKey struct {
	rule   int
	labels Labels
}

// presence is when a stream or partner was last in a sample.
type presence struct {
	at  time.Duration
	seq uint64
}

// alarm is what one rule knows about one set of labels.
type alarm struct {
	value, threshold float64
	turned           float64 // value when the test began or ceased to hold
	peak             float64 // the value furthest from 0 while the test held, since it began to ring
	seen             time.Duration

	holds, firing bool
	since         time.Duration // while it holds: since when; while it rings and does not hold: since when not
	startsAt      time.Time

	level   *window // of Rise
	counted counter
	calls   *calls // of OfFirst
}

// calls are the counters behind OfFirst.
type calls struct {
	counters [3]counter // failures, deliveries, retries
	windows  [3]window
}

// New returns an Evaluator of the rules. Errors: Invalid, every fault at once.
func New(rules []Rule) (*Evaluator, error) {
	if len(rules) == 0 || len(rules) > maxRules {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "read alarm rules", Hint: "there are 1 to 4096 rules"}
	}
	e := &Evaluator{rules: slices.Clone(rules), readers: map[string][]int{}, known: map[Labels]presence{}, alarms: map[alarmKey]*alarm{}}
	var errs []error
	for i := range e.rules {
		r := &e.rules[i]
		errs = append(errs, r.Validate())
		metric := r.Metric
		if r.Test == Missing {
			metric = ""
		}
		e.readers[metric] = append(e.readers[metric], i)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return e, nil
}

// Observe takes the next sample and returns what began to ring and what stopped, in
// the order of the rules. An alarm that rings already is not returned again. A
// sample without streams leaves all alarms as they are, but for AlarmFigures.
func (e *Evaluator) Observe(s Sample) []Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.advance(s.At)
	o := observation{e: e, at: s.At}
	missing := 0
	for i := range s.Streams {
		l := Labels{Stream: cleanName(s.Streams[i].Name)}
		if !e.admit(l, &e.of.streams, MaxStreams) {
			missing++
			continue
		}
		for r := range s.Streams[i].readings(l.Stream) {
			o.read(r)
		}
	}
	for i := range s.Partners {
		p := &s.Partners[i]
		l := Labels{Stream: cleanName(p.Stream), Partner: cleanName(p.Name)}
		if !e.admit(l, &e.of.partners, MaxPartners) {
			missing++
			continue
		}
		o.read(p.reading(l, s.At))
	}
	if s.Intake != nil {
		for r := range s.Intake.readings() {
			o.read(r)
		}
	}
	if len(s.Streams) == 0 {
		missing++
	} else {
		o.forget()
	}
	o.read(reading{value: float64(missing)})
	return o.sorted()
}

// Active returns what rings, in the order of the rules, with the latest values.
func (e *Evaluator) Active() []Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	o := observation{e: e, at: e.last}
	for k, a := range e.alarms {
		if a.firing {
			o.tell(k, a)
		}
	}
	return o.sorted()
}

// advance moves the evaluator's own clock by what has passed since the last sample:
// nothing where the clock went back, a day at most where it jumped.
func (e *Evaluator) advance(at time.Time) {
	if !e.last.IsZero() {
		e.now += min(max(at.Sub(e.last), 0), day)
	}
	e.last = at
	e.seq++
}

// wall returns a time of the evaluator's own clock as the samples are dated.
func (e *Evaluator) wall(at time.Duration) time.Time {
	return e.last.Add(at - e.now).UTC().Round(time.Second)
}

// admit notes that a stream or partner is in the sample, and reports whether it is
// watched: those beyond the most are not, nor is one that comes twice.
func (e *Evaluator) admit(l Labels, n *int, most int) bool {
	p, ok := e.known[l]
	if ok && p.seq == e.seq || !ok && *n >= most {
		return false
	}
	if !ok {
		*n++
	}
	e.known[l] = presence{e.now, e.seq}
	return true
}

// observation collects the events of one sample.
type observation struct {
	e      *Evaluator
	at     time.Time
	events []keyed
}

type keyed struct {
	key   alarmKey
	event Event
}

// read shows a figure to the rules that read it.
func (o *observation) read(r reading) {
	for _, i := range o.e.readers[r.metric] {
		if o.e.rules[i].matches(r.labels) {
			o.apply(alarmKey{i, r.labels}, r)
		}
	}
}

// apply moves one alarm by one figure.
func (o *observation) apply(k alarmKey, r reading) {
	e, rule := o.e, &o.e.rules[k.rule]
	a, ok := e.alarms[k]
	if !ok {
		a = newAlarm(rule, e.now)
	}
	holds := a.test(rule, r, e.now)
	if holds != a.holds || e.now-a.seen > stale { // after a gap nobody knows what was in between
		a.since, a.turned = e.now, a.value
		if holds && !a.firing {
			a.peak = 0
		}
		if holds {
			a.since -= min(r.held, day)
		}
	}
	a.holds, a.seen = holds, e.now
	if holds && math.Abs(a.value) > math.Abs(a.peak) {
		a.peak = a.value
	}
	switch {
	case holds && !a.firing && e.now-a.since >= rule.For:
		a.firing, a.startsAt = true, o.at
		o.tell(k, a)
	case !holds && a.firing && e.now-a.since >= rule.KeepFor:
		o.end(k, a)
	}
	if holds || a.firing || a.level != nil || a.calls != nil {
		e.alarms[k] = a
	} else {
		delete(e.alarms, k)
	}
}

func newAlarm(r *Rule, now time.Duration) *alarm {
	a := &alarm{threshold: r.Threshold, seen: now}
	switch r.Test {
	case Rise:
		a.level = &window{length: r.Window}
	case OfFirst:
		a.calls = &calls{}
		for i := range a.calls.windows {
			a.calls.windows[i].length = r.Window
		}
	case AtLeast, NotZero, Missing:
	}
	return a
}

// test takes the figure and reports whether the rule's test holds.
func (a *alarm) test(r *Rule, f reading, now time.Duration) bool {
	a.value = f.value
	switch r.Test {
	case AtLeast:
	case Rise:
		v := int64(f.value)
		if isCounter(r.Metric) {
			v = a.counted.add(v)
		}
		a.value = float64(a.level.rise(now, v))
	case OfFirst:
		var grew [3]int64
		for i, v := range [3]float64{f.value, f.deliveries, f.retries} {
			grew[i] = a.calls.windows[i].rise(now, a.calls.counters[i].add(int64(v)))
		}
		a.value = float64(grew[0])
		a.threshold = max(r.Threshold*float64(max(grew[1]-grew[2], 0)), float64(r.Least))
	case NotZero, Missing:
		return f.value != 0
	}
	return a.value >= a.threshold
}

// forget ends the alarms about what has not been in a sample for long: a partner
// that was removed, a stream that is no more.
func (o *observation) forget() {
	e := o.e
	for k, a := range e.alarms {
		if k.labels != (Labels{}) && e.now-a.seen > stale {
			o.end(k, a)
			delete(e.alarms, k)
		}
	}
	for l, p := range e.known {
		if e.now-p.at <= stale {
			continue
		}
		delete(e.known, l)
		if l.Partner == "" {
			e.of.streams--
		} else {
			e.of.partners--
		}
	}
}

// end stops an alarm, and tells of it if it rang.
func (o *observation) end(k alarmKey, a *alarm) {
	if a.firing {
		a.firing = false
		o.tell(k, a)
	}
}

// tell adds the event of the alarm as it is now.
func (o *observation) tell(k alarmKey, a *alarm) {
	r := &o.e.rules[k.rule]
	ev := Event{
		Status: Firing, Alarm: r.Name, Severity: r.Severity, Labels: k.labels, Value: a.value, Threshold: a.threshold,
		Peak: a.peak, StartsAt: a.startsAt.UTC(), Runbook: r.Runbook, Console: r.console(k.labels),
	}
	if !a.holds {
		ev.QuietSince = o.e.wall(a.since)
	}
	ev.Summary = r.summary(ev)
	if !a.firing {
		ev.Status, ev.EndsAt = Resolved, o.at.UTC()
		if ev.EndsAt.Before(ev.StartsAt) {
			ev.EndsAt = ev.StartsAt // the clock went back
		}
	}
	o.events = append(o.events, keyed{k, ev})
}

// sorted returns the events in the order of the rules, then of the labels.
func (o *observation) sorted() []Event {
	slices.SortFunc(o.events, func(a, b keyed) int { return a.key.compare(b.key) })
	out := make([]Event, len(o.events))
	for i, ke := range o.events {
		out[i] = ke.event
	}
	return out
}
