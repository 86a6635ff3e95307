package job

import (
	"context"
	"slices"

	"claimdlq"
	"claimdlq/flow/audited"
)

// change runs f on a job that may change, and returns where it stands then.
func (s *Jobs) change(id ID, op string, f func(j *job) error) (Progress, error) {
	j, err := s.find(id)
	if err != nil {
		return Progress{}, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.log == nil {
		if j.shut {
			return *j.snap.Load(), &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, On: string(id), Hint: "the process is ending"}
		}
		return *j.snap.Load(), j.refuse(op)
	}
	err = f(j)
	return *j.snap.Load(), err
}

// refuse says that the job's state does not allow the command.
func (j *job) refuse(op string) error {
	return &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: "job " + string(j.id) + " is " + string(j.snap.Load().State), Hint: "look at the job again"}
}

func nobody(by claimdlq.By, op string) error {
	if by.Actor == "" {
		return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "nobody's name", Hint: "say who you are"}
	}
	return nil
}

// Approve lets a second person's token count for a planned job. Errors: NotFound,
// Conflict (it is not planned any more), Refused (no name or reason, the token is no
// good, or it is its author's).
func (s *Jobs) Approve(ctx context.Context, by claimdlq.By, id ID, token string) (Progress, error) {
	const op = "approve job"
	if err := audited.Named(by, op); err != nil {
		return Progress{}, err
	}
	return s.change(id, op, func(j *job) error {
		if j.state != Planned {
			return j.refuse(op)
		}
		if s.c.Approvals == nil {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "nobody may approve here"}
		}
		who, err := s.c.Approvals.Approver(ctx, token, j.plan)
		if err != nil {
			return err
		}
		if who == "" || who == j.plan.Author {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "its author's approval", Hint: "ask somebody else"}
		}
		by.Actor = who
		if err := s.audit(ctx, by, "APPROVE", &j.plan, &j.plan.Digest); err != nil {
			return err
		}
		return j.write(event{What: evApprove, At: s.now(), By: who})
	})
}

// Run begins to release a planned job, in the name of the runner. Errors: NotFound,
// Conflict (it is not planned, or a dry run is under way), Refused (no name or reason;
// it needs an approval by somebody other than author and runner; the rules have changed
// since it was planned).
func (s *Jobs) Run(ctx context.Context, by claimdlq.By, id ID) (Progress, error) {
	const op = "run job"
	if err := audited.Named(by, op); err != nil {
		return Progress{}, err
	}
	p, err := s.change(id, op, func(j *job) error {
		if j.state != Planned || j.drying {
			return j.refuse(op)
		}
		if s.c.needsApproval(&j.plan) && (j.approve == "" || j.approve == by.Actor) {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "it needs a second person's approval"}
		}
		if j.stale() {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "the rules have changed since", Hint: "plan anew"}
		}
		if err := s.audit(ctx, by, "RUN", &j.plan, &j.plan.Digest); err != nil {
			return err
		}
		return j.write(event{What: evRun, At: s.now(), By: by.Actor, Why: j.reason(by)})
	})
	if err == nil {
		s.kick(id)
	}
	return p, err
}

// kick starts a job's loop if it needs one.
func (s *Jobs) kick(id ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loop(s.jobs[id])
}

// Pause keeps a running job from releasing more. When it returns, nothing is being
// released; what is released goes its way and is still looked at. Pausing what is
// paused is no error. Errors: NotFound, Conflict, Refused (no name).
func (s *Jobs) Pause(ctx context.Context, by claimdlq.By, id ID) (Progress, error) {
	const op = "pause job"
	return s.end(ctx, by, id, op, func(j *job) error {
		if j.state == Paused {
			return nil
		}
		if j.state == Running {
			return j.halts(ctx, by, "PAUSE", event{What: evPause, At: s.now(), By: by.Actor})
		}
		return j.refuse(op)
	})
}

// Cancel ends a job for good: what is not released stays where it is. When it returns,
// nothing is being released. Errors: NotFound, Conflict, Refused (no name).
func (s *Jobs) Cancel(ctx context.Context, by claimdlq.By, id ID) (Progress, error) {
	const op = "cancel job"
	return s.end(ctx, by, id, op, func(j *job) error {
		if j.state == Done || j.state == Cancelled || j.drying {
			return j.refuse(op)
		}
		if err := j.halts(ctx, by, "CANCEL", event{What: evCancel, At: s.now(), By: by.Actor}); err != nil {
			return err
		}
		if j.results == nil { // it never ran
			return j.conclude()
		}
		return nil
	})
}

// halts makes a person's end of the releases durable, and audited before. They end at
// once; after an error they go on.
func (j *job) halts(ctx context.Context, by claimdlq.By, what string, e event) error {
	j.halt.Store(true)
	err := j.s.audit(ctx, by, what, &j.plan, nil)
	if err == nil {
		err = j.write(e)
	}
	j.halt.Store(j.state != Running)
	j.poke()
	return err
}

// end changes a job to a state in which nothing is released, and waits for what is
// being released.
func (s *Jobs) end(ctx context.Context, by claimdlq.By, id ID, op string, f func(j *job) error) (Progress, error) {
	if err := nobody(by, op); err != nil {
		return Progress{}, err
	}
	var busy chan struct{}
	var whose *job
	p, err := s.change(id, op, func(j *job) error {
		whose, busy = j, j.busy
		return f(j)
	})
	if err != nil || busy == nil {
		return p, err
	}
	select {
	case <-busy:
		return *whose.snap.Load(), nil
	case <-ctx.Done():
		return p, &claimdlq.Error{Code: claimdlq.Unavailable, Op: op, Err: ctx.Err(), Hint: "it is done, and some releases may still be under way"}
	}
}

// Resume lets a paused or stopped job go on, in the name of who resumes. What had
// stopped by itself begins with canaries again, under the rules of now. Errors:
// NotFound, Conflict, Refused (no name or reason).
func (s *Jobs) Resume(ctx context.Context, by claimdlq.By, id ID) (Progress, error) {
	const op = "resume job"
	if err := audited.Named(by, op); err != nil {
		return Progress{}, err
	}
	p, err := s.change(id, op, func(j *job) error {
		if j.state != Paused && j.state != Stopped {
			return j.refuse(op)
		}
		if s.c.needsApproval(&j.plan) && j.approve == by.Actor {
			return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "who approved it does not run it"}
		}
		if err := s.audit(ctx, by, "RESUME", &j.plan, &j.plan.Digest); err != nil {
			return err
		}
		j.ramp.rate = 0 // begins anew
		return j.write(event{What: evResume, At: s.now(), By: by.Actor, Why: j.reason(by), Rules: s.rules()})
	})
	if err == nil {
		s.kick(id)
	}
	return p, err
}

// SetMaxRate changes how many a second the job may release, 0.001 to 10,000, at once.
// Errors: NotFound, Conflict (it is over), Invalid, Refused (no name).
func (s *Jobs) SetMaxRate(ctx context.Context, by claimdlq.By, id ID, perSecond float64) (Progress, error) {
	const op = "change the rate of job"
	if err := nobody(by, op); err != nil {
		return Progress{}, err
	}
	if !rate(perSecond) {
		return Progress{}, &claimdlq.Error{Code: claimdlq.Invalid, Op: op, Hint: "0.001 to 10000 a second"}
	}
	return s.change(id, op, func(j *job) error {
		if slices.Contains([]State{Done, Cancelled}, j.state) {
			return j.refuse(op)
		}
		if err := s.audit(ctx, by, "RATE", &j.plan, nil); err != nil {
			return err
		}
		if j.ramp.rate > 0 {
			j.ramp.setMax(s.now(), perSecond)
		}
		return j.write(event{What: evMaxRate, At: s.now(), By: by.Actor, Rate: perSecond})
	})
}
