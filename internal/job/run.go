package job

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/internal/atomicfile"
)

// begin reports that the job needs a loop and has none, and that it has one now.
func (j *job) begin() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.looping || j.log == nil || j.state == Planned {
		return false
	}
	j.looping = true
	return true
}

// loop releases, and looks for ends, until the job is over or ctx ends.
func (j *job) loop(ctx context.Context) {
	defer func() {
		j.mu.Lock()
		j.looping = false
		j.mu.Unlock()
	}()
	j.moved = j.s.now()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-j.wake:
		case <-timer.C:
		}
		wait, more := j.turn(ctx)
		if !more {
			return
		}
		timer.Reset(wait)
	}
}

// forever is longer than any wait; a command ends it.
const forever = 24 * time.Hour

// turn does what is to be done now, and returns when there is something to do again.
func (j *job) turn(ctx context.Context) (wait time.Duration, more bool) {
	now := j.s.now()
	if len(j.out) > 0 && !j.lookDue.After(now) {
		j.look(ctx, now)
	}
	d, err := j.choose(ctx, now)
	if err == nil && d.release > 0 {
		err = j.release(ctx, d.release, d.urgent)
		d.wait = 0
	}
	if err != nil {
		return j.stumble(ctx, err)
	}
	if d.over {
		return 0, false
	}
	if len(j.out) > 0 {
		d.wait = min(d.wait, max(0, j.lookDue.Sub(j.s.now())))
	}
	return d.wait, true
}

// stumble stops the job after a failure that is not one item's.
func (j *job) stumble(ctx context.Context, err error) (time.Duration, bool) {
	if ctx.Err() != nil {
		return 0, false
	}
	j.s.c.Replay.Log.Error("a job stops", slog.String("job", string(j.id)), slog.Any("error", err))
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log.dead == nil {
		if err := j.stopFor(ctx, StopUnavailable, ""); err == nil {
			return j.s.c.Poll * maxLooks, true
		}
	}
	// What is durable cannot be known: a restart reads it.
	j.state, j.stop = Stopped, &Stop{Code: StopUnavailable, At: j.s.now()}
	j.halt.Store(true)
	j.publish()
	return 0, false
}

// decision is what a job does next.
type decision struct {
	over    bool
	release int
	urgent  bool
	wait    time.Duration
}

// choose decides.
func (j *job) choose(ctx context.Context, now time.Time) (decision, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.outwait(now); err != nil {
		return decision{}, err
	}
	if j.over() {
		return decision{over: true}, j.finish(ctx)
	}
	left := j.rest()
	if j.state != Running || left == 0 {
		if left > 0 && j.state != Cancelled {
			return decision{wait: forever}, nil
		}
		return decision{wait: max(tick, j.watchUntil().Sub(now))}, nil
	}
	if j.stale() {
		return decision{wait: forever}, j.stopFor(ctx, StopRules, "")
	}
	if !j.passed {
		return j.canaries(ctx, now, left)
	}
	if j.ramp.rate == 0 {
		j.ramp.start(now, &j.plan.Policy, j.maxRate)
		j.publish()
	}
	before := j.ramp.rate
	n := min(j.ramp.due(now), left, maxTurn)
	if j.ramp.rate != before {
		j.publish()
	}
	if n == 0 {
		return decision{wait: j.ramp.wait(now)}, nil
	}
	j.ramp.used(n)
	return decision{release: n}, nil
}

// stale reports that the rules are not those under which the job goes on. Other acts
// than a replay ask no rules.
func (j *job) stale() bool { return j.plan.Act == Replay && !maps.Equal(j.rules, j.s.rules()) }

// canaries decides while they are out.
func (j *job) canaries(ctx context.Context, now time.Time, left int) (decision, error) {
	p := &j.plan.Policy
	var waiting, failed int
	for _, i := range j.canary {
		switch e := j.ends[i]; {
		case e == SameCause:
			return decision{wait: forever}, j.stopFor(ctx, StopCanary, j.partnerOf(i))
		case e == UnderWay:
			waiting++
		case e.failure():
			failed++
		}
	}
	if need := p.Canary - len(j.canary); need > 0 {
		return decision{release: min(need, left), urgent: true}, nil
	}
	until := j.moved.Add(p.CanaryWait)
	if waiting > 0 && until.After(now) {
		return decision{wait: until.Sub(now)}, nil
	}
	if failed == len(j.canary) {
		return decision{wait: forever}, j.stopFor(ctx, StopCanary, j.partnerOf(j.canary[0]))
	}
	j.ramp.start(now, p, j.maxRate)
	return decision{}, j.write(event{What: evCanary, At: now})
}

// watchUntil is when the job no longer waits for ends.
func (j *job) watchUntil() time.Time {
	return j.moved.Add(min(j.plan.Policy.WatchFor, maxWait))
}

// outwait gives up on ends that do not come, once nothing is left to release.
func (j *job) outwait(now time.Time) error {
	if j.state != Cancelled && j.rest() > 0 || j.underWay() == 0 || j.watchUntil().After(now) {
		return nil
	}
	var ms []mark
	for _, i := range j.out {
		if j.ends[i] == UnderWay {
			ms = append(ms, mark{i, Replayed, TimedOut})
		}
	}
	return j.marked(ms)
}

// marked makes marks durable and takes them in.
func (j *job) marked(ms []mark) error {
	if len(ms) == 0 {
		return nil
	}
	if err := j.log.marks(ms); err != nil {
		return j.s.fatal(err, err)
	}
	for _, m := range ms {
		j.mark(m)
	}
	j.publish()
	return nil
}

// stopFor stops the job by itself, if it runs.
func (j *job) stopFor(ctx context.Context, code StopCode, partner string) error {
	if j.state != Running {
		return nil
	}
	j.halt.Store(true)
	if err := j.s.audit(ctx, claimdlq.System("job"), "STOP:"+string(code), &j.plan, nil); err != nil {
		j.s.c.Replay.Log.Error("a job's stop is not audited", slog.String("job", string(j.id)), slog.Any("error", err))
	}
	j.s.c.Replay.Log.Warn("a job stops", slog.String("job", string(j.id)), slog.String("code", string(code)))
	return j.write(event{What: evStop, At: j.s.now(), Code: code, Of: partner})
}

// finish ends a job of which nothing more is expected.
func (j *job) finish(ctx context.Context) error {
	if j.state != Cancelled && j.state != Done {
		if err := j.s.audit(ctx, claimdlq.System("job"), "DONE", &j.plan, nil); err != nil {
			return err
		}
		if err := j.write(event{What: evDone, At: j.s.now()}); err != nil {
			return err
		}
	}
	return j.conclude()
}

// conclude writes the end down, and lets go of what is not needed any more.
func (j *job) conclude() error {
	j.seq++
	p := j.progress()
	p.Watching, p.Rate = false, 0
	b, err := json.Marshal(p)
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Internal, Op: "end job", Err: err}
	}
	if err := j.s.at("done"); err != nil {
		return err
	}
	if err := atomicfile.WriteFile(j.s.path(j.id, extDone), b, 0o600); err != nil {
		return j.s.fatal(ioError("end job", err), err)
	}
	if err := j.s.at("close"); err != nil {
		return err
	}
	err = j.closeFiles()
	j.results, j.ends, j.redo, j.out, j.canary, j.recent = nil, nil, nil, nil, nil, window{}
	j.asked.all = nil
	j.tell(p)
	return err
}

func (j *job) partnerOf(i uint32) string {
	items, err := j.file.items(nil, int(i), 1)
	if err != nil || len(items) == 0 {
		return ""
	}
	return j.plan.Causes[items[0].Cause].Partner
}

// fresh reports that the item was released since the job last began with canaries:
// what was under way before says nothing about what has changed since.
func (j *job) fresh(i uint32) bool { return int(i) >= j.epoch || slices.Contains(j.canary, i) }
