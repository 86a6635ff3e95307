package intake

import (
	"claimdlq"
	"claimdlq/wire/x12"
)

// Parcel is what one submission will carry, for tests.
type Parcel struct {
	Own     bool
	Groups  []uint32
	Members []claimdlq.IDRange
}

// Plan is plan over groups numbered from 1.
func Plan(groups [][]claimdlq.IDRange, limit int, own bool) (out []Parcel) {
	var gs []*group
	for i, ids := range groups {
		gs = append(gs, &group{ids: ids, start: x12.GroupStart{Control: string(rune('1' + i))}})
	}
	for _, p := range plan(gs, limit, own) {
		n := Parcel{Own: p.own, Members: p.members}
		for _, g := range p.groups {
			n.Groups = append(n.Groups, g.Number)
		}
		out = append(out, n)
	}
	return out
}

// Judged is a verdict in words, for tests.
type Judged struct {
	Whole claimdlq.Detail // zero: the set goes on
	Class claimdlq.Class
	Held  []int
}

// Judge is judge; duplicates are ordinals.
func Judge(e *x12.Set, duplicates ...int) Judged {
	var dups []held
	for _, n := range duplicates {
		dups = append(dups, held{ordinal: n, why: claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: detailDuplicate}})
	}
	v := judge(e, dups)
	var j Judged
	if v.whole != nil {
		j.Whole, j.Class = v.whole.Detail, v.whole.Class
	}
	for _, h := range v.held {
		j.Held = append(j.Held, h.ordinal)
	}
	return j
}

// Tidy is tidy.
func Tidy(s string, limit int) string { return tidy(s, limit) }
