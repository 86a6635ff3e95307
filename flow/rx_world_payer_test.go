package flow_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

// ruling is what the payer of a walk does with a transaction that it may decide about.
type ruling int

const (
	allow  ruling = iota // it pays, or takes back
	keep                 // captured: decided later
	refuse               // R 70
	blame                // R R8: for its form
	notNow               // R 92
)

// books are what a payer knows of each fill: the truth that ours are compared with. It
// knows a fill that it has paid when it comes again (D with the same bytes, else 83), and
// says of a reversal whether there was anything to take back.
type books struct {
	mu    sync.Mutex
	said  [][]byte // answers that arrived, which may come again
	fills []*book
	told  []told   // every positive thing it has said, in order
	mail  [][]byte // answers that did not arrive, or that come later
	last  int      // authorization number
	// answers are those that it gave to each transmission last.
	answers map[string][]byte
	none    string   // 511-FB of a reversal of nothing
	wrong   []string // what must never be
}

// book is one fill.
type book struct {
	claim    ncpdp.Claim
	paid     bool
	captured []byte // the request that waits to be decided; nil if none
	by       []byte // the transaction that was paid last
	rebill   bool   // by a B3
	auth     string
	undone   bool // paid or captured once, and taken back
	lines    []string
}

// told is one thing that the payer has done, or said that it had.
type told struct {
	tag  string // of the transmission
	code string
	fill int
}

func newBooks(t *testing.T, bills [][]byte, none string) *books {
	t.Helper()
	p := &books{none: none, answers: map[string][]byte{}}
	for _, raw := range bills {
		c, fault := ncpdp.Parse(bytes.Clone(raw)).Claim(1)
		if fault != nil {
			t.Fatal(fault)
		}
		p.fills = append(p.fills, &book{claim: c})
	}
	return p
}

// fillOf returns which fill a transaction is about; -1 for none.
func (p *books) fillOf(c *ncpdp.Claim) int {
	for i, b := range p.fills {
		if c.Concerns(&b.claim) {
			return i
		}
	}
	return -1
}

// take decides every transaction of a request and answers.
func (p *books) take(tag string, request []byte, r ruling) []byte {
	m := ncpdp.Parse(bytes.Clone(request))
	vs := make([]ncpdp.Verdict, 0, m.Groups())
	for n := 1; n <= m.Groups(); n++ {
		c, fault := m.Claim(n)
		i := -1
		if fault == nil {
			i = p.fillOf(&c)
		}
		if i < 0 {
			p.wrong = append(p.wrong, "a claim that nobody made")
			return nil
		}
		alone, err := ncpdp.Cut(m, n)
		if err != nil {
			p.wrong = append(p.wrong, err.Error())
			return nil
		}
		v := p.fills[i].decide(p, string(c.Code[:]), alone, r)
		p.fills[i].lines = append(p.fills[i].lines, fmt.Sprintf("%s %s: %s %v %s", tag, c.Code, v.Status, v.Rejects, v.Auth))
		if v.Status != "R" {
			p.told = append(p.told, told{tag, string(c.Code[:]), i})
		}
		vs = append(vs, v)
	}
	answer, err := ncpdp.BuildResponse(m, 'A', "", vs)
	if err != nil {
		p.wrong = append(p.wrong, err.Error())
	}
	p.answers[tag] = answer
	return answer
}

func rejected(code string) ncpdp.Verdict { return ncpdp.Verdict{Status: "R", Rejects: []string{code}} }

func (b *book) decide(p *books, code string, alone []byte, r ruling) ncpdp.Verdict {
	switch r {
	case notNow:
		return rejected("92")
	case blame:
		if !b.paid && b.captured == nil { // it has looked at what it has taken
			return rejected("R8")
		}
	case allow, keep, refuse:
	}
	switch code {
	case "B2":
		return b.reverse(p, r)
	case "B3":
		return b.rebilled(p, alone, r)
	}
	switch {
	case b.paid && bytes.Equal(b.by, alone):
		return b.priced("D")
	case b.paid:
		return rejected("83")
	case b.captured != nil:
		return ncpdp.Verdict{Status: "Q", Auth: b.auth}
	case r == refuse:
		return rejected("70")
	case r == keep:
		b.captured, b.auth = bytes.Clone(alone), p.number()
		return ncpdp.Verdict{Status: "C", Auth: b.auth}
	}
	return b.pay(p, alone, false)
}

func (p *books) number() string {
	p.last++
	return fmt.Sprintf("A%06d", p.last)
}

func (b *book) pay(p *books, alone []byte, rebill bool) ncpdp.Verdict {
	b.paid, b.by, b.rebill, b.auth, b.captured = true, bytes.Clone(alone), rebill, p.number(), nil
	return b.priced("P")
}

func (b *book) priced(status string) ncpdp.Verdict {
	return ncpdp.Verdict{Status: status, Auth: b.auth, Amounts: []ncpdp.FieldAmount{{ID: "F5", Units: 100}, {ID: "F6", Units: 900}, {ID: "F9", Units: 800}}}
}

func (b *book) reverse(p *books, r ruling) ncpdp.Verdict {
	switch {
	case !b.paid && b.captured == nil && b.undone:
		return ncpdp.Verdict{Status: "S", Auth: b.auth}
	case !b.paid && b.captured == nil:
		return rejected(p.none)
	case r == refuse:
		return rejected("30")
	}
	b.paid, b.captured, b.undone = false, nil, true
	return ncpdp.Verdict{Status: "A", Auth: b.auth}
}

// rebilled takes back and pays in one.
func (b *book) rebilled(p *books, alone []byte, r ruling) ncpdp.Verdict {
	switch {
	case b.paid && b.rebill && bytes.Equal(b.by, alone):
		return b.priced("D")
	case !b.paid:
		return rejected(p.none)
	case r == refuse:
		return rejected("70")
	}
	return b.pay(p, alone, true)
}

// settle decides what was captured, and puts the answer into the mail.
func (p *books) settle(i int, pays bool) {
	b := p.fills[i]
	if b.captured == nil {
		return
	}
	m := ncpdp.Parse(b.captured)
	v := rejected("70")
	b.captured = nil
	if pays {
		v = b.pay(p, m.Raw(), false)
	}
	b.lines = append(b.lines, fmt.Sprintf("decided: %s %s", v.Status, v.Auth))
	answer, err := ncpdp.BuildResponse(m, 'A', "", []ncpdp.Verdict{v})
	if err != nil {
		p.wrong = append(p.wrong, err.Error())
	}
	p.mail = append(p.mail, answer)
}

// has reports whether the payer has said yes to the transaction of the tagged transmission.
func (p *books) has(tag string, r claimdlq.Record, fill int) bool {
	for _, t := range p.told {
		if t.tag == tag && t.code == r.TransactionID && t.fill == fill {
			return true
		}
	}
	return false
}

// stands reports whether what the transaction did is so now.
func (b *book) stands(code string, alone []byte) bool {
	switch code {
	case "B2":
		return !b.paid && b.captured == nil
	case "B3":
		return b.paid && b.rebill && bytes.Equal(b.by, alone)
	}
	return b.paid && bytes.Equal(b.by, alone) || bytes.Equal(b.captured, alone)
}
