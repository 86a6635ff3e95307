package x12

import (
	"bytes"
	"strconv"
)

// Repair returns a copy of doc, an interchange in memory, in which everything
// that merely counts or repeats is right again after a person's edit: SE01, GE01,
// IEA01; SE02, GE02 and IEA02 as in their headers; HL01 in sequence, HL02 by the
// loop it named, or else by level, HL04 by whether loops follow below it; LX01
// from 1 in each claim. What is right already, and all other bytes, stay as they
// are. It adds no segment. Errors: Invalid, where the ISA cannot be read.
func Repair(doc []byte) ([]byte, error) {
	h, start, err := documentHeader(doc, "repair document")
	if err != nil {
		return nil, err
	}
	p := repairer{d: h.Delims, isa13: []byte(h.ISA13), out: make([]byte, 0, len(doc)+64)}
	p.out = append(p.out, doc[:start]...)
	p.plan(NewSegments(doc[start:], p.d))
	s := NewSegments(doc[start:], p.d)
	for s.Next() {
		p.segment(s)
		if s.ID() == "IEA" {
			break
		}
	}
	return append(p.out, doc[start+s.off:]...), nil
}

// hlNumbers is what an HL must say.
type hlNumbers struct {
	number, parent int // parent 0: none
	children       bool
}

type repairer struct {
	d     Delims
	out   []byte
	loops []hlNumbers // of all sets, in order
	hl    int         // loops passed

	isa13, gs06, st02   []byte
	groups, sets, count int
	line                int
}

// plan decides about all HL segments, because a child flag depends on what follows.
func (p *repairer) plan(s *Segments) {
	type open struct {
		index int
		hl01  []byte
		level string
	}
	var stack []open
	first := 0
	for s.Next() {
		switch s.ID() {
		case "ST":
			stack, first = nil, len(p.loops)
		case "HL":
			level, up := string(bytes.TrimSpace(s.Element(3))), bytes.TrimSpace(s.Element(2))
			keep := -1
			for i, o := range stack {
				if len(up) > 0 && sameHL(o.hl01, up) && o.level < level {
					keep = i
				}
			}
			for i := len(stack) - 1; i >= 0 && keep < 0; i-- {
				if stack[i].level < level {
					keep = i
				}
			}
			stack = stack[:keep+1]
			l := hlNumbers{number: len(p.loops) - first + 1}
			if keep >= 0 {
				parent := &p.loops[stack[keep].index]
				parent.children, l.parent = true, parent.number
			}
			stack = append(stack, open{len(p.loops), bytes.TrimSpace(s.Element(1)), level})
			p.loops = append(p.loops, l)
		}
	}
}

func (p *repairer) segment(s *Segments) {
	raw, id := s.Raw(), s.ID()
	if id != "" {
		p.count++
	}
	switch id {
	case "GS":
		p.groups, p.sets, p.gs06 = p.groups+1, 0, s.Element(6)
	case "ST":
		p.sets, p.count, p.st02 = p.sets+1, 1, s.Element(2)
	case "CLM":
		p.line = 0
	case "LX":
		p.line++
		raw = p.counted(raw, s, 1, p.line)
	case "HL":
		raw = p.loop(raw, s)
	case "SE":
		raw = p.counted(raw, s, 1, p.count)
		raw = p.text(raw, s, 2, p.st02)
	case "GE":
		raw = p.counted(raw, s, 1, p.sets)
		raw = p.text(raw, s, 2, p.gs06)
	case "IEA":
		raw = p.counted(raw, s, 1, p.groups)
		raw = p.text(raw, s, 2, p.isa13)
	}
	p.out = append(p.out, raw...)
}

func (p *repairer) loop(raw []byte, s *Segments) []byte {
	l := p.loops[p.hl]
	p.hl++
	raw = p.counted(raw, s, 1, l.number)
	if l.parent == 0 {
		raw = p.text(raw, s, 2, nil)
	} else {
		raw = p.counted(raw, s, 2, l.parent)
	}
	flag := "0"
	if l.children {
		flag = "1"
	}
	return p.text(raw, s, 4, []byte(flag))
}

// counted sets element n to the number v, unless it says so already, if with
// leading zeros.
func (p *repairer) counted(raw []byte, s *Segments, n, v int) []byte {
	if was, ok := digits(s.Element(n)); ok && was == int64(v) {
		return raw
	}
	return setElement(raw, p.d, n, 0, strconv.AppendInt(nil, int64(v), 10))
}

func (p *repairer) text(raw []byte, s *Segments, n int, v []byte) []byte {
	if bytes.Equal(s.Element(n), v) {
		return raw
	}
	return setElement(raw, p.d, n, 0, v)
}
