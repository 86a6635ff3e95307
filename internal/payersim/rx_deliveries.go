package payersim

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"claimdlq/wire/ncpdp"
)

// Delivered says how often a pharmacy claim came, whatever it was told.
type Delivered struct {
	Code     string `json:"code"` // 103-A3
	Pharmacy string `json:"pharmacy"`
	Rx       string `json:"rx"` // without leading zeros, as is Fill
	Fill     string `json:"fill"`
	Count    int    `json:"deliveries"`
}

// Deliveries returns how often each claim came since the start, with
// Options.CountDeliveries; none without. What was dropped, rejected or answered
// with a status is among them; what was broken off before it was read is not. They
// are in no journal.
func (p *Payer) Deliveries() []Delivered {
	m := p.pharmacy
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make([]Delivered, 0, len(m.came))
	for k, n := range m.came {
		part := strings.Split(k, separator)
		all = append(all, Delivered{Code: part[0], Pharmacy: part[1], Rx: part[2], Fill: part[3], Count: n})
	}
	slices.SortFunc(all, func(a, b Delivered) int {
		return cmp.Or(cmp.Compare(a.Pharmacy, b.Pharmacy), cmp.Compare(a.Rx, b.Rx), cmp.Compare(a.Fill, b.Fill), cmp.Compare(a.Code, b.Code))
	})
	return all
}

// count notes that the claims of a transmission came.
func (p *Payer) count(message *ncpdp.Message) {
	if !p.o.CountDeliveries || message.Kind() != ncpdp.KindRequest {
		return
	}
	m := p.pharmacy
	for t := range max(1, min(message.Groups(), ncpdp.MaxTransactions)) {
		var c rxClaim
		c.read(message, t+1)
		k := string(bytes.Join([][]byte{c.code[:], c.pharmacy, c.rx, c.fill}, []byte(separator)))
		m.mu.Lock()
		if len(m.came) < p.o.MaxClaims || m.came[k] > 0 {
			m.came[k]++
		}
		m.mu.Unlock()
	}
}

// countRefused notes the claims of a body that is refused unseen.
func (p *Payer) countRefused(b []byte) {
	if !p.o.CountDeliveries {
		return
	}
	if !ncpdp.IsBatch(b) {
		p.count(ncpdp.Parse(b))
		return
	}
	r := ncpdp.NewBatchReader(bytes.NewReader(b), ncpdp.BatchOptions{})
	for {
		rec, err := r.Next()
		if err != nil {
			return
		}
		if d, ok := rec.(*ncpdp.BatchDetail); ok {
			p.count(d.Message)
		}
	}
}
