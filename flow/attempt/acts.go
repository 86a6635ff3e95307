package attempt

import (
	"cmp"
	"slices"

	"claimdlq"
)

// act is one audit entry of the delivery of one pharmacy claim that travels alone.
// Those of one commit, about claims of one partner, that say the same are one entry
// with the names of all of them.
type act struct {
	partner string
	id      claimdlq.ID // of the record that was delivered
	order   int         // of the entry among those of its delivery
	entry   claimdlq.Entry
}

func (a *act) compare(b *act) int {
	return cmp.Or(
		cmp.Compare(a.order, b.order), cmp.Compare(a.partner, b.partner), cmp.Compare(a.entry.Action, b.entry.Action),
		cmp.Compare(a.entry.Detail.String(), b.entry.Detail.String()), cmp.Compare(a.entry.From, b.entry.From),
		cmp.Compare(a.entry.To, b.entry.To), cmp.Compare(a.entry.PayloadRevision, b.entry.PayloadRevision),
	)
}

// acts are those of one commit; the memory is used for the next.
type acts []act

// add takes the entries of one delivery of one record.
func (as *acts) add(partner string, id claimdlq.ID, es ...claimdlq.Entry) {
	for i, e := range es {
		*as = append(*as, act{partner, id, i, e})
	}
}

// flush adds the entries to es: one that nothing else is like is as it was; one of many
// has no number of a submission, and the latest of their times.
func (as *acts) flush(es []claimdlq.Entry) []claimdlq.Entry {
	all := *as
	slices.SortFunc(all, func(a, b act) int { return cmp.Or(a.compare(&b), cmp.Compare(a.id, b.id)) })
	for len(all) > 0 {
		n, e := 1, all[0].entry
		for n < len(all) && all[n].compare(&all[0]) == 0 {
			if at := all[n].entry.At; at.After(e.At) {
				e.At = at
			}
			n++
		}
		if n > 1 {
			e.Record, e.Submission, e.Records = 0, 0, named(all[:n])
		}
		es = append(es, e)
		all = all[n:]
	}
	clear(*as)
	*as = (*as)[:0]
	return es
}

func named(all []act) claimdlq.IDSet {
	return claimdlq.NewIDSet(func(yield func(claimdlq.ID) bool) {
		for i := range all {
			if !yield(all[i].id) {
				return
			}
		}
	})
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
