package alert

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Told is an alarm that a receiver knows of.
type Told struct {
	Event Event `json:"event"` // as it was told
	// Again: it is to be told once more, as soon as it may be.
	Again bool `json:"again,omitempty"`
}

// Teller decides what one receiver is told: that an alarm rings, once, and that it is
// over. An alarm that people have silenced is not told; that one is over which was told
// always is. The zero Teller has told nothing. It is for one caller at a time.
type Teller struct{ told map[string]Told }

// Tell returns what the receiver is to be told now: what rings and was not told, in the
// order of active, and then what was told and rings no more. It takes for granted that
// it is told. Mine says what the receiver is told at all, silenced what is silenced now.
func (t *Teller) Tell(now time.Time, active []Event, mine, silenced func(Event) bool) []Event {
	if t.told == nil {
		t.told = map[string]Told{}
	}
	var out []Event
	rings := map[string]bool{}
	for _, e := range active {
		if !mine(e) {
			continue
		}
		id := e.Fingerprint()
		rings[id] = true
		known, ok := t.told[id]
		switch {
		case silenced(e) && ok:
			t.told[id] = Told{known.Event, true} // for when the silence is over
		case silenced(e):
		case !ok || known.Again || !known.Event.StartsAt.Equal(e.StartsAt):
			out = append(out, e)
			t.told[id] = Told{Event: e}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(t.told)) {
		if rings[id] {
			continue
		}
		e := t.told[id].Event
		e.Status, e.EndsAt = Resolved, now.UTC()
		if e.EndsAt.Before(e.StartsAt) {
			e.EndsAt = e.StartsAt // the clock went back
		}
		out = append(out, e)
		delete(t.told, id)
	}
	return out
}

// Remind has everything that rings told once more.
func (t *Teller) Remind() {
	for id, x := range t.told {
		x.Again = true
		t.told[id] = x
	}
}

// Keep returns what Restore needs after a restart.
func (t *Teller) Keep() []Told {
	return slices.SortedFunc(maps.Values(t.told), func(a, b Told) int { return cmp.Compare(a.Event.Fingerprint(), b.Event.Fingerprint()) })
}

// Restore takes back what another Teller kept.
func (t *Teller) Restore(kept []Told) {
	t.told = map[string]Told{}
	for _, x := range kept[:min(len(kept), maxKept)] {
		t.told[x.Event.Fingerprint()] = x
	}
}
