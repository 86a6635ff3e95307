package payersim

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
	"hash/fnv"

	"claimdlq/wire/ncpdp"
)

// rxClaim is one pharmacy transaction as this payer reads it: by itself, so that
// a mistake in the sender's own keys is not made here too. Its slices point into
// the transmission.
type rxClaim struct {
	code                          [2]byte
	bin, pcn, pharmacy, date      []byte
	qualifier, rx, fill           []byte // 455-EM, 402-D2, 403-D3
	group, member, person         []byte
	productQualifier, ndc, status []byte // 436-E1, 407-D7, 343-HD
	payers                        int    // other payers before this one
	cost, fee                     int64  // 409-D9 and 412-DC in cents
	sum                           uint64 // of the transaction's bytes
	key                           Key
}

// read reads a transaction, from 1, of a transmission. What is not there is empty.
func (c *rxClaim) read(m *ncpdp.Message, transaction int) {
	*c = rxClaim{}
	copy(c.code[:], m.TransactionCode())
	c.bin, c.pcn, c.pharmacy, c.date = m.BIN(), m.PCN(), m.Provider(), m.ServiceDate()
	var castagnoli, ieee uint32 // fast in the processor, each
	raw := m.Raw()
	for _, s := range m.Segments() {
		if int(s.Transaction) != transaction && s.Transaction != 0 {
			continue
		}
		segment := raw[s.Start:s.End]
		castagnoli, ieee = crc32.Update(castagnoli, castagnoliTable, segment), crc32.Update(ieee, crc32.IEEETable, segment)
		switch string(s.ID[:]) {
		case "04":
			c.insurance(m, s)
		case "05":
			for _, f := range m.Fields(s) {
				if f.ID == (ncpdp.ID{'5', 'C'}) {
					c.payers++
				}
			}
		case "07":
			c.claim(m, s)
		}
	}
	c.sum = uint64(castagnoli)<<32 | uint64(ieee)
	cost, _ := m.AmountOf(transaction, ncpdp.IDOf("D9"))
	fee, _ := m.AmountOf(transaction, ncpdp.IDOf("DC"))
	c.cost, c.fee = clampCents(cost.Units), clampCents(fee.Units)
	c.key = c.identity()
}

var castagnoliTable = crc32.MakeTable(crc32.Castagnoli)

// clampCents keeps an amount, and sums of two, within what an answer has room for.
func clampCents(n int64) int64 { return min(max(n, 0), 49_999_999) }

func (c *rxClaim) insurance(m *ncpdp.Message, s ncpdp.Segment) {
	for _, f := range m.Fields(s) {
		switch f.ID {
		case ncpdp.ID{'C', '1'}:
			c.group = value(m, f)
		case ncpdp.ID{'C', '2'}:
			c.member = value(m, f)
		case ncpdp.ID{'C', '3'}:
			c.person = value(m, f)
		}
	}
}

func (c *rxClaim) claim(m *ncpdp.Message, s ncpdp.Segment) {
	for _, f := range m.Fields(s) {
		switch f.ID {
		case ncpdp.ID{'E', 'M'}:
			c.qualifier = value(m, f)
		case ncpdp.ID{'D', '2'}:
			c.rx = noZeros(value(m, f))
		case ncpdp.ID{'D', '3'}:
			c.fill = noZeros(value(m, f))
		case ncpdp.ID{'E', '1'}:
			c.productQualifier = value(m, f)
		case ncpdp.ID{'D', '7'}:
			c.ndc = noZeros(value(m, f))
		case ncpdp.ID{'H', 'D'}:
			c.status = value(m, f)
		}
	}
}

// value returns a field's value without padding.
func value(m *ncpdp.Message, f ncpdp.Field) []byte {
	b := m.Value(f)
	for len(b) > 0 && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return b
}

// noZeros takes leading zeros off: senders may leave them out.
func noZeros(b []byte) []byte {
	for len(b) > 1 && b[0] == '0' {
		b = b[1:]
	}
	return b
}

// identity is what is billed for whom. Quantities and prices are no part.
func (c *rxClaim) identity() (k Key) {
	var room [256]byte
	b := room[:0]
	for _, part := range [...][]byte{
		c.bin, c.pcn, c.pharmacy, c.date, c.qualifier, c.rx, c.fill, c.group, c.member, c.person, c.productQualifier, c.ndc, c.status,
	} {
		b = append(binary.AppendUvarint(b, uint64(len(part))), part...)
	}
	h := sha256.Sum256(binary.AppendUvarint(b, uint64(c.payers)))
	copy(k[:], h[:])
	return k
}

// family is shared by the fills of one prescription on one day: what a reversal
// always carries.
func (c *rxClaim) family() uint64 {
	h := fnv.New64a()
	for _, part := range [...][]byte{c.bin, c.pcn, c.pharmacy, c.date, c.qualifier, c.rx} {
		_, _ = h.Write(part)
		_, _ = h.Write([]byte{0})
	}
	return h.Sum64()
}

// traits are hashes of what tells the fills of a family apart; 0 where a claim
// does not say.
func (c *rxClaim) traits() (t [4]uint32) {
	for i, part := range [...][]byte{c.fill, c.ndc, c.member, c.status} {
		if len(part) > 0 {
			h := fnv.New32a()
			_, _ = h.Write(part)
			t[i] = max(1, h.Sum32())
		}
	}
	return t
}

// meant reports whether a reversal with traits r may mean the fill with traits f.
// 343-HD must agree even in its absence: a partial fill and its completion differ
// in nothing else.
func meant(r, f [4]uint32) bool {
	for i := range 3 {
		if r[i] != 0 && f[i] != 0 && r[i] != f[i] {
			return false
		}
	}
	return r[3] == f[3]
}

// has reports whether the claim has the value in the field of a rule.
func (c *rxClaim) has(field, want string) bool {
	switch field {
	case "ndc":
		return string(c.ndc) == string(noZeros([]byte(want)))
	case "rx":
		return string(c.rx) == string(noZeros([]byte(want)))
	case "bin":
		return string(c.bin) == want
	case "pcn":
		return string(c.pcn) == want
	case "pharmacy":
		return string(c.pharmacy) == want
	case "code":
		return string(c.code[:]) == want
	case "member":
		return string(c.member) == want
	}
	return false
}
