package settle

import (
	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/envelope"
	"claimdlq/store"
	"claimdlq/wire/x12ack"
)

// functional does what a 999 says about one group and its sets.
func (j *job) functional(g *functionalGroup) error {
	a := g.any()
	ref := store.GroupRef(a.GroupSender, a.GroupReceiver, a.GS06)
	s, ok, err := j.find(ref, func(claimdlq.Submission) bool { return true })
	if err == nil && !ok { // the same GS06 in several interchanges: by their addresses
		s, ok, err = j.find(ref, func(s claimdlq.Submission) bool { return s.Envelope.Lane() == a.Envelope.Lane() })
	}
	if err == nil && !ok { // and by the sets in them
		s, ok, err = j.findBySets(ref, g)
	}
	if err != nil {
		return err
	}
	if !ok {
		j.miss(g.answers(), "999:ORPHAN")
		return nil
	}
	if err := j.arrived(s, a.Detail()); err != nil {
		return err
	}
	orphans := 0
	err = retried(func() error {
		orphans = 0
		s, err := j.Store.Submission(j.ctx, s.ID)
		if err != nil {
			return err
		}
		members, err := j.members(s)
		if err != nil {
			return err
		}
		m := &moves{j: j}
		if orphans, err = j.judge(m, s, members, g); err != nil {
			return err
		}
		return m.commit()
	})
	if orphans > 0 {
		j.miss(orphans, "999:ORPHAN")
	}
	j.closed[s.ID] = true
	return err
}

// findBySets returns the one submission under ref that carries every set the 999
// names.
func (j *job) findBySets(ref claimdlq.Ref, g *functionalGroup) (claimdlq.Submission, bool, error) {
	var failure error
	s, ok, err := j.find(ref, func(s claimdlq.Submission) bool {
		members, err := j.members(s)
		if err != nil {
			failure = err
			return false
		}
		index := bySet(s, members, g.any().GS06)
		for _, a := range g.sets {
			if _, ok := index[a.ST02]; !ok {
				return false
			}
		}
		return len(g.sets) > 0
	})
	if failure != nil {
		return s, false, failure
	}
	return s, ok, err
}

// bySet finds the members of a group by the ST02 they went out under. Two under
// one ST02 are none.
func bySet(s claimdlq.Submission, members []claimdlq.Record, gs06 uint32) map[string]int {
	index := map[string]int{}
	for i, r := range members {
		if g, ok := groupOf(s, r); !ok || g.Number != gs06 {
			continue
		}
		st02 := envelope.SentST02(s, r)
		if n, twice := index[st02]; twice {
			if n >= 0 && besides(s, members[n], r) {
				continue
			}
			index[st02] = -1
			continue
		}
		index[st02] = i
	}
	return index
}

// besides reports whether both records went out in the same set: another pipeline has
// sent it whole, and a claim has parted from it here.
func besides(s claimdlq.Submission, a, b claimdlq.Record) bool {
	set := func(r claimdlq.Record) claimdlq.ID {
		if r.Scope == claimdlq.ScopeClaim {
			return r.Parent
		}
		return r.ID
	}
	return !s.Replay && set(a) == set(b) && envelope.SentST02(s, a) == envelope.SentST02(s, b)
}

// judge moves the members that the 999 has a verdict on. It returns how many
// verdicts fit no member.
func (j *job) judge(m *moves, s claimdlq.Submission, members []claimdlq.Record, g *functionalGroup) (orphans int, err error) {
	index := bySet(s, members, g.any().GS06)
	named := map[int]bool{}
	for _, a := range g.sets {
		i, ok := index[a.ST02]
		if !ok || i < 0 {
			orphans++
			continue
		}
		for n, r := range members {
			if n != i && !besides(s, members[i], r) {
				continue
			}
			named[n] = true
			if err := j.set(m, s, r, a); err != nil {
				return orphans, err
			}
		}
	}
	if g.group == nil {
		return orphans, nil
	}
	if accepts(*g.group) {
		m.pending++
		return orphans, nil
	}
	for i, r := range members { // AK901 R without AK2: every set of the group
		n, ok := index[envelope.SentST02(s, r)]
		if !ok || n < 0 || named[i] || n != i && !besides(s, members[n], r) {
			continue
		}
		if err := j.set(m, s, r, *g.group); err != nil {
			return orphans, err
		}
	}
	return orphans, nil
}

// set does what a verdict on the form says about one record.
func (j *job) set(m *moves, s claimdlq.Submission, r claimdlq.Record, a x12ack.Answer) error {
	if accepts(a) {
		m.pending++
		if a.Result == classify.AcceptedWithErrors && r.State == claimdlq.StateSubmitted && r.Submission == s.ID && r.Detail != a.Detail() {
			n, err := r.Answer(nil, a.Detail(), j.now())
			if err != nil {
				return err
			}
			m.update(claimdlq.ActAcknowledge, r, n)
		}
		return nil
	}
	if !awaited(s, r) {
		return nil // said before, answered by something more specific, or sent again since
	}
	return m.quarantine(r, faultOf(a))
}
