package lineage

import (
	"context"

	"claimdlq"
)

// Obstacle is what keeps a quarantined pharmacy record from being released.
type Obstacle uint8

// The obstacles.
const (
	// NoObstacle: it may go.
	NoObstacle Obstacle = iota
	// InTheWay: another record of the same claim is under way, in doubt or with the payer.
	InTheWay
	// Overtaken: the claim was reversed or billed anew since; to send it now would
	// bring back what was taken back, or take back what was billed since.
	Overtaken
	// Crossed: a reversal of the claim, or for a reversal a billing, came later and may
	// reach the payer at the same time: which of the two comes first is left to chance.
	Crossed
)

// Release is the answer of Replay.
type Release struct {
	Obstacle Obstacle
	By       claimdlq.ID // the record that is the obstacle
	// Waits: it may be released, but held (HoldLineage): a reversal before it, or
	// what it reverses, is not decided yet.
	Waits bool
}

// Replay says whether the record r, whose claim is x.Claim as it would be sent
// now, may be released. mates are those of Mates, r among them or not. The caller
// holds the fill in the Guard. x.Digest is not used. Errors: those of Open.
func (x Rx) Replay(ctx context.Context, ids []*claimdlq.Identity, mates []claimdlq.Record, r claimdlq.Record) (Release, error) {
	var others []claimdlq.Record
	for _, m := range mates {
		if m.ID != r.ID {
			others = append(others, m)
		}
	}
	k, err := x.kin(ctx, ids, others, Root(r))
	if err != nil {
		return Release{}, err
	}
	before := 0
	for before < len(k.list) && k.list[before].record.ID < r.ID {
		before++
	}
	t := k.timeline(k.list[:before])
	if later := k.later(r, before); later.Obstacle != NoObstacle {
		return later, nil
	}
	for i := range k.list {
		m := &k.list[i]
		if x.WrittenOff && WrittenOff(m.record) {
			continue
		}
		same, err := k.same(ctx, m)
		if err != nil {
			return Release{}, err
		}
		if same && k.at(i) == k.place(t) && blocks(m.record) {
			return Release{Obstacle: InTheWay, By: m.record.ID}, nil
		}
	}
	return Release{Waits: k.waits(t)}, nil
}

// later looks through what came after the record r, from the given index on. What was
// done since counts before what may be done yet.
func (k *kin) later(r claimdlq.Record, from int) (out Release) {
	for i := range k.list[from:] {
		m := &k.list[from+i]
		switch {
		case !m.concerns:
		case raised(m.record), k.reversal && accepted(m.record):
			return Release{Obstacle: Overtaken, By: m.record.ID}
		case out.Obstacle == NoObstacle && Crosses(m.record, r):
			out = Release{Obstacle: Crossed, By: m.record.ID}
		}
	}
	return out
}

// Crosses reports that the later record m of a fill takes back what r bills, or the
// other way round, and may reach the payer whether r was decided or not: it is there
// already, may be, or does not wait for r.
func Crosses(m, r claimdlq.Record) bool {
	opposed := reverses(m) != reverses(r) || rebills(m)
	return opposed && m.ID > r.ID && underWay(m) && !waitsFor(m, r)
}

// waitsFor reports that m was not sent since it was held, and that r, once it is
// released, is among those that Wait makes it wait for.
func waitsFor(m, r claimdlq.Record) bool {
	held := m.Hold == claimdlq.HoldLineage || m.Hold == claimdlq.HoldIntake && m.Detail == waitsInBatch
	return m.State == claimdlq.StateQueued && !m.FateUnknown && held && Root(m) == Root(r)
}

// waitsInBatch is the detail of a record of a batch that is held for its lineage once
// the batch was judged.
var waitsInBatch = claimdlq.NewDetail("LINEAGE")

// raised reports that the record has made what is billed next another claim.
func raised(r claimdlq.Record) bool {
	return reverses(r) && r.State == claimdlq.StateSettled && r.Disposition == claimdlq.Reversed || rebills(r) && accepted(r)
}

// place returns the generation of the claim itself, given what came before it.
func (k *kin) place(t timeline) uint32 {
	if k.reversal && !t.billed && t.reversed {
		return t.generation - 1
	}
	return t.generation
}

// at returns the generation of the ith mate.
func (k *kin) at(i int) uint32 { return k.place(k.timeline(k.list[:i])) }

// same reports whether the mate carries the same claim. A key may be that of a
// claim before it was corrected: what else is under way with the same code is
// opened and compared.
func (k *kin) same(ctx context.Context, m *mate) (bool, error) {
	if m.own || m.record.TransactionID != string(k.x.Claim.Code[:]) || !blocks(m.record) {
		return m.own, nil
	}
	c, err := k.x.Open(ctx, m.record)
	if err != nil {
		return false, err
	}
	return sameClaim(k.ids[0], &c, k.x.Claim), nil
}
