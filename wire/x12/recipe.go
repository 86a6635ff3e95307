package x12

import (
	"bytes"

	"claimdlq"
)

// The kinds of a Rule, beside StepSet and StepDelete.
const (
	RuleReplace     = "replace"      // like set, where the value is Equals now
	RuleInsertAfter = "insert_after" // Text, behind each segment that matches
)

// Rule is an edit of every document of a kind: it names segments by what they are, not
// by their number.
type Rule struct {
	Op        string  `json:"op"`
	Loop      string  `json:"loop,omitempty"` // such as 2010BB; empty for any
	Segment   string  `json:"segment"`        // such as NM1
	Where     []Match `json:"where,omitempty"`
	Element   int     `json:"element,omitempty"` // from 1; 0 with delete is the whole segment
	Component int     `json:"component,omitempty"`
	Equals    string  `json:"equals,omitempty"` // of replace
	Value     string  `json:"value,omitempty"`
	Text      string  `json:"text,omitempty"` // of insert_after, as a Step's
}

// Match is what an element of the segment must be.
type Match struct {
	Element   int    `json:"element"`
	Component int    `json:"component,omitempty"` // from 1; 0 for the whole element
	Value     string `json:"value"`
}

// Check says what is wrong with a rule, never with a value. Errors: Invalid, and Refused
// for what the system writes.
func (u *Rule) Check() error {
	bad := func(code claimdlq.Code, hint string) error {
		on := "rule"
		if validID(u.Segment) {
			on += " for " + u.Segment
		}
		return &claimdlq.Error{Code: code, Op: "read recipe", On: on, Hint: hint}
	}
	switch {
	case !validID(u.Segment), len(u.Loop) > 6, len(u.Where) > 8:
		return bad(claimdlq.Invalid, "no such segment or loop")
	case locked(u.Segment), u.Op != RuleInsertAfter && counted(u.Segment, u.Element):
		return bad(claimdlq.Refused, CodeLocked+": the system writes it")
	case u.Element < 0 || u.Element > maxElement || u.Component < 0 || u.Component > maxComponent, u.Component > 0 && u.Element == 0:
		return bad(claimdlq.Invalid, "no such position")
	case len(u.Value) > maxValue || len(u.Text) > maxValue || len(u.Equals) > maxValue:
		return bad(claimdlq.Invalid, "the value is too long")
	}
	for _, m := range u.Where {
		if m.Element < 1 || m.Element > maxElement || m.Component < 0 || m.Component > maxComponent {
			return bad(claimdlq.Invalid, "no such position")
		}
	}
	switch u.Op {
	case StepSet, RuleReplace:
		if u.Element == 0 {
			return bad(claimdlq.Invalid, "name an element")
		}
	case StepDelete:
	case RuleInsertAfter:
		id, _, _ := bytes.Cut([]byte(u.Text), []byte("*"))
		if locked(string(id)) {
			return bad(claimdlq.Refused, CodeLocked+": the system writes it")
		}
		if !validID(string(id)) {
			return bad(claimdlq.Invalid, "what is inserted is no segment")
		}
	default:
		return bad(claimdlq.Invalid, "no such kind of edit")
	}
	return nil
}

// Find returns the steps that the rules make of a document, and how many places match
// them, whatever is there already. Errors: Invalid, where the ISA cannot be read.
func (r *Rules) Find(doc []byte, rules []Rule) (steps []Step, places int, err error) {
	err = r.walk(doc, "apply recipe", func(s *Segments, l *Line, _ *placer) {
		for i := range rules {
			u := &rules[i]
			if u.Segment != l.ID || u.Loop != "" && u.Loop != l.Loop || !u.matches(s) {
				continue
			}
			now := s.Element(u.Element)
			if u.Component > 0 {
				now = s.Component(u.Element, u.Component)
			}
			if u.Op == RuleReplace && string(now) != u.Equals {
				continue
			}
			places++
			if st, some := u.step(l.Number, now); some {
				steps = append(steps, st)
			}
		}
	})
	return steps, places, err
}

func (u *Rule) matches(s *Segments) bool {
	for _, m := range u.Where {
		v := s.Element(m.Element)
		if m.Component > 0 {
			v = s.Component(m.Element, m.Component)
		}
		if string(v) != m.Value {
			return false
		}
	}
	return true
}

// step is what the rule does to a segment; false where it is so already.
func (u *Rule) step(number int, now []byte) (Step, bool) {
	st := Step{Op: StepSet, Segment: number, Element: u.Element, Component: u.Component, Value: []byte(u.Value)}
	switch {
	case u.Op == RuleInsertAfter:
		return Step{Op: StepInsert, Segment: number, Text: []byte(u.Text)}, true
	case u.Op == StepDelete && u.Element == 0:
		return Step{Op: StepDelete, Segment: number}, true
	case u.Op == StepDelete:
		st.Value = nil
	}
	return st, !bytes.Equal(now, st.Value)
}
