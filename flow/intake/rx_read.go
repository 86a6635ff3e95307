package intake

import (
	"bytes"

	"claimdlq"
	"claimdlq/flow/filing"
	"claimdlq/flow/lineage"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
)

const (
	stx            = 0x02
	etx            = 0x03
	groupSeparator = 0x1d
)

// idGross is 430-DU, the gross amount due.
var idGross = ncpdp.IDOf("DU")

func wrapped(b []byte) phi.Bytes { return phi.Wrap(b) }

// add reads one transmission and judges it. wrap is the record of a batch around it,
// or nil. Both must not change before the chunk is durable.
func (d *desk) add(raw, wrap []byte) {
	m := d.msg
	m.Reset(raw)
	n := len(d.messages)
	d.messages = append(d.messages, message{raw: raw, wrap: wrap, first: len(d.items), groups: m.Groups(), day: filing.ParseDay(m.ServiceDate())})
	d.bytes += max(len(raw), len(wrap))
	if m.Kind() == ncpdp.KindResponse {
		if d.held { // among the claims of a batch: kept, and a person must look
			d.one(n, claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Terminal, Detail: detailAnswer})
		} else {
			d.messages[n].response = true
		}
		return
	}
	f, broken := m.Fault()
	code := m.TransactionCode()
	alone := len(code) == 2 && (code[0] == 'E' || code[0] == 'F') // they have no group
	switch {
	case m.Version() == ncpdp.VersionF6:
		d.one(n, claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: detailF6})
	case broken:
		d.one(n, syntax(f))
	case m.Groups() == 0 && !alone:
		worst, _ := ncpdp.Worst(m.Validate())
		d.one(n, syntax(worst))
	default:
		d.transactions(n)
	}
}

func syntax(f ncpdp.Fault) claimdlq.Fault {
	return claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: f.Detail()}
}

// one adds the item of a whole transmission that is kept as it is.
func (d *desk) one(n int, why claimdlq.Fault) {
	m := d.msg
	it := item{message: n, whole: true, bad: true, fault: why, claims: uint32(max(1, min(m.Count(), ncpdp.MaxTransactions))), insert: -1}
	if c := m.TransactionCode(); ncpdp.KnownTransaction(c) {
		copy(it.code[:], c)
	}
	it.partner, it.sender = d.partner(), d.sender()
	it.digest = d.sum(0, d.messages[n].raw)
	d.guard = append(d.guard, claimdlq.Key(it.digest)) // the same bytes twice at one moment
	d.items = append(d.items, it)
	d.messages[n].n = 1
}

// transactions adds an item for each transaction of the message that was read.
func (d *desk) transactions(n int) {
	m := d.msg
	d.faults = m.ValidateInto(d.faults[:0])
	partner, sender := d.partner(), d.sender()
	body := bodyOf(d.messages[n].raw)
	count := max(1, m.Groups())
	for t := 1; t <= count; t++ {
		number := min(t, m.Groups())
		d.items = append(d.items, item{message: n, ordinal: uint32(t), number: number, claims: 1, partner: partner, sender: sender, insert: -1})
		it := &d.items[len(d.items)-1]
		copy(it.code[:], m.TransactionCode())
		if a, ok := m.AmountOf(number, idGross); ok {
			it.amount = a.Units
		}
		it.judge(m, d.faults)
		it.digest = d.sumOf(0, &body, t)
		d.identify(it)
	}
	d.messages[n].n = count
}

// judge finds out what claim it is and what is wrong with it. A fault before the
// first transaction is one of each.
func (it *item) judge(m *ncpdp.Message, faults []ncpdp.Fault) {
	var missing *ncpdp.Fault
	it.claim, missing = m.Claim(it.number)
	it.known = missing == nil
	for i := range faults {
		f := &faults[i]
		if f.Severity == ncpdp.Error && (f.Transaction == 0 || f.Transaction == it.number) {
			it.bad, it.fault = true, syntax(*f)
			return
		}
	}
	if missing != nil {
		it.bad, it.fault = true, syntax(*missing)
	}
}

// identify finds the look-up value of the fill and what the guard must hold.
func (d *desk) identify(it *item) {
	switch {
	case !it.known:
		d.guard = append(d.guard, claimdlq.Key(it.digest))
	case len(it.claim.Rx) > 0:
		it.ref = it.claim.Lineage(d.ids[0])
		d.guard = append(d.guard, lineage.RefKey(it.ref))
	default: // an eligibility question is about no fill
		d.guard = append(d.guard, it.claim.Key(d.ids[0], 0))
	}
}

// partner is 101-A1 and 104-A4, by which the claim is routed.
func (d *desk) partner() string { return d.pair(d.msg.BIN(), d.msg.PCN(), 17) }

// sender is 202-B2 and 201-B1, the pharmacy.
func (d *desk) sender() string {
	return d.pair(d.msg.ProviderQualifier(), d.msg.Provider(), 18)
}

func (d *desk) pair(a, b []byte, limit int) string {
	var room [40]byte
	s := append(room[:0], bytes.Trim(a, " ")...)
	s = append(append(s, ':'), b...)
	if len(s) == 1 {
		return ""
	}
	return tidy(d.intern(s), limit)
}

// span is the body of a transmission without its frame, cut at its groups.
type span struct {
	b      []byte
	groups [ncpdp.MaxTransactions + 1]int // where they begin; after the last, the end
	n      int
}

// bodyOf finds the groups. The frame is no part of a transaction: the same claim
// framed, and in a batch, is the same.
func bodyOf(raw []byte) span {
	s := span{b: bytes.TrimLeft(raw, "\x02")}
	if i := bytes.IndexByte(s.b, etx); i >= 0 {
		s.b = s.b[:i]
	}
	for at := 0; s.n < ncpdp.MaxTransactions; s.n++ {
		i := bytes.IndexByte(s.b[at:], groupSeparator)
		if i < 0 {
			break
		}
		s.groups[s.n] = at + i
		at += i + 1
	}
	s.groups[s.n] = len(s.b)
	return s
}

// countAt is where 109-A9 stands in a request.
const countAt = 20

// write writes the nth transaction as it is alone: what is shared, a count of 1, and
// its own segments.
func (s *span) write(w *claimdlq.DigestWriter, n int) {
	shared := s.b[:s.groups[0]]
	if len(shared) <= countAt {
		_, _ = w.Write(s.b)
		return
	}
	_, _ = w.Write(shared[:countAt])
	_, _ = w.Write(one)
	_, _ = w.Write(shared[countAt+1:])
	if s.n > 0 {
		_, _ = w.Write(s.b[s.groups[n-1]:s.groups[n]])
	}
}

var one = []byte{'1'}

// digest returns the digest of the item's transaction under a term.
func (d *desk) digest(it *item, term uint32) claimdlq.Digest {
	if term == d.ids[0].Term {
		return it.digest
	}
	for i, id := range d.ids {
		if id.Term != term {
			continue
		}
		raw := d.messages[it.message].raw
		if it.whole {
			return d.sum(i, raw)
		}
		body := bodyOf(raw)
		return d.sumOf(i, &body, int(it.ordinal))
	}
	return claimdlq.Digest{}
}

// sum digests the bytes under the ith of the terms.
func (d *desk) sum(i int, b []byte) claimdlq.Digest {
	w := d.sums[i]
	w.Reset()
	_, _ = w.Write(b)
	return w.Sum()
}

// sumOf digests the nth transaction as it is alone.
func (d *desk) sumOf(i int, body *span, n int) claimdlq.Digest {
	w := d.sums[i]
	w.Reset()
	body.write(w, n)
	return w.Sum()
}

// exact returns the digest of the transmission's bytes as they go out.
func (d *desk) exact(m *message) claimdlq.Digest {
	if m.n == 1 && len(m.raw) > countAt && m.raw[0] != stx && m.raw[countAt] == '1' && m.raw[len(m.raw)-1] != etx {
		if bytes.IndexByte(m.raw, etx) < 0 {
			return d.items[m.first].digest // the same bytes
		}
	}
	return d.sum(0, m.raw)
}
