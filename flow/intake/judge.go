package intake

import (
	"claimdlq"
	"claimdlq/flow/lineage"
	"claimdlq/wire/x12"
)

// detailDuplicate is why a claim is held that was sent before under other numbers.
var detailDuplicate = claimdlq.NewDetail("RULE:DUPLICATE_CLAIM")

// held is one claim that must be held, and why.
type held struct {
	ordinal int
	cents   int64
	why     claimdlq.Fault
	note    string
}

// verdict is what becomes of a set: whole is why all of it is held; otherwise
// the claims in held are, and the rest goes on.
type verdict struct {
	whole *claimdlq.Fault
	held  []held
}

// judge decides from what the scanner found and which claims were sent before. A
// set whose every claim is bad is held whole. It is pure.
func judge(e *x12.Set, duplicates []held) verdict {
	switch {
	case e.ST01 != "837":
		return whole(claimdlq.FatalSyntax, claimdlq.Terminal, "RULE:NOT_A_CLAIM")
	case e.Whole, e.IK5 == "R" && len(e.BadClaims) == 0:
		return verdict{whole: first(e)}
	case e.Claims == 0:
		return whole(claimdlq.FatalSyntax, claimdlq.Poison, "IK3:CLM:3")
	}
	var v verdict
	for _, b := range e.BadClaims {
		v.held = append(v.held, held{ordinal: b.Ordinal, cents: b.AmountCents, why: faultOf(b.Fault)})
	}
	v.held = append(v.held, duplicates...)
	if len(v.held) >= e.Claims {
		return verdict{whole: &v.held[0].why}
	}
	return v
}

func whole(r claimdlq.Reason, c claimdlq.Class, detail string) verdict {
	return verdict{whole: &claimdlq.Fault{Reason: r, Class: c, Detail: claimdlq.NewDetail(detail)}}
}

// first returns the fault that stands for the set: the gravest, then the earliest.
func first(e *x12.Set) *claimdlq.Fault {
	var worst *x12.Fault
	for i := range e.Faults {
		if f := &e.Faults[i]; f.Severity != x12.Note && (worst == nil || f.Severity > worst.Severity) {
			worst = f
		}
	}
	if worst != nil {
		f := faultOf(*worst)
		return &f
	}
	detail := "IK5:R"
	if len(e.IK502) > 0 {
		detail += ":" + e.IK502[0]
	}
	return whole(claimdlq.FatalSyntax, claimdlq.Poison, detail).whole
}

// faultOf puts a finding into the words of a record: what is well formed and
// refused for what it says is TERMINAL, the rest POISON.
func faultOf(f x12.Fault) claimdlq.Fault {
	if f.Severity == x12.Business {
		return claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: f.Detail()}
	}
	return claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: f.Detail()}
}

// judgeSet judges the set and puts its records into the batch.
func (f *file) judgeSet(e *x12.Set, r claimdlq.Record) error {
	duplicates, fps, err := f.duplicates()
	if err != nil {
		return err
	}
	v := judge(e, duplicates)
	if v.whole != nil {
		for _, c := range f.claims.list {
			if c.marked { // it does not go out: it stands in nobody's way
				delete(f.batch.seen, c.fp)
			}
		}
		f.batch.add(pending{record: dead(r, *v.whole, f.now()), action: claimdlq.ActEnqueue, group: f.x.group}, 0)
		return nil
	}
	r.State, r.Hold = claimdlq.StateQueued, claimdlq.HoldIntake
	r.Claims -= uint32(len(v.held))
	r.Parted = uint32(len(v.held))
	p := pending{record: r, action: claimdlq.ActReceive, group: f.x.group, fingerprints: fps}
	for _, h := range v.held {
		p.record.AmountCents -= h.cents
		p.children = append(p.children, f.part(r, h))
		p.notes = append(p.notes, h.note)
	}
	f.batch.add(p, 0)
	return nil
}

// part returns the record of a claim that parts from its set at first sight. Its
// payload is the set's unit; its own document is cut out of it by ordinal.
func (f *file) part(set claimdlq.Record, h held) claimdlq.Record {
	c := set
	c.Key = lineage.ClaimKey(f.ids[0], set.Key, uint32(h.ordinal))
	c.Scope, c.Ordinal, c.Batch = claimdlq.ScopeClaim, uint32(h.ordinal), 0
	c.Claims, c.Parted, c.AmountCents = 1, 0, h.cents
	return dead(c, h.why, f.now())
}

// duplicates returns the claims of the set that stand behind an earlier record of
// the same claim, and the fingerprints of those that do not.
func (f *file) duplicates() ([]held, []claimdlq.Key, error) {
	var dups []held
	list := f.claims.list
	f.batch.lookup = f.batch.lookup[:0]
	for _, c := range list {
		f.batch.lookup = append(f.batch.lookup, c.fp)
	}
	owners, err := lineage.Owners(f.ctx, f.o.Store, f.ids, f.batch.lookup, f.claims.older)
	if err != nil {
		return nil, nil, err
	}
	fps := make([]claimdlq.Key, 0, len(list))
	for i := range list {
		c := &list[i]
		if c.bad || c.fp == (claimdlq.Key{}) {
			continue
		}
		blocked, note := f.batch.seen[c.fp], "same claim in this file"
		if !blocked && owners != nil && owners[i].ID != 0 {
			earlier, err := f.o.Store.Get(f.ctx, owners[i].ID)
			if err != nil {
				return nil, nil, err
			}
			blocked, note = lineage.Blocks(earlier), "same claim as record "+earlier.ID.String()
		}
		if blocked {
			dups = append(dups, held{c.ordinal, c.cents, claimdlq.Fault{
				Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: detailDuplicate,
			}, note})
			continue
		}
		f.batch.seen[c.fp], c.marked = true, true
		key := c.fp
		if owners != nil {
			key = owners[i].Next
		}
		fps = append(fps, key)
	}
	return dups, fps, nil
}
