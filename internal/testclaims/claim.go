package testclaims

import (
	"strings"

	"claimdlq"
)

// claim is the claim being written.
type claim struct {
	n      uint64 // its number, for names and ids
	bad    uint64 // bit set of claim faults
	r      random
	lines  int
	amount [4]int // cents of each line
	total  int
	date   string // of service
}

func (c *claim) has(k kindID) bool { return c.bad>>k&1 == 1 }

// ofPatient are the faults that lie in the subscriber or patient loop: they can be
// made only where a claim opens the loop, and spoil every claim of it.
const ofPatient = 1<<charControl | 1<<charLatin1 | 1<<charUTF8 | 1<<badSBR01 | 1<<hlGap | 1<<hlParent | 1<<dmgTwice | 1<<hugeElement

// claims writes the claims of one set with their patients.
func (g *generator) claims() error {
	patient := uint64(0)
	for i := 0; i == 0 || i < g.o.ClaimsPerSet && !g.done(); i++ {
		n := g.stats.Claims + 1
		g.place.Ordinal, g.place.Claim = i+1, n
		opens := i%g.o.ClaimsPerPatient == 0
		g.pick(n, opens)
		if opens {
			patient = g.claim.bad & ofPatient
			g.patient()
		}
		clm01 := g.one()
		g.stats.Claims++
		g.stats.AmountCents += int64(g.claim.total)
		if g.claim.bad|patient != 0 {
			g.stats.BadClaims++
		}
		if g.o.OnClaim != nil {
			g.o.OnClaim(Claim{Place: g.place, CLM01: clm01, AmountCents: int64(g.claim.total), Faults: g.claim.names()})
		}
		if g.done() && g.make(truncated, 1) {
			g.stats.Bytes -= int64(len(g.term) + 3)
			g.b = g.b[:len(g.b)-len(g.term)-3]
			g.seg, g.cut = len(g.b), true
		}
		if len(g.b) >= flushAt {
			if err := g.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// pick makes every choice of the nth claim.
func (g *generator) pick(n int, opens bool) {
	c := &g.claim
	*c = claim{n: uint64(g.o.FirstClaim + n - 1)}
	c.r = newRandom(g.o.Seed, c.n)
	c.lines = 1 + c.r.below(4)
	for i := range c.lines {
		c.amount[i] = 1000 + 100*c.r.below(300)
		if c.r.below(4) == 0 {
			c.amount[i] += 5 * c.r.below(20)
		}
		c.total += c.amount[i]
	}
	c.date = g.dates.service[c.r.below(len(g.dates.service))]
	if g.o.Canary {
		c.date = g.dates.canary
	}
	for _, k := range g.active {
		if k.Scope != InClaim || !opens && ofPatient>>k.id&1 == 1 || !g.make(k.id, n) {
			continue
		}
		c.bad |= 1 << k.id
	}
	if c.has(oldDate) {
		c.date = g.dates.old
	}
}

// names lists the claim's faults.
func (c *claim) names() (names []string) {
	for k := range kinds {
		if c.has(k) {
			names = append(names, catalog[k].Name)
		}
	}
	return names
}

// one writes loop 2300 and what is below it, and returns CLM01.
func (g *generator) one() string {
	c := &g.claim
	clm01 := g.clm()
	g.claimDates()
	if g.o.Canary {
		g.value("REF*G1*", "PRIORAUTH")
	}
	g.put("REF*D9*")
	g.mark("", "D9N")
	g.pad(c.r.next()%1e12, 12)
	g.end()
	if g.o.Canary {
		if g.o.Format != claimdlq.Format837D {
			g.value("REF*EA*", "MEDREC")
		}
		g.value("K3*", "FIXED")
		g.value("NTE*ADD*", "NOTE")
	}
	diagnoses := g.diagnoses()
	if c.has(unknownSegment) {
		g.segment("ZZZ*1")
	}
	g.provider()
	for i := range c.lines {
		g.line(i, diagnoses)
	}
	return clm01
}

// clm writes CLM and returns CLM01.
func (g *generator) clm() string {
	c := &g.claim
	g.put("CLM*")
	start := len(g.b)
	if !c.has(clm01Missing) {
		g.mark("TEST", "CLM")
		g.pad(c.n, 7)
		if c.has(clm01Long) {
			g.put(strings.Repeat("X", 39-(len(g.b)-start)))
		}
	}
	clm01 := ""
	if g.o.OnClaim != nil {
		clm01 = string(g.b[start:])
	}
	total := c.total
	if c.has(unbalanced) {
		total += 100
	}
	g.put("*")
	g.money(total)
	place, rest := g.guideCLM()
	g.put("***" + place)
	switch {
	case c.has(badFrequency):
		g.put(":1X")
	case c.has(voidNoF8):
		g.put(":8")
	default:
		g.put(":1")
	}
	if c.has(manyComponents) {
		g.put(":X")
	}
	g.segment(rest)
	return clm01
}

// money appends an amount as X12 type R: no trailing zeros, no needless point.
func (g *generator) money(cents int) {
	g.num(uint64(cents / 100))
	switch c := cents % 100; {
	case c == 0:
	case c%10 == 0:
		g.put(".")
		g.num(uint64(c / 10))
	default:
		g.put(".")
		g.pad(uint64(c), 2)
	}
}
