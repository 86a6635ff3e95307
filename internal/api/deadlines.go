package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"claimdlq"
	"claimdlq/flow/filing"
	"claimdlq/flow/retain"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

type deadlinesInput struct{ Body deadlinesBody }

type deadlinesBody struct {
	Because

	Stages  []string `json:"stages,omitempty" enum:"warning,alert,passed,in_time,unknown" maxItems:"5" doc:"Default: warning, alert and passed: 80 % of the window have gone, 90 %, and its last day is over."`
	State   string   `json:"state,omitempty" enum:"queued,leased,submitted,in_doubt,quarantined,parked"`
	Stream  string   `json:"stream,omitempty" enum:"837,ncpdp"`
	Partner string   `json:"partner,omitempty" maxLength:"64" doc:"ISA07:ISA08 or BIN:PCN."`
	After   uint64   `json:"after,omitempty" maximum:"9223372036854775807" doc:"The next_after of the page before."`
	Limit   int      `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"50"`
}

// Deadline is an unresolved record and how far its filing window has gone.
type Deadline struct {
	Record     Record `json:"record"`
	Stage      string `json:"stage" enum:"warning,alert,passed,in_time,unknown"`
	LastDay    string `json:"last_day,omitempty" doc:"The last day on which the payer takes it. It may tell a date of service: PHI. Absent where no day is known."`
	DaysLeft   *int   `json:"days_left,omitempty" doc:"Until the last day begins, in UTC: 0 on that day, below 0 after it. PHI likewise."`
	WindowDays int    `json:"window_days"`
}

// DeadlinePage is unresolved records by their last days, the nearest first.
type DeadlinePage struct {
	Records   []Deadline `json:"records"`
	NextAfter uint64     `json:"next_after,omitempty" doc:"Continues the list; absent at its end."`
	Windows   bool       `json:"windows" doc:"Whether any filing window is configured (timely_filing_days)."`
}

type deadlinesOutput struct{ Body DeadlinePage }

func (s *server) deadlineOperations() {
	add(s, operation{
		id: "list-deadlines", method: http.MethodPost, path: "/v1/deadlines", tag: "payloads", perm: auth.PayloadReveal, payload: true, patience: 5 * time.Minute,
		summary: "Unresolved records near the end of their filing windows, the nearest last day first: PHI",
		about: sentences(
			"A last day tells a date of service. The look is in the audit log, with its reason, before anything is opened: each page is one.",
			"No payload is opened, only the sealed days, and those of partners that one may see."),
	}, s.deadlines)
}

func (s *server) deadlines(ctx context.Context, in *deadlinesInput) (*deadlinesOutput, error) {
	p, q := who(ctx).For(in.Body.Reason), &in.Body
	f, err := q.filter(p)
	if err != nil {
		return nil, err
	}
	due, err := s.o.App.Due(ctx, p.By(), f, q.Limit+1)
	if codeIs(err, claimdlq.NotFound) {
		return nil, missing("record", "of after")
	}
	if err != nil {
		return nil, err
	}
	out := &deadlinesOutput{DeadlinePage{Records: []Deadline{}, Windows: s.o.App.Windows().Any()}}
	for i, d := range due {
		if i == q.Limit {
			out.Body.NextAfter = uint64(due[i-1].Record.ID)
			break
		}
		out.Body.Records = append(out.Body.Records, toDeadline(d, s.o.Now()))
	}
	return out, nil
}

// filter returns what is asked for, of partners that somebody may see.
func (in *deadlinesBody) filter(p auth.Principal) (f retain.DueFilter, err error) {
	if err = p.May(auth.PayloadReveal, in.Partner); err != nil && (in.Partner != "" || !errors.Is(err, auth.ErrPartner)) {
		return f, err
	}
	f = retain.DueFilter{
		Filter: store.Filter{Stream: in.Stream, Partner: in.Partner}, Covers: p.Covers, After: claimdlq.ID(in.After),
		Stages: []filing.Stage{filing.Warning, filing.Alert, filing.Passed},
	}
	if len(in.Stages) > 0 {
		f.Stages = nil
	}
	for _, text := range in.Stages {
		stage, err := filing.ParseStage(text)
		if err != nil {
			return f, err
		}
		f.Stages = append(f.Stages, stage)
	}
	if in.State != "" {
		f.State, err = claimdlq.ParseState(in.State)
		return f, err
	}
	return f, nil
}

func toDeadline(d retain.Due, now time.Time) Deadline {
	out := Deadline{Record: toRecord(d.Record), Stage: d.Stage.String(), WindowDays: int(d.Window)}
	if n, ok := d.DaysLeft(now); ok {
		out.LastDay, out.DaysLeft = d.LastDay.Format(time.DateOnly), &n
	}
	return out
}
