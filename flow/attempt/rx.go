package attempt

import (
	"errors"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/phi"
	"claimdlq/retry"
	"claimdlq/target"
)

var noAnswer = target.Delivery{}

// deliverRx takes a pharmacy transmission through delivery and outcome. The worker is
// free again before the outcome is durable.
func (w *worker) deliverRx(j *job) {
	o := newOutcome()
	o.sub = j.sub
	defer freeJob(j)
	err := w.attemptRx(j, o)
	w.a.leave(j.permit)
	if err == nil {
		o.sub = j.sub
		err = o.apply(j.members, w.a.o.Policies.For(j.sub.Stream), w.a.now())
	}
	if err != nil {
		w.s.landed(j.sub.ID)
		w.s.trouble(err)
		return
	}
	w.s.outcomes <- o
}

// attemptRx sends the transmission and finds the end of each member.
func (w *worker) attemptRx(j *job, o *outcome) error {
	sent, err := w.composeRx(j)
	if err != nil {
		w.unopened(j, o, err)
		return nil
	}
	switch same, digest := w.sameBytes(j, sent); {
	case !same: // other bytes than those promised must never go out
		w.unsent(j, o, codeMismatch)
		return nil
	case !j.intent:
		if err := w.intend(j, digest, int64(sent.Len())); err != nil {
			return err
		}
	}
	d, took := w.send(j, envelope.RxParcel(j.sub, sent))
	probe := j.permit.probe
	if d.Outcome.Kind != claimdlq.OutcomeSubmitted || d.Answer.Len() == 0 {
		d.Outcome = unanswered(d.Outcome)
		w.report(j, w.transportResult(j, d.Outcome, took), len(j.members))
		w.verdicts(o, j, d.Outcome, probe)
		return nil
	}
	o.answer = d.Answer
	w.rx.Answer(d.Answer.Reveal())
	return w.judge(j, o, took, probe)
}

// composeRx opens the payload and leaves the request in the worker's reader.
func (w *worker) composeRx(j *job) (phi.Bytes, error) {
	ref := j.members[0].Payload
	raw, ok := j.span.open(w.s.work, w.a.o.Vault, ref, j.proof)
	if !ok {
		var err error
		if raw, err = w.a.o.Vault.Open(w.s.work, ref, j.proof); err != nil {
			return phi.Bytes{}, err
		}
	}
	return envelope.RxCompose(w.rx.Request(), raw, j.members)
}

// sameBytes compares with the digest that was promised, under whichever term it was
// made, and returns that under the current one.
func (w *worker) sameBytes(j *job, b phi.Bytes) (bool, claimdlq.Digest) {
	first := digest(w.digests[0], b)
	if j.sub.Digest == (claimdlq.Digest{}) || first == j.sub.Digest {
		return true, first
	}
	return slices.ContainsFunc(w.digests[1:], func(d *claimdlq.DigestWriter) bool {
		return digest(d, b) == j.sub.Digest
	}), first
}

func digest(d *claimdlq.DigestWriter, b phi.Bytes) claimdlq.Digest {
	d.Reset()
	_, _ = d.Write(b.Reveal())
	return d.Sum()
}

// unopened ends a delivery whose payload cannot be opened. Nothing was sent.
func (w *worker) unopened(j *job, o *outcome, err error) {
	if errors.Is(err, claimdlq.Unavailable) {
		w.verdicts(o, j, claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail("PAYLOAD:UNAVAILABLE")}, false)
		return
	}
	for _, m := range j.members {
		dlqlog.Alarm(w.s.work, w.a.log(), dlqlog.AlarmPayload, m)
	}
	w.unsent(j, o, payloadDetail(err))
}

// unsent ends a delivery that must not happen: dead-lettered, or in doubt where an
// earlier one may have arrived.
func (w *worker) unsent(j *job, o *outcome, code claimdlq.Detail) {
	o.code = code
	for _, m := range j.members {
		v := verdict{end: endDead, code: code, fault: claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Terminal, Detail: code}}
		if m.FateUnknown {
			v = verdict{end: endDoubt, code: code}
		}
		o.ends = append(o.ends, ended{id: m.ID, v: v})
	}
}

var (
	codeMismatch = claimdlq.NewDetail("DIGEST_MISMATCH")
	codeEmpty    = claimdlq.NewDetail("ANSWER_EMPTY")
	codeAccepted = claimdlq.NewDetail("HTTP_202")
)

// unanswered is what a delivery without an answer means. A target that hands claims on,
// such as a folder, has done its work; one that should have answered may have lost what
// the payer said: it is asked again with the identical bytes.
func unanswered(o claimdlq.Outcome) claimdlq.Outcome {
	code := o.Code.String()
	if o.Kind != claimdlq.OutcomeSubmitted || o.Code == codeAccepted || len(code) < 5 || code[:5] != "HTTP_" {
		return o
	}
	o.Kind, o.Ambiguous = claimdlq.OutcomeTransient, true
	if len(code) == len("HTTP_200") {
		o.Code = codeEmpty
	}
	return o
}

// judge reads the answer for each member, and tells the breaker the worst of it.
func (w *worker) judge(j *job, o *outcome, took time.Duration, probe bool) error {
	policy := w.a.o.Policies.For(j.sub.Stream)
	told := retry.Result{Latency: took}
	results := w.results[:0]
	for i := range j.members {
		m := &j.members[i]
		r := w.rx.Result(envelope.RxOrdinal(*m, len(j.members)), w.a.o.Rx, m.FateUnknown)
		results = append(results, r)
		if r.Class == classify.NCPDPTransient || r.Class == classify.NCPDPSuspect {
			told.Failed = true
		}
		if stops(r) {
			told.Hold = max(told.Hold, retry.Hold(policy, retry.Failure{Window: true}))
		}
	}
	w.results = results
	w.report(j, told, len(j.members))
	for i, r := range results {
		e, err := w.member(j, &j.members[i], r, probe && told.Failed)
		if err != nil {
			return err
		}
		if i == 0 {
			o.code = e.v.code
		}
		o.ends = append(o.ends, e)
	}
	return nil
}

// member turns the answer to one member into its end.
func (w *worker) member(j *job, m *claimdlq.Record, r classify.NCPDPResult, probe bool) (ended, error) {
	out, err := w.weighed(m, r)
	if err != nil {
		return ended{}, err
	}
	d := delivery{
		outcome: out, receives: m.ReceiveCount, doubted: m.FateUnknown, idempotent: j.route.IdempotentResend,
		probe: probe, answered: true, budget: r.Budget,
	}
	return ended{id: m.ID, v: decide(d, w.a.o.Policies.For(j.sub.Stream)), unknown: r.Unknown, recovered: r.Recovered}, nil
}

// weighed returns the outcome of an answer in the light of what else is known of the
// claim. Most answers need no such look.
func (w *worker) weighed(m *claimdlq.Record, r classify.NCPDPResult) (claimdlq.Outcome, error) {
	out := r.Outcome()
	besides := r.Class == classify.NCPDPAlreadyPaid && m.FateUnknown && !r.Says('D')
	before := r.Class == classify.NCPDPAlreadyReversed && !m.FateUnknown
	if !r.Verify && !besides && !before {
		return out, nil
	}
	var mates []claimdlq.Record
	if m.Batch != 0 {
		var err error
		if mates, err = w.a.o.Store.Lookup(w.s.keep, m.Batch, lineage.MaxMates); err != nil {
			return out, err
		}
	}
	stands := lineage.PaidBesides(mates, *m)
	switch {
	case r.Verify:
		// "You have paid this already" of what never was is about another claim; and
		// there is something to reverse while it stands.
		if (r.Class == classify.NCPDPAlreadyPaid) != stands {
			out.Kind = claimdlq.OutcomeRejected
		}
	case besides && stands:
		// A payer that has these very bytes says D. One that refuses them because the fill
		// is paid means the payment of another record of ours.
		out.Kind = claimdlq.OutcomeRejected
	case before && lineage.ReversedBefore(mates, *m):
		out.Kind, out.Ambiguous = claimdlq.OutcomeUnknownKind, true
	}
	return out, nil
}
