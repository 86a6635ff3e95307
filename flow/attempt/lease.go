package attempt

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/target"
)

const actor = "system:attempt"

func entry(a claimdlq.Action, s claimdlq.SubmissionID, from, to *claimdlq.Record, now time.Time) claimdlq.Entry {
	return claimdlq.Entry{
		At: now, Actor: actor, Action: a, Record: to.ID, Submission: s,
		PayloadRevision: to.PayloadRevision, Detail: to.Detail, From: from.State, To: to.State,
	}
}

// job is one delivery of one submission, counted on each of its members.
type job struct {
	sub     claimdlq.Submission
	members []claimdlq.Record
	route   target.Route
	permit  permit
	proof   claimdlq.Proof
	doubted bool  // an earlier delivery of some member may have arrived
	intent  bool  // it is durable that the exact bytes may have been sent
	span    *span // where its payload lies among others; nil if it lies alone
}

// spentJobs are those whose delivery has ended: their memory is used again.
var spentJobs = sync.Pool{New: func() any { return new(job) }}

func newJob() *job {
	j, _ := spentJobs.Get().(*job)
	return j
}

// freeJob gives it back; nobody may look at it any more.
func freeJob(j *job) {
	clear(j.members)
	*j = job{members: j.members[:0]}
	spentJobs.Put(j)
}

// plan is what becomes of a submission that was picked.
type plan struct {
	pick
	job  *job              // nil where nothing is delivered
	dead []claimdlq.Record // members whose budget is spent, as they will be
	told []claimdlq.Entry  // lease and intent of a claim that travels alone
	done Summary
}

// newPlan returns a plan that lasts until the next lease.
func (s *session) newPlan(p pick) *plan {
	if len(s.plans) == cap(s.plans) {
		return &plan{pick: p}
	}
	n := len(s.plans)
	s.plans = s.plans[:n+1]
	t := &s.plans[n]
	*t = plan{pick: p, told: t.told[:0]}
	return t
}

// lease counts the picked deliveries on every member, durably and in one commit,
// before anything happens, and hands them to workers that are free. It returns how
// many submissions it moved. One that somebody else has moved is left to him.
func (s *session) lease(picks []pick, now time.Time) (n int, err error) {
	if len(picks) == 0 {
		return 0, nil
	}
	b := &s.leases
	empty(b)
	for i := range s.plans {
		s.plans[i] = plan{told: s.plans[i].told[:0]}
	}
	s.plans = s.plans[:0]
	plans := make([]*plan, 0, len(picks))
	for i, p := range picks {
		t, err := s.prepare(p, now, b)
		if errors.Is(err, claimdlq.Conflict) { // it is looked at again, after this commit
			s.a.leave(p.permit)
			s.look = true
			continue
		}
		if err != nil {
			if s.broken(p, err) {
				continue
			}
			s.giveBack(plans)
			for _, p := range picks[i:] {
				s.a.leave(p.permit)
			}
			return 0, err
		}
		plans = append(plans, t)
	}
	b.Entries = s.tell(b.Entries, plans...)
	receipt, err := s.a.o.Store.Commit(s.ctx, *b)
	switch {
	case err == nil:
		s.begin(receipt.Proof, plans...)
		return len(plans), nil
	case errors.Is(err, claimdlq.Conflict), errors.Is(err, claimdlq.Refused):
		return s.leaseEach(plans, now)
	}
	s.giveBack(plans)
	return 0, err
}

// tell adds the audit entries of claims that travel alone, in as few as can say it.
func (s *session) tell(es []claimdlq.Entry, plans ...*plan) []claimdlq.Entry {
	for _, t := range plans {
		if len(t.told) > 0 {
			s.leased.add(t.sub.Partner, t.job.members[0].ID, t.told...)
		}
	}
	return s.leased.flush(es)
}

// giveBack gives back the leave of every plan that has it still.
func (s *session) giveBack(plans []*plan) {
	for _, t := range plans {
		if t.job != nil {
			s.a.leave(t.job.permit)
		}
	}
}

// leaseEach is lease one by one, each read anew: one of them has moved on.
func (s *session) leaseEach(plans []*plan, now time.Time) (n int, err error) {
	for i, t := range plans {
		if t.job == nil {
			continue // it is looked at again
		}
		p := pick{t.sub, t.route, t.job.permit}
		ok, err := s.leaseOne(p, now)
		if err != nil {
			s.giveBack(plans[i+1:])
			return n, err
		}
		if ok {
			n++
		}
	}
	s.look = true
	s.renew()
	return n, nil
}

func (s *session) leaseOne(p pick, now time.Time) (bool, error) {
	sub, err := s.a.o.Store.Submission(s.ctx, p.sub.ID)
	if err != nil || sub.State != claimdlq.SubmissionReady || sub.NotBefore.After(now) {
		s.a.leave(p.permit)
		return false, err
	}
	p.sub = sub
	var b store.Batch
	t, err := s.prepare(p, now, &b)
	if err != nil {
		if s.broken(p, err) {
			return true, nil
		}
		s.a.leave(p.permit)
		return false, err
	}
	b.Entries = s.tell(b.Entries, t)
	receipt, err := s.a.o.Store.Commit(s.ctx, b)
	switch {
	case err == nil:
		s.begin(receipt.Proof, t)
		return true, nil
	case t.job != nil && errors.Is(err, claimdlq.Refused) && s.broken(pick{p.sub, p.route, t.job.permit}, err):
		return true, nil
	}
	s.giveBack([]*plan{t})
	if errors.Is(err, claimdlq.Conflict) {
		err = nil
	}
	return false, err
}

// broken takes what cannot be read or leased out of the way: it stops nothing else. It is not
// looked at again by this process.
func (s *session) broken(p pick, err error) bool {
	if !errors.Is(err, claimdlq.Corrupt) && !errors.Is(err, claimdlq.NotFound) && !errors.Is(err, claimdlq.Refused) {
		return false
	}
	s.a.leave(p.permit)
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	if len(s.a.flying) > maxBuffered { // so many: something else is wrong
		return false
	}
	s.a.flying[p.sub.ID] = struct{}{}
	s.a.log().LogAttrs(s.ctx, slog.LevelError, "Submission cannot be delivered", slog.Uint64("submission", uint64(p.sub.ID)), slog.Any("error", err))
	return true
}

// empty makes a batch one that can be filled again; a store keeps nothing of it.
func empty(b *store.Batch) {
	clear(b.Update)
	clear(b.Submissions)
	b.Update, b.Submissions, b.Entries = b.Update[:0], b.Submissions[:0], b.Entries[:0]
	b.NewSubmissions = b.NewSubmissions[:0]
}

// begin hands leased submissions to workers.
func (s *session) begin(proof claimdlq.Proof, plans ...*plan) {
	jobs := make([]*job, 0, len(plans))
	s.mu.Lock()
	for _, t := range plans {
		s.total.add(t.done)
		if t.job != nil {
			jobs = append(jobs, t.job)
		}
	}
	s.mu.Unlock()
	s.a.mu.Lock()
	for _, j := range jobs {
		s.a.flying[j.sub.ID] = struct{}{}
	}
	s.a.mu.Unlock()
	s.pending.Add(int32(len(jobs)))
	s.free.Add(-int32(len(jobs)))
	for _, t := range plans {
		s.a.spent(s.ctx, t.dead)
	}
	gather(jobs)
	for _, j := range jobs {
		j.proof = proof
		j.sub.Revision++
		for i := range j.members {
			j.members[i].Revision++
		}
		s.jobs <- j // there is room for as many as there are workers
	}
}

// landed says that nothing of the submissions is under way here any more.
func (s *session) landed(ids ...claimdlq.SubmissionID) {
	if len(ids) == 0 {
		return
	}
	s.a.mu.Lock()
	for _, id := range ids {
		delete(s.a.flying, id)
	}
	s.a.mu.Unlock()
	s.pending.Add(-int32(len(ids)))
	s.kick()
}

// prepare decides what becomes of a picked submission and adds it to the batch. It is
// a Conflict where the batch moves one of its records already, for another submission.
func (s *session) prepare(p pick, now time.Time, b *store.Batch) (*plan, error) {
	j := newJob()
	members, all, err := s.a.members(s.ctx, p.sub, deliverable, j.members)
	if err != nil {
		return nil, err
	}
	for i := range members {
		if moves(b.Update, members[i].ID) {
			return nil, &claimdlq.Error{Code: claimdlq.Conflict, Op: "lease record " + members[i].ID.String()}
		}
	}
	t := s.newPlan(p)
	if v, err := s.lineage(t, members); err != nil || v.Move != lineage.Goes {
		if err != nil {
			return nil, err
		}
		return t, s.stay(t, members, v, now, b)
	}
	live, doubted, err := s.a.weed(t, members, now, b)
	switch {
	case err != nil:
		return nil, err
	case len(live) == 0:
		s.a.leave(p.permit)
		t.sub.State, t.sub.LeaseUntil = claimdlq.SubmissionDead, time.Time{}
		t.done.Dead++
		b.Submissions = append(b.Submissions, t.sub)
		return t, nil
	case t.sub.Stream == claimdlq.StreamNCPDP && len(live) < all:
		s.a.leave(p.permit)
		t.alone(live, now, b)
		s.a.soon(now)
		return t, nil
	}
	if no := s.side(t, doubted, now); no != nil {
		s.a.leave(t.permit)
		t.done.Held++
		return t, s.setAside(t.sub, live, no, b)
	}
	j.members, j.doubted = live, doubted
	return t, t.lease(j, len(live) == all, s.a.o.Timeout, now, b)
}

// moves reports whether the record is among those that are moved.
func moves(rs []claimdlq.Record, id claimdlq.ID) bool {
	for i := range rs {
		if rs[i].ID == id {
			return true
		}
	}
	return false
}

// lease adds the lease to the batch; with bytes that are known already, the intent too.
func (t *plan) lease(j *job, whole bool, timeout time.Duration, now time.Time, b *store.Batch) error {
	live := j.members
	sub := &t.sub
	sub.State, sub.LeaseUntil = claimdlq.SubmissionLeased, now.Add(timeout+time.Minute)
	sub.Receives++
	sub.Fallback = t.permit.fallback
	j.route, j.permit = t.route, t.permit
	t.job = j
	es := &b.Entries
	if sub.Stream == claimdlq.StreamNCPDP && whole && len(live) == 1 {
		es = &t.told
	}
	for i := range live {
		n, err := live[i].Lease(sub.ID, now)
		if err != nil {
			return err
		}
		b.Update = append(b.Update, n)
		*es = append(*es, entry(claimdlq.ActLease, sub.ID, &live[i], &n, now))
		live[i] = n
	}
	if sub.Stream == claimdlq.StreamNCPDP {
		if !whole { // what goes out is another transmission
			sub.Digest, sub.Bytes = claimdlq.Digest{}, 0
		}
		if sub.Digest != (claimdlq.Digest{}) {
			sub.State, t.job.intent = claimdlq.SubmissionSending, true
			*es = append(*es, claimdlq.Entry{At: now, Actor: actor, Action: claimdlq.ActIntent, Submission: sub.ID})
		}
	}
	b.Submissions = append(b.Submissions, *sub)
	j.sub = *sub
	return nil
}

// weed dead-letters the members whose budget went on deliveries that a crash cut short,
// and returns the others.
func (a *Attempt) weed(t *plan, members []claimdlq.Record, now time.Time, b *store.Batch) (live []claimdlq.Record, doubted bool, err error) {
	budget := a.o.Policies.For(t.sub.Stream).MaxReceive
	live = members[:0]
	for _, m := range members {
		if m.ReceiveCount < budget {
			doubted = doubted || m.FateUnknown
			live = append(live, m)
			continue
		}
		n, err := lapsed(m, now)
		if err != nil {
			return nil, false, err
		}
		action := claimdlq.ActEnqueue
		if n.State == claimdlq.StateParked {
			action = claimdlq.ActPark
		}
		t.dead = append(t.dead, n)
		b.Update = append(b.Update, n)
		b.Entries = append(b.Entries, entry(action, t.sub.ID, &m, &n, now))
	}
	return live, doubted, nil
}

// lapsed dead-letters a member whose budget went on deliveries that never ended.
// One that may have arrived is parked with its doubt: un-parking leads to in_doubt.
func lapsed(m claimdlq.Record, now time.Time) (claimdlq.Record, error) {
	code := m.Detail
	if code.IsZero() {
		code = claimdlq.NewDetail("LEASE_LAPSED")
	}
	if m.FateUnknown {
		n, err := m.Park(claimdlq.OutcomeUnknown, now)
		n.Reason, n.Detail = claimdlq.OutcomeUnknown, code
		return n, err
	}
	return m.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: code}, now)
}

// alone gives each member a submission of its own: what came with it has gone another
// way, and only whole transmissions and single transactions go out.
func (t *plan) alone(live []claimdlq.Record, now time.Time, b *store.Batch) {
	for i := range live {
		b.NewSubmissions = append(b.NewSubmissions, single(t.sub, live[i].ID, now, now))
	}
	t.sub.State = claimdlq.SubmissionAnswered
	b.Submissions = append(b.Submissions, t.sub)
}

// single returns a submission like s of one of its members. Its bytes are not known yet.
func single(s claimdlq.Submission, id claimdlq.ID, notBefore, now time.Time) claimdlq.Submission {
	return claimdlq.Submission{
		State: claimdlq.SubmissionReady, Stream: s.Stream, Partner: s.Partner, Bulk: s.Bulk, Replay: s.Replay, Fallback: s.Fallback,
		Members: []claimdlq.IDRange{{First: id, Last: id}}, NotBefore: notBefore, CreatedAt: now, Last: s.Last,
	}
}

// side makes sure that the permit is for the side that the bytes may go to: the one
// that may have them already. It returns why they must wait where it is not open.
func (s *session) side(t *plan, doubted bool, now time.Time) *refusal {
	if !doubted || t.permit.fallback == t.sub.Fallback {
		return nil
	}
	if t.sub.Fallback && t.route.Fallback == nil {
		return &refusal{claimdlq.HoldTarget, now.Add(s.a.o.HoldFor)}
	}
	if again, ok := s.a.switchOver(&t.permit, now); !ok {
		return &refusal{claimdlq.HoldBreaker, again}
	}
	return nil
}

// members appends the submission's records for which is holds to out, in order, and
// says how many it has in all.
func (a *Attempt) members(ctx context.Context, s claimdlq.Submission, is func(claimdlq.Record) bool, out []claimdlq.Record) (_ []claimdlq.Record, all int, err error) {
	for _, run := range s.Members {
		for id := run.First; id <= run.Last; id++ {
			all++
			r, err := a.o.Store.Get(ctx, id)
			if err != nil {
				return nil, all, err
			}
			if is(r) {
				out = append(out, r)
			}
		}
	}
	return out, all, nil
}

// deliverable: whatever was settled, withdrawn or parked since is left out.
func deliverable(r claimdlq.Record) bool { return r.State == claimdlq.StateQueued }

// leasedBy is for members of a submission whose delivery has not ended.
func leasedBy(s claimdlq.Submission) func(claimdlq.Record) bool {
	return func(r claimdlq.Record) bool { return r.State == claimdlq.StateLeased && r.Submission == s.ID }
}
