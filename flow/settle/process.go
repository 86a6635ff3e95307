package settle

import (
	"claimdlq"
	"claimdlq/classify"
	"claimdlq/wire/x12ack"
)

// process does what the answers say: interchanges first, then groups with their
// sets, then batches with their claims, so that the more specific one wins.
func (j *job) process(acks *x12ack.Acks) error {
	for i := range acks.Interchanges {
		answers := acks.Interchanges[i].Answers
		for _, a := range answers {
			if a.Kind == x12ack.KindTA1 {
				if err := j.ta1(a); err != nil {
					return err
				}
			}
		}
		for _, g := range functional(answers) {
			if err := j.functional(g); err != nil {
				return err
			}
		}
		if err := j.batches(batches(answers)); err != nil {
			return err
		}
	}
	return j.close()
}

// miss counts answers that fit nothing.
func (j *job) miss(n int, code string) {
	if j.result.Orphans == 0 {
		j.orphan = claimdlq.NewDetail(code)
	}
	j.result.Orphans += n
}

// faultOf returns why an answer dead-letters what it is about.
func faultOf(a x12ack.Answer) claimdlq.Fault {
	f := claimdlq.Fault{Reason: a.Reason, Class: a.Class, Detail: a.Detail()}
	if f.Reason == claimdlq.ReasonNone {
		f.Reason = claimdlq.FatalSyntax
	}
	if f.Class == claimdlq.ClassNone {
		f.Class = claimdlq.Terminal
	}
	return f
}

// accepts reports whether the answer takes the form, and nothing but the form.
func accepts(a x12ack.Answer) bool {
	return a.Result == classify.Accepted || a.Result == classify.AcceptedWithErrors
}

// functionalGroup is what one 999 says about one group.
type functionalGroup struct {
	group *x12ack.Answer
	sets  []x12ack.Answer
}

func (g functionalGroup) any() x12ack.Answer {
	if g.group != nil {
		return *g.group
	}
	return g.sets[0]
}

func (g functionalGroup) answers() int {
	if g.group != nil {
		return len(g.sets) + 1
	}
	return len(g.sets)
}

// functional gathers the 999 answers by the group they are about, in order.
func functional(answers []x12ack.Answer) []*functionalGroup {
	type key struct {
		sender, receiver string
		number           uint32
	}
	var out []*functionalGroup
	byKey := map[key]*functionalGroup{}
	for i, a := range answers {
		if a.Kind != x12ack.KindGroup && a.Kind != x12ack.KindSet {
			continue
		}
		k := key{a.GroupSender, a.GroupReceiver, a.GS06}
		g := byKey[k]
		if g == nil || a.Kind == x12ack.KindGroup && g.group != nil {
			g = &functionalGroup{}
			byKey[k] = g
			out = append(out, g)
		}
		if a.Kind == x12ack.KindGroup {
			g.group = &answers[i]
		} else {
			g.sets = append(g.sets, a)
		}
	}
	return out
}

// claimBatch is what one 277CA says about one batch (2200B TRN02).
type claimBatch struct {
	batch     *x12ack.Answer
	providers []x12ack.Answer
	claims    []x12ack.Answer
}

func (b *claimBatch) any() x12ack.Answer {
	switch {
	case b.batch != nil:
		return *b.batch
	case len(b.claims) > 0:
		return b.claims[0]
	}
	return b.providers[0]
}

func (b *claimBatch) answers() int {
	n := len(b.providers) + len(b.claims)
	if b.batch != nil {
		n++
	}
	return n
}

// batches gathers the 277CA answers by the batch they are about, in order.
func batches(answers []x12ack.Answer) []*claimBatch {
	type key struct{ bht03, sender, receiver string }
	var out []*claimBatch
	byKey := map[key]*claimBatch{}
	for i, a := range answers {
		if a.Kind != x12ack.KindBatch && a.Kind != x12ack.KindProvider && a.Kind != x12ack.KindClaim {
			continue
		}
		k := key{string(a.BHT03.Reveal()), a.GroupSender, a.GroupReceiver}
		b := byKey[k]
		if b == nil {
			b = &claimBatch{}
			byKey[k] = b
			out = append(out, b)
		}
		switch a.Kind {
		case x12ack.KindBatch:
			b.batch = &answers[i]
		case x12ack.KindProvider:
			b.providers = append(b.providers, a)
		default:
			b.claims = append(b.claims, a)
		}
	}
	return out
}
