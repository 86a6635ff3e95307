package x12

import "slices"

// placer names the loop of each segment by the guide that its set follows, and whom
// the loop is about. It judges nothing: what is out of place counts to the loop that is
// open.
type placer struct {
	r     *Rules
	g     *guide
	rough loopTracker // where no guide is known
	loop  uint16
	whom  string // such as Patient; empty outside the loop of a name
	qual  string
	gs08  string
}

// next takes the next segment and returns its loop.
func (p *placer) next(s *Segments) string {
	p.qual = ""
	switch s.ID() {
	case "GS":
		p.gs08 = string(s.Element(8))
	case "ST":
		p.g, p.loop, p.whom = p.r.guideFor(string(s.Element(3))), 0, ""
		if p.g == nil {
			p.g = p.r.guideFor(p.gs08)
		}
		p.rough = loopTracker{}
	case "SE", "GE", "IEA", "ISA":
		p.whom, p.rough = "", loopTracker{}
		return ""
	}
	if p.g == nil {
		return p.guess(s)
	}
	if len(s.ID()) < 2 {
		return p.g.loops[p.loop].id
	}
	idx := p.r.segIDs.find(packID(s.ID()))
	if idx == 0 || int(idx) >= p.g.segments {
		return p.g.loops[p.loop].id
	}
	var code uint64
	if q := p.g.quals[idx]; q.el > 0 {
		e := s.Element(int(q.el))
		if q.comp {
			e = nthComponent(e, s.d, 1)
		}
		p.qual, code = known(e), packCode(e)
		if len(e) > 8 {
			code = 0
		}
	}
	p.enter(idx, code)
	p.name(s)
	return p.g.loops[p.loop].id
}

func (p *placer) guess(s *Segments) string {
	loop := p.rough.next(s)
	p.qual = known(nthComponent(s.Element(1), s.d, 1))
	p.name(s)
	return loop
}

// known returns a qualifier if it has the form of one.
func known(e []byte) string {
	if len(e) == 0 || len(e) > 3 || !allAlnum(string(e)) {
		return ""
	}
	return string(e)
}

// enter finds the nearest loop in which the segment may stand.
func (p *placer) enter(idx uint8, code uint64) {
	for l := p.loop; ; l = p.g.loops[l].parent {
		opens := -1
		for _, id := range p.g.anywhere[idx] {
			n := &p.g.nodes[id]
			if n.qualified && !p.g.listed(n.quals, code) {
				continue
			}
			if !n.opens && n.loop == l {
				p.leave(l)
				return
			}
			if n.opens && n.loop != l && p.g.loops[n.loop].parent == l && opens < 0 {
				opens = int(n.loop)
			}
		}
		if opens >= 0 {
			p.leave(uint16(opens))
			return
		}
		if l == 0 {
			return
		}
	}
}

func (p *placer) leave(to uint16) {
	if to != p.loop {
		p.loop, p.whom = to, ""
	}
}

func (g *guide) listed(at span, code uint64) bool {
	return slices.Contains(g.codes[at.at:at.at+at.n], code)
}

// name remembers whom the loop is about.
func (p *placer) name(s *Segments) {
	switch s.ID() {
	case "HL", "CLM", "LX", "SBR", "SVD", "LIN", "LQ":
		p.whom = ""
	case "NM1":
		p.whom = theNames().entities[known(s.Element(1))]
	}
}

// about returns whom the loop is about.
func (p *placer) about(loop string) string {
	if p.whom == "" {
		return whomOf(loop)
	}
	return p.whom
}

// loopName returns what the loop is called in this document.
func (p *placer) loopName(loop string) string {
	name := LoopName(loop)
	switch {
	case p.whom == "" || len(loop) < 4:
		return name
	case loop == "2330A", loop == "2330B":
		return name
	case loop[:4] == "2330":
		return "Other payer: " + p.whom
	case loop[:4] == "2420":
		return "Line's " + lowerFirst(p.whom)
	case loop[:4] == "2310", name == "":
		return p.whom
	}
	return name
}

func lowerFirst(s string) string {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return s
	}
	return string(s[0]+'a'-'A') + s[1:]
}

// LoopsOf returns the loops of a format in which a segment may stand, in the order of
// its guide: what is known of a fault whose loop is not. Empty where there is none.
func (r *Rules) LoopsOf(format string, segment string) []string {
	var out []string
	for _, g := range r.guides {
		if g.format.String() != format {
			continue
		}
		idx := r.segIDs.find(packID(segment))
		if idx == 0 || int(idx) >= g.segments || len(segment) < 2 || len(segment) > 3 {
			return nil
		}
		for _, id := range g.anywhere[idx] {
			if loop := g.loops[g.nodes[id].loop].id; loop != "" && (len(out) == 0 || out[len(out)-1] != loop) {
				out = append(out, loop)
			}
		}
	}
	return out
}
