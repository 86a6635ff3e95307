package lineage

import "claimdlq"

// timeline is what the records about a claim add up to, in the order in which they
// came.
type timeline struct {
	// generation counts the reversals that were accepted, or are not decided yet, and
	// the rebills that were accepted.
	generation uint32
	// since is the index after the last reversal that counts: what was billed since
	// stands.
	since int
	// billed: something was billed after the last reversal that counts.
	billed bool
	// reversed: a reversal counts; pending, that the last one is not decided.
	reversed, pending bool
	latest            *claimdlq.Record // the latest billing
	flying            bool             // a billing is under way
	back              bool             // a reversal is, whatever came after it
	standing          bool             // one was accepted, or may have been, and not taken back
}

// timeline adds the mates that concern the claim up.
func (k *kin) timeline(list []mate) timeline {
	var t timeline
	for i := 0; i < len(list); {
		m := &list[i]
		switch {
		case !m.concerns || isCopy(m.record):
			i++
		case reverses(m.record):
			i = t.reverse(list, i)
		default:
			t.bill(&m.record)
			i++
		}
	}
	return t
}

func (t *timeline) bill(r *claimdlq.Record) {
	t.latest = r
	t.flying = t.flying || underWay(*r)
	t.billed, t.standing = true, t.standing || accepted(*r) || WrittenOff(*r)
	if rebills(*r) && accepted(*r) {
		t.generation++
	}
}

// reverse adds a run of reversals with nothing billed between them: one act, said
// once or more often. It returns the index after the run.
func (t *timeline) reverse(list []mate, i int) int {
	done, open := false, false
	for ; i < len(list); i++ {
		r := &list[i].record
		if !list[i].concerns {
			continue
		}
		if !reverses(*r) {
			break
		}
		done = done || r.State == claimdlq.StateSettled && r.Disposition == claimdlq.Reversed
		open = open || r.State.Unresolved()
		t.back = t.back || underWay(*r)
	}
	if !done && !open { // it came to nothing: what was billed still stands
		return i
	}
	t.generation++
	t.since = i
	t.standing = t.standing && !done
	t.billed, t.reversed, t.pending = false, true, !done
	return i
}

// waits reports whether the claim must wait: a billing for the reversals before it, a
// reversal for what it reverses and for a reversal that may still take effect, a rebill
// for all of them. A billing that a person must look at is waited for only where none
// stands that could be meant.
func (k *kin) waits(t timeline) bool {
	behind := t.flying || t.latest != nil && t.latest.State.Unresolved() && !t.standing
	switch {
	case k.reversal:
		return behind || t.back
	case k.x.Claim.Code[1] == '3':
		return behind || t.back || t.pending
	}
	return t.back || t.pending
}
