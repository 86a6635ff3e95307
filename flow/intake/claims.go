package intake

import (
	"claimdlq"
	"claimdlq/flow/filing"
	"claimdlq/flow/lineage"
	"claimdlq/wire/x12"
)

// claim is what intake remembers of one claim of the set being read.
type claim struct {
	ordinal int
	cents   int64
	bad     bool
	fp      claimdlq.Key // under the current term; zero if it has none
}

// claims gathers the claims of the set being read. Its memory is reused.
type claims struct {
	ids     []*claimdlq.Identity
	list    []claim
	older   [][]claimdlq.Key // fingerprints under older terms, one list a term
	scratch []byte
	basis   filing.Basis // their days, for the unit's attributes
}

func (c *claims) reset() {
	c.list = c.list[:0]
	c.basis.Clear()
	for i := range c.older {
		c.older[i] = c.older[i][:0]
	}
}

// add is the scanner's OnClaim. The parts are PHI and are not kept.
func (c *claims) add(e *x12.Claim) {
	for len(c.older) < len(c.ids)-1 {
		c.older = append(c.older, nil)
	}
	n := claim{ordinal: e.Ordinal, cents: e.AmountCents, bad: e.Bad}
	n.fp, c.scratch = lineage.Fingerprint(c.ids[0], e.Fingerprint, c.scratch)
	c.list = append(c.list, n)
	c.basis.Add(uint64(e.Ordinal), filing.ParseDay(e.Service))
	for i, id := range c.ids[1:] {
		var k claimdlq.Key
		k, c.scratch = lineage.Fingerprint(id, e.Fingerprint, c.scratch)
		c.older[i] = append(c.older[i], k)
	}
}
