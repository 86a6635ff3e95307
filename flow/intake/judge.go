package intake

import (
	"bytes"
	"time"

	"claimdlq"
	"claimdlq/flow/envelope"
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
	d, err := f.duplicates(0)
	if err != nil {
		return err
	}
	if f.dead != nil {
		f.give(e, r, d)
		return nil
	}
	v := judge(e, d.blocked)
	if v.whole == nil && len(v.held) > 0 && !f.restIsClean(v.held) {
		v.whole = &v.held[0].why
	}
	if v.whole != nil {
		f.o.Guard.Free(d.held) // it does not go out: it stands in nobody's way
		r, action := stopped(r, *v.whole, f.now())
		f.batch.add(pending{record: r, action: action, group: f.x.group}, 0)
		return nil
	}
	f.batch.held = append(f.batch.held, d.held...)
	r.State, r.Hold = claimdlq.StateQueued, claimdlq.HoldIntake
	r.Claims -= uint32(len(v.held))
	r.Parted = uint32(len(v.held))
	p := pending{record: r, action: claimdlq.ActReceive, group: f.x.group, fingerprints: d.register}
	for _, h := range v.held {
		p.record.AmountCents -= h.cents
		p.children = append(p.children, f.part(r, h))
		p.notes = append(p.notes, h.note)
	}
	f.batch.add(p, 0)
	return nil
}

// restIsClean reports whether what is left of the set without the claims to be
// held passes the rules: a fault may lie in a loop that more than one claim needs.
// A set that was sealed as it streamed is not read again.
func (f *file) restIsClean(out []held) bool {
	if f.set.parts {
		return true
	}
	drop := make(map[int]bool, len(out))
	for _, h := range out {
		drop[h.ordinal] = true
	}
	var rest bytes.Buffer
	c := x12.NewComposer(&rest)
	if _, err := c.Add(bytes.NewReader(f.set.buf), x12.AddOptions{Drop: func(n int) bool { return drop[n] }}); err != nil {
		return false
	}
	if _, err := c.Close(); err != nil {
		return false
	}
	scan, err := envelope.Judge(&rest, f.o.Rules, false, nil)
	return err == nil && scan.Clean(nil)
}

// part returns the record of a claim that parts from its set at first sight. Its
// payload is the set's unit; its own document is cut out of it by ordinal.
func (f *file) part(set claimdlq.Record, h held) claimdlq.Record {
	c := set
	c.Key = lineage.ClaimKey(f.ids[0], set.Key, uint32(h.ordinal))
	c.Scope, c.Ordinal, c.Batch = claimdlq.ScopeClaim, uint32(h.ordinal), 0
	c.Claims, c.Parted, c.AmountCents = 1, 0, h.cents
	c, _ = stopped(c, h.why, f.now())
	return c
}

// stopped returns the new record as held at first sight, and the action that says so: a
// copy that a person decides about where an earlier sending may be with the payer.
func stopped(r claimdlq.Record, why claimdlq.Fault, now time.Time) (claimdlq.Record, claimdlq.Action) {
	if why.Detail == lineage.EarlierInDoubt {
		return parked(r, why.Detail, now), claimdlq.ActConflict
	}
	return dead(r, why, now), claimdlq.ActEnqueue
}

// owned says which claims of a set may go out.
type owned struct {
	blocked  []held         // another record of the same claim stands in their way
	held     []claimdlq.Key // fingerprints of the others, held until they are committed
	register []claimdlq.Key // under which the others become the owners of their claims
}

// duplicates looks the good claims of the set being read up. self is the set's
// own record where it is there already.
func (f *file) duplicates(self claimdlq.ID) (owned, error) {
	var out owned
	b, list := &f.batch, f.claims.list
	b.lookup = b.lookup[:0]
	for _, c := range list {
		fp := c.fp
		if c.bad && !f.dead.doubts() {
			fp = claimdlq.Key{}
		}
		b.lookup = append(b.lookup, fp)
	}
	// First hold, then look: what others commit in between is seen.
	if err := f.hold(); err != nil {
		return owned{}, err
	}
	for i, ok := range b.got {
		if ok {
			out.held = append(out.held, b.lookup[i])
		}
	}
	owners, err := lineage.Owners(f.ctx, f.o.Store, f.ids, b.lookup, f.claims.older)
	if err != nil {
		f.o.Guard.Free(out.held)
		return owned{}, err
	}
	for i, fp := range b.lookup {
		if fp == (claimdlq.Key{}) {
			continue
		}
		s, err := f.stands(b.got[i], owners, i, fp, self)
		if err == nil && f.dead.doubts() {
			err = f.supersede(owners, i, &s)
		}
		if err != nil {
			f.o.Guard.Free(out.held)
			return owned{}, err
		}
		if s.note != "" {
			out.blocked = append(out.blocked, held{list[i].ordinal, list[i].cents, claimdlq.Fault{
				Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: s.why,
			}, s.note})
		}
		if s.key != (claimdlq.Key{}) {
			out.register = append(out.register, s.key)
		}
	}
	return out, nil
}

// hold tries to hold the claims that are looked up. One that another pipeline may have
// sent is waited for: whoever holds it may be about to send it. Nothing is held meanwhile.
func (f *file) hold() error {
	b := &f.batch
	b.got = f.o.Guard.Try(b.lookup, b.got)
	if !f.dead.doubts() {
		return nil
	}
	var mine, all []claimdlq.Key
	for i, fp := range b.lookup {
		if b.got[i] {
			mine = append(mine, fp)
		}
		if fp != (claimdlq.Key{}) {
			all = append(all, fp)
		}
	}
	if len(mine) == len(all) {
		return nil
	}
	f.o.Guard.Free(mine)
	if err := f.flush(); err != nil {
		return err
	}
	if err := f.o.Guard.Hold(f.ctx, all); err != nil {
		return err
	}
	seen := map[claimdlq.Key]bool{}
	for i, fp := range b.lookup { // the same claim twice in a set is held once
		b.got[i] = fp != (claimdlq.Key{}) && !seen[fp]
		seen[fp] = true
	}
	return nil
}

// standing is how a claim stands to the owner of its fingerprint: why it is held, and
// in whose favour (for people), or else the key under which its record becomes the
// owner; neither where it is that already. One that another pipeline may have sent is
// held, and has a key for that (lineage.Besides).
type standing struct {
	key  claimdlq.Key
	why  claimdlq.Detail
	note string
}

// stands says how the ith claim stands to its owner.
func (f *file) stands(got bool, owners []lineage.Owner, i int, fp claimdlq.Key, self claimdlq.ID) (standing, error) {
	switch {
	case !got:
		return standing{why: detailDuplicate, note: "same claim in this file, or in one being taken in"}, nil
	case owners == nil || owners[i].ID == 0:
		return standing{key: fp}, nil
	}
	owner := owners[i]
	if owner.ID != self {
		earlier, err := f.o.Store.Get(f.ctx, owner.ID)
		if err != nil {
			return standing{}, err
		}
		if lineage.Blocks(earlier) {
			return behind(earlier), nil
		}
	}
	others, _, err := f.besides(i)
	if err != nil {
		return standing{}, err
	}
	for _, r := range others {
		if r.ID != self && lineage.Blocks(r) {
			return behind(r), nil
		}
	}
	if owner.ID == self {
		return standing{}, nil
	}
	return standing{key: owner.Next}, nil
}

// behind says how a claim stands to an earlier record that is in its way.
func behind(earlier claimdlq.Record) standing {
	s := standing{why: detailDuplicate, note: "same claim as record " + earlier.ID.String()}
	if lineage.PutAway(earlier) {
		s.why = lineage.EarlierInDoubt
	}
	return s
}

// besides is lineage.Besides of the ith claim that is looked up.
func (f *file) besides(i int) ([]claimdlq.Record, claimdlq.Key, error) {
	return lineage.Besides(f.ctx, f.o.Store, f.ids, lineage.Of(i, f.batch.lookup, f.claims.older))
}
