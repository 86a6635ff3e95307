package x12ack

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"claimdlq/wire/x12"
)

// version999 answers every 005010 guide (005010X231A1).
const version999 = "005010X231A1"

// The most that a 999 holds of each.
const (
	maxIK502 = 5
	maxAK905 = 5
	maxIK3   = 999 // per set; more help nobody
	maxIK4   = 99  // per IK3
)

// Writer999 writes the 999s for one interchange as its events come: a group of
// its own for each group of claims, addressed by GS02 and GS03 swapped. Faults
// give position and code; nothing that was sent is copied (IK404 and CTX stay
// out), so that the answer holds no PHI.
type Writer999 struct {
	w      *writer
	of     Submitted
	n      x12.Numbers
	begun  bool
	groups int
	open   x12.GroupStart // Raw nil
	in     bool
}

// NewWriter999 returns a Writer999 for the interchange that starts with of. n
// gives ISA13, Date and Time of the answer, and the GS06 of its first group: each
// further one is one higher. Default GS06: 1.
func NewWriter999(w io.Writer, of *x12.InterchangeStart, n x12.Numbers) (*Writer999, error) {
	if err := checkNumbers(n); err != nil {
		return nil, err
	}
	if n.GS06 == 0 {
		n.GS06 = 1
	}
	return &Writer999{w: newWriter(w, of.Delims), of: SubmittedOf(of), n: n}, nil
}

// Event takes the next event of the interchange; those that a 999 does not
// answer are passed over, and so are groups of acknowledgments.
func (x *Writer999) Event(e x12.Event) {
	switch e := e.(type) {
	case *x12.GroupStart:
		x.group(e)
	case *x12.Set:
		if x.in {
			x.set(e)
		}
	case *x12.GroupEnd:
		x.endGroup(e)
	case *x12.Junk, *x12.InterchangeStart, *x12.Loose, *x12.SetPart, *x12.InterchangeEnd:
	}
}

// Close ends the answer and returns how many groups it has; with none, nothing
// was written. Errors: the writer's.
func (x *Writer999) Close() (int, error) {
	if !x.begun {
		return 0, nil
	}
	return x.groups, x.w.finish(x.groups, x.n)
}

func (x *Writer999) group(e *x12.GroupStart) {
	x.open = *e
	x.open.Raw = nil
	x.in = e.GS01 != "FA" && e.GS01 != "HN" // an acknowledgment is not acknowledged
	if !x.in {
		return
	}
	if !x.begun {
		x.begun = true
		x.w.start(x.of, x.n)
	}
	number := (x.n.GS06-1+uint32(x.groups))%999_999_999 + 1
	x.groups++
	x.w.segment("GS", "FA", e.Receiver, e.Sender, x.n.Date, x.n.Time, strconv.FormatUint(uint64(number), 10), "X", version999)
	x.open.Number = number
	x.w.count = 0
	x.w.segment("ST", "999", "0001", version999)
	x.w.segment("AK1", e.GS01, e.Control, e.Version)
}

func (x *Writer999) set(e *x12.Set) {
	x.w.segment("AK2", e.ST01, e.ST02, e.ST03)
	for i, segments := 0, 0; i < len(e.Faults) && segments < maxIK3; {
		i = x.faults(e.Faults, i, &segments)
	}
	el := []any{e.IK5}
	for _, c := range e.IK502[:min(len(e.IK502), maxIK502)] {
		el = append(el, c)
	}
	x.w.segment("IK5", el...)
}

// faults writes the faults of one segment, from index i, and returns the index
// behind them. A fault of the segment is an IK3; those of its elements are IK4
// below one IK3 with code 8.
func (x *Writer999) faults(all []x12.Fault, i int, segments *int) int {
	first, elements := all[i], 0
	for ; i < len(all) && all[i].Segment == first.Segment && all[i].Position == first.Position; i++ {
		f := all[i]
		switch {
		case f.Severity != x12.Error:
		case f.IK403 == "":
			*segments++
			x.w.segment("IK3", f.Segment, f.Position, f.Loop, f.IK304)
			elements = 0
		case elements < maxIK4:
			if elements == 0 {
				*segments++
				x.w.segment("IK3", f.Segment, f.Position, f.Loop, "8")
			}
			elements++
			x.w.segment("IK4", elementPosition(f.Element), "", f.IK403)
		}
	}
	return i
}

// elementPosition turns 05-3 into IK401: 5, component 3.
func elementPosition(e string) composite {
	parts := strings.SplitN(e, "-", 2)
	for i := range parts {
		parts[i] = strings.TrimLeft(parts[i], "0")
	}
	return composite(parts)
}

func (x *Writer999) endGroup(e *x12.GroupEnd) {
	if !x.in {
		return
	}
	x.in = false
	included := e.Included
	if included < 0 {
		included = e.Received
	}
	el := []any{e.AK9, included, e.Received, e.Accepted}
	for _, c := range e.AK905[:min(len(e.AK905), maxAK905)] {
		el = append(el, c)
	}
	x.w.segment("AK9", el...)
	x.w.segment("SE", x.w.count+1, "0001")
	x.w.segment("GE", 1, fmt.Sprint(x.open.Number))
}
