package x12

import (
	"bytes"
	"strings"
)

// Change is one difference between two documents, without any value.
type Change struct {
	Segment  string `json:"segment"`
	Position int    `json:"position"`          // in its set, ST is 1; of the old document if removed; 0 outside a set
	Loop     string `json:"loop,omitempty"`    // such as 2300; empty if unknown
	Element  string `json:"element,omitempty"` // such as 02 or 05-3; empty for a whole segment
	Kind     string `json:"kind"`              // changed, added or removed
	OldLen   int    `json:"old_len"`           // bytes
	NewLen   int    `json:"new_len"`
}

// The kinds of Change.
const (
	Changed = "changed"
	Added   = "added"
	Removed = "removed"
)

// Diff returns what differs between two interchanges in memory, in order. Line
// breaks between segments do not count, nor do other delimiters. Where more than
// a thousand segments differ they are paired by their ids in order. Errors:
// Invalid, where an ISA cannot be read.
func Diff(a, b []byte) ([]Change, error) {
	ds, err := Differences(a, b)
	if err != nil || len(ds) == 0 {
		return nil, err
	}
	out := make([]Change, len(ds))
	for i := range ds {
		out[i] = ds[i].Change
	}
	return out, nil
}

// Difference is a Change with what was there and what is there now: PHI. Separators in
// them are * : and ^, whatever the documents use.
type Difference struct {
	Change
	Old, New string
}

// Differences is Diff with the values.
func Differences(a, b []byte) ([]Difference, error) {
	left, err := diffLines(a)
	if err != nil {
		return nil, err
	}
	right, err := diffLines(b)
	if err != nil {
		return nil, err
	}
	var out []Difference
	for _, h := range hunks(left, right) {
		out = appendHunk(out, left[h.a0:h.a1], right[h.b0:h.b1])
	}
	return out, nil
}

// diffLine is one segment. Delimiters in it are the control characters US, FS
// and GS, so that documents with other delimiters compare.
type diffLine struct {
	id, loop string
	pos      int
	text     string
}

const (
	diffElement   = 0x1f
	diffComponent = 0x1c
	diffRepeat    = 0x1d
)

func diffLines(doc []byte) ([]diffLine, error) {
	h, _, err := documentHeader(doc, "compare documents")
	if err != nil {
		return nil, err
	}
	var out []diffLine
	var loops loopTracker
	inSet := false
	for s := NewSegments(doc, h.Delims); s.Next(); {
		if s.ID() == "" {
			continue
		}
		if s.ID() == "ST" {
			s.ResetPos()
			inSet = true
		}
		l := diffLine{id: s.ID(), loop: loops.next(s), text: diffText(s)}
		if inSet {
			l.pos = s.Pos()
		}
		if s.ID() == "SE" {
			inSet = false
		}
		out = append(out, l)
	}
	return out, nil
}

func diffText(s *Segments) string {
	d := s.d
	if s.ID() == "ISA" { // its delimiters are data
		return string(withoutWrap(s.seg, d))
	}
	out := bytes.Clone(withoutWrap(s.seg, d))
	for i, c := range out {
		switch {
		case c == d.Element:
			out[i] = diffElement
		case c == d.Component && d.Component != 0:
			out[i] = diffComponent
		case c == d.Repetition && d.Repetition != 0:
			out[i] = diffRepeat
		}
	}
	return string(out)
}

// appendHunk pairs segments of the same id and compares their elements; what
// finds no partner was added or removed.
func appendHunk(out []Difference, left, right []diffLine) []Difference {
	for len(left) > 0 || len(right) > 0 {
		i, j := passTo(left, right)
		for _, l := range left[:i] {
			out = append(out, Difference{Change{Segment: l.id, Position: l.pos, Loop: l.loop, Kind: Removed, OldLen: len(l.text)}, customary(l.text), ""})
		}
		for _, r := range right[:j] {
			out = append(out, Difference{Change{Segment: r.id, Position: r.pos, Loop: r.loop, Kind: Added, NewLen: len(r.text)}, "", customary(r.text)})
		}
		left, right = left[i:], right[j:]
		if len(left) > 0 && len(right) > 0 {
			out = appendElements(out, left[0], right[0])
			left, right = left[1:], right[1:]
		}
	}
	return out
}

// passTo returns how many segments to pass on each side until both stand at the
// same id, passing as few as possible; all, if they never do.
func passTo(left, right []diffLine) (int, int) {
	for sum := range min(len(left)+len(right), 2*maxDiffs) {
		for i := max(0, sum-len(right)+1); i <= sum && i < len(left); i++ {
			if j := sum - i; j < len(right) && left[i].id == right[j].id {
				return i, j
			}
		}
	}
	return len(left), len(right)
}

func appendElements(out []Difference, l, r diffLine) []Difference {
	a, b := splitText(l, diffElement), splitText(r, diffElement)
	for i := 1; i < max(len(a), len(b)); i++ {
		x, y := nth(a, i), nth(b, i)
		if bytes.Equal(x, y) {
			continue
		}
		c := Change{Segment: r.id, Position: r.pos, Loop: r.loop, Element: twoDigits(i), Kind: Changed, OldLen: len(x), NewLen: len(y)}
		if bytes.IndexByte(x, diffComponent) < 0 && bytes.IndexByte(y, diffComponent) < 0 {
			out = append(out, Difference{c, customary(string(x)), customary(string(y))})
			continue
		}
		p, q := bytes.Split(x, []byte{diffComponent}), bytes.Split(y, []byte{diffComponent})
		for k := range max(len(p), len(q)) {
			if u, v := nth(p, k), nth(q, k); !bytes.Equal(u, v) {
				c.Element, c.OldLen, c.NewLen = Assignment{Element: i, Component: k + 1}.position(), len(u), len(v)
				out = append(out, Difference{c, customary(string(u)), customary(string(v))})
			}
		}
	}
	return out
}

// customary writes text with the delimiters that people know.
func customary(s string) string {
	return text([]byte(strings.NewReplacer(string(rune(diffElement)), "*", string(rune(diffComponent)), ":", string(rune(diffRepeat)), "^").Replace(s)))
}

func splitText(l diffLine, sep byte) [][]byte {
	if l.id == "ISA" && len(l.text) > 3 {
		sep = l.text[3]
	}
	return bytes.Split([]byte(l.text), []byte{sep})
}

func nth(b [][]byte, i int) []byte {
	if i < len(b) {
		return b[i]
	}
	return nil
}
