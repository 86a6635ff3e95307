package payersim

import (
	"bytes"
	"encoding/hex"
	"strconv"
	"strings"
)

// ledger is what the payer remembers of what it accepted.
type ledger struct {
	journal *journal

	byKey  map[Key]int // index into list
	list   []AcceptedClaim
	billed map[string]int // provider, member and CLM01 of original claims: times accepted
	seen   map[string]seen
	stats  Stats
}

// seen is an interchange that was received.
type seen struct {
	status string // accepted or rejected
	claims int
}

// AcceptedClaim is one claim that the payer accepted.
type AcceptedClaim struct {
	Key         string `json:"key"`
	CLM01       string `json:"clm01"`
	AmountCents int64  `json:"amount_cents"`
	Lane        string `json:"lane"`
	ISA13       uint32 `json:"isa13"` // that it first came with
	Control     string `json:"payer_control"`
	Count       int    `json:"count"` // times it was accepted; more than 1 is a double payment
}

// entry is a line of the journal: one interchange, so that all of it or nothing
// survives a crash.
type entry struct {
	Lane   string       `json:"lane"`
	ISA13  uint32       `json:"isa13"`
	Status string       `json:"status"`
	Claims []entryClaim `json:"claims,omitempty"`
}

type entryClaim struct {
	Key    string `json:"key"`
	CLM01  string `json:"clm01"`
	Cents  int64  `json:"cents"`
	Billed string `json:"billed,omitempty"`
}

func newLedger() *ledger {
	return &ledger{byKey: make(map[Key]int), billed: make(map[string]int), seen: make(map[string]seen)}
}

func seenKey(lane string, isa13 uint32) string {
	return lane + "/" + strconv.FormatUint(uint64(isa13), 10)
}

// add makes an interchange durable and then counts it.
func (l *ledger) add(e entry) error {
	end, err := l.journal.add(e)
	if err == nil {
		err = l.journal.sync(end)
	}
	if err != nil {
		return err
	}
	l.apply(e)
	return nil
}

func (l *ledger) apply(e entry) {
	l.seen[seenKey(e.Lane, e.ISA13)] = seen{e.Status, len(e.Claims)}
	for _, c := range e.Claims {
		var k Key
		_, _ = hex.Decode(k[:], []byte(c.Key[:min(len(c.Key), 2*len(k))]))
		l.stats.Accepted++
		if c.Billed != "" {
			if l.billed[c.Billed]++; l.billed[c.Billed] > 1 {
				l.stats.RepeatedCLM01++
			}
		}
		if i, ok := l.byKey[k]; ok {
			l.list[i].Count++
			l.stats.DoubleAccepted++
			continue
		}
		l.byKey[k] = len(l.list)
		l.list = append(l.list, AcceptedClaim{
			Key: c.Key, CLM01: c.CLM01, AmountCents: c.Cents, Lane: e.Lane, ISA13: e.ISA13, Control: control(k), Count: 1,
		})
	}
}

// control is the payer's claim number (277CA REF*1K).
func control(k Key) string { return "ICN" + strings.ToUpper(k.String()[:12]) }

// duplicates returns the claims accepted more than once.
func (l *ledger) duplicates() []AcceptedClaim {
	var d []AcceptedClaim
	for _, c := range l.list {
		if c.Count > 1 {
			d = append(d, c)
		}
	}
	return d
}

// fingerprint identifies an original claim by who bills it under which number.
func (c *claim) fingerprint(component byte) string {
	if !c.original(component) {
		return ""
	}
	var b bytes.Buffer
	for _, s := range []string{c.npi, c.member, c.clm01} {
		b.WriteString(strconv.Itoa(len(s)) + ":" + s)
	}
	return b.String()
}
