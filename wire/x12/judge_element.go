package x12

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// elements judges the elements of the segment by its node.
func (j *judge) elements(n *guideNode) {
	rules := j.g.els[n.els : int(n.els)+int(n.nEls)]
	last := min(j.n, len(rules))
	from := int(j.ends[0]) + 1
	b := j.b[:len(j.b)+slack]
	ends := j.ends[1 : last+1]
	odd := j.odd
	present := uint64(0)
	for k, end := range ends {
		r := &rules[k]
		to := int(end)
		length := to - from
		if length == 0 {
			if r.usage == required {
				j.fault(n, k+1, 0, "1", "ELEMENT_MISSING")
			}
			from = to + 1
			continue
		}
		present |= 2 << k
		ok := false
		if r.plain == plainParts {
			ok = length <= 8 && j.parts(binary.LittleEndian.Uint64(b[from:])&masks[length], length, r)
		} else if uint(length-int(r.min)) <= uint(r.width) && (!odd || length <= 8 && !j.oddWord(binary.LittleEndian.Uint64(b[from:])&masks[length])) {
			switch r.plain {
			case plainText:
				ok = true
			case plainCode:
				ok = length <= 8 && j.listed(r.codes, binary.LittleEndian.Uint64(b[from:])&masks[length])
			case plainDigits:
				ok = length <= 8 && digitsIn(binary.LittleEndian.Uint64(b[from:])&masks[length], length)
			case plainForm:
				if j.pack(int(j.ends[k-1])+1, from-1) != formD8 {
					break
				}
				fallthrough
			case plainDay:
				w := binary.LittleEndian.Uint64(b[from:])
				ok = length == 8 && digitsIn(w, 8) && goodDay8(w)
			case plainNever, plainParts:
			}
		}
		if !ok {
			j.closer(n, k+1, from, to, r)
		}
		from = to + 1
	}
	if last < len(rules) {
		for k := last; k < int(n.needed); k++ {
			if rules[k].usage == required {
				j.fault(n, k+1, 0, "1", "ELEMENT_MISSING")
			}
		}
	}
	if j.n > len(rules) {
		j.extra(n, len(rules))
	} else if last > 0 && j.ends[last-1]+1 == j.ends[last] {
		j.note(n, "TRAILING_SEPARATORS")
	}
	if j.bad {
		j.badChars(n)
	}
	for i := range j.g.rels[n.rels : int(n.rels)+int(n.nRels)] {
		if r := &j.g.rels[int(n.rels)+i]; r.broken(present) {
			j.relation(n, r, present)
		}
	}
}

// closer judges an element that is not plainly right.
func (j *judge) closer(n *guideNode, k, from, to int, r *elRule) {
	if r.usage == notUsed {
		j.fault(n, k, 0, "I10", "ELEMENT_NOT_USED")
		return
	}
	j.otherElement(n, k, from, to, r)
}

// parts reports whether a composite of at most eight bytes is plainly right: most
// are, such as HC:99213 or 11:B:1.
func (j *judge) parts(w uint64, length int, r *elRule) bool {
	y, z := w^j.comp, w^j.rep
	if ((z-lows)&^z)&highs != 0 {
		return false
	}
	hits := ^((y&^highs + ^uint64(highs)) | y) & highs & masks[length]
	comps := j.g.els[r.comps.at : r.comps.at+r.comps.n]
	from, n := 0, 0
	for {
		to := length
		if hits != 0 {
			to = bits.TrailingZeros64(hits) >> 3
		}
		if n == len(comps) {
			return false
		}
		c := &comps[n]
		n++
		size := to - from
		v := w >> (8 * from) & masks[size]
		switch {
		case size == 0:
			if c.usage == required || hits == 0 {
				return false
			}
		case uint(size-int(c.min)) > uint(c.width):
			return false
		case c.plain == plainText:
		case c.plain == plainCode && j.listed(c.codes, v):
		case c.plain == plainDigits && digitsIn(v, size):
		default:
			return false
		}
		if hits == 0 {
			return n >= int(r.needed)
		}
		from = to + 1
		hits &= hits - 1
	}
}

// oddWord reports whether a byte of w is a component or repetition separator.
func (j *judge) oddWord(w uint64) bool {
	y, z := w^j.comp, w^j.rep
	return ((y-lows)&^y|(z-lows)&^z)&highs != 0
}

// listed reports whether v is one of the codes, of which there is one at least.
// The first is the most frequent.
func (j *judge) listed(codes span, v uint64) bool {
	list := j.g.codes[codes.at : codes.at+codes.n]
	return list[0] == v || slices.Contains(list[1:], v)
}

// otherElement judges what is not simply text or a code.
func (j *judge) otherElement(n *guideNode, k, from, to int, r *elRule) {
	if j.odd && r.repeat <= 1 && j.repB != noSeparator && indexIn(j.b, from, to, j.repB) < to {
		j.fault(n, k, 0, "12", "TOO_MANY_REPETITIONS")
		return
	}
	if r.repeat > 1 && j.repB != noSeparator {
		times := 0
		for from <= to {
			end := indexIn(j.b, from, to, j.repB)
			if times++; times > int(r.repeat) {
				j.fault(n, k, 0, "12", "TOO_MANY_REPETITIONS")
				return
			}
			j.composite(n, k, from, end, r)
			from = end + 1
		}
		return
	}
	if r.typ == typeComposite {
		j.composite(n, k, from, to, r)
		return
	}
	if j.odd && j.compB != noSeparator && indexIn(j.b, from, to, j.compB) < to {
		j.fault(n, k, 0, "13", "TOO_MANY_COMPONENTS")
		return
	}
	prev := uint64(0)
	if k > 1 {
		prev = j.pack(int(j.ends[k-2])+1, int(j.ends[k-1]))
	}
	if j.simple(from, to, r, prev) != "" {
		j.wrong(n, k, 0, from, to, r)
	}
}

// indexIn returns where c is in b[from:to], or to.
func indexIn(b []byte, from, to int, c byte) int {
	for i := from; i < to; i++ {
		if b[i] == c {
			return i
		}
	}
	return to
}

// composite judges the components of one occurrence of an element.
func (j *judge) composite(n *guideNode, k, from, to int, r *elRule) {
	comps := j.g.els[r.comps.at : r.comps.at+r.comps.n]
	i, before := 0, from
	for ; from <= to; i++ {
		end := to
		if j.compB != noSeparator {
			end = indexIn(j.b, from, to, j.compB)
		}
		if i >= len(comps) {
			if end > from {
				j.fault(n, k, 0, "13", "TOO_MANY_COMPONENTS")
				return
			}
			j.note(n, "TRAILING_SEPARATORS")
			from = end + 1
			continue
		}
		c := &comps[i]
		switch length := end - from; {
		case length == 0:
			if c.usage == required {
				j.fault(n, k, i+1, "1", "ELEMENT_MISSING")
			}
			if end == to && i > 0 {
				j.note(n, "TRAILING_SEPARATORS")
			}
		case c.usage == notUsed:
			j.fault(n, k, i+1, "I10", "ELEMENT_NOT_USED")
		case c.typ <= typeID && length >= int(c.min) && length <= int(c.max) && (c.codes.n == 0 || j.listed(c.codes, j.pack(from, end))):
		default:
			prev := uint64(0)
			if i > 0 {
				prev = j.pack(before, from-1)
			}
			if j.simple(from, end, c, prev) != "" {
				j.wrong(n, k, i+1, from, end, c)
			}
		}
		before, from = from, end+1
	}
	for ; i < len(comps); i++ {
		if comps[i].usage == required {
			j.fault(n, k, i+1, "1", "ELEMENT_MISSING")
		}
	}
}

// simple returns the IK403 code that j.b[from:to] deserves by the rule, or "".
func (j *judge) simple(from, to int, r *elRule, prev uint64) string {
	b := j.b[from:to]
	length := len(b)
	switch r.typ {
	case typeN:
		if length > 0 && b[0] == '-' {
			length--
			b = b[1:]
		}
		if !allDigits(b) {
			return "6"
		}
	case typeR:
		n, ok := decimal(b)
		if !ok {
			return "6"
		}
		length = n
	case typeDT:
		if !goodDT(b) {
			return "8"
		}
	case typeTM:
		if !goodTM(b) {
			return "9"
		}
	case typeQ:
		if code := goodQualified(b, prev); code != "" {
			return code
		}
	}
	switch {
	case length < int(r.min):
		return "4"
	case length > int(r.max):
		return "5"
	case r.codes.n > 0 && !j.listed(r.codes, j.pack(from, to)):
		return "7"
	}
	return ""
}

var ik403Rules = map[string]string{
	"4": "TOO_SHORT", "5": "TOO_LONG", "6": "INVALID_CHARACTER", "7": "INVALID_CODE", "8": "INVALID_DATE", "9": "INVALID_TIME",
}

// wrong reports an element that its rule refuses. Blanks at its end, which X12
// wants left out, are tolerated if without them it is right.
func (j *judge) wrong(n *guideNode, k, comp, from, to int, r *elRule) {
	var prev uint64
	if comp == 0 && k > 1 {
		prev = j.pack(int(j.ends[k-2])+1, int(j.ends[k-1]))
	} else if comp > 1 {
		start := from - 1
		for start > 0 && j.b[start-1] != j.compB && j.b[start-1] != j.sepB {
			start--
		}
		prev = j.pack(start, from-1)
	}
	code := j.simple(from, to, r, prev)
	if code == "" {
		return
	}
	end := to
	for end > from && j.b[end-1] == ' ' {
		end--
	}
	if end < to && end > from && j.simple(from, end, r, prev) == "" {
		j.note(n, "TRAILING_SPACES")
		return
	}
	j.fault(n, k, comp, code, ik403Rules[code])
}

// extra judges elements beyond the last that the segment has. Empty ones are
// tolerated.
func (j *judge) extra(n *guideNode, k int) {
	if !j.over && int(j.ends[j.n])-int(j.ends[k]) == j.n-k {
		j.note(n, "TRAILING_SEPARATORS")
		return
	}
	j.fault(n, k+1, 0, "3", "TOO_MANY_ELEMENTS")
}

// badChars reports each element with a character out of the X12 sets.
func (j *judge) badChars(n *guideNode) {
	for k := 1; k <= min(j.n, int(n.nEls)); k++ {
		if j.badChar(j.b[j.ends[k-1]+1 : j.ends[k]]) {
			j.fault(n, k, 0, "6", "INVALID_CHARACTER")
		}
	}
}

// withoutBreaks splits the segment again without the line breaks that a hard wrap
// has put into it, if there are any.
func (j *judge) withoutBreaks() {
	out := j.seg[:0]
	for _, c := range j.b {
		if c != '\n' && c != '\r' {
			out = append(out, c)
		}
	}
	if len(out) == len(j.b) {
		return
	}
	j.s.notes.add(noteWrapped)
	out = append(out, make([]byte, slack)...)
	j.seg = out
	j.b = out[:len(out)-slack]
	j.split(j.b)
}

// broken reports whether the elements that are present, by their bits, break the
// relation (X12.6 syntax notes).
func (r *relation) broken(present uint64) bool {
	m := r.mask & present
	switch r.kind {
	case 'P':
		return m != 0 && m != r.mask
	case 'R':
		return m == 0
	case 'E':
		return m&(m-1) != 0
	case 'C':
		return m&r.first != 0 && m != r.mask
	case 'L':
		return m == r.first
	case 'U':
		return m&r.first == 0 && m != r.mask&^r.first
	}
	return false
}

// relation reports a broken relation at the element that it lacks or, where
// elements exclude each other, at the second.
func (j *judge) relation(n *guideNode, r *relation, present uint64) {
	missing := 0
	for i := r.n; i > 0; i-- {
		if e := r.els[i-1]; present>>e&1 == 0 && (r.kind != 'U' || i != 1) {
			missing = int(e)
		}
	}
	switch r.kind {
	case 'P':
		j.fault(n, missing, 0, "2", "ELEMENTS_GO_TOGETHER")
	case 'R':
		j.fault(n, missing, 0, "2", "ONE_ELEMENT_NEEDED")
	case 'E':
		j.fault(n, int(r.els[1]), 0, "10", "ELEMENTS_EXCLUDE")
	case 'U':
		j.fault(n, missing, 0, "I9", "ELEMENT_MISSING")
	default:
		j.fault(n, missing, 0, "2", "ELEMENT_NEEDS_OTHER")
	}
}

// has reports whether element k is there.
func (j *judge) has(k int) bool { return k <= j.n && j.ends[k-1]+1 < j.ends[k] }

// element returns element k of the segment; empty if it has none.
func (j *judge) element(k int) []byte {
	if k > j.n {
		return nil
	}
	return j.b[j.ends[k-1]+1 : j.ends[k]]
}

// component returns component c of element k.
func (j *judge) component(k, c int) []byte {
	if k > j.n {
		return nil
	}
	from, to := int(j.ends[k-1])+1, int(j.ends[k])
	for ; c > 1; c-- {
		from = indexIn(j.b, from, to, j.compB) + 1
	}
	if from > to {
		return nil
	}
	return j.b[from:indexIn(j.b, from, to, j.compB)]
}
