package storetest

import (
	"time"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/store"
)

// stepOf draws one step of a record's life. Where the table forbids it, the record
// is returned with the state forced, for the store to refuse.
func (m *machine) stepOf(rt *rapid.T, r claimdlq.Record) claimdlq.Record {
	now := m.now()
	code := detail(rapid.SampledFrom([]string{"HTTP_503", "STC:A7:562"}).Draw(rt, "code"))
	steps := map[string]func() (claimdlq.Record, error){
		"lease":   func() (claimdlq.Record, error) { return r.Lease(1, now) },
		"sent":    func() (claimdlq.Record, error) { return r.Sent(now) },
		"doubt":   func() (claimdlq.Record, error) { return r.Doubt(code, now) },
		"requeue": func() (claimdlq.Record, error) { return r.Requeue(code, now.Add(time.Minute), now) },
		"quarantine": func() (claimdlq.Record, error) {
			return r.Quarantine(claimdlq.Fault{Reason: claimdlq.SemanticReject, Detail: code}, now)
		},
		"correct": func() (claimdlq.Record, error) {
			return r.Correct(claimdlq.PayloadRef{Unit: "corrected", Length: 9}, 5, "v2", now)
		},
		"replay":   func() (claimdlq.Record, error) { return r.Replay("v2", now) },
		"accept":   func() (claimdlq.Record, error) { return r.Settle(claimdlq.Accepted, code, now) },
		"reject":   func() (claimdlq.Record, error) { return r.Settle(claimdlq.Rejected, code, now) },
		"park":     func() (claimdlq.Record, error) { return r.Park(claimdlq.Expired, now) },
		"unpark":   func() (claimdlq.Record, error) { return r.Unpark(testPolicy, now) },
		"answer":   func() (claimdlq.Record, error) { return r.Answer([]uint32{1, 9}, code, now) },
		"hold":     func() (claimdlq.Record, error) { return r.Held(claimdlq.HoldBreaker, now) },
		"withdraw": func() (claimdlq.Record, error) { return r.Withdraw(now) },
	}
	name := rapid.SampledFrom([]string{
		"lease", "sent", "doubt", "requeue", "quarantine", "correct", "replay",
		"accept", "reject", "park", "unpark", "answer", "hold", "withdraw",
	}).Draw(rt, "step")
	next, err := steps[name]()
	if err != nil {
		next = r
		next.State = rapid.SampledFrom(claimdlq.States).Draw(rt, "forced")
	}
	return next
}

func (m *machine) step(rt *rapid.T) {
	r := m.pick(rt)
	next := m.stepOf(rt, r)
	m.commit(rt, store.Batch{
		Update:  []claimdlq.Record{next},
		Entries: []claimdlq.Entry{{At: at(m.clock), Actor: "TEST", Action: claimdlq.ActOutcome, Record: r.ID, From: r.State, To: next.State}},
	})
}

// steps moves several records in one batch; one bad step fails them all.
func (m *machine) steps(rt *rapid.T) {
	var b store.Batch
	for _, r := range m.all(rt) {
		if rapid.IntRange(0, 3).Draw(rt, "take") == 0 {
			b.Update = append(b.Update, m.stepOf(rt, r))
		}
	}
	m.commit(rt, b)
}

// anyUpdate changes one thing that may or may not be allowed.
func (m *machine) anyUpdate(rt *rapid.T) {
	r := m.pick(rt)
	switch rapid.IntRange(0, 10).Draw(rt, "change") {
	case 0:
		r.Revision += uint32(rapid.SampledFrom([]int{-1, 1}).Draw(rt, "revision"))
	case 1:
		r.AttemptCount += uint32(rapid.SampledFrom([]int{-1, 1}).Draw(rt, "attempts"))
	case 2:
		r.FirstFailedAt = at(rapid.IntRange(0, 3).Draw(rt, "failed"))
	case 3:
		r.ID += 1000
	case 4:
		r.Claims++
	case 5:
		r.Batch = claimdlq.Ref(rapid.IntRange(0, 3).Draw(rt, "batch"))
	case 6:
		r.Partner = rapid.SampledFrom([]string{"ZZ:TESTPAYER", "ZZ:OTHERPAYER", "ZZ:MOVED"}).Draw(rt, "partner")
	case 7:
		r.Key = testKey(rapid.IntRange(1, 40).Draw(rt, "key"))
	case 8:
		r.Detail = detail(rapid.SampledFrom([]string{"", "IK3:HI:3"}).Draw(rt, "detail"))
	case 9:
		r.CreatedAt = r.CreatedAt.Add(time.Millisecond)
	case 10:
		r.Response = claimdlq.PayloadRef{Unit: "testanswer", Offset: int64(m.clock), Length: 300}
	}
	m.commit(rt, store.Batch{Update: []claimdlq.Record{r}})
}

// part gives a claim of a set a record of its own.
func (m *machine) part(rt *rapid.T) {
	r := m.pick(rt)
	next, err := r.Part(1, 100, m.now())
	if err != nil {
		rt.Skip("no claim to part")
	}
	b := store.Batch{Insert: []claimdlq.Record{m.drawnChild(rt, r.ID)}, Update: []claimdlq.Record{next}}
	if rapid.IntRange(0, 9).Draw(rt, "forget") == 0 {
		b.Insert = nil
	}
	m.commit(rt, b)
}

// replay submits one record anew, as its only member.
func (m *machine) replay(rt *rapid.T) {
	s := submission(rapid.IntRange(1, 5).Draw(rt, "isa13"), one(m.pick(rt).ID))
	s.Replay, s.Bulk = true, rapid.Bool().Draw(rt, "bulk")
	m.commit(rt, store.Batch{NewSubmissions: []claimdlq.Submission{s}})
}

func (m *machine) moveSubmission(rt *rapid.T) {
	id := claimdlq.SubmissionID(rapid.IntRange(1, 8).Draw(rt, "submission"))
	s, err := m.model.Submission(rt.Context(), id)
	if err != nil {
		s = claimdlq.Submission{ID: id}
	}
	s.State = claimdlq.SubmissionState(rapid.IntRange(int(claimdlq.SubmissionReady), int(claimdlq.SubmissionDead)).Draw(rt, "state"))
	if s.Stream != claimdlq.StreamNCPDP {
		s.ISA13 = uint32(rapid.IntRange(1, 5).Draw(rt, "isa13"))
	}
	s.NotBefore = at(m.clock + rapid.IntRange(-5, 5).Draw(rt, "wait"))
	s.LeaseUntil = at(m.clock + rapid.IntRange(-5, 5).Draw(rt, "lease"))
	s.Partner = rapid.SampledFrom([]string{"ZZ:TESTPAYER", "ZZ:OTHERPAYER"}).Draw(rt, "partner")
	s.Fallback = rapid.Bool().Draw(rt, "fallback")
	if rapid.IntRange(0, 9).Draw(rt, "stale") == 0 {
		s.Revision++
	}
	m.commit(rt, store.Batch{Submissions: []claimdlq.Submission{s}})
}
