package testclaims

import (
	"time"

	"claimdlq"
)

// dates are the service dates, as text, made once.
type dates struct {
	service     [60]string
	canary, old string
	bad         string
}

func newDates(d time.Time) (t dates) {
	const layout = "20060102"
	for i := range t.service {
		t.service[i] = d.AddDate(0, 0, -1-i).Format(layout)
	}
	t.canary = d.AddDate(0, 0, -37).Format(layout)
	t.old = d.AddDate(-2, 0, -1).Format(layout)
	t.bad = d.Format("2006") + "0231"
	return t
}

// guideCLM returns CLM05-1 and CLM05-2, and what follows CLM05.
func (g *generator) guideCLM() (place, rest string) {
	if g.o.Format == claimdlq.Format837I {
		return "13:A", "**A*Y*Y"
	}
	return "11:B", "*Y*A*Y*Y"
}

// claimDates writes what the institutional guide wants after CLM.
func (g *generator) claimDates() {
	if g.o.Format != claimdlq.Format837I {
		return
	}
	g.segment("DTP*434*RD8*" + g.claim.date + "-" + g.claim.date)
	g.segment("CL1*3*1*01")
}

var codes = [...]string{"J069", "E119", "I10", "M545", "R079", "Z0000", "K219", "N390"}

// diagnoses writes HI and returns how many there are to point at.
func (g *generator) diagnoses() int {
	c := &g.claim
	pick := [3]string{codes[c.r.below(len(codes))], codes[c.r.below(len(codes))], codes[c.r.below(len(codes))]}
	if g.o.Canary {
		pick = [3]string{canaryDiagnosis, canaryDiagnosis2, canaryDiagnosis3}
	}
	n := 1 + c.r.below(3)
	if c.has(missingHI) || g.o.Format == claimdlq.Format837D {
		return n
	}
	g.put("HI*ABK:" + pick[0])
	last := n
	if c.has(manyElements) {
		last = 14 // HI has twelve elements
	}
	if g.o.Format == claimdlq.Format837I {
		// The principal diagnosis has an HI of its own (005010X223 loop 2300).
		g.end()
		if last == 1 {
			return n
		}
		g.put("HI")
	}
	for i := 1; i < last; i++ {
		g.put("*ABF:" + pick[min(i, 2)])
	}
	g.end()
	return n
}

// provider writes who rendered the service (loop 2310B) or attended (2310A of the
// institutional guide).
func (g *generator) provider() {
	c := &g.claim
	if g.o.Format == claimdlq.Format837I {
		g.name("NM1*71*1*", "DOC", false)
	} else {
		g.name("NM1*82*1*", "DOC", false)
	}
	g.put("****XX*")
	g.npi(c.r.next(), c.has(npiCheck))
	g.end()
	g.segment(g.guide.provider)
}

var procedures = map[claimdlq.Format][]string{
	claimdlq.Format837P: {"99213", "99214", "93000", "80053", "36415", "71046", "99203", "85025"},
	claimdlq.Format837I: {"0300*HC:80053", "0450*HC:99283", "0320*HC:71046", "0730*HC:93005"},
	claimdlq.Format837D: {"D0120", "D1110", "D0274", "D0150"},
}

// line writes the ith service line (loop 2400).
func (g *generator) line(i, diagnoses int) {
	c := &g.claim
	number := uint64(i + 1)
	if i == 0 && c.has(lxRestart) {
		number = 7
	}
	g.put("LX*")
	g.num(number)
	if i == 0 && c.has(manyElements) && g.o.Format == claimdlq.Format837D {
		g.put("*X")
	}
	g.end()
	table := procedures[g.o.Format]
	procedure := table[c.r.below(len(table))]
	switch g.o.Format {
	case claimdlq.Format837I:
		g.put("SV2*" + procedure + "*")
		g.money(c.amount[i])
		g.segment("*UN*1")
	case claimdlq.Format837D:
		g.put("SV3*AD:" + procedure + "*")
		g.money(c.amount[i])
		g.segment("****1")
	default:
		g.put("SV1*HC:" + procedure + "*")
		g.money(c.amount[i])
		g.put("*UN*1***1")
		if diagnoses > 1 {
			g.put(":2")
		}
		g.end()
	}
	g.put("DTP*472*D8*")
	if i == 0 && c.has(badDate) {
		g.put(g.dates.bad)
	} else {
		g.put(c.date)
	}
	g.end()
	g.put("REF*6R*")
	g.mark("LN", "LINE")
	g.num(c.n)
	g.put("-")
	g.num(uint64(i + 1))
	g.end()
}
