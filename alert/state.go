package alert

import (
	"cmp"
	"slices"
	"time"
)

// Kept is what an Evaluator remembers of one alarm over a restart: whether it rings, and
// since when its test holds or does not. What rose before is not kept: a window begins
// anew.
type Kept struct {
	Alarm    string    `json:"alarm"`
	Labels   Labels    `json:"labels"`
	Firing   bool      `json:"firing"`
	Holds    bool      `json:"holds"`
	Since    time.Time `json:"since"`              // whole seconds
	StartsAt time.Time `json:"starts_at,omitzero"` // of one that rings
	Value    float64   `json:"value"`              // when its test began or ceased to hold
	Peak     float64   `json:"peak,omitzero"`      // of one that is quiet: what it was at its worst
}

// maxKept bounds what is taken back: every rule of every stream and partner.
const maxKept = 4 * (MaxStreams*16 + MaxPartners)

// Keep returns what Restore needs, in the order of the rules. Two results are equal
// unless an alarm began or stopped, or its test did.
func (e *Evaluator) Keep() []Kept {
	e.mu.Lock()
	defer e.mu.Unlock()
	var keys []alarmKey
	for k, a := range e.alarms {
		if a.holds || a.firing {
			keys = append(keys, k)
		}
	}
	slices.SortFunc(keys, alarmKey.compare)
	out := make([]Kept, len(keys))
	for i, k := range keys {
		a := e.alarms[k]
		out[i] = Kept{
			Alarm: e.rules[k.rule].Name, Labels: k.labels, Firing: a.firing, Holds: a.holds,
			Since: e.wall(a.since), StartsAt: a.startsAt.UTC(), Value: a.turned,
		}
		if !a.holds {
			out[i].Peak = a.peak
		}
	}
	return out
}

// Restore takes back what another Evaluator kept, before the first sample: what rang
// rings on and is not told again, and how long a test holds goes on to be counted, the
// time between included. What no rule is for any more is left out.
func (e *Evaluator) Restore(kept []Kept, now time.Time) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last = now
	for _, k := range kept[:min(len(kept), maxKept)] {
		i := slices.IndexFunc(e.rules, func(r Rule) bool { return r.Name == k.Alarm && r.matches(k.Labels) })
		if i < 0 || !k.Firing && !k.Holds {
			continue
		}
		a := newAlarm(&e.rules[i], e.now)
		a.value, a.turned, a.peak = k.Value, k.Value, k.Peak
		if k.Holds {
			a.peak = k.Value
		}
		a.firing, a.holds, a.startsAt = k.Firing, k.Holds, k.StartsAt
		a.since = e.now - min(max(now.Sub(k.Since), 0), day)
		e.alarms[alarmKey{i, k.Labels}] = a
	}
}

func (k alarmKey) compare(o alarmKey) int {
	return cmp.Or(cmp.Compare(k.rule, o.rule), k.labels.compare(o.labels))
}
