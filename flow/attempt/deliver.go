package attempt

import (
	"context"

	"claimdlq"
	"claimdlq/flow/envelope"
)

// run is one delivery of one 837 submission.
type run struct {
	w     *worker
	a     *Attempt
	ctx   context.Context
	ids   []*claimdlq.Identity
	job   *job
	parts []envelope.Part
	held  []byte // the content, where it is small enough
}

func (r *run) deliver() error {
	j := r.job
	var err error
	if r.parts, err = r.a.parts(r.ctx, j.members); err != nil {
		return err
	}
	digest, err := r.compose()
	switch {
	case err != nil:
		return err
	case len(r.parts) == 0:
		r.w.s.mu.Lock()
		r.w.s.total.Dead++
		r.w.s.mu.Unlock()
		return r.a.close(r.ctx, j.sub)
	case j.doubted && !r.identical(digest):
		// Other bytes must never go out under these numbers.
		return r.stop(claimdlq.Outcome{Code: codeMismatch})
	}
	if err := r.w.intend(j, digest.sums[0], digest.size); err != nil {
		return err
	}
	d, took := r.w.send(j, envelope.Parcel(r.ctx, r.a.o.Vault, j.proof, j.sub, r.parts, r.held))
	probe := j.permit.probe
	r.w.report(j, r.w.transportResult(j, d.Outcome, took), len(j.members))
	o, err := r.outcome(d.Outcome, probe)
	if err != nil {
		return err
	}
	return r.w.done(o, d)
}

// stop ends a delivery before anything was sent.
func (r *run) stop(out claimdlq.Outcome) error {
	r.job.route.IdempotentResend = false
	o, err := r.outcome(out, false)
	if err != nil {
		return err
	}
	return r.w.done(o, noAnswer)
}

// outcome turns an outcome into the steps of every member.
func (r *run) outcome(out claimdlq.Outcome, probe bool) (*outcome, error) {
	o := &outcome{sub: r.job.sub}
	r.w.verdicts(o, r.job, out, probe)
	return o, o.apply(r.job.members, r.a.o.Policies.For(r.job.sub.Stream), r.a.now())
}

// parts adds to each record which claims to leave out.
func (a *Attempt) parts(ctx context.Context, members []claimdlq.Record) ([]envelope.Part, error) {
	out := make([]envelope.Part, len(members))
	for i, r := range members {
		p, err := envelope.PartOf(ctx, a.o.Store, r)
		if err != nil {
			return nil, err
		}
		out[i] = p
	}
	return out, nil
}
