package attempt

import (
	"slices"

	"claimdlq"
)

// act is what one or many audit entries of a commit say, of deliveries of pharmacy claims
// that travel alone: those about claims of one partner that say the same are one entry
// with the names of all of them.
type act struct {
	saying

	entry claimdlq.Entry // the first; at the latest of their times
	ids   []claimdlq.ID  // of the records that were delivered
}

// saying is what entries must have in common.
type saying struct {
	order    int // of the entry among those of its delivery
	partner  string
	action   claimdlq.Action
	detail   claimdlq.Detail
	from, to claimdlq.State
	revision uint16 // of the payload
}

// acts are those of one commit; the memory is used for the next.
type acts struct {
	list []act
	at   map[saying]int
	last []int // by order: the one that was added to last. Neighbours often say the same
}

// add takes the entries of one delivery of one record.
func (as *acts) add(partner string, id claimdlq.ID, es ...claimdlq.Entry) {
	for order := range es {
		e := &es[order]
		a := as.act(saying{order, partner, e.Action, e.Detail, e.From, e.To, e.PayloadRevision})
		if len(a.ids) == 0 {
			a.entry = *e
		} else if e.At.After(a.entry.At) {
			a.entry.At = e.At
		}
		a.ids = append(a.ids, id)
	}
}

// act returns the one that says it, made if need be.
func (as *acts) act(s saying) *act {
	for len(as.last) <= s.order {
		as.last = append(as.last, -1)
	}
	last := &as.last[s.order]
	if *last >= 0 && as.list[*last].saying == s {
		return &as.list[*last]
	}
	i, ok := as.at[s]
	if !ok {
		if as.at == nil {
			as.at = map[saying]int{}
		}
		i = len(as.list)
		as.at[s] = i
		if i < cap(as.list) {
			as.list = as.list[:i+1]
		} else {
			as.list = append(as.list, act{})
		}
		a := &as.list[i]
		a.saying, a.ids = s, a.ids[:0]
	}
	*last = i
	return &as.list[i]
}

// flush adds the entries to es, in the order that they have in a delivery: one that
// nothing else is like is as it was; one of many has no number of a submission, and the
// latest of their times.
func (as *acts) flush(es []claimdlq.Entry) []claimdlq.Entry {
	for order := range as.last {
		for i := range as.list {
			if a := &as.list[i]; a.order == order {
				es = append(es, a.told())
			}
		}
	}
	as.list, as.last = as.list[:0], as.last[:0]
	clear(as.at)
	return es
}

func (a *act) told() claimdlq.Entry {
	e := a.entry
	if len(a.ids) > 1 {
		slices.Sort(a.ids)
		e.Record, e.Submission, e.Records = 0, 0, claimdlq.NewIDSet(slices.Values(a.ids))
	}
	return e
}

// shares reports whether the entries of the outcome may be told with those of others. A
// delivery that leaves something open has its own, with its submission: what is asked
// about it later is found by that.
func (o *outcome) shares() bool {
	if o.sub.Stream != claimdlq.StreamNCPDP || len(o.moved) != 1 || len(o.steps.NewSubmissions) > 0 {
		return false
	}
	end := o.moved[0].v.end
	return end == endAgain || end == endSettled || end == endSpent
}
