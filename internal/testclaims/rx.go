package testclaims

import (
	"bytes"
	"math"
)

// Rx makes pharmacy transmissions one by one, in any order, each the same
// whenever it is asked for. It is not safe for concurrent use.
type Rx struct {
	o     RxOptions
	dates dates
	npis  [][]byte

	faults [rxFaults]places
	active []*RxKind

	b       []byte
	start   int // of the transmission in b
	place   RxPlace
	bad     uint64 // bit set of the faults of the transmission and of the claim
	shared  person
	fill    fill
	claims  []RxClaim
	amount  int64
	refused int
	made    []RxMade
}

// person is what the claims of a transmission share.
type person struct {
	n    uint64 // number of its first claim
	date string // of service
	npi  []byte
	r    random
}

// fill is one claim.
type fill struct {
	n, rx    uint64 // its number, and that on the prescription
	r        random
	ndc      uint64
	refill   uint64
	days     uint64
	quantity int64 // in thousandths
	cost     int64 // 409-D9 in cents
	fee      int64 // 412-DC
	compound int   // ingredients; 0: none
	payers   int   // other payers that have seen it
	status   byte  // 343-HD: P, C or 0
}

// NewRx returns a maker of transmissions. Errors: Invalid for options that cannot
// be met.
func NewRx(o RxOptions) (*Rx, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = DefaultRxOptions(o)
	g := &Rx{o: o, dates: newDates(o.Date)}
	for i := range o.Pharmacies {
		g.npis = append(g.npis, appendNPI(nil, newRandomNPI(uint64(i))))
	}
	for _, f := range o.Faults {
		k := rxByName[f.Name]
		p := &g.faults[k.id]
		if p.at == nil {
			p.at = make(map[int]bool)
			g.active = append(g.active, k)
		}
		for _, n := range f.At {
			p.at[n] = true
		}
		if f.Every > 0 {
			p.every = f.Every
		}
	}
	return g, nil
}

func newRandomNPI(i uint64) uint64 {
	r := newRandom(0x9b, i)
	return r.next()
}

// Len returns how many transmissions carry the claims that were asked for;
// math.MaxInt where only the bytes end the file.
func (g *Rx) Len() int {
	if g.o.Claims == math.MaxInt {
		return math.MaxInt
	}
	return (g.o.Claims + g.o.TransactionsPer - 1) / g.o.TransactionsPer
}

// Append appends the nth transmission, from 1, to dst.
func (g *Rx) Append(dst []byte, n int) []byte {
	g.b, g.start = dst, len(dst)
	g.claims, g.made, g.amount, g.refused = g.claims[:0], g.made[:0], 0, 0
	per := g.o.TransactionsPer
	first := (n - 1) * per
	count := max(0, min(per, g.o.Claims-first))
	g.place = RxPlace{Transmission: n}
	g.person(first)
	g.header(count)
	g.insurance()
	if !g.has(rxPatientLate) {
		g.patient()
	}
	transmission := g.bad
	for i := range count {
		g.bad = transmission
		g.place.Transaction, g.place.Claim = i+1, first+i+1
		g.claim(i, i+1 < count)
	}
	g.bad = transmission
	g.spoil()
	if g.o.Framed && !g.o.Batch {
		g.b = append(g.b, 0)
		copy(g.b[g.start+1:], g.b[g.start:])
		g.b[g.start] = '\x02'
		g.b = append(g.b, '\x03')
	}
	out := g.b
	g.b = nil
	return out
}

func (g *Rx) has(k rxFault) bool { return g.bad>>k&1 == 1 }

// pick makes those faults of a scope that are wanted at place n.
func (g *Rx) pick(scope Scope, n int) {
	for _, k := range g.active {
		p := &g.faults[k.id]
		if k.Scope != scope || (p.every == 0 || n%p.every != 0) && !p.at[n] || k.id == rxReferenceTwice && n == 1 {
			continue
		}
		g.bad |= 1 << k.id
		g.made = append(g.made, RxMade{RxPlace: g.place, Fault: k.Name, Scope: scope, Expect: k.Expect})
	}
}

// refuses reports whether the faults made so far are more than notes.
func (g *Rx) refuses() bool { return g.bad&^(1<<rxUnsigned|1<<rxEmptyField|1<<rxF6) != 0 }

// person chooses what the claims of the transmission share. A completion that
// travels alone shares all of it with its partial fill.
func (g *Rx) person(first int) {
	n := uint64(g.o.FirstClaim + first)
	if g.o.TransactionsPer == 1 && g.partial(n-1) {
		n--
	}
	s := &g.shared
	s.n, s.r = n, newRandom(g.o.Seed, n)
	s.date = g.dates.service[s.r.below(len(g.dates.service))]
	if g.o.Canary {
		s.date = g.dates.canary
	}
	s.npi = g.npis[int(n)%len(g.npis)]
	g.bad = 0
	g.pick(InTransmission, g.place.Transmission)
}

// partial reports whether claim n is a partial fill, if its completion may follow.
func (g *Rx) partial(n uint64) bool {
	return g.o.PartialEvery > 0 && n > 0 && n%uint64(g.o.PartialEvery) == 0
}

// choose makes every choice of one claim.
func (g *Rx) choose(n uint64, follows, followed bool) {
	f := &g.fill
	*f = fill{n: n, rx: n}
	alone := g.o.TransactionsPer == 1
	if g.partial(n) && (alone || followed) {
		f.status = 'P'
	} else if g.partial(n-1) && (alone || follows) {
		f.status, f.rx = 'C', n-1
	}
	f.r = newRandom(g.o.Seed^0xb1, f.rx)
	f.ndc = uint64(101 + f.r.below(40))
	f.refill = uint64(f.r.below(4))
	f.days = uint64(10 + 10*f.r.below(9))
	f.quantity = int64(f.days) * 1000 * int64(1+f.r.below(3))
	f.cost, f.fee = int64(300+f.r.below(25000)), int64(100+25*f.r.below(8))
	f.payers = 1 + f.r.below(2)
	ingredients := 2 + f.r.below(3)
	every := func(k int) bool { return k > 0 && n%uint64(k) == 0 && f.status == 0 }
	switch {
	case alone && every(g.o.CompoundEvery):
		f.compound, f.payers = ingredients, 0
	case !every(g.o.COBEvery):
		f.payers = 0
	}
	if f.status != 0 {
		f.quantity, f.cost = f.quantity/2, f.cost/2
	}
}

// claim writes one transaction and notes what was written.
func (g *Rx) claim(index int, followed bool) {
	n := uint64(g.o.FirstClaim + g.place.Claim - 1)
	g.choose(n, index > 0, followed)
	g.pick(InClaim, g.place.Claim)
	if g.o.Code != "E1" {
		if !g.has(rxLostGS) {
			g.b = append(g.b, '\x1d')
		}
		if index == 0 && g.has(rxPatientLate) {
			g.patient()
		}
		g.transaction()
	}
	total := g.fill.cost + g.fill.fee
	if g.o.Code == "E1" {
		total = 0
	}
	g.amount += total
	if g.refuses() {
		g.refused++
	}
	if g.o.OnClaim == nil {
		return
	}
	c := RxClaim{RxPlace: g.place, AmountCents: total}
	if g.o.Code != "E1" {
		c.Rx = string(g.rx(nil))
	}
	for k := range rxFaults {
		if g.has(k) && rxCatalog[k].Scope == InClaim {
			c.Faults = append(c.Faults, rxCatalog[k].Name)
		}
	}
	g.claims = append(g.claims, c)
}

// spoil makes the faults that lie in the bytes of the whole transmission.
func (g *Rx) spoil() {
	body := g.b[g.start:]
	switch {
	case g.has(rxNoSeparators):
		kept := body[:0]
		for _, c := range body {
			if c != '\x1c' && c != '\x1d' && c != '\x1e' {
				kept = append(kept, c)
			}
		}
		g.b = g.b[:g.start+len(kept)]
	case g.has(rxPictures):
		from := bytes.Clone(body)
		g.b = g.b[:g.start]
		for _, c := range from {
			if c >= '\x1c' && c <= '\x1e' {
				g.b = append(g.b, 0xe2, 0x90, 0x80+c) // U+241C to U+241E
				continue
			}
			g.b = append(g.b, c)
		}
	case g.has(rxLowerCase):
		copy(body, bytes.ToLower(body))
	}
}
