package flow_test

import (
	"cmp"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/flow/settle"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/target"
	"claimdlq/wire/ncpdp"
)

// late is a bench for what happens to pharmacy claims after they went out. It puts
// records where a delivery would have left them, so that every state can be had.
type late struct {
	*bench
	route *lateTarget
}

// lateTarget hands what it gets to the payer, or loses the answer, or is down.
type lateTarget struct {
	payer *payersim.Payer

	mu      sync.Mutex
	mute    bool   // the answer is lost
	down    bool   // nothing arrives
	says    string // why, if not CONNECT_REFUSED
	sent    [][]byte
	other   func([]byte) []byte // what to answer in place of the payer
	plain   bool                // identical bytes must not be sent again
	inquiry claimdlq.Outcome    // of a status query that was not answered
}

func (f *lateTarget) Name() string { return "fake" }

func (f *lateTarget) Inquire(context.Context, target.Parcel) (claimdlq.Outcome, bool) {
	return f.inquiry, false
}

func (f *lateTarget) Deliver(_ context.Context, p target.Parcel) target.Delivery {
	in, err := p.Content()
	if err != nil {
		return transient("TEST_CONTENT", false)
	}
	body, err := io.ReadAll(in)
	if err != nil || int64(len(body)) != p.Size {
		return transient("TEST_SIZE", false)
	}
	f.mu.Lock()
	f.sent = append(f.sent, body)
	mute, down, other := f.mute, f.down, f.other
	f.mu.Unlock()
	if down {
		return transient(cmp.Or(f.says, "CONNECT_REFUSED"), false)
	}
	answer := f.payer.Adjudicate(body)
	if other != nil {
		answer = other(body)
	}
	if mute {
		return transient("TIMEOUT", true)
	}
	return target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted}, Answer: phi.Wrap(answer)}
}

func lateSetup(t *testing.T, script string) *late {
	t.Helper()
	b := setup(t, script)
	l := &late{bench: b, route: &lateTarget{payer: b.payer}}
	b.deps.Routes = func(string, string) (target.Route, bool) {
		return target.Route{Target: l.route, IdempotentResend: !l.route.plain}, true
	}
	b.assemble()
	b.f.Settle = settle.New(settle.Options{
		Store: b.st, Vault: b.v, Identities: b.deps.Identities, Routes: b.deps.Routes, Policies: b.deps.Policies, Rules: b.deps.Rules,
		Log: dlqlog.Named(b.deps.Log), RxLog: dlqlog.NamedRx(b.deps.Log), Now: b.deps.Now,
	})
	return l
}

// transmission makes the nth transmission of the options.
func transmission(t *testing.T, o testclaims.RxOptions, n int) []byte {
	t.Helper()
	if o.Claims == 0 {
		o.Claims = n * max(1, o.TransactionsPer)
	}
	g, err := testclaims.NewRx(o)
	if err != nil {
		t.Fatal(err)
	}
	return g.Append(nil, n)
}

// take records a transmission as intake does: queued, together in one submission.
func (l *late) take(raw []byte) []claimdlq.Record { return l.takeAs(raw, 0) }

// takeAs takes a transmission whose claims have had as many reversals before.
func (l *late) takeAs(raw []byte, generation uint32) []claimdlq.Record {
	l.t.Helper()
	id, now := l.deps.Identities[0].Clone(), l.clock.now()
	ref, err := l.v.Stage(phi.Wrap(append([]byte(nil), raw...)))
	l.must(err)
	l.must(l.v.Sync(l.t.Context()))
	m := ncpdp.Parse(raw)
	var b store.Batch
	for n := 1; n <= m.Groups(); n++ {
		c, fault := m.Claim(n)
		if fault != nil {
			l.t.Fatal(fault)
		}
		r := claimdlq.Record{
			Key: c.Key(id, generation), KeyTerm: id.Term, Batch: c.Lineage(id), Format: claimdlq.FormatNCPDP, Ordinal: uint32(n),
			Stream: claimdlq.StreamNCPDP, TransactionID: string(c.Code[:]), Partner: string(c.BIN) + ":" + string(c.PCN), Claims: 1,
			RuleVersion: envelope.RxRules, State: claimdlq.StateQueued, Payload: ref, PayloadRevision: 1, CreatedAt: now, UpdatedAt: now,
		}
		alone, err := envelope.RxDocument(phi.Wrap(append([]byte(nil), raw...)), r)
		l.must(err)
		r.Digest = id.Digest(alone.Reveal())
		if d, ok := m.AmountOf(n, ncpdp.IDOf("DU")); ok {
			r.AmountCents = d.Units
		}
		b.Insert = append(b.Insert, r)
		b.Entries = append(b.Entries, claimdlq.Entry{At: now, Actor: "system:intake", Action: claimdlq.ActReceive, Record: store.ParentIndex(n - 1), To: claimdlq.StateQueued})
	}
	b.NewSubmissions = []claimdlq.Submission{{
		State: claimdlq.SubmissionReady, Stream: claimdlq.StreamNCPDP, Partner: b.Insert[0].Partner, CreatedAt: now,
		Members: []claimdlq.IDRange{{First: store.ParentIndex(0), Last: store.ParentIndex(m.Groups() - 1)}},
		Digest:  id.Digest(raw), Bytes: int64(len(raw)),
	}}
	receipt, err := l.st.Commit(l.t.Context(), b)
	l.must(err)
	var out []claimdlq.Record
	for _, got := range receipt.Inserted {
		if got.Status != store.Inserted {
			l.t.Fatalf("not inserted: %v", got)
		}
		out = append(out, l.record(got.ID))
	}
	return out
}

// submissionOf returns the newest submission that waits with the record.
func (l *late) submissionOf(id claimdlq.ID) claimdlq.Submission {
	l.t.Helper()
	var found claimdlq.Submission
	due, err := l.st.Due(l.t.Context(), store.DueQuery{State: claimdlq.SubmissionReady, Now: l.clock.now().Add(1000 * day), Limit: 100_000})
	l.must(err)
	for _, s := range due {
		for _, m := range s.Members {
			if m.First <= id && id <= m.Last {
				found = s
			}
		}
	}
	if found.ID == 0 {
		l.t.Fatalf("record %d waits in no submission", id)
	}
	return found
}

// ended moves the records of the submission in which the first waits to where a
// delivery left them. It returns the bytes that were sent.
func (l *late) ended(first claimdlq.ID, to claimdlq.SubmissionState, step func(claimdlq.Record) (claimdlq.Record, error)) []byte {
	l.t.Helper()
	s := l.submissionOf(first)
	now, b := l.clock.now(), store.Batch{}
	var members []claimdlq.Record
	for _, run := range s.Members {
		for id := run.First; id <= run.Last; id++ {
			n, err := l.record(id).Lease(s.ID, now)
			l.must(err)
			b.Update = append(b.Update, n)
			n.Revision++
			members = append(members, n)
		}
	}
	s.State = claimdlq.SubmissionSending
	s.Receives++
	b.Submissions = []claimdlq.Submission{s}
	_, err := l.st.Commit(l.t.Context(), b)
	l.must(err)
	s.Revision++
	proof, err := audited.Open(l.t.Context(), l.st, claimdlq.System("attempt"), claimdlq.ActLease, now, members...)
	l.must(err)
	raw, err := envelope.RxBytes(l.t.Context(), l.v, proof, s, members)
	l.must(err)
	if d := l.deps.Identities[0].Clone().Digest(raw.Reveal()); d != s.Digest || s.Bytes != int64(raw.Len()) {
		l.t.Fatalf("submission %d does not know the digest of its bytes", s.ID)
	}
	b = store.Batch{}
	for _, m := range members {
		n, err := step(m)
		l.must(err)
		b.Update = append(b.Update, n)
	}
	if s.State = to; to == claimdlq.SubmissionSent || to == claimdlq.SubmissionAnswered {
		s.SentAt = now
	}
	if to == claimdlq.SubmissionSent {
		s.NotBefore = now.Add(l.deps.Policies.For(claimdlq.StreamNCPDP).AckDeadline)
	}
	b.Submissions = []claimdlq.Submission{s}
	_, err = l.st.Commit(l.t.Context(), b)
	l.must(err)
	l.conserved()
	return append([]byte(nil), raw.Reveal()...)
}

var testCode = claimdlq.NewDetail("TIMEOUT")

// doubtful leaves the record's transmission in doubt; arrived says whether the payer
// has it. It returns what the payer answered, which nobody has seen.
func (l *late) doubtful(first claimdlq.ID, arrived bool) []byte {
	l.t.Helper()
	raw := l.ended(first, claimdlq.SubmissionInDoubt, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Doubt(testCode, l.clock.now())
	})
	if !arrived {
		return nil
	}
	return l.payer.Adjudicate(raw)
}

// captured leaves the record's transmission waiting for the payer's answer.
func (l *late) captured(first claimdlq.ID) []byte {
	l.t.Helper()
	return l.ended(first, claimdlq.SubmissionSent, func(r claimdlq.Record) (claimdlq.Record, error) {
		n, err := r.Sent(l.clock.now())
		n.Detail = claimdlq.NewDetail("AN_C")
		return n, err
	})
}

// exhausted spends the record's budget: the payer has never had it.
func (l *late) exhausted(first claimdlq.ID) {
	l.t.Helper()
	l.ended(first, claimdlq.SubmissionDead, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Quarantine(claimdlq.Fault{Reason: claimdlq.RetriesExhausted, Class: claimdlq.Transient, Detail: claimdlq.NewDetail("HTTP_503")}, l.clock.now())
	})
}

// rejected settles the record's transmission as rejected for good.
func (l *late) rejected(first claimdlq.ID) {
	l.t.Helper()
	l.ended(first, claimdlq.SubmissionAnswered, func(r claimdlq.Record) (claimdlq.Record, error) {
		return r.Settle(claimdlq.Rejected, claimdlq.NewDetail("FB_79"), l.clock.now())
	})
}

// answerTo builds a response to what was sent.
func answerTo(t *testing.T, request []byte, vs ...ncpdp.Verdict) []byte {
	t.Helper()
	for i := range vs {
		if vs[i].Status == "P" && vs[i].Amounts == nil {
			vs[i].Amounts = []ncpdp.FieldAmount{{ID: "F9", Units: 1234}}
		}
	}
	b, err := ncpdp.BuildResponse(ncpdp.Parse(request), 'A', "", vs)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// is checks the state and disposition of a record.
func (l *late) is(id claimdlq.ID, s claimdlq.State, d claimdlq.Disposition) {
	l.t.Helper()
	if r := l.record(id); r.State != s || r.Disposition != d {
		l.t.Fatalf("record %d is %s %s, want %s %s\n%s", id, r.State, r.Disposition, s, d, l.dump())
	}
}

// opened checks that every opening was audited before it, which a vault enforces by
// its proof, and that there is an entry for the record.
func (l *late) opened(id claimdlq.ID) {
	l.t.Helper()
	for _, a := range l.audited(id) {
		if a == claimdlq.ActOpen || a == claimdlq.ActReveal {
			return
		}
	}
	l.t.Errorf("record %d was opened without an audit entry: %v", id, l.audited(id))
}

// noDoubleFill fails if the payer has paid a fill while a payment stood.
func (l *late) noDoubleFill() {
	l.t.Helper()
	if d := l.payer.DoubleFills(); len(d) > 0 {
		l.t.Fatalf("the payer paid %d fills twice", len(d))
	}
}

// leaks fails if a mark of the canary claims is anywhere outside the vault.
func (l *late) leaks(o testclaims.RxOptions) {
	l.t.Helper()
	var out strings.Builder
	out.WriteString(l.log.String())
	for _, r := range l.list(store.Filter{}) {
		out.WriteString(strings.Join([]string{r.DisplayKey(), r.InterchangeID, r.GroupID, r.TransactionID, r.Sender, r.Partner, r.Detail.String(), r.Usage, r.Stream, r.RuleVersion, r.Payload.Unit, r.Response.Unit}, " "))
	}
	l.must(l.st.Entries(l.t.Context(), 1, func(e claimdlq.Entry) bool {
		out.WriteString(e.Note + " " + e.Detail.String() + " " + e.Actor + " ")
		return true
	}))
	for _, mark := range testclaims.RxMarks(o) {
		if strings.Contains(out.String(), mark) {
			l.t.Errorf("%s got out of the vault", mark)
		}
	}
}
