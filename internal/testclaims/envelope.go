package testclaims

// interchange writes one ISA to IEA.
func (g *generator) interchange() error {
	g.stats.Interchanges++
	n := g.stats.Interchanges
	number := control(g.o.ISA13, n-1)
	g.place = Place{Interchange: n, ISA13: number}
	if n > 1 && g.make(isa13Duplicate, n) {
		number = control(g.o.ISA13, n-2)
		g.place.ISA13 = number
	}
	isa13 := string(appendNumber(nil, uint64(number), 9))
	if g.make(isa13Alpha, n) {
		isa13 = isa13[:8] + "A"
	}
	g.isa(n, isa13)
	groups := 0
	for ; groups < g.o.GroupsPerInterchange && !g.done(); groups++ {
		if err := g.group(groups == 0); err != nil {
			return err
		}
	}
	if g.cut {
		return nil
	}
	g.place = Place{Interchange: n, ISA13: number}
	if !g.make(ieaMissing, n) {
		if g.make(iea01Wrong, n) {
			groups++
		}
		if g.make(iea02Wrong, n) {
			isa13 = string(appendNumber(nil, uint64(control(number, 1)), 9))
		}
		g.put("IEA*")
		g.num(uint64(groups))
		g.put("*" + isa13)
		g.end()
	}
	if g.make(junkAfter, n) {
		g.put("TEST JUNK THAT IS NO INTERCHANGE\n")
		g.stats.Bytes += int64(len(g.b) - g.seg)
		g.seg = len(g.b)
	}
	return nil
}

// isa writes the fixed-width header: its delimiters are the file's own from the start.
func (g *generator) isa(n int, isa13 string) {
	o, d := &g.o, g.o.Delims
	date, clock := o.Date.Format("060102"), o.Date.Format("1504")
	if g.make(isa09Bad, n) {
		date = date[:2] + "13" + date[4:]
	}
	if g.make(isa10Bad, n) {
		clock = "25" + clock[2:]
	}
	version := "00501"
	if g.make(isa12Unknown, n) {
		version = "00999"
	}
	usage := o.Usage
	if g.make(isa15Bad, n) {
		usage = 'X'
	}
	wanted := "1"
	if o.NoAckWanted {
		wanted = "0"
	}
	start := len(g.b)
	for i, e := range []string{
		"ISA", "00", fixed("", 10), "00", fixed("", 10), o.SenderQualifier, fixed(o.Sender, 15), o.ReceiverQualifier,
		fixed(o.Receiver, 15), date, clock, string(d.Repetition), version, isa13, wanted, string(usage), string(d.Component),
	} {
		if i > 0 {
			g.b = append(g.b, d.Element)
		}
		g.put(e)
	}
	if g.make(isaElements, n) {
		g.b[start+17] = ' ' // between ISA02 and ISA03
	}
	g.endRaw()
}

func fixed(s string, width int) string {
	for len(s) < width {
		s += " "
	}
	return s
}

// control returns the number n steps after first, in 1 to 999999999.
func control(first uint32, n int) uint32 { return uint32((uint64(first)-1+uint64(n))%maxControl) + 1 }

// group writes one GS to GE.
func (g *generator) group(first bool) error {
	g.stats.Groups++
	n := g.stats.Groups
	number := control(g.o.GS06, n-1)
	g.place.GS06 = number
	if !first && g.make(gs06Duplicate, n) {
		number = control(g.o.GS06, n-2)
		g.place.GS06 = number
	}
	id, version := "HC", g.guide.version
	if g.make(gs01Unknown, n) {
		id = "ZZ"
	}
	if g.make(gs08Unknown, n) {
		version = "009999X999A9"
	}
	g.put("GS*" + id + "*" + g.o.Sender + "*" + g.o.Receiver + "*" + g.o.Date.Format("20060102*1504*"))
	g.num(uint64(number))
	g.put("*X*" + version)
	g.end()
	sets := 0
	for ; sets < g.o.SetsPerGroup && !g.done(); sets++ {
		if err := g.transaction(sets); err != nil {
			return err
		}
	}
	if g.cut {
		return nil
	}
	g.place = Place{Interchange: g.place.Interchange, ISA13: g.place.ISA13, GS06: number}
	if g.make(geMissing, n) {
		return nil
	}
	if g.make(ge01Wrong, n) {
		sets++
	}
	if g.make(ge02Wrong, n) {
		number = control(number, 1)
	}
	g.put("GE*")
	g.num(uint64(sets))
	g.put("*")
	g.num(uint64(number))
	g.end()
	return nil
}

// transaction writes one ST to SE, the index-th of its group.
func (g *generator) transaction(index int) error {
	g.stats.Sets++
	n := g.stats.Sets
	st02 := string(appendNumber(nil, uint64(control(g.o.ST02, index)), 4))
	p := &g.place
	p.Set, p.ST02 = n, st02
	switch {
	case index > 0 && g.hit(st02Duplicate, n):
		st02 = string(appendNumber(nil, uint64(control(g.o.ST02, index-1)), 4))
		p.ST02 = st02
		g.make(st02Duplicate, n)
	case g.hit(st02Short, n):
		st02 = st02[len(st02)-1:]
		p.ST02 = st02
		g.make(st02Short, n)
	}
	g.set, g.hl = 0, 1
	version := g.guide.version
	if g.make(st03Differs, n) {
		version = g.guide.other
	}
	g.segment("ST*837*" + st02 + "*" + version)
	g.header(n)
	if err := g.claims(); err != nil || g.cut {
		return err
	}
	p.Ordinal, p.Claim = 0, 0
	if g.make(seMissing, n) {
		return nil
	}
	count := uint64(g.set + 1)
	if g.make(se01Low, n) {
		count--
	}
	if g.make(se01High, n) {
		count++
	}
	g.put("SE*")
	if g.make(se01Alpha, n) {
		g.put("A")
	}
	g.num(count)
	if g.make(se02Differs, n) {
		st02 = "9" + st02
	}
	g.put("*" + st02)
	g.end()
	return nil
}

// header writes BHT to the billing provider (loops 1000A, 1000B, 2000A, 2010AA).
func (g *generator) header(n int) {
	if !g.make(missingBHT, n) {
		g.put("BHT*0019*00*")
		g.mark("T", "BHT")
		g.pad(uint64(g.place.ISA13), 9)
		g.pad(uint64(n), 5)
		g.segment(g.o.Date.Format("*20060102*1504*CH"))
	}
	g.segment("NM1*41*2*TEST SUBMITTER*****46*" + g.o.Sender)
	g.segment("PER*IC*TEST DESK*TE*5555550100")
	g.segment("NM1*40*2*TEST PAYER*****46*" + g.o.Receiver)
	g.segment("HL*1**20*1")
	g.segment("PRV*BI*PXC*" + g.guide.billing)
	g.put("NM1*85*2*TEST CLINIC*****XX*")
	r := newRandom(g.o.Seed, 0)
	g.npi(r.next(), g.make(billingNPI, n))
	g.end()
	g.segment("N3*1 TEST WAY")
	g.segment("N4*TESTVILLE*OH*430010000")
	g.segment("REF*EI*999999999")
}

// npi appends a made-up NPI, with a wrong check digit if bad.
func (g *generator) npi(n uint64, bad bool) {
	g.b = appendNPI(g.b, n)
	if bad {
		last := &g.b[len(g.b)-1]
		*last = '0' + (*last-'0'+1)%10
	}
}
