package testclaims

import "strings"

var (
	lastNames  = []string{"TESTSMITH", "TESTGARCIA", "TESTNGUYEN", "TESTBROWN", "TESTMILLER", "TESTDAVIS", "TESTLOPEZ", "TESTWILSON"}
	firstNames = []string{"TESTANNA", "TESTJOHN", "TESTMARIA", "TESTWEI", "TESTPAT", "TESTLEE", "TESTOMAR", "TESTRUTH"}
	days       = "0102030405060708091011121314151617181920212223242526272829"
)

// patient writes the subscriber (loops 2000B, 2010BA, 2010BB) and, for a
// dependent, the patient (loops 2000C, 2010CA).
func (g *generator) patient() {
	c := &g.claim
	dependent := g.o.DependentEvery > 0 && c.n%uint64(g.o.DependentEvery) == 0
	own := g.level(!dependent, 1, "22", dependent)
	g.put("SBR*P*")
	if c.has(badSBR01) {
		g.b[len(g.b)-2] = 'X'
	}
	if !dependent {
		g.put("18")
	}
	g.put("*")
	g.mark("TESTGRP", "GRP")
	g.pad(c.r.next()%1e5, 5)
	g.segment("******CI")
	g.name("NM1*IL*1*", "SUB", !dependent)
	g.put("****MI*")
	g.mark("TESTMBR", "MBR")
	g.pad(c.n, 9)
	g.end()
	if !dependent {
		g.person("SUB", 1930)
	}
	if g.o.Canary {
		g.segment("REF*SY*" + canarySSN)
	}
	g.segment("NM1*PR*2*TEST PAYER*****PI*" + g.o.Receiver)
	if !dependent {
		return
	}
	g.level(true, own, "23", false)
	g.segment("PAT*19")
	g.name("NM1*QC*1*", "PAT", true)
	g.end()
	g.person("PAT", 2000)
}

// level writes an HL and returns its number as written. The last HL of a
// patient carries the faults of hierarchical levels.
func (g *generator) level(last bool, parent uint64, code string, child bool) uint64 {
	c := &g.claim
	g.hl++
	own := g.hl
	if last && c.has(hlGap) {
		own += 3
	}
	if last && c.has(hlParent) {
		parent = own + 100
	}
	g.put("HL*")
	g.num(own)
	g.put("*")
	g.num(parent)
	g.put("*" + code)
	if child {
		g.segment("*1")
	} else {
		g.segment("*0")
	}
	return own
}

// name appends NM101 to NM104; the patient's own name carries the faults of names.
func (g *generator) name(prefix, who string, patient bool) {
	c := &g.claim
	last, first := lastNames[c.r.below(len(lastNames))], firstNames[c.r.below(len(firstNames))]
	g.put(prefix)
	if g.o.Canary {
		last, first = canary+who+"LAST", canary+who+"FIRST"
	}
	g.put(last)
	if patient {
		switch {
		case c.has(charControl):
			g.put("\x01")
		case c.has(charLatin1):
			g.put("\xc9")
		case c.has(charUTF8):
			g.put("\xc3\x89")
		case c.has(hugeElement):
			g.put(strings.Repeat("X", 70000))
		}
	}
	g.put("*" + first)
	if g.o.Canary {
		g.num(c.n)
	}
}

// person writes N3, N4 and DMG of somebody born in the sixty years from year on,
// or, for a dependent, the twenty.
func (g *generator) person(who string, year uint64) {
	c := &g.claim
	house, birth, month, day, sex := c.r.below(9999), c.r.next(), c.r.below(12), c.r.below(28), c.r.below(2)
	if g.o.Canary {
		g.value("N3*", who+"STREET")
		g.put("N4*" + canary + who + "CITY")
		g.segment("*OH*" + canaryZIP)
	} else {
		g.put("N3*")
		g.num(uint64(house + 1))
		g.segment(" TEST STREET")
		g.put("N4*TESTVILLE*OH*43")
		g.pad(uint64(house%999), 3)
		g.end()
	}
	span := uint64(60)
	if year >= 2000 {
		span = uint64(max(1, min(20, g.o.Date.Year()-2000)))
	}
	dmg := func() {
		g.put("DMG*D8*")
		if g.o.Canary {
			g.put(canaryBirth)
		} else {
			g.num(year + birth%span)
			g.put(days[2*month:2*month+2] + days[2*day:2*day+2])
		}
		g.segment([]string{"*F", "*M"}[sex])
	}
	dmg()
	if c.has(dmgTwice) {
		dmg()
	}
}
