package payersim

import (
	"errors"
	"slices"
	"sync"

	"claimdlq/wire/ncpdp"
)

// MediaType is the content type of its answers to pharmacy claims. No type is
// registered for them; it reads any.
const MediaType = "application/x-ncpdp"

// errNoRequest: what came cannot be answered in the standard's own form.
var errNoRequest = errors.New("there is no pharmacy request")

var messages = sync.Pool{New: func() any { return ncpdp.Parse(nil) }}

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
	m, _ := messages.Get().(*ncpdp.Message)
	defer func() {
		m.Reset(nil)
		messages.Put(m)
	}()
	m.Reset(b)
	answer, err := p.transmission(m)
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
func (p *Payer) transmission(m *ncpdp.Message) ([]byte, error) {
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
	bad, whole := s.judge(m)
	if whole != "" {
		return refuse(m, message, []string{whole}, max(1, m.Groups()))
	}
	verdicts, err := p.verdicts(s, m, bad)
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
func (s *Script) judge(m *ncpdp.Message) (bad map[int]string, whole string) {
	if s.envelopeOnly {
		return nil, ""
	}
	for _, f := range m.Validate() {
		switch {
		case f.Severity == ncpdp.Note:
		case f.Transaction == 0 || m.Err() != nil:
			return nil, rejectFor(f)
		case bad[f.Transaction] == "":
			if bad == nil {
				bad = make(map[int]string)
			}
			bad[f.Transaction] = rejectFor(f)
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
func rejectFor(f ncpdp.Fault) string {
	if code := fieldCodes[f.Field]; code != "" {
		return code
	}
	if slices.Contains(sameCodes, f.Field) {
		return f.Field
	}
	return syntax
}

// verdicts decides every transaction.
func (p *Payer) verdicts(s *Script, m *ncpdp.Message, bad map[int]string) ([]ncpdp.Verdict, error) {
	claims := make([]rxClaim, max(1, min(m.Groups(), ncpdp.MaxTransactions)))
	for i := range claims {
		claims[i] = readRx(m, i+1)
	}
	return p.pharmacy.all(p, s, claims, bad)
}

// all decides the claims of one transmission. What it takes of them goes into the
// journal together.
func (m *pharmacy) all(p *Payer, s *Script, claims []rxClaim, bad map[int]string) ([]ncpdp.Verdict, error) {
	elapsed := p.elapsed()
	verdicts := make([]ncpdp.Verdict, len(claims))
	m.mu.Lock()
	defer m.mu.Unlock()
	if max(len(m.fills), len(m.tries))+len(claims) > p.o.MaxClaims {
		return nil, errFull
	}
	if m.broken != nil {
		return nil, m.broken
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
	return verdicts, m.broken
}
