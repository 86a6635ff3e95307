package x12

import (
	"strconv"
	"strings"

	"claimdlq"
)

// compiler turns a guide's tree into tables.
type compiler struct {
	src      *guideSrc
	dir      *segDir
	g        *guide
	segIdx   map[string]uint8
	children [][]childRef // of each loop, in order
	codeSpan map[string]span
}

// childRef is a child of a loop: a node, or a loop that its first node opens.
type childRef struct {
	node uint16
	loop uint16
	isL  bool
	pos  uint16
	self bool
}

var formatByName = map[string]claimdlq.Format{
	"837P": claimdlq.Format837P, "837I": claimdlq.Format837I, "837D": claimdlq.Format837D,
}

func compileGuide(src *guideSrc, dir *segDir) (*guide, error) {
	format, ok := formatByName[src.name]
	if !ok {
		return nil, parseError(src.file, 1, "the guide line must name 837P, 837I or 837D")
	}
	c := &compiler{src: src, dir: dir, segIdx: map[string]uint8{}, codeSpan: map[string]span{}}
	c.g = &guide{name: src.name, format: format, versions: src.versions, segments: len(dir.order) + 1}
	c.g.quals = make([]segQual, c.g.segments)
	for i, id := range dir.order {
		c.segIdx[id] = uint8(i + 1)
		c.g.quals[i+1] = segQual{dir.segs[id].qualEl, dir.segs[id].qualComp}
	}
	c.g.anywhere = make([][]uint16, c.g.segments)
	if err := c.loop(src.root, 0, 0); err != nil {
		return nil, err
	}
	c.needs()
	c.steps()
	if len(c.g.nodes) > 1<<15 || len(c.g.els) > 1<<16-1 || len(c.g.codes) > 1<<16-1 || len(c.g.cands) > 1<<16-1 {
		return nil, parseError(src.file, 1, "the guide is too large for its tables")
	}
	return c.g, nil
}

// loop adds a loop, then what belongs to it.
func (c *compiler) loop(l *loopSrc, parent uint16, depth int) error {
	g := c.g
	me := uint16(len(g.loops))
	g.loops = append(g.loops, loopDef{id: l.id, parent: parent, depth: uint8(depth), max: uint16(l.max), required: l.required, scope: l.scope})
	c.children = append(c.children, nil)
	if depth >= maxDepth {
		return parseError(c.src.file, l.line, "loops are nested too deep")
	}
	pos, lastSeg := uint16(0), ""
	for i, it := range l.children {
		opener := it.seg
		if it.loop != nil {
			opener = it.loop.children[0].seg + "/"
		}
		if i > 0 && opener != lastSeg {
			pos++
		}
		lastSeg = opener
		if i == 0 {
			pos++ // nothing shares the place of what opens the loop
			lastSeg = ""
		}
		ref := childRef{pos: pos, self: it.self}
		if it.loop != nil {
			ref.isL, ref.loop = true, uint16(len(g.loops))
			if err := c.loop(it.loop, me, depth+1); err != nil {
				return err
			}
			child := &g.loops[ref.loop]
			child.child, child.pos = uint8(i), pos
			ref.node = child.first
		} else {
			ref.node = uint16(len(g.nodes))
			if err := c.node(it, me, uint8(i), pos); err != nil {
				return err
			}
			if i == 0 {
				g.loops[me].first = ref.node
				g.nodes[ref.node].opens = true
			}
		}
		c.children[me] = append(c.children[me], ref)
	}
	if len(l.children) > maxChildren {
		return parseError(c.src.file, l.line, "the loop has too many children")
	}
	g.loops[me].children = uint8(len(l.children))
	return nil
}

func (c *compiler) node(it itemSrc, loop uint16, child uint8, pos uint16) error {
	g := c.g
	def, ok := c.dir.segs[it.seg]
	if !ok {
		return parseError(c.src.file, it.line, "segments.txt does not have "+it.seg)
	}
	n := guideNode{
		loop: loop, pos: pos, max: uint16(it.max), seg: c.segIdx[it.seg], child: child, required: it.required,
		nRels: uint8(len(def.rels)), rels: uint16(len(g.rels)),
		act: actOf(it.seg, g.loops[loop].id),
	}
	g.rels = append(g.rels, def.rels...)
	els, err := c.elements(it, def)
	if err != nil {
		return err
	}
	n.els, n.nEls = uint16(len(g.els)-len(els)), uint8(len(els))
	for i, e := range els {
		if e.usage == required {
			n.needed = uint8(i + 1)
		}
	}
	if def.qualEl > 0 {
		q := g.els[int(n.els)+int(def.qualEl)-1]
		if def.qualComp {
			q = g.els[q.comps.at]
		}
		n.qualified = q.usage == required && q.codes.n > 0
		n.quals = q.codes
	}
	id := uint16(len(g.nodes))
	if it.seg == "SE" {
		g.footer = id
	}
	g.anywhere[n.seg] = append(g.anywhere[n.seg], id)
	g.nodes = append(g.nodes, n)
	return nil
}

// elements puts the rules of a segment's elements at the end of the table, those
// of their components before them.
func (c *compiler) elements(it itemSrc, def segDef) ([]elRule, error) {
	els := make([]elRule, len(def.els))
	comps := make([][]elRule, len(def.els))
	for i, e := range def.els {
		els[i] = elRule{typ: e.typ, min: uint16(e.min), max: uint16(e.max), repeat: uint16(e.repeat)}
		for _, ce := range e.comps {
			comps[i] = append(comps[i], elRule{typ: ce.typ, min: uint16(ce.min), max: uint16(ce.max), repeat: 1})
		}
	}
	for _, tok := range it.asks {
		a, ok := parseAsk(tok, c.dir.codes)
		if !ok || a.el < 1 || a.elTo > len(els) {
			return nil, parseError(c.src.file, it.line, tok)
		}
		for e := a.el - 1; e < a.elTo; e++ {
			if a.comp == 0 {
				c.apply(&els[e], a)
				continue
			}
			if a.compTo > len(comps[e]) {
				return nil, parseError(c.src.file, it.line, tok)
			}
			for k := a.comp - 1; k < a.compTo; k++ {
				c.apply(&comps[e][k], a)
			}
		}
	}
	for i := range els {
		if len(comps[i]) > 0 {
			els[i].comps = span{uint16(len(c.g.els)), uint16(len(comps[i]))}
			c.g.els = append(c.g.els, comps[i]...)
		}
	}
	c.g.els = append(c.g.els, els...)
	for i := range c.g.els {
		r := &c.g.els[i]
		r.width = r.max - r.min
		r.plain = plainOf(*r)
		for k, part := range c.g.els[r.comps.at : r.comps.at+r.comps.n] {
			if part.usage == required {
				r.needed = uint8(k + 1)
			}
		}
	}
	return els, nil
}

func (c *compiler) apply(r *elRule, a ask) {
	if a.usage != situational {
		r.usage = a.usage
	}
	if len(a.codes) == 0 {
		return
	}
	key := strings.Join(a.codes, ",")
	sp, ok := c.codeSpan[key]
	if !ok {
		sp = span{uint16(len(c.g.codes)), uint16(len(a.codes))}
		for _, s := range a.codes {
			c.g.codes = append(c.g.codes, packCode([]byte(s)))
		}
		c.codeSpan[key] = sp
	}
	r.codes = sp
}

// packCode packs up to eight bytes so that codes compare as numbers.
func packCode(b []byte) (v uint64) {
	for i := min(len(b), 8) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	return v
}

// needs gives each required child a bit, and each node the bits of what must
// have come before it.
func (c *compiler) needs() {
	g := c.g
	for l := range g.loops {
		bit := uint64(1)
		bits := make([]uint64, len(c.children[l]))
		for i, ref := range c.children[l] {
			req := g.nodes[ref.node].required
			if ref.isL {
				req = g.loops[ref.loop].required
			}
			switch {
			case req:
				g.loops[l].needs |= bit
			case ref.self:
				g.loops[l].self |= bit
			default:
				continue
			}
			bits[i] = bit
			bit <<= 1
		}
		for i, ref := range c.children[l] {
			var before uint64
			for j, other := range c.children[l] {
				if other.pos < ref.pos && !other.self {
					before |= bits[j]
				}
			}
			if ref.isL {
				g.loops[ref.loop].bit, g.loops[ref.loop].before = bits[i], before
			} else {
				g.nodes[ref.node].bit, g.nodes[ref.node].before = bits[i], before
			}
		}
	}
}

// steps lists for every node, in the order in which they are looked for, the
// nodes that may follow: the rest of its loop, then that of the loops around it.
func (c *compiler) steps() {
	g := c.g
	g.steps = make([]span, len(g.nodes)*g.segments)
	for n := range g.nodes {
		bySeg := make([][]cand, g.segments)
		loop, pos := g.nodes[n].loop, g.nodes[n].pos
		for up := 0; ; up++ {
			for _, ref := range c.children[loop] {
				if ref.pos < pos || !ref.isL && g.nodes[ref.node].opens {
					continue
				}
				seg := g.nodes[ref.node].seg
				bySeg[seg] = append(bySeg[seg], c.cand(ref.node, up))
			}
			if loop == 0 {
				break
			}
			loop, pos = g.loops[loop].parent, g.loops[loop].pos
		}
		for seg, list := range bySeg {
			if len(list) > 0 {
				g.steps[n*g.segments+seg] = span{uint16(len(g.cands)), uint16(len(list))}
				g.cands = append(g.cands, list...)
			}
		}
	}
}

func (c *compiler) cand(id uint16, up int) cand {
	n := &c.g.nodes[id]
	k := cand{node: id, up: uint8(up), free: !n.qualified}
	if n.qualified {
		k.code, k.also = c.g.codes[n.quals.at], n.quals.n > 1
	}
	return k
}

// plainOf returns how an element by the rule may be seen to be right at a glance.
func plainOf(r elRule) plain {
	switch {
	case r.usage == notUsed:
		return plainNever
	case r.typ == typeComposite && r.repeat == 1:
		return plainParts
	case r.codes.n > 0:
		return plainCode
	case r.typ == typeAN || r.typ == typeID:
		return plainText
	case r.typ == typeR || r.typ == typeN:
		return plainDigits
	case r.typ == typeDT:
		return plainDay
	case r.typ == typeQ:
		return plainForm
	}
	return plainNever
}

// actOf names what the judge does at a segment beyond the tables.
func actOf(seg, loop string) act {
	in := func(prefix string) bool { return len(loop) >= len(prefix) && loop[:len(prefix)] == prefix }
	switch {
	case seg == "BHT":
		return actBHT
	case seg == "HL":
		return actHL
	case seg == "SBR" && loop == "2000B":
		return actSBR
	case seg == "NM1" && loop == "2010AA":
		return actBilling
	case seg == "NM1" && loop == "2010BB":
		return actPayer
	case seg == "NM1" && loop == "2010BA":
		return actSubscriber
	case seg == "NM1" && loop == "2010CA":
		return actPatient
	case seg == "NM1":
		return actName
	case seg == "DMG" && in("2010"):
		return actBirth
	case seg == "CLM":
		return actClaim
	case seg == "DTP" && loop == "2300":
		return actClaimDate
	case seg == "REF" && loop == "2300":
		return actClaimRef
	case seg == "HI":
		return actDiagnoses
	case seg == "LX":
		return actLine
	case seg == "SV1" || seg == "SV2" || seg == "SV3":
		return actService
	case seg == "DTP" && loop == "2400":
		return actLineDate
	}
	return actNone
}

// elementName returns "05" or "05-3".
func elementName(el, comp int) string {
	s := strconv.Itoa(el)
	if el < 10 {
		s = "0" + s
	}
	if comp > 0 {
		s += "-" + strconv.Itoa(comp)
	}
	return s
}
