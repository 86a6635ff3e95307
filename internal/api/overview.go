package api

import (
	"context"
	"net/http"
	"time"

	"claimdlq"
	"claimdlq/flow/attempt"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

// Overview is how things stand, for what somebody may see.
type Overview struct {
	All          bool               `json:"all" doc:"Of every partner; otherwise of those whom one may see, and figures of all together are absent."`
	States       map[string]Figures `json:"states" doc:"By state, every state present; settled and withdrawn only where all is true."`
	ByReason     map[string]int64   `json:"quarantined_by_reason" doc:"Records in quarantine, every reason present."`
	Streams      map[string]int64   `json:"quarantined_by_stream"`
	Breakers     []Breaker          `json:"breakers" doc:"Partners whose circuit breaker is not closed."`
	Stopped      []Switch           `json:"stopped" doc:"What people have stopped."`
	Conservation *Conservation      `json:"conservation,omitempty"`
	Deliveries   []Deliveries       `json:"deliveries,omitempty"`
	Orphans      *int64             `json:"orphans,omitempty" doc:"Acknowledgment files that could not be matched in full."`
	Rates        *Rates             `json:"rates,omitempty" doc:"What the last minute brought; from the second look of the alarms on."`
	Alarms       int                `json:"alarms" doc:"How many ring that nobody has acknowledged."`
	NeedsMe      []Need             `json:"needs_me" doc:"What waits for who asks, the most urgent first."`
}

// Figures count records in a state, and the claims they answer for.
type Figures struct {
	Records  int64      `json:"records"`
	Claims   int64      `json:"claims"`
	OldestAt *time.Time `json:"oldest_at,omitempty" doc:"When the oldest first failed, or came in."`
}

// Breaker is a circuit breaker that is not closed.
type Breaker struct {
	Stream  string     `json:"stream"`
	Partner string     `json:"partner"`
	State   string     `json:"state"`
	Since   *time.Time `json:"since,omitempty"`
}

// Switch is a stream, or one partner of it, that a person has stopped.
type Switch struct {
	Stream  string `json:"stream"`
	Partner string `json:"partner,omitempty" doc:"Absent: the whole stream."`
}

// Conservation says that no claim is lost: received is accounted for.
type Conservation struct {
	Received   int64 `json:"received"`
	Accounted  int64 `json:"accounted"`
	Difference int64 `json:"difference" doc:"0 unless a claim was lost or counted twice."`
}

// Deliveries counts what was delivered of a stream since the process began.
type Deliveries struct {
	Stream       string `json:"stream"`
	Deliveries   int64  `json:"deliveries"`
	Retries      int64  `json:"retries"`
	Failures     int64  `json:"failures"`
	DeadLettered int64  `json:"dead_lettered"`
	InDoubt      int64  `json:"in_doubt"`
	Recovered    int64  `json:"recovered"`
	UnknownCodes int64  `json:"unknown_codes"`
}

// Rates are what the last minute brought. The process began later: since it began.
type Rates struct {
	Received     int64         `json:"received_per_minute" doc:"Claims taken in, of all streams."`
	DeadLettered []DeadLetters `json:"dead_lettered_per_minute" doc:"By stream."`
}

// DeadLetters are how fast the quarantine of a stream fills.
type DeadLetters struct {
	Stream string `json:"stream"`
	Rise   int64  `json:"rise" doc:"Records more in quarantine than at its lowest within the minute: what alarm dlq_increase looks at."`
	Alarm  int64  `json:"alarm_at,omitempty" doc:"How many ring dlq_increase; absent where it is off, or looks at another time than a minute."`
}

// Need is something that waits for a person.
type Need struct {
	What       string `json:"what" enum:"conservation,alarms,in_doubt,approvals,quarantined,parked"`
	Count      int64  `json:"count"`
	Permission string `json:"permission"`
}

type overviewOutput struct{ Body Overview }

func (s *server) overviewOperations() {
	add(s, operation{
		id: "get-overview", method: http.MethodGet, path: "/v1/overview", tag: "overview", perm: auth.MetricsRead,
		summary: "Depth, ages, rates, reasons, breakers, conservation, and what needs me",
	}, func(ctx context.Context, _ *struct{}) (*overviewOutput, error) {
		o, err := s.overview(ctx, who(ctx))
		return &overviewOutput{o}, err
	})
}

func (s *server) overview(ctx context.Context, p auth.Principal) (Overview, error) {
	o := Overview{All: everything(p), States: map[string]Figures{}, ByReason: map[string]int64{}, Streams: map[string]int64{}, Breakers: []Breaker{}}
	for _, st := range claimdlq.States {
		if st.Unresolved() || o.All {
			o.States[st.String()] = Figures{}
		}
	}
	for _, r := range claimdlq.Reasons {
		o.ByReason[r.String()] = 0
	}
	gs, err := s.groups(ctx, p, store.Filter{})
	if err != nil {
		return o, err
	}
	for i := range gs {
		o.count(&gs[i])
	}
	for _, b := range s.o.App.Flow.Attempt.Breakers() {
		if !b.Since.IsZero() && p.Covers(b.Partner) {
			o.Breakers = append(o.Breakers, Breaker{b.Stream, b.Partner, b.State.String(), moment(b.Since)})
		}
	}
	o.Stopped = stoppedFor(p, s.o.App.Flow.Attempt.Stopped())
	for _, e := range alarmsFor(p, s.o.Alarms(), gs) {
		if s.o.Silences == nil || !s.o.Silences.Silenced(e) {
			o.Alarms++
		}
	}
	if o.All {
		if err := s.overviewOfAll(ctx, &o); err != nil {
			return o, err
		}
	}
	o.NeedsMe = s.needs(p, &o)
	return o, nil
}

// count adds a group.
func (o *Overview) count(g *store.Group) {
	name := g.State.String()
	f := o.States[name]
	f.Records, f.Claims = f.Records+g.Records, f.Claims+g.Claims
	if !g.OldestAt.IsZero() && (f.OldestAt == nil || g.OldestAt.Before(*f.OldestAt)) {
		f.OldestAt = moment(g.OldestAt)
	}
	o.States[name] = f
	if g.State == claimdlq.StateQuarantined {
		o.ByReason[g.Reason.String()] += g.Records
		o.Streams[g.Stream] += g.Records
	}
}

// overviewOfAll adds the figures that are counted for all partners together.
func (s *server) overviewOfAll(ctx context.Context, o *Overview) error {
	st, err := s.o.App.Store.Stats(ctx)
	if err != nil {
		return err
	}
	for _, state := range claimdlq.States {
		f := o.States[state.String()]
		f.Records, f.Claims = st.Records[state], st.ByState[state]
		o.States[state.String()] = f
	}
	for r, n := range st.Quarantined {
		o.ByReason[r.String()] = n
	}
	o.Rates = s.o.Rates()
	d := st.Difference()
	o.Conservation, o.Orphans = &Conservation{st.Received, st.Received - d, d}, &st.Orphans
	o.Deliveries = []Deliveries{}
	for _, f := range s.o.App.Flow.Attempt.Figures() {
		o.Deliveries = append(o.Deliveries, Deliveries{f.Stream, f.Deliveries, f.Retries, f.Failures, f.DeadLettered, f.InDoubt, f.Recovered, f.UnknownCodes})
	}
	return nil
}

// needs lists what waits for a person, if it may be him.
func (s *server) needs(p auth.Principal, o *Overview) []Need {
	out := []Need{}
	put := func(what string, n int64, perms ...auth.Permission) {
		for _, perm := range perms {
			if n > 0 && p.MaySome(perm) == nil {
				out = append(out, Need{what, n, string(perm)})
				return
			}
		}
	}
	if o.Conservation != nil && o.Conservation.Difference != 0 {
		put("conservation", max(o.Conservation.Difference, -o.Conservation.Difference), auth.AuditVerify, auth.SwitchesSet)
	}
	put("alarms", int64(o.Alarms), auth.AlarmsAck)
	put("in_doubt", o.States[claimdlq.StateInDoubt.String()].Records, auth.RecordResolve, auth.RecordInquire)
	var waiting int64
	for _, a := range s.o.Desk.Approvals(p) {
		if a.State == auth.ApprovalAsked && !a.Expired(s.o.Now()) && a.AskedBy != p.Actor && p.MaySome(a.Permission.Second()) == nil {
			waiting++
		}
	}
	put("approvals", waiting, auth.RecordApprove, auth.ReplayApprove)
	put("quarantined", o.States[claimdlq.StateQuarantined.String()].Records, auth.RecordCorrect, auth.ReplayRun)
	put("parked", o.States[claimdlq.StateParked.String()].Records, auth.RecordUnpark)
	return out
}

// stoppedFor returns the switches that concern somebody: whole streams, and his
// partners.
func stoppedFor(p auth.Principal, all []attempt.Switch) []Switch {
	out := []Switch{}
	for _, x := range all {
		if x.Partner == "" || p.Covers(x.Partner) {
			out = append(out, Switch{x.Stream, x.Partner})
		}
	}
	return out
}
