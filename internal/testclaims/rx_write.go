package testclaims

// rxDigits are the overpunched last digits of positive amounts.
const rxDigits = "{ABCDEFGHI"

func (g *Rx) put(s string) { g.b = append(g.b, s...) }

// segment begins a segment.
func (g *Rx) segment(id string) {
	g.put("\x1e\x1cAM")
	g.put(id)
}

// id begins a field.
func (g *Rx) id(id string) {
	g.b = append(g.b, '\x1c')
	g.put(id)
}

func (g *Rx) field(id, value string) { g.id(id); g.put(value) }

func (g *Rx) number(id string, v uint64, width int) {
	g.id(id)
	g.b = appendNumber(g.b, v, width)
}

// money writes a signed amount: eight characters, the last one with the sign.
func (g *Rx) money(id string, cents int64) {
	g.number(id, uint64(cents)/10, 7)
	g.b = append(g.b, rxDigits[cents%10])
}

// name writes a field that is a mark in a canary file.
func (g *Rx) name(id, plain, canaryName string) {
	if g.o.Canary {
		plain = canaryName
	}
	g.field(id, plain)
}

// only writes a field that only canary files have.
func (g *Rx) only(id, value string) {
	if g.o.Canary {
		g.field(id, value)
	}
}

// header writes the 56 bytes before the first segment.
func (g *Rx) header(count int) {
	o := &g.o
	bin, version, code, date := o.BIN, "D0", o.Code, g.shared.date
	if g.has(rxBIN) {
		bin = bin[:5] + "A"
	}
	if g.has(rxVersion) {
		version = "D9"
	}
	if g.has(rxF6) {
		bin, version = bin+"99", "F6"
	}
	if g.has(rxCode) {
		code = "ZZ"
	}
	if g.has(rxServiceDate) {
		date = g.dates.bad
	}
	g.put(bin)
	g.put(version)
	g.put(code)
	g.fixed(o.PCN, 10)
	digit := byte('0' + max(1, count))
	if g.has(rxCountAlpha) {
		digit = 'X'
	}
	if g.has(rxCountHigh) {
		digit++
	}
	g.b = append(g.b, digit)
	g.put("01")
	if g.has(rxProvider) {
		g.fixed("", 15)
	} else {
		g.b = append(g.b, g.shared.npi...)
		g.fixed("", 15-len(g.shared.npi))
	}
	g.put(date)
	if !g.has(rxHeaderShort) {
		g.fixed(o.Vendor, 10)
	}
}

func (g *Rx) fixed(s string, width int) {
	g.put(s)
	for range width - len(s) {
		g.b = append(g.b, ' ')
	}
}

// insurance writes segment 04.
func (g *Rx) insurance() {
	if g.has(rxNoInsurance) {
		return
	}
	s := &g.shared
	g.segment("04")
	if !g.has(rxNoCardholder) {
		g.name("C2", "TESTMBR", canary+"MBR")
		g.b = appendNumber(g.b, s.n, 9)
	}
	if g.o.Code == "B2" {
		g.group()
		return
	}
	g.only("CC", canary+"SF")
	g.only("CD", canary+"SUBLAST")
	g.group()
	g.field("C6", "1")
	g.only("N5", canary+"MEDICAID")
	g.only("2A", canary+"MEDIGAP")
}

// group writes 301-C1 and 303-C3, which a reversal has too.
func (g *Rx) group() {
	g.name("C1", "TESTGRP1", canary+"GRP")
	g.field("C3", "001")
}

// patient writes segment 01, which a reversal does not have.
func (g *Rx) patient() {
	if g.o.Code == "B2" {
		return
	}
	s := &g.shared
	r := s.r // a copy: the same draws each time
	year, month, day, sex := 1930+r.next()%60, r.below(12), r.below(28), r.below(2)
	first, last, house := r.below(len(firstNames)), r.below(len(lastNames)), r.below(9999)
	g.segment("01")
	if g.o.Canary {
		g.field("CX", "99")
		g.field("CY", canary+"PID")
		g.b = appendNumber(g.b, s.n, 9)
	}
	g.id("C4")
	switch {
	case g.has(rxBirthDate):
		g.put(g.dates.bad)
	case g.o.Canary:
		g.put(canaryBirth)
	default:
		g.b = appendNumber(g.b, year, 4)
		g.put(days[2*month : 2*month+2])
		g.put(days[2*day : 2*day+2])
	}
	g.number("C5", uint64(1+sex), 1)
	g.name("CA", firstNames[first], canary+"PF")
	switch {
	case g.has(rxLineBreak):
		g.put("\n")
	case g.has(rxNUL):
		g.put("\x00")
	case g.has(rxNonASCII):
		g.put("\xc3\x98")
	}
	g.name("CB", lastNames[last], canary+"PATLAST")
	if g.o.Canary {
		g.field("CM", canary+" STREET")
	} else {
		g.number("CM", uint64(house+1), 1)
		g.put(" TEST STREET")
	}
	g.name("CN", "TESTVILLE", canary+"CITY")
	g.field("CO", "OH")
	g.name("CP", "43001", canaryZIP)
	g.only("CQ", canaryPhone)
	g.only("CZ", canary+"EMP")
	g.only("HN", canary+"@TEST.INVALID")
}

// transaction writes the segments of one fill: as a B2 only what says which it is.
func (g *Rx) transaction() {
	if !g.has(rxNoClaim) {
		g.claimSegment()
	}
	if g.o.Code == "B2" {
		return
	}
	if !g.has(rxNoPricing) {
		g.pricing()
		if g.has(rxSegmentTwice) {
			g.pricing()
		}
	}
	g.prescriber()
	if g.fill.payers > 0 {
		g.otherPayers()
	}
	if g.fill.compound > 0 {
		g.ingredients()
	}
	if g.o.Canary {
		g.canarySegments()
	}
}

// rx appends 402-D2.
func (g *Rx) rx(b []byte) []byte {
	if g.o.Canary {
		return appendNumber(append(b, canaryRx...), g.fill.rx%100000, 5)
	}
	return appendNumber(b, g.fill.rx, 12)
}

func (g *Rx) product() {
	switch {
	case g.fill.compound > 0:
		g.put("0")
	case g.o.Canary:
		g.put(canaryNDC)
	default:
		g.put("99999000")
		g.b = appendNumber(g.b, g.fill.ndc, 3)
	}
}

// pricing writes segment 11.
func (g *Rx) pricing() {
	f := &g.fill
	g.segment("11")
	if g.has(rxLostRS) {
		g.b = append(g.b[:len(g.b)-6], "\x1cAM11"...)
	}
	if g.has(rxMoney) {
		g.field("D9", "12.34")
	} else {
		g.money("D9", f.cost)
	}
	g.money("DC", f.fee)
	if g.has(rxUnsigned) {
		g.b[len(g.b)-1] = byte('0' + f.fee%10)
	}
	g.money("DQ", f.cost+f.fee+500)
	g.money("DU", f.cost+f.fee)
	g.field("DN", "01")
}

// prescriber writes segment 03.
func (g *Rx) prescriber() {
	g.segment("03")
	if g.o.Canary {
		g.field("EZ", "99")
		g.field("DB", canary+"DB")
	} else {
		g.field("EZ", "01")
		g.id("DB")
		g.b = appendNPI(g.b, g.fill.r.next()%1000)
	}
	g.name("DR", "TESTPRESCRIBER", canary+"DOCTOR")
	g.only("PM", canaryPhone)
	g.only("DL", canary+"PCP")
	g.only("2J", canary+"DF")
	g.only("2K", canary+" DOCTOR WAY")
	g.only("2M", canary+"TOWN")
	if g.o.Canary {
		g.field("2N", "OH")
		g.field("2P", canaryZIP)
	}
}

// otherPayers writes segment 05: one payer that paid, and perhaps one that refused.
func (g *Rx) otherPayers() {
	n := g.fill.payers
	g.segment("05")
	g.number("4C", uint64(n), 1)
	for i := range n {
		g.number("5C", uint64(i+1), 2)
		g.field("6C", "03")
		g.number("7C", uint64(999998-i), 6)
		g.field("E8", g.shared.date)
		g.only("A7", canary+"ICN")
		if i == 0 {
			g.field("HB", "1")
			g.field("HC", "07")
			g.money("DV", g.fill.cost/2)
			continue
		}
		g.field("5E", "1")
		g.field("6E", "70")
	}
}

// ingredients writes segment 10.
func (g *Rx) ingredients() {
	f := &g.fill
	g.segment("10")
	g.field("EF", "03")
	g.field("EG", "3")
	g.number("EC", uint64(f.compound), 2)
	left := f.cost
	for i := range f.compound {
		part := f.cost / int64(f.compound)
		if i == f.compound-1 {
			part = left
		}
		left -= part
		g.field("RE", "03")
		if g.o.Canary {
			g.field("TE", canaryNDC)
		} else {
			g.field("TE", "99999000")
			g.b = appendNumber(g.b, uint64(201+i), 3)
		}
		g.number("ED", uint64(f.quantity)/uint64(f.compound), 10)
		g.money("EE", part)
		g.field("UE", "01")
	}
}
