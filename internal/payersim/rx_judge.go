package payersim

import (
	"slices"
	"time"

	"claimdlq/wire/ncpdp"
)

// judgement is what one transaction is told, and what follows from it.
type judgement struct {
	verdict ncpdp.Verdict
	change  *change
}

// decide judges one transaction that is well formed and does what it says. It
// holds m.mu.
func (m *pharmacy) decide(s *Script, c *rxClaim, elapsed time.Duration) judgement {
	m.stats.Transactions++
	a, ruled := s.outageCodes(elapsed)
	if !ruled {
		a, ruled = m.rule(s, c)
	}
	j := judgement{}
	switch {
	case !ruled || a.verb == "pay":
		j = m.usual(s, c)
	case a.verb == "reject":
		if a.taken {
			if j = m.usual(s, c); j.change != nil {
				m.stats.Lost++
			}
		}
		j.verdict = ncpdp.Verdict{Status: "R", Rejects: a.codes}
		if a.text != "" {
			j.verdict.Texts = texts(a.text)
		}
	case a.verb == "capture":
		j = m.capture(s, c)
	case a.verb == "defer":
		m.stats.Deferred++
		j.verdict.Status = "F"
	case a.verb == "status":
		j.verdict.Status = a.code
		if f := m.at(c.key); f != nil {
			j.verdict = m.priced(s, f, a.code)
		}
	case a.verb == "clash":
		j = m.usual(s, c)
		j.verdict.Status, j.verdict.Rejects = "P", []string{"70"}
	}
	if j.verdict.Status == "R" {
		m.stats.Rejected++
	}
	if j.change != nil {
		m.apply(*j.change)
	}
	return j
}

// texts cuts a text into pieces of 526-FQ, at most nine of forty characters.
func texts(s string) (out []string) {
	for piece := range slices.Chunk([]byte(s), 40) {
		if len(out) < 9 {
			out = append(out, string(piece))
		}
	}
	return out
}

// rule returns what the script says of the claim.
func (m *pharmacy) rule(s *Script, c *rxClaim) (*action, bool) {
	tries := 0
	if s.counts {
		t := try{c.key, c.code}
		m.tries[t]++
		tries = m.tries[t]
	}
	for i := range s.rules {
		r := &s.rules[i]
		if r.subject != "claim" || r.act.verb == "stc" || r.act.tries > 0 && tries > r.act.tries {
			continue
		}
		if r.field == "" && r.which.picks(s.seed, "claim", m.stats.Transactions) || r.field != "" && c.has(r.field, r.value) {
			return &r.act, true
		}
	}
	return nil, false
}

// usual is what a payer does that nobody told otherwise.
func (m *pharmacy) usual(s *Script, c *rxClaim) judgement {
	switch string(c.code[:]) {
	case "B1":
		return m.bill(s, c)
	case "B2":
		return m.reverse(s, c)
	case "B3":
		return m.rebill(s, c)
	}
	return judgement{verdict: ncpdp.Verdict{Status: "A"}}
}

// bill pays, unless it has the claim already. A claim that says something else
// under the identity of a paid one is refused (83), not paid.
func (m *pharmacy) bill(s *Script, c *rxClaim) judgement {
	f := m.at(c.key)
	if f == nil || s.payAgain || f.standing == 0 && !f.captured {
		return m.pay(s, c, false)
	}
	m.stats.Duplicates++
	switch {
	case f.sum != c.sum && f.standing > 0:
		return judgement{verdict: ncpdp.Verdict{Status: "R", Rejects: []string{"83"}}}
	case f.standing > 0:
		return judgement{verdict: m.priced(s, f, "D")}
	}
	return judgement{verdict: ncpdp.Verdict{Status: "Q", Auth: authorization(f.serial, s.canary)}}
}

// pay is a payment: 409-D9 and 412-DC less ten dollars that the patient pays.
func (m *pharmacy) pay(s *Script, c *rxClaim, rebill bool) judgement {
	m.payments++
	ch := c.change("pay", m.payments)
	ch.Price = price{Patient: int32(min(1000, c.cost+c.fee)), Cost: int32(c.cost), Fee: int32(c.fee)}
	ch.Rebill = rebill
	return judgement{verdict: answered(s, "P", ch.Price, ch.Serial), change: ch}
}

// priced is an answer with the payment that was made before.
func (m *pharmacy) priced(s *Script, f *fill, status string) ncpdp.Verdict {
	return answered(s, status, f.price, f.serial)
}

func answered(s *Script, status string, p price, serial uint64) ncpdp.Verdict {
	return ncpdp.Verdict{
		Status: status, Auth: authorization(serial, s.canary),
		Amounts: []ncpdp.FieldAmount{
			{ID: "F5", Units: int64(p.Patient)},
			{ID: "F6", Units: int64(p.Cost)},
			{ID: "F7", Units: int64(p.Fee)},
			{ID: "F9", Units: p.paid()},
		},
	}
}

// capture keeps the claim for later.
func (m *pharmacy) capture(s *Script, c *rxClaim) judgement {
	if f := m.at(c.key); f != nil && (f.captured || f.standing > 0) {
		return m.bill(s, c)
	}
	m.payments++
	ch := c.change("capture", m.payments)
	return judgement{verdict: ncpdp.Verdict{Status: "C", Auth: authorization(ch.Serial, s.canary)}, change: ch}
}

// reverse takes a payment or a capture back.
func (m *pharmacy) reverse(s *Script, c *rxClaim) judgement {
	f := m.find(c)
	switch {
	case f == nil:
		return judgement{verdict: ncpdp.Verdict{Status: "R", Rejects: []string{s.unmatched}}}
	case f.standing == 0 && !f.captured:
		m.stats.Duplicates++
		return judgement{verdict: ncpdp.Verdict{Status: "S", Auth: authorization(f.serial, s.canary)}}
	}
	return judgement{
		verdict: ncpdp.Verdict{Status: "A", Auth: authorization(f.serial, s.canary)},
		change:  &change{Do: "reverse", key: f.key},
	}
}

// rebill reverses and pays anew. The same B3 again is a duplicate.
func (m *pharmacy) rebill(s *Script, c *rxClaim) judgement {
	f := m.at(c.key)
	switch {
	case !s.rebills:
		return judgement{verdict: ncpdp.Verdict{Status: "R", Rejects: []string{"1S"}}}
	case f == nil || f.standing == 0:
		return judgement{verdict: ncpdp.Verdict{Status: "R", Rejects: []string{s.unmatched}}}
	case f.byRebill && f.sum == c.sum && !s.payAgain:
		m.stats.Duplicates++
		return judgement{verdict: m.priced(s, f, "D")}
	}
	j := m.pay(s, c, true)
	j.change.Do = "repay"
	return j
}

// change describes what is done to the claim's fill.
func (c *rxClaim) change(do string, serial uint64) *change {
	return &change{
		Do: do, key: c.key, Family: c.family(), Traits: c.traits(), Sum: c.sum, Serial: serial,
		Lane: string(c.bin) + separator + string(c.pcn) + separator + string(c.pharmacy),
		Text: string(c.rx) + separator + string(c.fill) + separator + string(c.ndc),
	}
}
