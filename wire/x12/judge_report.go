package x12

// elementNames are the names of elements and components, so that a fault costs no
// allocation for one.
var elementNames = func() (t [most + 2][16]string) {
	for e := range t {
		for c := range t[e] {
			t[e][c] = elementName(e, c)
		}
	}
	return t
}()

// fault reports a fault of an element or, where comp is not 0, a component.
func (j *judge) fault(n *guideNode, el, comp int, ik403, rule string) {
	f := j.of(n, el, comp, rule)
	f.IK304, f.IK403, f.Severity = "8", ik403, Error
	j.report(f, j.scope())
}

// business reports what is well formed and will be refused for what it says.
func (j *judge) business(n *guideNode, el, comp int, rule, stc string) {
	f := j.of(n, el, comp, rule)
	f.STC, f.Severity = stc, Business
	j.report(f, j.scope())
}

// note reports what is tolerated.
func (j *judge) note(n *guideNode, rule string) {
	j.report(j.of(n, 0, 0, rule), j.scope())
}

func (j *judge) of(n *guideNode, el, comp int, rule string) Fault {
	f := Fault{
		Segment: j.r.segIDs.names[n.seg], Position: j.pos, Offset: j.off, Loop: j.g.loops[n.loop].id, Rule: rule,
	}
	if el > 0 {
		f.Element = elementNames[min(el, most+1)][min(comp, 15)]
	}
	return f
}

// report adds a fault to the list and to the claims that it spoils.
func (j *judge) report(f Fault, sc scope) {
	if sc == scopeClaim && !j.claim.open {
		sc = scopeSubscriber
		if j.scopes[scopePatient].first > 0 {
			sc = scopePatient
		}
	}
	if sc == scopeClaim {
		f.ClaimOrd = len(j.claims)
	}
	j.count++
	if n := len(j.faults); n < j.s.o.MaxFaults {
		j.unsorted = j.unsorted || n > 0 && j.faults[n-1].Position > f.Position
		j.faults = append(j.faults, f)
	}
	if f.Severity == Note {
		return
	}
	if f.Severity == Error {
		j.errors++
		j.claim.faulty = j.claim.faulty || sc == scopeClaim
	}
	j.spoil(f, sc)
}

// spoil marks the claims of the scope as bad, those to come included.
func (j *judge) spoil(f Fault, sc scope) {
	if sc == scopeHeader {
		j.whole = true
		return
	}
	st := &j.scopes[sc]
	if sc == scopeClaim {
		if c := &j.claims[len(j.claims)-1]; c.spoiler == 0 {
			c.spoiler = j.spoiler(f)
		}
		return
	}
	if st.spoiler != 0 {
		return
	}
	id := j.spoiler(f)
	st.spoiler = int(id)
	for i := max(st.first, 1) - 1; i < len(j.claims); i++ {
		if j.claims[i].spoiler == 0 {
			j.claims[i].spoiler = id
		}
	}
}

func (j *judge) spoiler(f Fault) int32 {
	j.spoilers = append(j.spoilers, f)
	return int32(len(j.spoilers))
}

// enterScope begins a provider, a subscriber or a patient, and ends what was open
// below.
func (j *judge) enterScope(sc scope) {
	for s := sc; s <= scopePatient; s++ {
		j.leaveScope(s)
	}
	j.scopes[sc] = scopeState{first: len(j.claims) + 1}
}

// leaveScope ends a scope. Where a fault in it has no claim to hold back, cutting
// claims out cannot make the set good.
func (j *judge) leaveScope(sc scope) {
	st := &j.scopes[sc]
	if st.spoiler != 0 && max(st.first, 1) > len(j.claims) {
		j.whole = true
	}
	*st = scopeState{}
}
