package payersim

import (
	"encoding/hex"
	"strconv"
	"strings"
	"sync"
)

// RxStats counts what the payer did with pharmacy claims.
type RxStats struct {
	Transmissions int `json:"transmissions"`
	Batches       int `json:"batches"`
	// RejectedBatches were refused whole: no claim of them was looked at.
	RejectedBatches int `json:"rejected_batches"`
	Transactions    int `json:"transactions"`
	Rejected        int `json:"rejected"` // status R
	Paid            int `json:"paid"`     // payments, doubles among them
	Captured        int `json:"captured"`
	Deferred        int `json:"deferred"`
	Reversed        int `json:"reversed"`
	// Duplicates counts answers D, Q, S and 83: it had the claim already.
	Duplicates int `json:"duplicates"`
	// Lost counts claims that it took and answered with a reject.
	Lost int `json:"lost"`
	// DoublePaid counts payments of a claim that was paid and not reversed: each is
	// a claim billed twice.
	DoublePaid int `json:"double_paid"`
}

// Fill is one pharmacy claim that the payer took.
type Fill struct {
	Key      string `json:"key"`
	BIN      string `json:"bin"`
	PCN      string `json:"pcn"`
	Pharmacy string `json:"pharmacy"`
	Rx       string `json:"rx"`
	Fill     string `json:"fill"`
	NDC      string `json:"ndc"`
	State    string `json:"state"` // paid, captured or reversed
	// AmountCents is what was paid last (509-F9), Control its 503-F3.
	AmountCents int64  `json:"amount_cents"`
	Control     string `json:"payer_control"`
	Payments    int    `json:"payments"` // ever
	// Count is the most payments that stood at once; more than 1 is a double payment.
	Count int `json:"count"`
}

// pharmacy is the payer's side of pharmacy claims. Its lock is never held together
// with the payer's other one but in that order.
type pharmacy struct {
	mu       sync.Mutex
	stats    RxStats
	byKey    map[Key]int32
	byFamily map[uint64]int32 // the latest fill; older ones hang on its next
	lanes    map[string]int32
	laneName []string
	fills    []fill
	batches  map[string]bool
	tries    map[try]int    // kept only for scripts that count them
	came     map[string]int // deliveries, where they are counted
	payments uint64
	end      int64 // of the journal, after the last change
	broken   error // the journal failed: nothing is taken any more
}

// fill is what is remembered of a claim.
type fill struct {
	key      Key
	next     int32
	lane     int32
	traits   [4]uint32
	text     string // 402-D2, 403-D3 and 407-D7
	price    price
	sum      uint64 // of the bytes that were paid or captured last
	serial   uint64 // of the latest payment
	standing uint16
	most     uint16
	paid     uint16 // times, ever
	captured bool
	byRebill bool // the latest payment is that of a B3
}

// try counts how often a claim came under one transaction code.
type try struct {
	key  Key
	code [2]byte
}

// price is what an answer says in segment 23, in cents.
type price struct {
	Patient int32 `json:"f5"`
	Cost    int32 `json:"f6"`
	Fee     int32 `json:"f7"`
}

func (p price) paid() int64 { return int64(p.Cost) + int64(p.Fee) - int64(p.Patient) }

// change is one thing that the payer did, as the journal keeps it.
type change struct {
	Do     string    `json:"do"` // pay, repay, capture or reverse
	Key    string    `json:"key"`
	Family uint64    `json:"family,omitempty"`
	Traits [4]uint32 `json:"traits"`
	Lane   string    `json:"lane,omitempty"`
	Text   string    `json:"text,omitempty"`
	Price  price     `json:"price"`
	Sum    uint64    `json:"sum,omitempty"`
	Serial uint64    `json:"serial,omitempty"`
	Rebill bool      `json:"rebill,omitempty"`

	key Key
}

// rxLine is a line of the journal: one transmission, or the number of a batch.
type rxLine struct {
	Changes []change `json:"changes,omitempty"`
	Batch   string   `json:"batch,omitempty"`
}

const separator = "\x1f" // between the parts of a lane and of a text

func newPharmacy() *pharmacy {
	return &pharmacy{
		byKey: make(map[Key]int32), byFamily: make(map[uint64]int32), lanes: make(map[string]int32),
		batches: make(map[string]bool), tries: make(map[try]int), came: make(map[string]int),
	}
}

func (m *pharmacy) counts() RxStats {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.stats
}

// load applies a line of the journal.
func (m *pharmacy) load(l rxLine) {
	if l.Batch != "" {
		m.batches[l.Batch] = true
	}
	for _, c := range l.Changes {
		_, _ = hex.Decode(c.key[:], []byte(c.Key[:min(len(c.Key), 2*len(c.key))]))
		m.apply(c)
	}
}

// at returns the fill of a key.
func (m *pharmacy) at(k Key) *fill {
	if i, ok := m.byKey[k]; ok {
		return &m.fills[i]
	}
	return nil
}

// find returns the fill that a reversal means: the latest of those that stand, or
// else of those that ever did.
func (m *pharmacy) find(c *rxClaim) *fill {
	traits := c.traits()
	var gone *fill
	i, ok := m.byFamily[c.family()]
	for ok && i >= 0 {
		f := &m.fills[i]
		if i = f.next; !meant(traits, f.traits) {
			continue
		}
		if f.standing > 0 || f.captured {
			return f
		}
		if gone == nil {
			gone = f
		}
	}
	return gone
}

// apply does what was decided. It is the only place where the memory changes.
func (m *pharmacy) apply(c change) {
	f := m.at(c.key)
	if f == nil {
		next, ok := m.byFamily[c.Family]
		if !ok {
			next = -1
		}
		i := int32(len(m.fills))
		m.fills = append(m.fills, fill{key: c.key, next: next, lane: m.lane(c.Lane), traits: c.Traits, text: c.Text})
		m.byKey[c.key], m.byFamily[c.Family] = i, i
		f = &m.fills[i]
	}
	switch c.Do {
	case "reverse":
		m.stats.Reversed++
		f.standing, f.captured = 0, false
		return
	case "capture":
		m.stats.Captured++
		f.captured = true
	case "pay", "repay":
		if c.Do == "repay" { // a rebill reverses first
			m.stats.Reversed++
			f.standing = 0
		}
		m.stats.Paid++
		m.payments = max(m.payments, c.Serial)
		if f.standing++; f.standing > 1 {
			m.stats.DoublePaid++
		}
		f.paid++
		f.most, f.captured = max(f.most, f.standing), false
	}
	f.price, f.sum, f.serial, f.byRebill = c.Price, c.Sum, c.Serial, c.Rebill
}

func (m *pharmacy) lane(name string) int32 {
	i, ok := m.lanes[name]
	if !ok {
		i = int32(len(m.laneName))
		m.lanes[name] = i
		m.laneName = append(m.laneName, name)
	}
	return i
}

// shown returns a fill for people and tests.
func (m *pharmacy) shown(f *fill) Fill {
	lane, text := strings.Split(m.laneName[f.lane], separator), strings.Split(f.text, separator)
	for len(lane) < 3 || len(text) < 3 {
		lane, text = append(lane, ""), append(text, "")
	}
	out := Fill{
		Key: f.key.String(), BIN: lane[0], PCN: lane[1], Pharmacy: lane[2], Rx: text[0], Fill: text[1], NDC: text[2],
		State: "paid", AmountCents: f.price.paid(), Control: authorization(f.serial, false),
		Payments: int(f.paid), Count: int(f.most),
	}
	switch {
	case f.captured:
		out.State = "captured"
	case f.standing == 0:
		out.State = "reversed"
	}
	return out
}

// authorization is 503-F3: the number of the payment or capture.
func authorization(serial uint64, canary bool) string {
	s := strconv.FormatUint(serial, 10)
	if canary {
		return "ZZCANARYAUTH" + s[max(0, len(s)-8):]
	}
	return "TESTAUTH" + strings.Repeat("0", max(0, 10-len(s))) + s
}

// Fills returns every pharmacy claim taken, in the order in which each first came.
func (p *Payer) Fills() []Fill { return p.pharmacy.list(func(*fill) bool { return true }) }

// DoubleFills returns the pharmacy claims that were paid while a payment stood.
func (p *Payer) DoubleFills() []Fill {
	return p.pharmacy.list(func(f *fill) bool { return f.most > 1 })
}

func (m *pharmacy) list(want func(*fill) bool) []Fill {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := []Fill{}
	for i := range m.fills {
		if f := &m.fills[i]; want(f) {
			all = append(all, m.shown(f))
		}
	}
	return all
}
