package payersim

import (
	"errors"
	"io"
	"slices"
	"sync"

	"claimdlq/wire/ncpdp"
)

// MediaType is the content type of its answers to pharmacy claims. No type is
// registered for them; it reads any.
const MediaType = "application/x-ncpdp"

// errNoRequest: what came cannot be answered in the standard's own form.
var errNoRequest = errors.New("there is no pharmacy request")

// desk is what one transmission is answered with. It is used again for another: a payer
// that is in the process of who measures must cost little beside what is measured.
type desk struct {
	message  *ncpdp.Message
	content  io.LimitedReader // that body is read from
	body     []byte
	faults   []ncpdp.Fault
	claims   [ncpdp.MaxTransactions]rxClaim
	verdicts [ncpdp.MaxTransactions]ncpdp.Verdict
}

var desks = sync.Pool{New: func() any { return &desk{message: ncpdp.Parse(nil)} }}

func newDesk() *desk {
	d, _ := desks.Get().(*desk)
	return d
}

// leave wipes what the desk held and gives it back.
func (d *desk) leave() {
	clear(d.body)
	d.message.Reset(nil)
	clear(d.faults)
	*d = desk{message: d.message, body: d.body[:0], faults: d.faults[:0]}
	if cap(d.body) <= ncpdp.MaxMessage {
		desks.Put(d)
	}
}

// Adjudicate answers one pharmacy transmission, without HTTP, as its script says;
// rules about requests do not apply. The answer is nil where there can be none:
// what came is no request with a readable header, the script wants silence, or
// the payer's memory or journal is full or broken.
func (p *Payer) Adjudicate(b []byte) []byte {
	answer, err := p.adjudicate(b)
	if err != nil {
		return nil
	}
	return answer
}

func (p *Payer) adjudicate(b []byte) ([]byte, error) {
	d := newDesk()
	defer d.leave()
	return p.adjudicateAt(d, b)
}

func (p *Payer) adjudicateAt(d *desk, b []byte) ([]byte, error) {
	d.message.Reset(b)
	answer, err := p.transmission(d, d.message)
	if err != nil {
		return nil, err
	}
	return answer, p.durable()
}

// durable returns when everything that pharmacy claims have changed is on disk: an
// answer that says what an earlier one did waits for that one's flush too.
func (p *Payer) durable() error {
	if p.journal == nil {
		return nil
	}
	p.pharmacy.mu.Lock()
	end := p.pharmacy.end
	p.pharmacy.mu.Unlock()
	return p.journal.sync(end)
}

// transmission answers a request that was read. What it took is on disk after
// durable.
func (p *Payer) transmission(d *desk, m *ncpdp.Message) ([]byte, error) {
	s := p.currentScript()
	if m.Kind() != ncpdp.KindRequest {
		return nil, errNoRequest
	}
	message := ""
	if s.canary {
		message = "ZZCANARYF4 TEXT"
	}
	p.count(m)
	n := p.pharmacy.begin()
	if a, ok := s.first("transmission", n, "reject"); ok {
		return refuse(m, a.text, a.codes, max(1, m.Groups()))
	}
	bad, whole := s.judge(d, m)
	if whole != "" {
		return refuse(m, message, []string{whole}, max(1, m.Groups()))
	}
	verdicts, err := p.verdicts(d, s, m, bad)
	if err != nil {
		return nil, err
	}
	answer, err := ncpdp.BuildResponse(m, 'A', message, verdicts)
	if err != nil {
		return nil, errNoRequest
	}
	if a, ok := s.first("transmission", n, "other", "echo", "html", "cut", "empty", "framed"); ok {
		answer = spoil(answer, m.Raw(), a)
	}
	return answer, nil
}

func (m *pharmacy) begin() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Transmissions++
	return m.stats.Transmissions
}

// refuse answers that the whole transmission was refused: with codes, in each of
// its transactions; without, by a message alone.
func refuse(m *ncpdp.Message, message string, codes []string, transactions int) ([]byte, error) {
	var verdicts []ncpdp.Verdict
	if len(codes) > 0 {
		verdicts = slices.Repeat([]ncpdp.Verdict{{Status: "R", Rejects: codes}}, min(transactions, ncpdp.MaxTransactions))
	}
	if message == "" && len(codes) == 0 {
		message = "TEST REFUSAL"
	}
	answer, err := ncpdp.BuildResponse(m, 'R', message, verdicts)
	if err != nil {
		return nil, errNoRequest
	}
	return answer, nil
}

// judge returns the reject code of each transaction with a fault, or that of the
// whole transmission.
func (s *Script) judge(d *desk, m *ncpdp.Message) (bad map[int]string, whole string) {
	if s.envelopeOnly {
		return nil, ""
	}
	d.faults = m.ValidateInto(d.faults[:0])
	for i := range d.faults {
		f := &d.faults[i]
		switch {
		case f.Severity == ncpdp.Note:
		case f.Transaction == 0 || m.Err() != nil:
			return nil, rejectFor(f.Field)
		case bad[f.Transaction] == "":
			if bad == nil {
				bad = make(map[int]string)
			}
			bad[f.Transaction] = rejectFor(f.Field)
		}
	}
	return bad, ""
}

// syntax is the reject code for what is wrong in the structure.
const syntax = "R8"

// fieldCodes are the reject codes of fields that have another than their id.
var fieldCodes = map[string]string{
	"A1": "01", "A2": "02", "A3": "03", "A4": "04", "B1": "05", "C1": "06", "C2": "07", "C3": "08", "C4": "09", "C5": "10",
	"C6": "11", "D1": "15", "D2": "16", "D3": "17", "D5": "19", "D6": "20", "D7": "21", "D8": "22", "D9": "23", "DB": "25",
	"DE": "28", "DF": "29", "E8": "E8",
}

// sameCodes are the fields whose reject code is their id.
var sameCodes = []string{"A9", "EM", "E1", "E7", "DC", "DQ", "DU", "DN", "NX", "HD", "HF", "HG", "EC", "EE", "ED", "EV"}

// rejectFor returns the code with which a fault is refused: "missing or invalid"
// of a field that is to blame, or a syntax error.
func rejectFor(field string) string {
	if code := fieldCodes[field]; code != "" {
		return code
	}
	if slices.Contains(sameCodes, field) {
		return field
	}
	return syntax
}

// verdicts decides every transaction.
func (p *Payer) verdicts(d *desk, s *Script, m *ncpdp.Message, bad map[int]string) ([]ncpdp.Verdict, error) {
	n := max(1, min(m.Groups(), ncpdp.MaxTransactions))
	for i := range n {
		d.claims[i].read(m, i+1)
	}
	verdicts := d.verdicts[:n]
	clear(verdicts) // of the transmission before, in a batch
	return verdicts, p.pharmacy.all(p, s, d.claims[:n], bad, verdicts)
}

// all decides the claims of one transmission. What it takes of them goes into the
// journal together.
func (m *pharmacy) all(p *Payer, s *Script, claims []rxClaim, bad map[int]string, verdicts []ncpdp.Verdict) error {
	elapsed := p.elapsed()
	m.mu.Lock()
	defer m.mu.Unlock()
	if max(len(m.fills), len(m.tries))+len(claims) > p.o.MaxClaims {
		return errFull
	}
	if m.broken != nil {
		return m.broken
	}
	var line rxLine
	for i := range claims {
		if code := bad[i+1]; code != "" {
			m.stats.Transactions++
			m.stats.Rejected++
			verdicts[i] = ncpdp.Verdict{Status: "R", Rejects: []string{code}}
			continue
		}
		j := m.decide(s, &claims[i], elapsed)
		verdicts[i] = j.verdict
		if j.change != nil && p.journal != nil {
			j.change.Key = j.change.key.String()
			line.Changes = append(line.Changes, *j.change)
		}
	}
	if s.canary {
		for i := range verdicts {
			verdicts[i].Texts = append(verdicts[i].Texts, "ZZCANARYFQ TEXT")
		}
	}
	if len(line.Changes) > 0 {
		m.end, m.broken = p.journal.add(line)
	}
	return m.broken
}
