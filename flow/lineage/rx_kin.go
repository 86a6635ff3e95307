package lineage

import (
	"bytes"
	"context"
	"slices"
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
	// elsewhere: it is with another partner. It counts only where it came as the same
	// claim, and a person has sent it there.
	elsewhere bool
}

// kin is the claim among its mates.
type kin struct {
	x        Rx
	ids      []*claimdlq.Identity
	list     []mate // oldest first
	reversal bool   // the claim is one
	root     claimdlq.ID
}

// kin finds out which of the mates are about the claim. Keys and roots tell in nearly
// every case; a payload is opened only where another claim shares the fill. root is
// that of a record that is there already, or 0.
func (x Rx) kin(ctx context.Context, ids []*claimdlq.Identity, records []claimdlq.Record, root claimdlq.ID) (*kin, error) {
	k := &kin{x: x, ids: ids, reversal: ncpdp.IsReversal(x.Claim.Code[:]), root: root}
	for _, r := range records {
		elsewhere := !strings.EqualFold(r.Partner, x.Partner)
		if r.Format == claimdlq.FormatNCPDP && (!elsewhere || r.PayloadRevision > 1) {
			k.list = append(k.list, mate{record: r, elsewhere: elsewhere})
		}
	}
	k.match(x.Claim, true)
	k.list = slices.DeleteFunc(k.list, func(m mate) bool { return m.elsewhere && !m.own })
	if len(k.list) == 0 {
		return k, nil
	}
	for _, c := range k.counterparts() {
		k.match(c, false)
	}
	roots := map[claimdlq.ID]bool{}
	if root != 0 {
		roots[root] = true
	}
	for i := range k.list {
		if k.list[i].concerns {
			roots[Root(k.list[i].record)] = true
		}
	}
	if len(roots) == 0 {
		found, err := k.search(ctx)
		if err != nil {
			return nil, err
		}
		if found != 0 {
			roots[found] = true
		}
	}
	k.gather(roots)
	return k, nil
}

// gather marks all records of the claim's roots.
func (k *kin) gather(roots map[claimdlq.ID]bool) {
	for i := range k.list {
		m := &k.list[i]
		r := Root(m.record)
		if !roots[r] {
			continue
		}
		m.concerns = true
		if k.root == 0 {
			k.root = r
		}
		if !m.own && m.record.PayloadRevision > 1 && m.record.TransactionID == string(k.x.Claim.Code[:]) {
			m.own, m.generation = true, k.timeline(k.list[:i]).generation // it was corrected: its key is that of what it was
		}
	}
}

// counterparts are the same claim under the other codes that bill it or take it back. One
// that does not carry all of its parts has another key.
func (k *kin) counterparts() []*ncpdp.Claim {
	var out []*ncpdp.Claim
	if k.x.Claim.Code[0] != 'B' {
		return nil
	}
	for _, n := range []byte("123") {
		if n != k.x.Claim.Code[1] {
			c := *k.x.Claim
			c.Code[1] = n
			out = append(out, &c)
		}
	}
	return out
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
			t := tries{id: id, key: c.Key(id, g), most: uint32(len(open))}
			for _, m := range open {
				if m.concerns {
					continue
				}
				if copied, ok := t.has(m.record); ok {
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

// tries are the keys that records of one claim and generation may have, under one term.
type tries struct {
	id    *claimdlq.Identity
	key   claimdlq.Key // of the first
	most  uint32       // how many records there can be
	again []claimdlq.Key
}

// has reports whether the record's key is the first, that of a later try, or that of a
// conflicting copy.
func (t *tries) has(r claimdlq.Record) (copied, ok bool) {
	if r.Key == t.key {
		return false, true
	}
	if r.KeyTerm != t.id.Term {
		return false, false
	}
	for n := range t.most {
		if r.Key == copyKey(t.id, t.key, r.Digest, n) {
			return true, true
		}
		if len(t.again) <= int(n) { // the first that is asked pays for all
			t.again = append(t.again, again(t.id, t.key, n+1))
		}
		if r.Key == t.again[n] {
			return false, true
		}
	}
	return false, false
}

// search finds the root of the claim that x is about, where no key tells; 0 if it
// is the first of its own.
func (k *kin) search(ctx context.Context) (claimdlq.ID, error) {
	if k.reversal {
		return k.meant(ctx)
	}
	return k.brought(ctx)
}

// meant finds which claim a reversal is about, where its parts do not say: it need not
// carry all of them. One that stands alone is meant, unless it is another fill; of more,
// those that it fits, and of these the one that was billed last.
func (k *kin) meant(ctx context.Context) (claimdlq.ID, error) {
	var roots []claimdlq.ID
	known := map[claimdlq.ID]bool{}
	for i := range k.list {
		if r := Root(k.list[i].record); !known[r] {
			known[r] = true
			roots = append(roots, r)
		}
	}
	if len(roots) == 1 {
		first, _ := k.ends(roots[0])
		if c, err := k.x.Open(ctx, first); err != nil || !SameFill(&c, k.x.Claim) {
			return 0, err
		}
		return roots[0], nil
	}
	var found, last claimdlq.ID
	for _, root := range roots {
		first, latest := k.ends(root)
		c, err := k.x.Open(ctx, first)
		if err != nil {
			return 0, err
		}
		if c.Concerns(k.x.Claim) && latest >= last {
			found, last = root, latest
		}
	}
	return found, nil
}

// ends returns a record of the root to be opened, a billing if it has one, and the id
// of its latest billing.
func (k *kin) ends(root claimdlq.ID) (first claimdlq.Record, latest claimdlq.ID) {
	for i := range k.list {
		r := k.list[i].record
		if Root(r) != root {
			continue
		}
		if !reverses(r) {
			latest = r.ID
		}
		if first.ID == 0 || reverses(first) && !reverses(r) {
			first = r
		}
	}
	return first, latest
}

// brought finds a record that has become the billing's claim without its key: one that
// a person has corrected, or a reversal that came before what it takes back.
func (k *kin) brought(ctx context.Context) (claimdlq.ID, error) {
	only := true
	for i := range k.list {
		only = only && Root(k.list[i].record) == Root(k.list[0].record)
	}
	for i := range k.list {
		r := k.list[i].record
		root := Root(r)
		_, billed := k.ends(root)
		orphan := reverses(r) && billed == 0
		if !orphan && r.PayloadRevision <= 1 {
			continue
		}
		c, err := k.x.Open(ctx, r)
		if err != nil {
			return 0, err
		}
		if orphan && (c.Concerns(k.x.Claim) || only && SameFill(&c, k.x.Claim)) || sameClaim(k.ids[0], &c, k.x.Claim) || sameClaim(k.ids[0], &c, counterpart(k.x.Claim)) {
			return root, nil
		}
	}
	return 0, nil
}

// SameFill reports whether two claims of one lineage are about one fill of the
// prescription, whoever it is billed for: of a prescription there are several in a day,
// such as a partial one and its completion. What one of them does not say is not compared.
func SameFill(a, b *ncpdp.Claim) bool {
	agree := func(x, y []byte) bool { return len(x) == 0 || len(y) == 0 || bytes.Equal(x, y) }
	return agree(a.Fill, b.Fill) && agree(a.FillStatus, b.FillStatus) &&
		(a.COB == b.COB || ncpdp.IsReversal(a.Code[:]) || ncpdp.IsReversal(b.Code[:]))
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
