package background

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/store"
)

// Selection says which records somebody means. IDs, where there are any, decide alone.
type Selection struct {
	IDs    []claimdlq.ID
	Filter store.Filter
	// What no store selects by is looked for record by record. RuleVersion is which rules
	// judged it last; MaxCents 0 is no bound.
	RuleVersion        string
	MinCents, MaxCents int64
	// Hold is why they wait; HoldNone: whether they do or not.
	Hold claimdlq.Hold
}

// Narrow reports whether it asks for something that no store selects by.
func (s *Selection) Narrow() bool {
	return s.RuleVersion != "" || s.MinCents > 0 || s.MaxCents > 0 || s.Hold != claimdlq.HoldNone
}

// Matches reports whether a record that the filter lets through is one that is meant.
func (s *Selection) Matches(r *claimdlq.Record) bool {
	return (s.Hold == claimdlq.HoldNone || r.Hold == s.Hold) && (s.RuleVersion == "" || r.RuleVersion == s.RuleVersion) && r.AmountCents >= s.MinCents && (s.MaxCents == 0 || r.AmountCents <= s.MaxCents)
}

const listPage = 1000

// Each calls f for every record that is meant now, the newest first, until it fails. A
// filter without a state selects what is quarantined; of an id that is not there the
// record has nothing else. Memory does not grow with what a filter matches.
func (s *Selection) Each(ctx context.Context, st store.Store, f func(*claimdlq.Record) error) error {
	if len(s.IDs) > 0 {
		return s.each(ctx, st, f)
	}
	filter := s.Filter
	if filter.State == 0 {
		filter.State = claimdlq.StateQuarantined
	}
	for before := claimdlq.ID(0); ; {
		rs, err := st.List(ctx, filter, before, listPage)
		if err != nil {
			return err
		}
		for i := range rs {
			if !s.Matches(&rs[i]) {
				continue
			}
			if err := f(&rs[i]); err != nil {
				return err
			}
		}
		if len(rs) < listPage {
			return nil
		}
		before = rs[len(rs)-1].ID
	}
}

func (s *Selection) each(ctx context.Context, st store.Store, f func(*claimdlq.Record) error) error {
	ids := slices.Clone(s.IDs)
	slices.SortFunc(ids, func(a, b claimdlq.ID) int { return cmp.Compare(b, a) })
	for _, id := range slices.Compact(ids) {
		r, err := st.Get(ctx, id)
		if errors.Is(err, claimdlq.NotFound) {
			r, err = claimdlq.Record{ID: id}, nil
		}
		if err == nil {
			err = f(&r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
