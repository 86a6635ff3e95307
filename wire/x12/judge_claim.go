package x12

import (
	"encoding/binary"
	"strconv"
)

// levels are the hierarchical levels of a set: numbers and children.
type levels struct {
	count  int   // HLs so far
	last   int64 // HL01 of the latest
	number [4]int64
	child  [4]bool // HL04 says that children follow
	has    [4]bool // a child came
	claims [4]int  // claims before it
	node   [4]uint16
}

const (
	levelProvider = iota + 1
	levelSubscriber
	levelPatient
)

// before does what must happen before the elements of a segment are judged: the
// scopes change, so that its faults go to the right claims.
func (j *judge) before(n *guideNode) {
	switch n.act {
	case actHL:
		j.endClaim()
		sc := j.g.loops[n.loop].scope
		j.endLevelsFrom(levelOf(sc))
		j.enterScope(sc)
	case actClaim:
		j.endClaim()
		j.startClaim()
	}
}

// act does what the tables cannot say, after the elements have been judged.
func (j *judge) act(n *guideNode) {
	c := &j.claim
	switch n.act {
	case actBHT:
		j.s.set.bht03 = append(j.s.set.bht03[:0], j.element(3)...)
		j.s.set.bht04 = string(j.element(4))
	case actHL:
		j.level(n)
	case actSBR:
		j.self = string(j.element(2)) == "18"
	case actName, actBilling, actPayer, actSubscriber, actPatient:
		j.name(n)
	case actBirth:
		c.birth = append(c.birth[:0], j.element(2)...)
	case actClaim:
		j.claimHead(n)
	case actClaimDate:
		j.claimDate(n)
	case actClaimRef:
		if string(j.element(1)) == "F8" && j.has(2) {
			c.hasF8 = true
		}
	case actDiagnoses:
		if q := j.component(1, 1); string(q) == "ABK" || string(q) == "BK" || string(q) == "TQ" {
			c.diagnoses = j.n
		}
	case actLine:
		j.line(n)
	case actService:
		j.service(n)
	case actLineDate:
		if string(j.element(1)) == "472" {
			c.lineDate(j.element(3))
			c.serve(j.element(3), false)
			j.timely(n, j.element(3), false)
		}
	}
}

// level judges an HL: its number is one more than the last, its parent is the
// open level above, and its parent said that children follow.
func (j *judge) level(n *guideNode) {
	h := &j.hl
	h.count++
	num, ok := digits(j.element(1))
	switch {
	case !j.has(1): // missing, and said
	case !ok || num != h.last+1 && num != int64(h.count):
		j.fault(n, 1, 0, "7", "HL_NUMBER")
	}
	h.last = num
	lv := levelOf(j.g.loops[n.loop].scope)
	if lv > levelProvider {
		parent, ok := digits(j.element(2))
		if j.has(2) && (!ok || parent != h.number[lv-1]) {
			j.fault(n, 2, 0, "7", "HL_PARENT")
		}
		if !h.child[lv-1] && !h.has[lv-1] {
			j.note(n, "HL_CHILD_FLAG")
		}
		h.has[lv-1] = true
	}
	h.number[lv], h.child[lv], h.has[lv] = num, string(j.element(4)) == "1", false
	h.claims[lv], h.node[lv] = len(j.claims), j.at
	j.claim.enterLevel(lv)
}

// inferLevel opens a level whose HL is missing, as if it had come with the number
// that it should have had, so that the HLs after it are not found wrong too.
func (j *judge) inferLevel(node uint16, lv int) {
	h := &j.hl
	h.count++
	h.last++
	if lv > levelProvider {
		h.has[lv-1] = true
	}
	h.number[lv], h.child[lv], h.has[lv] = h.last, false, false
	h.claims[lv], h.node[lv] = len(j.claims), node
	j.claim.enterLevel(lv)
}

// parentFits reports whether the HL at hand names the open level above lv as its
// parent. Parentage decides what an HL with a wrong level code was meant to be.
func (j *judge) parentFits(lv int) bool {
	parent, ok := digits(j.element(2))
	if lv == levelProvider {
		return !j.has(2)
	}
	return ok && parent > 0 && parent == j.hl.number[lv-1]
}

func levelOf(sc scope) int {
	switch sc {
	case scopeSubscriber:
		return levelSubscriber
	case scopePatient:
		return levelPatient
	}
	return levelProvider
}

// endLevelsFrom ends the levels at and below lv.
func (j *judge) endLevelsFrom(lv int) {
	h := &j.hl
	for l := levelPatient; l >= lv; l-- {
		if h.number[l] == 0 {
			continue
		}
		n := &j.g.nodes[h.node[l]]
		if h.child[l] && !h.has[l] && l > levelProvider {
			j.note(n, "HL_CHILD_FLAG")
		}
		if l == levelSubscriber && !h.has[l] && h.claims[l] == len(j.claims) {
			// A subscriber without a claim and without a patient says nothing.
			j.report(Fault{
				Segment: "CLM", Position: j.pos, Offset: j.off, Loop: "2300", IK304: "3", Rule: "SEGMENT_MISSING", Severity: Error,
			}, scopeSubscriber)
		}
		h.number[l], h.child[l], h.has[l] = 0, false, false
	}
}

func (j *judge) endLevels() { j.endLevelsFrom(levelProvider) }

// name looks at an NM1: a national provider identifier is checked, and the parties
// of the claims are kept for their fingerprints.
func (j *judge) name(n *guideNode) {
	id := j.element(9)
	if j.r.npiCheckDigit && len(id) > 0 && string(j.element(8)) == "XX" && !luhn(id) {
		j.business(n, 9, 0, "NPI_CHECK_DIGIT", j.g.npiStatus(n))
	}
	c := &j.claim
	switch n.act {
	case actBilling:
		c.npi = append(c.npi[:0], id...)
	case actPayer:
		c.payer = append(c.payer[:0], id...)
	case actSubscriber:
		c.subscriber = append(c.subscriber[:0], id...)
	case actPatient:
		c.patient = append(append(append(c.patient[:0], j.element(3)...), 0), j.element(4)...)
	}
}

// startClaim begins a claim.
func (j *judge) startClaim() {
	st := claimState{}
	for sc := scopePatient; sc >= scopeProvider; sc-- {
		if sp := j.scopes[sc].spoiler; sp != 0 {
			st.spoiler = int32(sp)
		}
	}
	j.claims = append(j.claims, st)
	j.claim.begin()
	j.lx = 0
}

// strayClaim counts a CLM that is not where a claim may be: it is bad, and its
// ordinal must not be lost.
func (j *judge) strayClaim() {
	j.endClaim()
	f := j.faultsLast()
	j.startClaim()
	j.claim.stray = true
	if f != nil {
		j.spoil(*f, scopeClaim)
	}
	j.readClaim()
}

func (j *judge) faultsLast() *Fault {
	if len(j.faults) == 0 {
		return nil
	}
	return &j.faults[len(j.faults)-1]
}

func (j *judge) readClaim() (amountOK bool) {
	c := &j.claim
	c.pos, c.off = j.pos, j.off
	c.clm01 = append(c.clm01[:0], j.element(1)...)
	c.total, amountOK = cents(j.element(2))
	if f := j.component(5, 3); len(f) > 0 {
		c.frequency = f[0]
	}
	j.cents += c.total
	j.claims[len(j.claims)-1].cents = c.total
	return amountOK
}

func (j *judge) claimHead(n *guideNode) {
	c := &j.claim
	c.amountOK = j.readClaim()
	c.node = j.at
	c.excused = j.has(20)
	if _, ok := decimal(j.element(2)); ok && !c.amountOK {
		j.fault(n, 2, 0, "6", "PART_OF_A_CENT")
	}
}

func (j *judge) claimDate(n *guideNode) {
	q := j.element(1)
	if string(q) != "434" && string(q) != "472" {
		return
	}
	j.claim.dates = append(j.claim.dates[:0], j.element(3)...)
	j.claim.serve(j.element(3), string(q) == "434")
	j.timely(n, j.element(3), string(q) == "434")
}

// timely refuses what was done more than the allowed calendar years before the
// interchange (42 CFR 424.44): from the through date of an institutional claim,
// from the first day of a line otherwise. One fault a claim is enough. A claim that
// says why it is late (CLM20), and one that replaces or voids a claim that was filed
// (CLM05-3 7, 8), is for the payer to decide.
func (j *judge) timely(n *guideNode, date []byte, through bool) {
	if c := &j.claim; c.late || c.excused || c.frequency == '7' || c.frequency == '8' || len(date) < 8 {
		return
	}
	if through && len(date) == 17 {
		date = date[9:]
	}
	if binary.BigEndian.Uint64(date) >= j.since || !goodDT(date[:8]) {
		return
	}
	j.claim.late = true
	j.business(n, 3, 0, "TIMELY_FILING", "A3:718")
}

// line judges an LX: lines count from 1 in each claim.
func (j *judge) line(n *guideNode) {
	num, ok := digits(j.element(1))
	if j.has(1) && ok && int(num) != j.lx+1 {
		j.fault(n, 1, 0, "7", "LX_NUMBER")
	}
	j.lx++
	if ok {
		j.lx = int(num)
	}
	j.claim.endLine()
}

func (j *judge) service(n *guideNode) {
	proc, charge, units, pointers := 1, 2, 4, 7
	switch j.g.name {
	case "837I":
		proc, charge, units, pointers = 2, 3, 5, 0
	case "837D":
		units, pointers = 6, 11
	}
	c := &j.claim
	if j.r.pointers && c.diagnoses > 0 && pointers > 0 {
		j.pointers(n, pointers)
	}
	v, ok := cents(j.element(charge))
	if !ok {
		c.linesOK = false
		if _, number := decimal(j.element(charge)); number {
			j.fault(n, charge, 0, "6", "PART_OF_A_CENT")
		}
	}
	c.lineSum += v
	c.lines++
	if j.s.o.OnClaim == nil {
		return
	}
	if proc == 2 {
		c.arena = append(append(c.arena, j.element(1)...), 0)
	}
	c.arena = append(append(c.arena, j.element(proc)...), 0)
	c.arena = append(strconv.AppendInt(c.arena, v, 10), 0)
	c.arena = append(c.arena, j.element(units)...)
}

// pointers refuses a line that points at a diagnosis beyond those of its claim.
func (j *judge) pointers(n *guideNode, el int) {
	for k := 1; k <= 4; k++ {
		p := j.component(el, k)
		if len(p) == 0 {
			return
		}
		if v, ok := digits(p); ok && v > int64(j.claim.diagnoses) && v <= 12 {
			j.business(n, el, k, "DIAGNOSIS_POINTER", "A7:477")
		}
	}
}

// endClaim ends the open claim: what can only be judged when it is whole, and its
// call of OnClaim.
func (j *judge) endClaim() {
	c := &j.claim
	if !c.open {
		return
	}
	c.endLine()
	if !c.stray {
		j.wholeClaim()
	}
	c.open = false
	if j.s.o.OnClaim == nil {
		return
	}
	out := &c.out
	*out = Claim{
		Ordinal: len(j.claims), CLM01: c.clm01, Frequency: c.frequency, AmountCents: c.total,
		Bad: j.claims[len(j.claims)-1].spoiler != 0, Position: c.pos, Offset: c.off, Fingerprint: c.fingerprint(),
		Service: c.servedOn(),
	}
	j.s.o.OnClaim(out)
}

func (j *judge) wholeClaim() {
	c := &j.claim
	n := &j.g.nodes[c.node]
	at := func(el, comp int, rule, stc string) {
		f := j.of(n, el, comp, rule)
		f.Position, f.Offset, f.STC, f.Severity = c.pos, c.off, stc, Business
		j.report(f, scopeClaim)
	}
	if j.r.replacementHasF8 && (c.frequency == '7' || c.frequency == '8') && !c.hasF8 {
		at(5, 3, "REPLACEMENT_WITHOUT_F8", "A7:464")
	}
	if j.r.chargesBalance && !c.faulty && c.amountOK && c.linesOK && c.lines > 0 && c.lineSum != c.total {
		at(2, 0, "CHARGES_DO_NOT_BALANCE", "A7:400")
	}
}
