package job

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"claimdlq"
)

const (
	maxLook  = 4096 // records at a time
	maxLooks = 30   // Polls between two looks
)

// causes are those of a plan: for what came back, and for what the payer rejects.
type causes struct {
	all     map[[2]string]bool
	details map[string]bool
}

func causesOf(p *Plan) causes {
	c := causes{map[[2]string]bool{}, map[string]bool{}}
	for i := range p.Causes {
		if s := p.Causes[i].State; s != claimdlq.StateQuarantined.String() && s != claimdlq.StateParked.String() {
			continue // what has no failure has no cause
		}
		c.all[[2]string{p.Causes[i].Reason, p.Causes[i].Detail}] = true
		if p.Causes[i].Detail != "" {
			c.details[p.Causes[i].Detail] = true
		}
	}
	return c
}

// end says what became of a released item.
func (c *causes) end(it *Item, r *claimdlq.Record) End {
	if r.ReplayCount > it.Replays+1 {
		return Requarantined // it came back, and somebody has released it again
	}
	switch r.State {
	case claimdlq.StateSettled:
		switch {
		case r.Disposition != claimdlq.Rejected:
			return Settled
		case c.details[r.Detail.String()]:
			return SameCause
		}
		return Rejected
	case claimdlq.StateQuarantined, claimdlq.StateParked:
		switch {
		case c.all[[2]string{r.Reason.String(), r.Detail.String()}]:
			return SameCause
		case r.State == claimdlq.StateParked:
			return ParkedAfter
		}
		return Requarantined
	case claimdlq.StateWithdrawn:
		return Withdrawn
	case claimdlq.StateInDoubt:
		return InDoubt
	}
	return UnderWay
}

var tooManyRequests = claimdlq.NewDetail("HTTP_429")

// alarm returns why the job should stop because of a released record, or "".
func alarm(it *Item, r *claimdlq.Record) StopCode {
	if r.State == claimdlq.StateQueued && r.Hold == claimdlq.HoldBreaker {
		return StopBreaker
	}
	// Detail stays what it was until a delivery has ended.
	ended := r.AttemptCount > it.Attempts && (r.State == claimdlq.StateQueued || r.State == claimdlq.StateQuarantined)
	if ended && r.Detail == tooManyRequests {
		return StopRate
	}
	return ""
}

// warning is a reason to stop, and whose.
type warning struct {
	index uint32
	code  StopCode
}

// look asks the store what became of released items, some of them at a time, and stops
// the job where it should not go on.
func (j *job) look(ctx context.Context, now time.Time) {
	var ms []mark
	var alarms []warning
	n := min(len(j.out), maxLook)
	if j.lookAt >= len(j.out) {
		j.lookAt = 0
	}
	seen := make(map[uint32]bool, n)
	for range n {
		i := j.out[j.lookAt%len(j.out)]
		j.lookAt = (j.lookAt + 1) % len(j.out)
		m, code, err := j.lookUp(ctx, i)
		if err != nil {
			j.s.c.Replay.Log.Warn("a job cannot look", slog.String("job", string(j.id)), slog.Any("error", err))
			break
		}
		if m.end != UnderWay && m.end != j.ends[i] {
			ms = append(ms, m)
			seen[i] = m.end != InDoubt
		}
		if code != "" {
			alarms = append(alarms, warning{i, code})
		}
	}
	j.out = slices.DeleteFunc(j.out, func(i uint32) bool { return seen[i] })
	j.mu.Lock()
	defer j.mu.Unlock()
	j.pace(now, len(ms) > 0)
	if err := j.saw(ctx, ms, alarms); err != nil {
		j.s.c.Replay.Log.Error("a job cannot keep what it saw", slog.String("job", string(j.id)), slog.Any("error", err))
	}
}

// pace says when to look again: less often where nothing is released and nothing ends.
func (j *job) pace(now time.Time, news bool) {
	j.looks++
	if news || j.state == Running && j.rest() > 0 {
		j.looks = 0
	}
	j.lookDue = now.Add(j.s.c.Poll * time.Duration(min(1+j.looks/10, maxLooks)))
}

func (j *job) lookUp(ctx context.Context, i uint32) (mark, StopCode, error) {
	items, err := j.file.items(nil, int(i), 1)
	if err != nil {
		return mark{}, "", err
	}
	r, err := j.s.store.Get(ctx, items[0].Record)
	if err != nil {
		return mark{}, "", err
	}
	return mark{i, Replayed, j.causes.end(&items[0], &r)}, alarm(&items[0], &r), nil
}

// saw makes ends durable and judges them.
func (j *job) saw(ctx context.Context, ms []mark, alarms []warning) error {
	var why StopCode
	var whose uint32
	if err := j.marked(ms); err != nil {
		return err
	}
	p := &j.plan.Policy
	for _, m := range ms {
		if j.fresh(m.index) {
			j.recent.add(verdictOf(m.result, m.end), p.Window)
			if code := j.recent.judge(p); code != "" && why == "" {
				why, whose = code, m.index
			}
		}
	}
	for _, a := range alarms {
		if why == "" && j.fresh(a.index) {
			why, whose = a.code, a.index
		}
	}
	if why == "" || j.rest() == 0 {
		return nil
	}
	return j.stopFor(ctx, why, j.partnerOf(whose))
}
