package x12

import "slices"

// What the judge does with segments that are not where they may be.

// unknown judges a segment that an 837 does not have.
func (j *judge) unknown() {
	id := safeID(j.b[:min(int(j.ends[0]), 4)])
	ik304 := "1"
	if j.r.others[id] {
		ik304 = "6"
	}
	j.report(j.here(id, ik304, "SEGMENT_UNKNOWN"), j.scope())
}

// here returns a fault of the current segment in the current loop.
func (j *judge) here(id, ik304, rule string) Fault {
	return Fault{
		Segment: id, Position: j.pos, Offset: j.off, Loop: j.g.loops[j.stack[j.depth].loop].id,
		IK304: ik304, Rule: rule, Severity: Error,
	}
}

// scope returns whose fault a fault at this place is.
func (j *judge) scope() scope {
	if j.claim.open {
		return scopeClaim
	}
	return j.g.loops[j.stack[j.depth].loop].scope
}

// skipped passes over a segment that belongs to a misplaced loop: one fault for
// the loop is enough.
func (j *judge) skipped(idx uint8) bool {
	loop := j.g.nodes[j.skip].loop
	for _, id := range j.g.anywhere[idx] {
		if n := &j.g.nodes[id]; n.loop == loop && !n.opens && j.qualifies(n) {
			return true
		}
	}
	j.skip = 0
	return false
}

// misplaced judges a segment that may not follow the one before it. steps are the
// candidates that have its id, full is one that has its qualifier too but has
// come as often as it may, or -1.
func (j *judge) misplaced(idx uint8, steps span, full int) {
	id := j.r.segIDs.names[idx]
	if full >= 0 {
		j.tooMany(id, &j.g.cands[full])
		return
	}
	if !j.knownUse(idx) {
		if c := j.guess(steps); c != nil {
			j.enter(c, &j.g.nodes[c.node]) // the qualifier is found wrong there
			return
		}
	} else if j.outOfOrder(id, idx) || j.openerMissing(idx) {
		return
	}
	j.report(j.here(id, "2", "SEGMENT_UNEXPECTED"), j.scope())
	if id == "CLM" {
		j.strayClaim()
		return
	}
	for _, n := range j.g.anywhere[idx] {
		if node := &j.g.nodes[n]; node.opens && j.qualifies(node) {
			j.skip = n
			return
		}
	}
}

// tooMany judges a segment or loop beyond its greatest use.
func (j *judge) tooMany(id string, c *cand) {
	n := &j.g.nodes[c.node]
	if !n.opens {
		f := j.here(id, "5", "SEGMENT_TOO_OFTEN")
		f.Loop = j.g.loops[n.loop].id
		j.report(f, j.scope())
		return
	}
	j.enter(c, n)
	f := j.here(id, "4", "LOOP_TOO_OFTEN")
	j.report(f, j.scope())
}

// knownUse reports whether the guide has the segment with this qualifier at all.
func (j *judge) knownUse(idx uint8) bool {
	return slices.ContainsFunc(j.g.anywhere[idx], func(n uint16) bool {
		return j.qualifies(&j.g.nodes[n])
	})
}

// guess chooses what a segment with a wrong qualifier was meant to be: a required
// one that is still missing, else the first that has room.
func (j *judge) guess(steps span) (best *cand) {
	for i := range j.g.cands[steps.at : steps.at+steps.n] {
		c := &j.g.cands[int(steps.at)+i]
		n := &j.g.nodes[c.node]
		if !j.room(c, n) {
			continue
		}
		if n.act == actHL && j.parentFits(levelOf(j.g.loops[n.loop].scope)) {
			return c
		}
		bit := n.bit
		if n.opens {
			bit = j.g.loops[n.loop].bit
		}
		if bit&^j.stack[j.depth-int(c.up)].seen != 0 {
			return c
		}
		if best == nil {
			best = c
		}
	}
	return best
}

// outOfOrder finds the place that the segment should have had, in a loop that is
// still open. Where that would lead out of an open claim, it rather belongs to a
// level whose HL is missing, if there is one: nothing but an HL ends a claim for good.
func (j *judge) outOfOrder(id string, idx uint8) bool {
	for d := j.depth; d >= 0; d-- {
		f := &j.stack[d]
		if j.claim.open && j.g.loops[f.loop].scope != scopeClaim && j.openerMissing(idx) {
			return true
		}
		for _, n := range j.g.anywhere[idx] {
			node := &j.g.nodes[n]
			if !j.qualifies(node) {
				continue
			}
			l := &j.g.loops[node.loop]
			switch {
			case node.opens && node.loop != 0 && l.parent == f.loop:
				j.report(j.here(id, "7", "SEGMENT_OUT_OF_ORDER"), j.scope())
				c := cand{node: n, up: uint8(j.depth - d)}
				j.enter(&c, node)
				return true
			case !node.opens && node.loop == f.loop:
				if f.counts[node.child] >= node.max {
					j.tooMany(id, &cand{node: n, up: uint8(j.depth - d)})
					return true
				}
				fault := j.here(id, "7", "SEGMENT_OUT_OF_ORDER")
				fault.Loop = l.id
				j.report(fault, j.scope())
				f.count(node.child)
				f.seen |= node.bit
				return true
			}
		}
	}
	return false
}

// openerMissing finds a loop that could begin here and has the segment, itself or
// as the opener of a loop in it: then what is missing is the segment that opens it.
// It is believed where the loop is due, or where it cannot be without the segment.
func (j *judge) openerMissing(idx uint8) bool {
	for _, n := range j.g.anywhere[idx] {
		node := &j.g.nodes[n]
		if node.loop == 0 || !j.qualifies(node) {
			continue
		}
		l := &j.g.loops[node.loop]
		if node.opens {
			l = &j.g.loops[l.parent]
		}
		opener := &j.g.nodes[l.first]
		c := j.stepTo(l.first)
		if c == nil || opener.seg == node.seg || !j.room(c, opener) {
			continue
		}
		due := l.bit&^j.stack[j.depth-int(c.up)].seen != 0
		if !due && (node.opens || !node.required) {
			continue
		}
		j.enterWithout(c, opener)
		j.enter(&cand{node: n}, node)
		return true
	}
	return false
}

// stepTo returns the candidate for the node, if it may follow.
func (j *judge) stepTo(n uint16) *cand {
	sp := j.g.steps[int(j.at)*j.g.segments+int(j.g.nodes[n].seg)]
	for i := range j.g.cands[sp.at : sp.at+sp.n] {
		if c := &j.g.cands[int(sp.at)+i]; c.node == n {
			return c
		}
	}
	return nil
}

// enterWithout opens the loop of a missing opener and says that it is missing.
func (j *judge) enterWithout(c *cand, opener *guideNode) {
	for up := c.up; up > 0; up-- {
		j.closeLoop()
	}
	inClaim := j.claim.open
	if opener.act == actHL {
		j.before(opener)
	}
	f := &j.stack[j.depth]
	l := &j.g.loops[opener.loop]
	if missed := l.before &^ (f.seen | f.passed); missed != 0 {
		j.passOver(f, missed)
	}
	f.count(l.child)
	f.seen |= l.bit
	j.open(opener.loop)
	inner := &j.stack[j.depth]
	inner.count(0)
	inner.seen |= opener.bit
	switch opener.act {
	case actHL:
		j.inferLevel(c.node, levelOf(l.scope))
	case actLine:
		j.claim.endLine()
		j.lx++
	default:
	}
	fault := j.here(j.r.segIDs.names[opener.seg], "3", "SEGMENT_MISSING")
	j.report(fault, j.scope())
	if opener.act != actHL {
		return
	}
	// What follows is cut with the claim before it, or stays with the level above: an
	// HL is where they would part.
	if inClaim {
		j.spoil(fault, scopeClaim)
	} else {
		j.spoil(fault, j.g.loops[l.parent].scope)
	}
}
