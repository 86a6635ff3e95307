package testclaims

// claimSegment writes segment 07.
func (g *Rx) claimSegment() {
	f := &g.fill
	g.segment("07")
	if g.has(rxStray) {
		g.b = append(g.b[:len(g.b)-5], "JUNK\x1cAM07"...)
	}
	if !g.has(rxNoQualifier) {
		g.field("EM", "1")
	}
	if !g.has(rxNoRx) {
		g.id("D2")
		g.b = g.rx(g.b)
		if g.has(rxAlpha) {
			g.b[len(g.b)-1] = 'A'
		}
	}
	g.field("E1", "03")
	if f.compound > 0 {
		g.b[len(g.b)-1] = '0'
	}
	if !g.has(rxNoNDC) {
		g.id("D7")
		if g.has(rxLongNDC) {
			g.put("00000000000000000000"[:20-11])
			if f.compound > 0 {
				g.put("0000000000")
			}
		}
		g.product()
		if g.has(rxFieldTwice) {
			g.id("D7")
			g.product()
		}
	}
	if g.o.Code != "B2" {
		g.quantity()
	}
	if !g.has(rxNoFill) {
		g.number("D3", f.refill, 2)
	}
	if g.o.Code != "B2" {
		g.dispensed()
	}
	if f.status != 0 {
		g.id("HD")
		g.b = append(g.b, f.status)
	}
	if g.o.Code != "B2" && f.status != 0 {
		g.intended()
	}
	if g.has(rxShortField) {
		g.put("\x1cX")
	}
	if g.has(rxEmptyField) {
		g.id("DT")
	}
}

func (g *Rx) quantity() {
	switch {
	case g.has(rxNoQuantity):
	case g.has(rxQuantity):
		g.field("E7", "30.000")
	case g.o.Canary:
		g.field("E7", "00"+canaryQuantity)
	default:
		g.number("E7", uint64(g.fill.quantity), 10)
	}
}

// dispensed writes how the prescription was written and filled.
func (g *Rx) dispensed() {
	f := &g.fill
	g.number("D5", f.days, 3)
	if f.compound > 0 {
		g.field("D6", "2")
	} else {
		g.field("D6", "1")
	}
	g.field("D8", "0")
	written := g.shared.date
	if g.has(rxWrittenDate) {
		written = g.dates.bad
	}
	g.field("DE", written)
	g.field("DF", "03")
	g.field("DJ", "3")
	if g.has(rxGroupCount) {
		g.field("NX", "2")
		g.field("DK", "05")
	}
	if f.payers > 0 {
		g.field("C8", "02")
	}
	g.only("EK", canary+"EK")
	g.only("CW", canary+"CW")
	if g.o.Canary {
		g.field("EU", "01")
		g.field("EV", canaryAuth)
	}
}

// intended writes what a partial fill is a part of.
func (g *Rx) intended() {
	f := &g.fill
	if f.status == 'C' {
		g.id("EN")
		g.b = g.rx(g.b)
		g.field("EP", g.shared.date)
	}
	g.number("HF", uint64(2*f.quantity), 10)
	g.number("HG", 2*f.days, 3)
}
