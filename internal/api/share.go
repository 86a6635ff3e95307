package api

import (
	"context"
	"slices"
	"strconv"

	"claimdlq"
	"claimdlq/alert"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

// alarmsFor returns the alarms that somebody may see: about his partners; about what has
// no partner, for who sees all of them; and, for who does not, those of streams in which
// he has a share, with his own figures in the place of all. mine are his groups.
func alarmsFor(p auth.Principal, all []alert.Event, mine []store.Group) []alert.Event {
	out := []alert.Event{}
	for _, e := range all {
		if p.Covers(e.Labels.Partner) {
			out = append(out, e)
		} else if n := shareOf(e, mine); e.Labels.Partner == "" && n > 0 {
			out = append(out, shared(e, n))
		}
	}
	return out
}

// shares returns the groups of who is limited to partners: who is not needs none.
func (s *server) shares(ctx context.Context, p auth.Principal) ([]store.Group, error) {
	if everything(p) {
		return nil, nil
	}
	return s.groups(ctx, p, store.Filter{})
}

// shareOf counts the records of groups that an alarm of a stream may be about.
func shareOf(e alert.Event, mine []store.Group) (n int64) {
	if e.Labels.Stream == "" {
		return 0
	}
	states := statesOf(e.Alarm)
	for i := range mine {
		g := &mine[i]
		if g.Stream == e.Labels.Stream && slices.Contains(states, g.State) && (e.Labels.Reason == "" || g.Reason.String() == e.Labels.Reason) {
			n += g.Records
		}
	}
	return n
}

// statesOf returns the states of the records that an alarm of a stream is about; none
// where it is about none, or about what is no partner's.
func statesOf(alarm string) []claimdlq.State {
	switch alarm {
	case alert.AlarmIncrease, alert.AlarmSpike, alert.AlarmDepth, alert.AlarmAge, alert.AlarmUnknown:
		return []claimdlq.State{claimdlq.StateQuarantined}
	case alert.AlarmBacklog, alert.AlarmInDoubtAge:
		return []claimdlq.State{claimdlq.StateInDoubt}
	case alert.AlarmParked, alert.AlarmRetentionParked:
		return []claimdlq.State{claimdlq.StateParked}
	case alert.AlarmRetries, alert.AlarmHeldTarget, alert.AlarmHeldStopped, alert.AlarmHeldLineage:
		return []claimdlq.State{claimdlq.StateQueued, claimdlq.StateLeased}
	case alert.AlarmFilingWarning, alert.AlarmFilingAlert, alert.AlarmFilingPassed, alert.AlarmRetentionWarning:
		return []claimdlq.State{
			claimdlq.StateQueued, claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateInDoubt, claimdlq.StateQuarantined, claimdlq.StateParked,
		}
	}
	return nil
}

// shared returns the alarm with nothing in it of partners whom somebody may not see: what
// it counts is over all of them.
func shared(e alert.Event, n int64) alert.Event {
	e.Value, e.Threshold, e.Peak = float64(n), 0, 0
	e.Summary = "It rings for all of stream " + e.Labels.Stream + ". Records of your partners that it may be about: " + strconv.FormatInt(n, 10) + "."
	return e
}
