package api

import (
	"context"
	"strconv"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/internal/job"
)

// ownWork reports whether what an approval would release is somebody's own work: he has
// planned it, or corrected one of its records, himself or by a recipe.
func (s *server) ownWork(ctx context.Context, p auth.Principal, a auth.Approval) (bool, error) {
	kind, id, _ := strings.Cut(a.On, ":")
	switch {
	case a.Permission == auth.RecordUnpark && kind == "RECORD":
		n, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return false, nil //nolint:nilerr // it is about no record of ours
		}
		r, err := s.o.App.Store.Get(ctx, claimdlq.ID(n))
		if err != nil || r.PayloadRevision < 2 {
			return false, err
		}
		his, err := s.correctedBy(ctx, p, r)
		return his[r.ID], err
	case kind == "JOB":
		return s.ownJob(ctx, p, some(s.o.Jobs), job.ID(id))
	case kind == "ACT":
		return s.ownJob(ctx, p, some(s.o.Acts), job.ID(id))
	}
	return false, nil
}

func (s *server) ownJob(ctx context.Context, p auth.Principal, jobs *job.Jobs, id job.ID) (bool, error) {
	plan, _, err := jobs.Get(id)
	if err != nil || auth.SamePerson(plan.Author, p.Actor) {
		return err == nil, err
	}
	var his map[claimdlq.ID]bool
	for from := 0; from >= 0; {
		items, next, err := jobs.Items(id, job.ItemQuery{From: from})
		if err != nil {
			return false, err
		}
		for i := range items {
			it := &items[i]
			if it.PayloadRevision < 2 {
				continue
			}
			if his == nil { // the oldest that is corrected comes first
				r, err := s.o.App.Store.Get(ctx, it.Record)
				if err != nil {
					return false, err
				}
				if his, err = s.correctedBy(ctx, p, r); err != nil {
					return false, err
				}
			}
			if his[it.Record] {
				return true, nil
			}
		}
		from = next
	}
	return false, nil
}

// correctedBy returns what somebody has corrected since a record came in.
func (s *server) correctedBy(ctx context.Context, p auth.Principal, r claimdlq.Record) (map[claimdlq.ID]bool, error) {
	return s.o.App.CorrectedBy(ctx, r.CreatedAt.Add(-time.Minute), func(actor string) bool { return auth.SamePerson(actor, p.Actor) })
}
