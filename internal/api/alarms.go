package api

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/atomicfile"
	"claimdlq/internal/auth"
)

// Silences holds which alarms people have acknowledged or silenced, in one file. It is
// safe for concurrent use.
type Silences struct {
	mu   sync.Mutex
	path string
	now  func() time.Time
	all  map[string]Silence // by fingerprint
}

// Silence is what a person has said about one alarm.
type Silence struct {
	Fingerprint string    `json:"fingerprint"`
	Alarm       string    `json:"alarm"`
	By          string    `json:"by"`
	Reason      string    `json:"reason"`
	At          time.Time `json:"at"`
	Until       time.Time `json:"until" doc:"Nobody is told of the alarm before."`
}

// The bounds of silences.
const (
	maxSilences = 1000
	maxSilence  = 7 * 24 * time.Hour
)

// OpenSilences reads the file, if there is one. Errors: Corrupt, Unavailable.
func OpenSilences(path string, now func() time.Time) (*Silences, error) {
	s := &Silences{path: path, now: now, all: map[string]Silence{}}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read silences", Hint: "look at the file's permissions"}
	}
	var list []Silence
	if json.Unmarshal(b, &list) != nil {
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read silences", Hint: "remove the file: alarms that were silenced ring again"}
	}
	for _, x := range list {
		s.all[x.Fingerprint] = x
	}
	return s, nil
}

// Silenced reports whether nobody is to be told of the alarm now.
func (s *Silences) Silenced(e alert.Event) bool {
	_, ok := s.of(e)
	return ok
}

func (s *Silences) of(e alert.Event) (Silence, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x, ok := s.all[e.Fingerprint()]
	return x, ok && s.now().Before(x.Until)
}

// put keeps a silence durably; one without Until ends the alarm's silence.
func (s *Silences) put(x Silence) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := map[string]Silence{}
	for k, v := range s.all {
		if s.now().Before(v.Until) && k != x.Fingerprint {
			next[k] = v
		}
	}
	if !x.Until.IsZero() {
		if len(next) >= maxSilences {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: "silence alarm", Hint: "too many are silenced: end some"}
		}
		next[x.Fingerprint] = x
	}
	list := make([]Silence, 0, len(next))
	for _, v := range next {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b Silence) int { return cmp.Compare(a.Fingerprint, b.Fingerprint) })
	b, err := json.Marshal(list)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "keep silences", Err: err}
	}
	if err := atomicfile.WriteFile(s.path, b, 0o600); err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "keep silences"}
	}
	s.all = next
	return nil
}

// Alarm is an alarm that rings.
type Alarm struct {
	Fingerprint string     `json:"fingerprint" doc:"Names the alarm and what it is about."`
	Alarm       string     `json:"alarm"`
	Severity    string     `json:"severity" enum:"page,ticket"`
	Stream      string     `json:"stream,omitempty"`
	Reason      string     `json:"reason,omitempty"`
	Partner     string     `json:"partner,omitempty"`
	Cause       string     `json:"cause,omitempty" doc:"Why claims are refused."`
	Value       float64    `json:"value"`
	Threshold   float64    `json:"threshold"`
	Peak        float64    `json:"peak" doc:"The figure at its worst since it began to ring."`
	StartsAt    time.Time  `json:"starts_at"`
	QuietSince  *time.Time `json:"quiet_since,omitempty" doc:"Since when it is not so any more. It rings on for five minutes, so that one that comes and goes rings once."`
	Summary     string     `json:"summary"`
	Runbook     string     `json:"runbook" doc:"What ends it: a path of the documentation."`
	Console     string     `json:"console" doc:"The console's page that shows its cause: a path."`
	Silence     *Silence   `json:"silence,omitempty"`
}

type alarmList struct {
	Body struct {
		Alarms []Alarm `json:"alarms"`
	}
}

func (s *server) toAlarm(e alert.Event) Alarm {
	a := Alarm{
		Fingerprint: e.Fingerprint(), Alarm: e.Alarm, Severity: string(e.Severity), Stream: e.Labels.Stream, Reason: e.Labels.Reason,
		Partner: e.Labels.Partner, Cause: e.Labels.Cause, Value: e.Value, Threshold: e.Threshold, Peak: e.Peak, QuietSince: moment(e.QuietSince), StartsAt: e.StartsAt, Summary: e.Summary, Runbook: e.Runbook, Console: e.Console,
	}
	if s.o.Silences != nil {
		if x, ok := s.o.Silences.of(e); ok {
			a.Silence = &x
		}
	}
	return a
}

// AlarmPath is the part of a request that says what it is about.
type AlarmPath struct {
	Fingerprint string `path:"fingerprint" pattern:"^[0-9a-f]{16}$" maxLength:"16"`
}

func (s *server) alarmOperations() {
	add(s, operation{
		id: "list-alarms", method: http.MethodGet, path: "/v1/alarms", tag: "alarms", perm: auth.MetricsRead, summary: "What rings, the most urgent first",
	}, func(ctx context.Context, _ *struct{}) (*alarmList, error) {
		out := &alarmList{}
		out.Body.Alarms = []Alarm{}
		mine, err := s.shares(ctx, who(ctx))
		if err != nil {
			return nil, err
		}
		for _, e := range alarmsFor(who(ctx), s.o.Alarms(), mine) {
			a := s.toAlarm(e)
			if a.Silence != nil && !who(ctx).Covers(e.Labels.Partner) { // what was said of it may name others
				a.Silence.Reason = ""
			}
			out.Body.Alarms = append(out.Body.Alarms, a)
		}
		return out, nil
	})
	add(s, operation{
		id: "silence-alarm", method: http.MethodPut, path: "/v1/alarms/{fingerprint}/silence", tag: "alarms", perm: auth.AlarmsAck, command: true,
		summary: "Acknowledge an alarm: nobody is told of it for a while",
	}, s.silence)
	add(s, operation{
		id: "end-silence", method: http.MethodDelete, path: "/v1/alarms/{fingerprint}/silence", tag: "alarms", perm: auth.AlarmsAck, command: true,
		summary: "Let it ring again",
	}, func(ctx context.Context, in *AlarmPath) (*alarmOutput, error) {
		return s.putSilence(ctx, in.Fingerprint, "", 0)
	})
}

type alarmOutput struct{ Body Alarm }

func (s *server) silence(ctx context.Context, in *struct {
	AlarmPath

	Body struct {
		Because

		Minutes int `json:"minutes" minimum:"1" maximum:"10080"`
	}
},
) (*alarmOutput, error) {
	return s.putSilence(ctx, in.Fingerprint, in.Body.Reason, time.Duration(in.Body.Minutes)*time.Minute)
}

// putSilence audits and keeps what somebody says about an alarm that rings.
func (s *server) putSilence(ctx context.Context, fingerprint, reason string, d time.Duration) (*alarmOutput, error) {
	if s.o.Silences == nil {
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "silence alarm", Hint: "this process keeps no silences"}
	}
	p := who(ctx).For(reason)
	events := alarmsFor(p, s.o.Alarms(), nil) // what rings for others too is not his to silence
	i := slices.IndexFunc(events, func(e alert.Event) bool { return e.Fingerprint() == fingerprint })
	if i < 0 {
		return nil, missing("alarm", "that rings")
	}
	e := events[i]
	if err := p.May(auth.AlarmsAck, e.Labels.Partner); err != nil {
		return nil, err
	}
	now := s.o.Now()
	x, code := Silence{Fingerprint: fingerprint, Alarm: e.Alarm, By: p.Actor, Reason: reason, At: now}, "UNSILENCE:"
	if d > 0 {
		x.Until, code = now.Add(min(d, maxSilence)), "SILENCE:"
	}
	if err := s.note(ctx, p, claimdlq.ActSetting, code+e.Alarm); err != nil {
		return nil, err
	}
	if err := s.o.Silences.put(x); err != nil {
		return nil, err
	}
	return &alarmOutput{s.toAlarm(e)}, nil
}
