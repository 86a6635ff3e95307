package settle

import (
	"bytes"
	"errors"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/wire/ncpdp"
)

// rxAnswer is what one response says of one transaction.
type rxAnswer struct {
	m  *ncpdp.Message
	tx int
	at claimdlq.PayloadRef // the sealed response
	// alone is the response to this transaction as if it were the only one; nil where
	// it has no part in the response.
	alone []byte
	// found are the claims that it may be about.
	found []*rxCandidate
}

func newRxAnswer(m *ncpdp.Message, tx int, at claimdlq.PayloadRef) *rxAnswer {
	a := &rxAnswer{m: m, tx: tx, at: at, alone: m.Raw()}
	if m.Count() > 1 {
		a.alone, _ = ncpdp.Cut(m, tx)
	}
	return a
}

// rxCandidate is a record that an answer may be about, with what was sent for it.
type rxCandidate struct {
	record claimdlq.Record
	whole  int            // how many transactions came with it
	alone  *ncpdp.Message // its transaction
	stored *ncpdp.Message // the answer that decided last; nil if there is none
	broken bool           // its payload cannot be opened
}

// rxCandidates looks the records up that were sent for the fill that the answer
// names, under every term.
func (j *job) rxCandidates(a *rxAnswer, seen map[claimdlq.ID]*rxCandidate) error {
	code := string(a.m.TransactionCode())
	for _, id := range j.ids {
		ref, ok := ncpdp.ResponseLineage(id, a.m, a.tx)
		if !ok {
			return nil
		}
		rs, err := j.Store.Lookup(j.ctx, ref, maxCandidates)
		if err != nil {
			return err
		}
		for _, r := range rs {
			if r.Batch != ref || r.Format != claimdlq.FormatNCPDP || r.Scope != claimdlq.ScopeTransaction ||
				r.TransactionID != code || !wasDelivered(r) {
				continue
			}
			if seen[r.ID] == nil {
				seen[r.ID] = &rxCandidate{record: r}
			}
			a.found = append(a.found, seen[r.ID])
		}
	}
	return nil
}

// wasDelivered reports whether somebody has sent the record. Another pipeline that gives
// one up in doubt need not say how often it has.
func wasDelivered(r claimdlq.Record) bool {
	return r.AttemptCount > 0 || r.FateUnknown || r.Submission != 0
}

// open reads what was sent for the candidate, and what was answered last.
func (c *rxCandidate) open(j *job, proof claimdlq.Proof) error {
	raw, err := j.Vault.Open(j.ctx, c.record.Payload, proof)
	if err == nil {
		c.whole = max(1, ncpdp.Parse(raw.Reveal()).Groups())
		raw, err = envelope.RxDocument(raw, c.record)
	}
	if gone(err) {
		c.broken = true
		return nil
	}
	if err != nil {
		return err
	}
	c.alone = ncpdp.Parse(raw.Reveal())
	if c.record.Response.IsZero() {
		return nil
	}
	answer, err := j.Vault.Open(j.ctx, c.record.Response, proof)
	if err == nil {
		c.stored = ncpdp.Parse(answer.Reveal())
	}
	if gone(err) {
		return nil
	}
	return err
}

// partial reports whether the candidate is a partial fill or its completion (343-HD).
func (c *rxCandidate) partial() bool {
	if c.broken {
		return false
	}
	cl, fault := c.alone.Claim(1)
	return fault == nil && len(cl.FillStatus) > 0
}

// gone reports an error after which a payload is no help, now or later.
func gone(err error) bool {
	return errors.Is(err, claimdlq.NotFound) || errors.Is(err, claimdlq.Corrupt) || errors.Is(err, claimdlq.Invalid)
}

// fits reports whether the answer may be to the candidate: to the transmission it
// came in, at its place there, or to its transaction alone.
func (c *rxCandidate) fits(a *rxAnswer) bool {
	if c.broken || a.alone == nil {
		return false
	}
	if n := a.m.Count(); n > 1 && (a.tx != int(c.record.Ordinal) || c.record.PayloadRevision <= 1 && n != c.whole) {
		return false
	}
	switch ncpdp.Correlate(c.alone, ncpdp.Parse(a.alone), 1) {
	case "", "22", "23": // what was cut off is this one's too, and is not believed
		return true
	}
	return false
}

// authorization is 503-F3, in segment 21: the payer's number of its answer.
var authorization, status = ncpdp.IDOf("F3"), ncpdp.IDOf("21")

// said reports whether the answer is the one that decided the candidate last: the
// same bytes, or the same authorization number with the same status. Once the
// candidate is done, the number alone says so: "paid" may come again as "paid before".
func (c *rxCandidate) said(a *rxAnswer) bool {
	if c.stored == nil {
		return false
	}
	if bytes.Equal(unframed(c.stored.Raw()), unframed(a.m.Raw())) {
		return true
	}
	tx := int(c.record.Ordinal)
	if c.stored.Transactions() < tx {
		tx = 1
	}
	was, _ := c.stored.Get(tx, status, authorization)
	is, _ := a.m.Get(a.tx, status, authorization)
	same := c.stored.Reply(tx, nil).Status == a.m.Reply(a.tx, nil).Status
	return (same || rxStanding(c.record) == standsClosed) && len(is) > 0 && bytes.Equal(was, is)
}

// answered reports whether the answer that decided the candidate last was final: one
// that was captured or deferred has another to come.
func (c *rxCandidate) answered() bool {
	if c.stored == nil {
		return false
	}
	tx := int(c.record.Ordinal)
	if c.stored.Transactions() < tx {
		tx = 1
	}
	switch c.stored.Reply(tx, nil).Status {
	case 'C', 'Q', 'F':
		return false
	}
	return true
}

func unframed(b []byte) []byte {
	b = bytes.TrimPrefix(b, []byte{stx})
	if n := bytes.IndexByte(b, etx); n >= 0 {
		b = b[:n]
	}
	return bytes.TrimRight(b, "\r\n ")
}

// rxMatch is which candidate an answer is about, or why none.
type rxMatch struct {
	c      *rxCandidate
	said   bool   // it was said before
	orphan string // why it is about nothing that can be named
}

// match finds the one candidate that the answer is about. One that still waits is
// meant before one that we hold back, and that before one that is done. Where two
// fit equally, or one of them goes to another payer, for a response does not say who
// gives it, none is meant. It is pure.
func (a *rxAnswer) match() rxMatch {
	var waiting, held, done []*rxCandidate
	partners := map[string]bool{}
	for _, c := range a.found {
		if !c.fits(a) {
			continue
		}
		if c.said(a) {
			return rxMatch{c: c, said: true}
		}
		switch standing := rxStanding(c.record); {
		case standing == standsWaiting:
			waiting = append(waiting, c)
		case standing == standsHeld:
			held = append(held, c)
		default:
			done = append(done, c)
			if c.answered() {
				continue // it has had its answer, and this is another
			}
		}
		partners[c.record.Partner] = true
	}
	for _, cs := range [][]*rxCandidate{waiting, held, done} {
		switch {
		case len(cs) == 0:
			continue
		case len(cs) > 1 || len(partners) > 1:
			return rxMatch{orphan: "NCPDP:AMBIGUOUS"}
		}
		return rxMatch{c: cs[0]}
	}
	return rxMatch{orphan: "NCPDP:ORPHAN"}
}

// rxStanding says what a record's state lets an answer do to it. It is pure.
func rxStanding(r claimdlq.Record) standing {
	switch r.State {
	case claimdlq.StateLeased, claimdlq.StateSubmitted, claimdlq.StateInDoubt:
		return standsWaiting
	case claimdlq.StateQueued, claimdlq.StateParked:
		if r.FateUnknown {
			return standsWaiting
		}
		return standsHeld
	case claimdlq.StateQuarantined:
		return standsHeld
	case claimdlq.StateSettled:
		if r.Disposition == claimdlq.Rejected {
			return standsHeld // a payment of an earlier delivery may still come to light
		}
	case claimdlq.StateWithdrawn:
	}
	return standsClosed
}
