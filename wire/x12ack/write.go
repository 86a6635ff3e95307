package x12ack

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"claimdlq"
	"claimdlq/wire/x12"
)

// Submitted is what an acknowledgment must know of the interchange it answers.
// Its delimiters are used for the answer, and its addresses are swapped.
type Submitted struct {
	Delims   x12.Delims
	Envelope claimdlq.Envelope
	ISA13    string
}

// SubmittedOf returns what is needed of a scanned ISA.
func SubmittedOf(e *x12.InterchangeStart) Submitted {
	return Submitted{Delims: e.Delims, Envelope: e.Envelope, ISA13: e.ISA13}
}

// writer writes segments in the submitter's delimiters. Anything in an element
// that could be taken for a delimiter, or cannot be printed, becomes a blank or
// is left out: bad bytes of theirs must not break our answer.
type writer struct {
	w     io.Writer
	d     x12.Delims
	buf   []byte
	err   error
	count int // segments of the open set
}

func newWriter(w io.Writer, d x12.Delims) *writer {
	if d.Component == 0 {
		for _, c := range []byte(":><\\") {
			if c != d.Element && c != d.Segment && c != d.Repetition {
				d.Component = c
				break
			}
		}
	}
	return &writer{w: w, d: d}
}

// segment writes one segment; empty elements at its end are left out. Elements
// that composite made keep their component separators.
func (w *writer) segment(id string, elements ...any) {
	w.count++
	w.buf = append(w.buf[:0], id...)
	end := len(w.buf)
	for _, e := range elements {
		w.buf = append(w.buf, w.d.Element)
		at := len(w.buf)
		switch e := e.(type) {
		case composite:
			w.composite(e)
		case []byte:
			w.clean(string(e))
		case int:
			w.buf = strconv.AppendInt(w.buf, int64(e), 10)
		case string:
			w.clean(e)
		}
		if len(w.buf) > at {
			end = len(w.buf)
		}
	}
	w.flush(w.buf[:end])
}

func (w *writer) flush(seg []byte) {
	seg = append(append(seg, w.d.Segment), w.d.Suffix...)
	if w.err == nil {
		_, w.err = w.w.Write(seg)
	}
}

// composite is an element of several components.
type composite []string

func (w *writer) composite(c composite) {
	end := len(w.buf)
	for i, v := range c {
		if i > 0 {
			w.buf = append(w.buf, w.d.Component)
		}
		at := len(w.buf)
		w.clean(v)
		if len(w.buf) > at {
			end = len(w.buf)
		}
	}
	w.buf = w.buf[:end]
}

func (w *writer) clean(v string) {
	for i := range len(v) {
		w.buf = append(w.buf, w.safe(v[i]))
	}
}

func (w *writer) safe(c byte) byte {
	if c < ' ' || c > '~' || c == w.d.Element || c == w.d.Component || c == w.d.Segment || c == w.d.Repetition {
		return ' '
	}
	return c
}

// start writes the ISA of an answer: sender and receiver swapped, 106 bytes.
func (w *writer) start(of Submitted, n x12.Numbers) {
	date, clock := of.Envelope.Date, of.Envelope.Time
	if len(n.Date) == 8 {
		date = n.Date[2:]
	}
	if n.Time != "" {
		clock = n.Time
	}
	rep := "U"
	if w.d.Repetition != 0 {
		rep = string([]byte{w.d.Repetition})
	}
	w.buf = append(w.buf[:0], "ISA"...)
	for _, f := range []struct {
		v     string
		width int
	}{
		{"00", 2},
		{"", 10},
		{"00", 2},
		{"", 10},
		{of.Envelope.ReceiverQualifier, 2},
		{of.Envelope.Receiver, 15},
		{of.Envelope.SenderQualifier, 2},
		{of.Envelope.Sender, 15},
		{date, 6},
		{clock, 4},
		{rep, 1},
		{"00501", 5},
		{fmt.Sprintf("%09d", n.ISA13%1_000_000_000), 9},
		{"0", 1},
		{of.Envelope.Usage, 1},
	} {
		w.buf = append(w.buf, w.d.Element)
		v := f.v
		if len(v) > f.width {
			v = v[:f.width]
		}
		if f.v == rep && f.width == 1 {
			w.buf = append(w.buf, v...)
			continue
		}
		w.clean(v)
		w.buf = append(w.buf, bytes.Repeat([]byte{' '}, f.width-len(v))...)
	}
	w.flush(append(w.buf, w.d.Element, w.d.Component))
}

func (w *writer) finish(groups int, n x12.Numbers) error {
	w.segment("IEA", groups, fmt.Sprintf("%09d", n.ISA13%1_000_000_000))
	if w.err != nil {
		return fmt.Errorf("write acknowledgment: %w", w.err)
	}
	return nil
}

// checkNumbers refuses numbers that cannot be written. Date and Time are
// required, because this package reads no clock.
func checkNumbers(n x12.Numbers) error {
	bad := func(on string) error {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "write acknowledgment", On: on, Hint: "give ISA13, GS06, Date (CCYYMMDD) and Time (HHMM)"}
	}
	_, date := number(n.Date[:min(len(n.Date), 8)])
	_, clock := number(n.Time)
	switch {
	case n.ISA13 == 0 || n.ISA13 > 999_999_999:
		return bad("ISA13")
	case n.GS06 > 999_999_999:
		return bad("GS06")
	case len(n.Date) != 8 || !date:
		return bad("GS04")
	case len(n.Time) != 4 || !clock:
		return bad("GS05")
	}
	return nil
}

// WriteTA1 writes an interchange with the TA1 for one that was scanned. IEA01 is
// 0: a TA1 stands in no group. n gives ISA13, Date and Time of the answer. Errors:
// Invalid, where they are missing; the writer's.
func WriteTA1(w io.Writer, of *x12.InterchangeStart, end *x12.InterchangeEnd, n x12.Numbers) error {
	return TA1{Submitted: SubmittedOf(of), Status: end.TA1, Note: end.Note}.Write(w, n)
}

// TA1 is the answer to one interchange.
type TA1 struct {
	Submitted
	Status string // A, E or R
	Note   string // TA105; empty is 000
}

// Write writes it as an interchange of its own; see WriteTA1.
func (t TA1) Write(out io.Writer, n x12.Numbers) error {
	if err := checkNumbers(n); err != nil {
		return err
	}
	note := t.Note
	if note == "" {
		note = "000"
	}
	w := newWriter(out, t.Delims)
	w.start(t.Submitted, n)
	w.segment("TA1", padNumber(t.ISA13), t.Envelope.Date, t.Envelope.Time, t.Status, note)
	return w.finish(0, n)
}

// padNumber pads a number to nine digits and leaves what is none as it is.
func padNumber(s string) string {
	if _, ok := number(s); ok {
		return strings.Repeat("0", 9-len(s)) + s
	}
	return s
}
