package testclaims

import (
	"io"

	"claimdlq"
)

const (
	maxControl = 999999999
	flushAt    = 1 << 18
)

// Generate writes a file to w as o says. It streams: memory does not grow with
// the file. Errors: Invalid for options that cannot be met, before anything is
// written; and w's own.
func Generate(w io.Writer, o Options) (Stats, error) {
	if err := o.Validate(); err != nil {
		return Stats{}, err
	}
	g := newGenerator(w, DefaultOptions(o))
	for !g.done() {
		if err := g.interchange(); err != nil {
			return g.stats, err
		}
	}
	return g.stats, g.flush()
}

type generator struct {
	o     Options
	w     io.Writer
	stats Stats
	guide guide

	b         []byte // not yet written
	seg       int    // where the segment at the end of b begins
	term      []byte
	translate bool
	table     [256]byte

	faults [kinds]places
	active []*Kind
	place  Place
	set    int // segments of the set so far
	hl     uint64
	cut    bool // the file was truncated: nothing follows

	dates dates
	claim claim
}

// places says where a fault is made.
type places struct {
	at    map[int]bool
	every int
}

func newGenerator(w io.Writer, o Options) *generator {
	g := &generator{o: o, w: w, b: make([]byte, 0, flushAt+flushAt/2), guide: guides[o.Format], dates: newDates(o.Date)}
	g.term = append([]byte{o.Delims.Segment}, o.Delims.Suffix...)
	for i := range g.table {
		g.table[i] = byte(i)
	}
	g.table['*'], g.table[':'] = o.Delims.Element, o.Delims.Component
	g.translate = o.Delims.Element != '*' || o.Delims.Component != ':'
	for _, f := range o.Faults {
		k := byName[f.Name]
		p := &g.faults[k.id]
		if p.at == nil {
			p.at = make(map[int]bool)
			g.active = append(g.active, k)
		}
		for _, n := range f.At {
			p.at[n] = true
		}
		if f.Every > 0 {
			p.every = f.Every
		}
	}
	return g
}

// hit reports whether the fault is to be made at the nth place of its scope.
func (g *generator) hit(k kindID, n int) bool {
	p := &g.faults[k]
	return p.every > 0 && n%p.every == 0 || p.at[n]
}

// make notes the fault and returns true, where it is to be made at place n.
func (g *generator) make(k kindID, n int) bool {
	if !g.hit(k, n) {
		return false
	}
	g.stats.Made = append(g.stats.Made, Made{Place: g.place, Fault: catalog[k].Name, Scope: catalog[k].Scope, Expect: catalog[k].Expect})
	return true
}

// put appends to the segment at the end of the buffer.
func (g *generator) put(s string)        { g.b = append(g.b, s...) }
func (g *generator) num(v uint64)        { g.b = appendNumber(g.b, v, 1) }
func (g *generator) pad(v uint64, w int) { g.b = appendNumber(g.b, v, w) }

// end ends the segment. Segments are written with * and : and given the file's
// own delimiters here.
func (g *generator) end() {
	if g.translate {
		for i, c := range g.b[g.seg:] {
			g.b[g.seg+i] = g.table[c]
		}
	}
	g.endRaw()
}

func (g *generator) endRaw() {
	g.b = append(g.b, g.term...)
	g.stats.Bytes += int64(len(g.b) - g.seg)
	g.seg = len(g.b)
	g.stats.Segments++
	g.set++
}

func (g *generator) segment(s string) { g.put(s); g.end() }

func (g *generator) flush() error {
	_, err := g.w.Write(g.b)
	g.b, g.seg = g.b[:0], 0
	return err
}

func (g *generator) done() bool {
	return g.cut || g.stats.Claims >= g.o.Claims || g.stats.Bytes >= g.o.Bytes
}

// guide is what differs between the implementation guides.
type guide struct {
	version, other string // GS08, and that of another guide
	billing        string // PRV03 of the billing provider
	provider       string // PRV of who rendered or attended
}

var guides = map[claimdlq.Format]guide{
	claimdlq.Format837P: {"005010X222A1", "005010X223A2", "203BF0100Y", "PRV*PE*PXC*207Q00000X"},
	claimdlq.Format837I: {"005010X223A2", "005010X222A1", "282N00000X", "PRV*AT*PXC*207R00000X"},
	claimdlq.Format837D: {"005010X224A2", "005010X222A1", "1223G0001X", "PRV*PE*PXC*1223G0001X"},
}
