package ncpdp

import (
	"bytes"
	"errors"
	"strconv"

	"claimdlq"
)

// The kinds of a Step.
const (
	StepSet    = "set"    // a field
	StepInsert = "insert" // one more field behind those of its id; without a field, a segment
	StepDelete = "delete" // a field; without one, a segment
)

// Step is one edit of a message.
type Step struct {
	Op          string
	Transaction int    // from 1; 0 for what belongs to all
	Segment     string // such as 07; empty for the header
	Field       string // such as D7
	Occurrence  int    // from 1, of the field in its segment; 0 is 1
	Value       []byte
}

// CodeLocked is why a field is refused that says which fill the message is about, or
// that the system writes.
const CodeLocked = "RULE:IDENTITY_LOCKED"

// StepError says which Step cannot be done, and where: never a value.
type StepError struct {
	Index int    // of the Step, from 0
	Code  string // CodeLocked, or empty
	Err   *claimdlq.Error
}

// Error implements error.
func (e *StepError) Error() string { return e.Err.Error() }

// Unwrap returns the error with its code.
func (e *StepError) Unwrap() error { return e.Err }

// maxStep bounds a value, in bytes.
const maxStep = 10_000

// Apply returns a copy of the message with the steps done, in order. Every other byte
// stays as it is. Errors: Invalid and, for what is locked, Refused, both as a
// *StepError.
func Apply(doc []byte, steps []Step) ([]byte, error) {
	out := bytes.Clone(doc)
	for i := range steps {
		st := &steps[i]
		if err := st.check(i); err != nil {
			return nil, err
		}
		next, err := st.do(out)
		if err == nil {
			err = Parse(next).Err()
		}
		if err != nil {
			return nil, st.bad(i, claimdlq.Invalid, hintOf(err))
		}
		out = next
	}
	return out, nil
}

func hintOf(err error) string {
	if e, ok := errors.AsType[*claimdlq.Error](err); ok && e.Hint != "" {
		return e.Hint
	}
	return "the message could not be read any more"
}

func (st *Step) check(i int) error {
	switch {
	case st.Op != StepSet && st.Op != StepInsert && st.Op != StepDelete:
		return st.bad(i, claimdlq.Invalid, "no such kind of edit")
	case st.Segment != "" && segmentNumber(IDOf(st.Segment)) == 0:
		return st.bad(i, claimdlq.Invalid, "the standard has no such segment")
	case st.Field != "" && IDOf(st.Field) == ID{}, st.Field == "" && (st.Op == StepSet || st.Segment == ""):
		return st.bad(i, claimdlq.Invalid, "no such field can be set")
	case st.Segment == "" && st.Op != StepSet:
		return st.bad(i, claimdlq.Invalid, "the header's fields can be set only")
	case st.Occurrence < 0 || st.Occurrence > maxOccurrence || st.Transaction < 0 || st.Transaction > MaxTransactions || len(st.Value) > maxStep:
		return st.bad(i, claimdlq.Invalid, "no such position, or too long a value")
	case Locked(st.Segment, st.Field), st.Field == "" && st.Segment == "07":
		return st.bad(i, claimdlq.Refused, "it says which fill this is, or the system writes it: withdraw the claim and take in another")
	}
	return nil
}

const maxOccurrence = 99

func (st *Step) do(doc []byte) ([]byte, error) {
	a := Assignment{Segment: st.Segment, Field: st.Field, Occurrence: max(1, st.Occurrence), Value: st.Value}
	switch {
	case st.Segment == "":
		return SetHeader(doc, st.Field, string(st.Value))
	case st.Field == "" && st.Op == StepInsert:
		return insertSegment(doc, st.Transaction, IDOf(st.Segment))
	case st.Field == "":
		return deleteSegment(doc, st.Transaction, IDOf(st.Segment))
	case st.Op == StepInsert:
		return insertField(doc, st.Transaction, a)
	case st.Op == StepDelete:
		a.Value = nil
	}
	return Set(doc, st.Transaction, a)
}

// find returns a segment of the transaction, or one that belongs to all.
func (m *Message) find(transaction int, id ID) (Segment, bool) {
	if s, ok := m.Segment(transaction, id); ok {
		return s, true
	}
	return m.Segment(0, id)
}

// insertField puts one more field behind those of its id, or at the segment's end.
func insertField(doc []byte, transaction int, a Assignment) ([]byte, error) {
	m := Parse(doc)
	id := IDOf(a.Field)
	s, ok := m.find(transaction, IDOf(a.Segment))
	switch {
	case !ok:
		return nil, badEdit("segment", "the transaction has no such segment: insert it first")
	case len(a.Value) == 0 || !printable(a.Value) || !printable(a.Field) || id == idAM:
		return nil, badEdit("field", "values are printable ASCII, and not empty")
	}
	at := int(s.End)
	for _, f := range m.Fields(s) {
		if f.ID == id {
			at = int(f.End)
		}
	}
	put := append([]byte{fieldSeparator, id[0], id[1]}, a.Value...)
	return splice(doc, at, at, put), nil
}

// insertSegment puts a segment at the end of its transaction.
func insertSegment(doc []byte, transaction int, id ID) ([]byte, error) {
	m := Parse(doc)
	if _, there := m.find(transaction, id); there {
		return nil, badEdit("segment", "the transaction has the segment")
	}
	if transaction > 0 && !m.has(transaction) {
		return nil, badEdit("segment", "the message has no such transaction")
	}
	at := m.body
	for _, s := range m.segments {
		if int(s.Transaction) == transaction {
			at = int(s.End)
		}
	}
	return splice(doc, at, at, []byte{segmentSeparator, fieldSeparator, 'A', 'M', id[0], id[1]}), nil
}

func deleteSegment(doc []byte, transaction int, id ID) ([]byte, error) {
	s, ok := Parse(doc).find(transaction, id)
	if !ok {
		return nil, badEdit("segment", "the transaction has no such segment")
	}
	return splice(doc, int(s.Start), int(s.End), nil), nil
}

func splice(doc []byte, from, to int, put []byte) []byte {
	out := append(make([]byte, 0, len(doc)+len(put)), doc[:from]...)
	return append(append(out, put...), doc[to:]...)
}

func (st *Step) bad(i int, code claimdlq.Code, hint string) error {
	on := "edit " + strconv.Itoa(i+1)
	if st.Segment != "" {
		on += ", segment " + segmentName(IDOf(st.Segment))
	}
	if st.Field != "" {
		on += ", field " + IDOf(st.Field).String()
	}
	e := &StepError{Index: i, Err: &claimdlq.Error{Code: code, Op: "edit ncpdp message", On: on, Hint: hint}}
	if code == claimdlq.Refused {
		e.Code, e.Err.On = CodeLocked, CodeLocked+" in "+on
	}
	return e
}
