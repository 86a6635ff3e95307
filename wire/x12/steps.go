package x12

import (
	"bytes"
	"strconv"

	"claimdlq"
)

// The kinds of a Step.
const (
	StepSet    = "set"    // an element, or a component of it; Value may be empty
	StepInsert = "insert" // Text, a segment, behind the one that is named
	StepDelete = "delete" // the segment
)

// Step is one edit of a document as View shows it: Segment is the number of a line
// there, whatever other Steps do to the document.
type Step struct {
	Op        string
	Segment   int
	Element   int // from 1
	Component int // from 1; 0 for the whole element
	Repeat    int // of the element, from 1; 0 is 1 where a component is named
	// Value is what to set. In that of a whole element, component and repetition
	// separators are the document's own.
	Value []byte
	// Text is a segment with * between elements, : between components and ^ between
	// repetitions, whatever the document uses; a ~ at the end may be left out.
	Text []byte
}

// CodeLocked is why an edit of the envelope, or of a number that the system counts, is
// refused.
const CodeLocked = "RULE:ENVELOPE_LOCKED"

// StepError says which Step cannot be done, and where: never a value.
type StepError struct {
	Index   int    // of the Step, from 0
	Code    string // CodeLocked, or empty
	Segment string // id of the segment, if it is known
	Err     *claimdlq.Error
}

// Error implements error.
func (e *StepError) Error() string { return e.Err.Error() }

// Unwrap returns the error with its code.
func (e *StepError) Unwrap() error { return e.Err }

// Apply returns a copy of doc, an interchange in memory, with the steps done. Counts
// are not set right: see Repair. Errors: Invalid and, for what is locked, Refused, both
// as a *StepError; Invalid where the ISA cannot be read.
func Apply(doc []byte, steps []Step) ([]byte, error) {
	h, _, err := documentHeader(doc, "edit document")
	if err != nil {
		return nil, err
	}
	by := map[int][]int{} // steps of a segment
	for i := range steps {
		by[steps[i].Segment] = append(by[steps[i].Segment], i)
	}
	out := make([]byte, 0, len(doc)+64*len(steps))
	n, done := 0, 0
	for s := NewSegments(doc, h.Delims); s.Next(); {
		if s.ID() != "" {
			n++
		}
		mine := by[n]
		if s.ID() == "" || len(mine) == 0 {
			out = append(out, s.Raw()...)
			continue
		}
		if out, err = applyTo(out, s, h.Delims, steps, mine); err != nil {
			return nil, err
		}
		done += len(mine)
	}
	if done < len(steps) {
		for i := range steps {
			if steps[i].Segment < 1 || steps[i].Segment > n {
				return nil, steps[i].bad(i, "", claimdlq.Invalid, "the document has no such segment")
			}
		}
	}
	return out, nil
}

// applyTo appends one segment with its steps done.
func applyTo(out []byte, s *Segments, d Delims, steps []Step, mine []int) ([]byte, error) {
	raw, gone := s.Raw(), false
	var behind []byte
	for _, i := range mine {
		st := &steps[i]
		if err := st.check(i, s.ID(), d); err != nil {
			return nil, err
		}
		switch {
		case st.Op == StepInsert:
			text, why := translate(bytes.TrimSuffix(st.Text, []byte("~")), d)
			if why != "" {
				return nil, st.bad(i, s.ID(), claimdlq.Invalid, why)
			}
			behind = append(append(append(behind, text...), d.Segment), d.Suffix...)
		case gone:
			return nil, st.bad(i, s.ID(), claimdlq.Invalid, "another edit deletes the segment")
		case st.Op == StepDelete:
			gone = true
		default:
			raw = st.set(raw, d)
		}
	}
	if !gone {
		out = append(out, raw...)
	}
	return append(out, behind...), nil
}

// set returns raw with the step's value in its place.
func (st *Step) set(raw []byte, d Delims) []byte {
	if st.Repeat == 0 || st.Repeat == 1 && st.Component > 0 {
		return setElement(raw, d, st.Element, st.Component, st.Value)
	}
	all := repeatsOf(nthElement(trimIndent(raw[:lenTo(raw, d.Segment)], d), d, st.Element), d)
	for len(all) < st.Repeat {
		all = append(all, nil)
	}
	all[st.Repeat-1] = appendComponent(nil, all[st.Repeat-1], d, st.Component, st.Value)
	v := bytes.TrimRight(bytes.Join(all, []byte{d.Repetition}), string([]byte{d.Repetition}))
	return setElement(raw, d, st.Element, 0, v)
}

const maxRepeat = 99

// check says why the step cannot be done to a segment.
func (st *Step) check(i int, id string, d Delims) error {
	bad := func(hint string) error { return st.bad(i, id, claimdlq.Invalid, hint) }
	switch st.Op {
	case StepSet, StepDelete:
		if locked(id) || st.Op == StepSet && counted(id, st.Element) {
			return st.bad(i, id, claimdlq.Refused, "the system writes it")
		}
		if st.Op == StepSet {
			return st.checkSet(bad, d)
		}
	case StepInsert:
		what, _, _ := bytes.Cut(bytes.TrimSuffix(st.Text, []byte("~")), []byte("*"))
		switch {
		case locked(string(what)), locked(id) && id != "ST": // nothing goes behind a trailer, or before the ST
			return st.bad(i, id, claimdlq.Refused, "the system writes the envelope")
		case !validID(string(what)):
			return bad("what is inserted is no segment")
		case len(st.Text) > maxValue:
			return bad("the segment is too long")
		}
	default:
		return bad("no such kind of edit")
	}
	return nil
}

func (st *Step) checkSet(bad func(string) error, d Delims) error {
	switch {
	case st.Element < 1, st.Element > maxElement, st.Component < 0, st.Component > maxComponent, st.Repeat < 0, st.Repeat > maxRepeat:
		return bad("no such position")
	case st.Component > 0 && d.Component == 0:
		return bad("the interchange has no component separator")
	case st.Repeat > 1 && d.Repetition == 0:
		return bad("the interchange has no repetition separator")
	case len(st.Value) > maxValue:
		return bad("the value is too long")
	}
	v := st.Value
	if st.Component == 0 && st.Repeat == 0 && d.Repetition != 0 {
		v = bytes.ReplaceAll(v, []byte{d.Repetition}, nil)
	}
	if why := checkValue(v, d, st.Component == 0); why != "" {
		return bad(why)
	}
	return nil
}

func (st *Step) bad(i int, id string, code claimdlq.Code, hint string) error {
	on := "edit " + strconv.Itoa(i+1) + ", segment " + strconv.Itoa(st.Segment)
	if validID(id) {
		on += " " + id
	}
	if st.Op == StepSet && st.Element >= 1 && st.Element <= maxElement {
		on += "-" + Assignment{Element: st.Element, Component: max(0, min(st.Component, maxComponent))}.position()
	}
	e := &StepError{Index: i, Segment: id, Err: &claimdlq.Error{Code: code, Op: "edit document", On: on, Hint: hint}}
	if code == claimdlq.Refused {
		e.Code, e.Err.On = CodeLocked, CodeLocked+" in "+on
	}
	return e
}
