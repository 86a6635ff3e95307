package lineage

import (
	"context"
	"strings"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

// mate is a record of the same fill and partner, as seen from one claim.
type mate struct {
	record claimdlq.Record
	// own: it carries the same claim (the same code and parts). generation is that in
	// its key; copied, that it is a conflicting copy.
	own        bool
	generation uint32
	copied     bool
	// concerns: it is about the same claim, whatever its code.
	concerns bool
}

// kin is the claim among its mates.
type kin struct {
	x        Rx
	ids      []*claimdlq.Identity
	list     []mate // oldest first
	reversal bool   // the claim is one
}

// kin finds out which of the mates are about the claim. Keys tell in nearly every
// case; a payload is opened only where another claim shares the fill.
func (x Rx) kin(ctx context.Context, ids []*claimdlq.Identity, records []claimdlq.Record) (*kin, error) {
	k := &kin{x: x, ids: ids, reversal: ncpdp.IsReversal(x.Claim.Code[:])}
	for _, r := range records {
		if strings.EqualFold(r.Partner, x.Partner) && r.Format == claimdlq.FormatNCPDP {
			k.list = append(k.list, mate{record: r})
		}
	}
	if len(k.list) == 0 {
		return k, nil
	}
	k.match(x.Claim, true)
	if !k.reversal {
		k.match(counterpart(x.Claim), false)
		return k, k.strangers(ctx)
	}
	return k, k.reversed(ctx)
}

// counterpart is the same claim under the code that bills or rebills it.
func counterpart(c *ncpdp.Claim) *ncpdp.Claim {
	o := *c
	switch c.Code[1] {
	case '1':
		o.Code[1] = '3'
	case '3':
		o.Code[1] = '1'
	}
	return &o
}

// match marks the mates whose key is one that the claim may have had.
func (k *kin) match(c *ncpdp.Claim, own bool) {
	var open []*mate
	for i := range k.list {
		if m := &k.list[i]; !m.concerns && m.record.TransactionID == string(c.Code[:]) {
			open = append(open, m)
		}
	}
	if len(open) == 0 {
		return
	}
	for _, id := range k.ids {
		for g := uint32(0); g <= k.raisers(); g++ {
			key := c.Key(id, g)
			for _, m := range open {
				if copied, ok := isTry(id, key, m.record, len(open)); ok && !m.concerns {
					m.concerns, m.own, m.generation, m.copied = true, own, g, copied
				}
			}
		}
	}
}

// raisers bounds the generations that there can be.
func (k *kin) raisers() (n uint32) {
	for _, m := range k.list {
		if ncpdp.RaisesGeneration([]byte(m.record.TransactionID)) {
			n++
		}
	}
	return n
}

// isTry reports whether the record's key is the given one, that of a later try, or
// that of a conflicting copy.
func isTry(id *claimdlq.Identity, key claimdlq.Key, r claimdlq.Record, tries int) (copied, ok bool) {
	if r.Key == key {
		return false, true
	}
	if r.KeyTerm != id.Term {
		return false, false
	}
	if r.Key == id.Key(domainConflict, key[:], r.Digest[:]) {
		return true, true
	}
	for n := uint32(1); n <= uint32(tries); n++ {
		if r.Key == again(id, key, n) {
			return false, true
		}
	}
	return false, false
}

// strangers finds out, for a billing, which reversals in the fill are about it, and
// whether a record that a person has corrected has become it.
func (k *kin) strangers(ctx context.Context) error {
	others := false
	for i := range k.list {
		m := &k.list[i]
		if m.concerns || reverses(m.record) {
			continue
		}
		if m.record.PayloadRevision > 1 {
			c, err := k.x.Open(ctx, m.record)
			if err != nil {
				return err
			}
			if sameClaim(k.ids[0], &c, k.x.Claim) || sameClaim(k.ids[0], &c, counterpart(k.x.Claim)) {
				m.concerns, m.own = true, c.Code == k.x.Claim.Code
				m.generation = k.timeline(k.list[:i]).generation
				continue
			}
		}
		others = true
	}
	return k.about(ctx, others, reverses)
}

// about marks the records of a kind that concern the claim: all of them where it
// is the only one of the fill.
func (k *kin) about(ctx context.Context, others bool, kind func(claimdlq.Record) bool) error {
	for i := range k.list {
		m := &k.list[i]
		if m.concerns || !kind(m.record) {
			continue
		}
		if !others {
			m.concerns = true
			continue
		}
		c, err := k.x.Open(ctx, m.record)
		if err != nil {
			return err
		}
		m.concerns = c.Concerns(k.x.Claim)
	}
	return nil
}

// reversed finds out, for a reversal, which billings it is about. One that stands
// alone is meant; of more, one is opened, and the keys of the others compared with
// it: mostly they are tries and generations of the same claim.
func (k *kin) reversed(ctx context.Context) error {
	billing := func(r claimdlq.Record) bool { return !reverses(r) }
	var bills []*mate
	for i := range k.list {
		if billing(k.list[i].record) {
			bills = append(bills, &k.list[i])
		}
	}
	if len(bills) > 1 && k.oneClaim(ctx, bills) {
		bills = bills[:1]
	}
	others := len(bills) > 1
	if err := k.about(ctx, others, billing); err != nil {
		return err
	}
	return k.about(ctx, others, reverses)
}

// oneClaim reports whether all the billings are of one claim, as their keys tell
// once the first is opened. Where it cannot be opened they may be several.
func (k *kin) oneClaim(ctx context.Context, bills []*mate) bool {
	c, err := k.x.Open(ctx, bills[0].record)
	if err != nil {
		return false
	}
	probe := &kin{x: k.x, ids: k.ids, list: append([]mate(nil), k.list...)}
	for i := range probe.list {
		probe.list[i].concerns = false
	}
	probe.match(&c, false)
	probe.match(counterpart(&c), false)
	for _, m := range probe.list {
		if !reverses(m.record) && !m.concerns {
			return false
		}
	}
	return true
}

// sameClaim compares two claims part by part.
func sameClaim(id *claimdlq.Identity, a, b *ncpdp.Claim) bool { return a.Key(id, 0) == b.Key(id, 0) }

// sameBytes reports whether the record came with the same transaction.
func (k *kin) sameBytes(r claimdlq.Record) bool {
	for _, id := range k.ids {
		if id.Term == r.KeyTerm {
			return k.x.Digest(id.Term) == r.Digest
		}
	}
	return false
}
