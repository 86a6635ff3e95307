package x12

import (
	"bytes"
	"strings"
)

// Line is one segment of a document as a person reads it. Its values are PHI.
type Line struct {
	Number   int       `json:"segment"`            // in the document, ISA is 1: what a Step names
	Position int       `json:"position,omitempty"` // in its set, ST is 1; 0 outside one
	Offset   int       `json:"offset"`             // in the document, bytes from 0
	ID       string    `json:"id"`
	Name     string    `json:"name,omitempty"` // such as Subscriber name
	Loop     string    `json:"loop,omitempty"`
	LoopName string    `json:"loop_name,omitempty"`
	Locked   bool      `json:"locked"` // written by the system
	Elements []Element `json:"elements"`
}

// Element is one element of a Line.
type Element struct {
	Element    int         `json:"element"` // from 1
	Name       string      `json:"name,omitempty"`
	Value      string      `json:"value"`
	Cut        bool        `json:"cut,omitempty"` // the value is longer than is shown
	Locked     bool        `json:"locked"`
	Components []Component `json:"components,omitempty"` // where it is composite or repeats
}

// Component is one component of one repetition of an Element.
type Component struct {
	Repeat    int    `json:"repeat"`    // from 1
	Component int    `json:"component"` // from 1
	Name      string `json:"name,omitempty"`
	Value     string `json:"value"`
}

// The bounds of a View, in bytes: of a value that is shown, and of the segments in it.
const (
	maxShown = 4096
	maxView  = 4 << 20
)

// View returns the lines of an interchange in memory from the given number, at most
// limit of them and 4 MiB, and how many it has. Loops are those of the rules' guides. Bytes that
// are no UTF-8 are shown as U+FFFD. Errors: Invalid, where the ISA cannot be read.
func (r *Rules) View(doc []byte, from, limit int) (lines []Line, total int, err error) {
	size := 0
	err = r.walk(doc, "view document", func(s *Segments, l *Line, p *placer) {
		if total = l.Number; l.Number < from || len(lines) >= limit || size > maxView {
			return
		}
		size += len(s.Raw())
		l.Name, l.LoopName, l.Locked = about(lookUp(l.ID, p.qual, ""), p.about(l.Loop), false), p.loopName(l.Loop), locked(l.ID)
		l.Elements = elementsOf(s, p, l)
		lines = append(lines, *l)
	})
	return lines, total, err
}

// walk calls f for every segment of a document, with its numbers and its loop.
func (r *Rules) walk(doc []byte, op string, f func(s *Segments, l *Line, p *placer)) error {
	h, _, err := documentHeader(doc, op)
	if err != nil {
		return err
	}
	p := placer{r: r}
	inSet, n := false, 0
	for s := NewSegments(doc, h.Delims); s.Next(); {
		if s.ID() == "" {
			continue
		}
		if s.ID() == "ST" {
			s.ResetPos()
			inSet = true
		}
		n++
		l := Line{Number: n, Offset: s.Offset(), ID: s.ID(), Loop: p.next(s)}
		if inSet {
			l.Position = s.Pos()
		}
		if s.ID() == "SE" {
			inSet = false
		}
		f(s, &l, &p)
	}
	return nil
}

func elementsOf(s *Segments, p *placer, l *Line) []Element {
	out := []Element{}
	whom := p.about(l.Loop)
	person := l.ID == "NM1" && string(s.Element(2)) == "1"
	for i := 1; i <= min(s.Elements(), maxElement); i++ {
		v := s.Element(i)
		cut := len(v) > maxShown
		v = v[:min(len(v), maxShown)]
		e := Element{
			Element: i, Cut: cut, Name: about(nameOf(l.ID, p.qual, i, 0), whom, person), Value: text(v), Locked: l.Locked || counted(l.ID, i),
		}
		if l.ID != "ISA" {
			e.Components = componentsOf(v, s.d, l.ID, p, i)
		}
		out = append(out, e)
	}
	return out
}

// componentsOf splits an element that is composite, or could be, or repeats.
func componentsOf(v []byte, d Delims, id string, p *placer, element int) []Component {
	composite := nameOf(id, p.qual, element, 1) != ""
	var out []Component
	all := repeatsOf(v, d)
	for i, part := range all[:min(len(all), maxRepeat)] {
		cs := [][]byte{part}
		if d.Component != 0 {
			cs = bytes.Split(part, []byte{d.Component})
		}
		for k, c := range cs[:min(len(cs), maxComponent)] {
			out = append(out, Component{i + 1, k + 1, about(nameOf(id, p.qual, element, k+1), "", false), text(c)})
		}
	}
	if len(out) == 1 && !composite {
		return nil
	}
	return out
}

// repeatsOf splits an element into its repetitions.
func repeatsOf(v []byte, d Delims) [][]byte {
	if d.Repetition == 0 {
		return [][]byte{v}
	}
	return bytes.Split(v, []byte{d.Repetition})
}

// text returns bytes for people.
func text(b []byte) string { return strings.ToValidUTF8(string(b), "\uFFFD") }

// counted reports whether an element outside the envelope is a number that Repair sets.
func counted(id string, element int) bool {
	return id == "HL" && (element == 1 || element == 4) || id == "LX" && element == 1
}

// NumbersAt returns the numbers of the segments that begin at the given offsets of an
// interchange in memory, as View counts them; 0 for an offset at which none begins.
func NumbersAt(doc []byte, d Delims, offsets []int64) []int {
	at := make(map[int64]int, len(offsets))
	for _, o := range offsets {
		at[o] = 0
	}
	n := 0
	for s := NewSegments(doc, d); s.Next(); {
		if s.ID() == "" {
			continue
		}
		n++
		if _, asked := at[int64(s.Offset())]; asked {
			at[int64(s.Offset())] = n
		}
	}
	out := make([]int, len(offsets))
	for i, o := range offsets {
		out[i] = at[o]
	}
	return out
}
