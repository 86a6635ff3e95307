package x12ack

import (
	"strings"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/wire/x12"
)

// maxPosition is beyond any segment position; a longer number is no position.
const maxPosition = 10_000_000

// set999 is one AK2 loop.
type set999 struct {
	answer  Answer
	segment string // IK301 of the open IK3, if it is a segment id
	where   string // position and loop of it, as they end a code
	cause   claimdlq.Detail
}

// read999 reads one 999, or its older form 997: AK1, a loop AK2 to IK5 for each
// set that is answered, AK9. Of IK3 and IK4 only positions and codes are taken,
// of CTX and IK404 nothing: they copy what was sent.
func (p *reader) read999(s *x12.Segments) {
	var (
		group Answer
		known bool // AK1 was read
		sets  []Answer
		open  *set999
	)
	for s.Next() {
		switch s.ID() {
		case "AK1":
			group, known = p.ak1(s)
		case "AK2":
			p.unfinished(open, s)
			open = p.ak2(s, group)
		case "IK3", "AK3":
			open.ik3(s)
		case "IK4", "AK4":
			open.ik4(s)
		case "IK5", "AK5":
			if a, ok := open.ik5(s); ok && known {
				a.Ordinal = len(sets) + 1
				sets = append(sets, a)
			} else {
				p.fault(s.ID(), s.Pos(), "IK5")
			}
			open = nil
		case "AK9":
			p.unfinished(open, s)
			open = nil
			if !known {
				p.fault("AK9", s.Pos(), "AK9")
				continue
			}
			p.ak9(s, group, sets)
			sets, known = nil, false
		}
	}
	if known { // the sets that were answered stay answered
		p.fault("AK9", s.Pos(), "NO_AK9")
		for _, a := range sets {
			p.add(a)
		}
	}
}

func (p *reader) unfinished(open *set999, s *x12.Segments) {
	if open != nil {
		p.fault("AK2", s.Pos(), "NO_IK5")
	}
}

func (p *reader) ak1(s *x12.Segments) (Answer, bool) {
	n, ok := number(text(s, 2))
	if !ok {
		p.fault("AK1", s.Pos(), "AK102")
		return Answer{}, false
	}
	return Answer{
		Kind: KindGroup, Envelope: p.original, GroupSender: p.groupSender, GroupReceiver: p.groupReceiver, GS06: n,
	}, true
}

func (p *reader) ak2(s *x12.Segments, group Answer) *set999 {
	a := group
	a.Kind, a.ST02 = KindSet, text(s, 2)
	if !code(a.ST02, 9) {
		p.fault("AK2", s.Pos(), "AK202")
		return nil
	}
	return &set999{answer: a}
}

func (o *set999) add(c string) {
	if len(o.answer.Codes) < MaxCodes {
		o.answer.Codes = append(o.answer.Codes, claimdlq.NewDetail(c))
	}
}

func (o *set999) ik3(s *x12.Segments) {
	if o == nil {
		return
	}
	o.segment, o.where = "", ""
	id, why := text(s, 1), text(s, 4)
	if !code(id, 3) {
		return
	}
	o.segment = id
	if pos, ok := number(text(s, 2)); ok && pos < maxPosition {
		o.where = ":" + claimdlq.ID(pos).String()
		if l := text(s, 3); loopID(l) {
			o.where += ":" + l
		}
	}
	if code(why, 3) {
		o.because("IK3:" + id + ":" + why)
	}
}

func (o *set999) ik4(s *x12.Segments) {
	if o == nil || o.segment == "" {
		return
	}
	element, ok := number(string(s.Component(1, 1)))
	why := text(s, 3)
	if !ok || element > 99 || !code(why, 3) {
		return
	}
	c := "IK4:" + o.segment + twoDigits(element)
	if n, ok := number(string(s.Component(1, 2))); ok && n > 0 && n < 100 {
		c += "-" + claimdlq.ID(n).String()
	}
	o.because(c + ":" + why)
}

// because adds a code, and keeps the first, an IK4 before an IK3, as the cause.
func (o *set999) because(c string) {
	if o.cause.IsZero() || strings.HasPrefix(c, "IK4") && strings.HasPrefix(o.cause.String(), "IK3") {
		o.cause = claimdlq.NewDetail(c)
	}
	o.add(c + o.where)
}

// ik5 ends the set: its verdict, whose code is the first cause if it was rejected.
func (o *set999) ik5(s *x12.Segments) (Answer, bool) {
	if o == nil {
		return Answer{}, false
	}
	ack, ok := classify.Set(text(s, 1), codes(s, 2, 6))
	if !ok {
		return Answer{}, false
	}
	o.add(ack.Outcome.Code.String())
	if ack.Result == classify.Rejected && ack.Class == claimdlq.Poison && !o.cause.IsZero() {
		ack.Outcome.Code = o.cause
	}
	o.answer.Ack = ack
	return o.answer, true
}

// ak9 ends the group. A group that was rejected takes all its sets with it,
// whatever was said about them before.
func (p *reader) ak9(s *x12.Segments, group Answer, sets []Answer) {
	ack, ok := classify.Group(text(s, 1), codes(s, 5, 9))
	if !ok {
		p.fault("AK9", s.Pos(), "AK901")
		for _, a := range sets {
			p.add(a)
		}
		return
	}
	for _, a := range sets {
		if ack.Result == classify.Rejected && a.Result != classify.Rejected {
			a.Ack = ack
			a.Codes = append(a.Codes, ack.Outcome.Code)
		}
		p.add(a)
	}
	group.Ack, group.Codes = ack, []claimdlq.Detail{ack.Outcome.Code}
	p.add(group)
}

// text returns an element that is a code or a number, never data to be kept.
func text(s *x12.Segments, n int) string {
	e := s.Element(n)
	if len(e) > 30 {
		return ""
	}
	return strings.TrimSpace(string(e))
}

// codes returns the codes in elements from to last.
func codes(s *x12.Segments, from, last int) []string {
	var out []string
	for n := from; n <= last; n++ {
		if c := text(s, n); code(c, 3) {
			out = append(out, c)
		}
	}
	return out
}

// code reports whether s has one to most letters and digits.
func code(s string, most int) bool {
	for i := range len(s) {
		if c := s[i]; (c < '0' || c > '9') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return len(s) > 0 && len(s) <= most
}

// loopID reports whether s looks like 2300 or 2010AA.
func loopID(s string) bool {
	if len(s) < 4 || len(s) > 6 {
		return false
	}
	_, ok := number(s[:4])
	return ok && (len(s) == 4 || code(s[4:], 2))
}

func twoDigits(n uint32) string {
	if n < 10 {
		return "0" + claimdlq.ID(n).String()
	}
	return claimdlq.ID(n).String()
}
