package payersim

import (
	"errors"
	"strings"

	"claimdlq/classify"
	"claimdlq/wire/x12ack"
)

// errFull: there is no room for more claims or acknowledgments.
var errFull = errors.New("the payer's memory is full")

// take judges what was read, remembers what it accepts, and returns the
// acknowledgments to send now; later ones are in the box.
func (p *Payer) take(all []*interchange) ([]File, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return nil, p.broken
	}
	if max(len(p.ledger.list), len(p.ledger.seen)) >= p.o.MaxClaims || p.box.bytes >= p.o.MaxBox {
		return nil, errFull
	}
	var now []File
	for _, ic := range all {
		files, err := p.one(ic)
		if err != nil {
			p.broken = err
			return nil, err
		}
		now = append(now, files...)
	}
	return now, nil
}

// one judges one interchange. It holds p.mu.
func (p *Payer) one(ic *interchange) ([]File, error) {
	stats := &p.ledger.stats
	stats.Interchanges++
	n := stats.Interchanges
	e := entry{Lane: ic.lane(), ISA13: ic.start.Number, Status: "accepted"}
	p.status(ic, n)
	answers := &answers{ic: ic, keys: make(map[Key]bool)}
	if ic.end.TA1 == "R" {
		stats.RejectedInterchanges++
		e.Status = "rejected"
		if ic.end.Note == "025" {
			return p.send(answers, n) // what was remembered stands
		}
	} else {
		for _, g := range ic.groups {
			p.group(g, answers, &e)
		}
	}
	if e.Status == "accepted" || !p.has(e) {
		if err := p.ledger.add(e); err != nil {
			return nil, err
		}
	}
	return p.send(answers, n)
}

// has reports whether the interchange was seen before.
func (p *Payer) has(e entry) bool {
	_, ok := p.ledger.seen[seenKey(e.Lane, e.ISA13)]
	return ok
}

// status sets the interchange's TA1: the scanner's verdict, a duplicate, or what
// the script wants.
func (p *Payer) status(ic *interchange, n int) {
	was, again := p.ledger.seen[seenKey(ic.lane(), ic.start.Number)]
	if again && was.status == "accepted" {
		p.ledger.stats.DuplicateInterchanges++
		if !p.currentScript().anyNumber {
			ic.end.TA1, ic.end.Note = "R", "025"
			return
		}
	}
	if a, ok := p.currentScript().first("interchange", n, "ta1"); ok {
		ic.end.TA1, ic.end.Note = a.code, a.note
	}
}

// group judges the sets of a group and, in those it does not reject, the claims.
func (p *Payer) group(g *group, out *answers, e *entry) {
	stats := &p.ledger.stats
	whole := g.end.AK9 == "R" && len(g.end.AK905) > 0
	for _, s := range g.sets {
		stats.Sets++
		if a, ok := p.currentScript().first("set", stats.Sets, "reject"); ok && s.IK5 != "R" {
			s.IK5, s.IK502 = "R", []string{a.code}
			g.end.Accepted--
		}
		if s.IK5 == "R" || whole {
			stats.RejectedSets++
			continue
		}
		if b, ok := p.batch(g, s, out, e); ok {
			out.batches = append(out.batches, b)
		}
	}
	if whole || len(g.sets) == 0 {
		return
	}
	switch {
	case g.end.Accepted <= 0:
		g.end.AK9 = "R"
	case g.end.Accepted < len(g.sets):
		g.end.AK9 = "P"
	}
}

// batch judges the claims of one set and returns what its 277CA says.
func (p *Payer) batch(g *group, s *set, out *answers, e *entry) (x12ack.Batch, bool) {
	if len(s.claims) == 0 {
		return x12ack.Batch{}, false
	}
	ic := out.ic
	b := x12ack.Batch{
		Submitted: x12ack.SubmittedOf(&ic.start), GroupSender: g.start.Sender, GroupReceiver: g.start.Receiver,
		Payer: s.payer, PayerID: s.payerID, Submitter: s.submitter, SubmitterID: s.submitterID,
		Provider: s.provider, ProviderNPI: s.npi, BHT03: s.BHT03,
		Status: classify.Status{Category: "A1", Code: "19", Entity: "PR"},
	}
	for _, c := range s.claims {
		k := c.key()
		stc := p.claim(c, k, out)
		b.AmountCents += c.cents
		line := x12ack.Claim{
			CLM01: []byte(c.clm01), AmountCents: c.cents, Status: parseStatus(stc),
			Last: []byte(c.last), First: []byte(c.first), MemberID: []byte(c.member), ServiceDate: []byte(c.date),
		}
		if accepted(stc) {
			line.PayerControl = []byte(control(k))
			out.keys[k] = true
			e.Claims = append(e.Claims, entryClaim{
				Key: k.String(), CLM01: c.clm01, Cents: c.cents, Billed: c.fingerprint(ic.start.Delims.Component),
			})
		}
		b.Claims = append(b.Claims, line)
	}
	return b, true
}

// claim returns the status of one claim.
func (p *Payer) claim(c *claim, k Key, out *answers) string {
	stats := &p.ledger.stats
	stats.Claims++
	stc := p.currentScript().claim(stats.Claims, c)
	if stc == "" {
		stc = c.stc
	}
	if stc == "" && p.currentScript().dedupe && p.knows(k, out) {
		stats.DuplicateClaims++
		stc = "A3:54"
	}
	if stc == "" {
		stc = "A2:20:PR"
	}
	if !accepted(stc) {
		stats.RejectedClaims++
	}
	return stc
}

// knows reports whether the claim was accepted before, in this interchange too.
func (p *Payer) knows(k Key, out *answers) bool {
	_, ok := p.ledger.byKey[k]
	return ok || out.keys[k]
}

// accepted reports whether a status leaves the claim with the payer: A0, A1, A2,
// A5 and the pending ones.
func accepted(stc string) bool {
	switch category, _, _ := strings.Cut(stc, ":"); category {
	case "A0", "A1", "A2", "A5":
		return true
	default:
		return category[0] == 'P' || category[0] == 'F' || category[0] == 'R'
	}
}

func parseStatus(stc string) classify.Status {
	parts := append(strings.Split(stc, ":"), "", "")
	return classify.Status{Category: parts[0], Code: parts[1], Entity: parts[2]}
}

// answers is what an interchange will be told.
type answers struct {
	ic      *interchange
	batches []x12ack.Batch
	keys    map[Key]bool // of the claims accepted so far
}

// events feeds the interchange to a writer of 999s.
func (a *answers) events(w *x12ack.Writer999) {
	for _, g := range a.ic.groups {
		w.Event(&g.start)
		for _, s := range g.sets {
			w.Event(&s.Set)
		}
		w.Event(&g.end)
	}
}
