package x12

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
)

// SetStats says what became of the claims of the sets in one unit.
type SetStats struct {
	Claims      int // written
	Dropped     int
	AmountCents int64 // sum of CLM02 of the claims written
}

// Totals says what a Composer wrote.
type Totals struct {
	Bytes        int64
	Sets, Groups int
}

// AddOptions tune Composer.Add.
type AddOptions struct {
	// Drop says which claims to leave out, by their ordinal in the unit, from 1. It
	// is asked once per claim, in order. Nil keeps all.
	Drop    func(ordinal int) bool
	Numbers Numbers
}

// Composer writes interchanges out of sealed units, in flat memory. A unit is an
// ISA, a GS and a transaction set, or a whole interchange; its trailers are not
// needed. The Composer opens and closes interchanges and groups as the headers
// of the units change, and writes GE and IEA with the counts and numbers of what
// it wrote.
//
// Delimiters and line ends stay as they are. What is not cut stays to the byte,
// so that a clean interchange added set by set, with nothing dropped and no
// Numbers, comes out as it went in. One thing is repaired: a file that was
// wrapped at a fixed width is written without those line breaks.
//
// A claim is a CLM and what follows up to the next CLM, HL or SE. Where claims
// are dropped, a provider, subscriber or patient loop (HL 20, 22, 23) that has
// lost all its claims goes with them; the rest is renumbered (HL01, HL02), child
// flags (HL04) and SE01 are set right. A set that has lost all its claims is not
// written.
//
// After an error what was written is not an interchange, and the Composer gives
// the same error again.
type Composer struct {
	w      *bufio.Writer
	err    error
	totals Totals

	isa, gs []byte // as written; nil when none is open
	delims  Delims
	wrapped bool
	groups  int // in the open interchange
	sets    int // in the open group
}

// NewComposer returns a Composer that writes to w.
func NewComposer(w io.Writer) *Composer { return &Composer{w: bufio.NewWriterSize(w, 64<<10)} }

// Add writes the sets of one unit, which is read once, to its end. Ordinals run
// over the whole unit. Errors: Invalid, where the unit is not one, and those of
// the reader and writer.
func (c *Composer) Add(r io.Reader, o AddOptions) (SetStats, error) {
	return c.add(r, o, false)
}

func (c *Composer) add(r io.Reader, o AddOptions, strict bool) (SetStats, error) {
	if c.err != nil {
		return SetStats{}, c.err
	}
	a := adder{c: c, u: newUnit(r), o: o, strict: strict}
	if err := a.run(); err != nil {
		c.err = err
	}
	return a.stats, c.err
}

// Close writes the trailers that are open. It does not close the writer.
func (c *Composer) Close() (Totals, error) {
	if c.err != nil {
		return c.totals, c.err
	}
	c.endInterchange()
	if err := c.w.Flush(); c.err == nil {
		c.err = err
	}
	return c.totals, c.err
}

// open makes isa and gs the open interchange and group.
func (c *Composer) open(isa, gs []byte, d Delims, wrapped bool) {
	if !bytes.Equal(isa, c.isa) {
		c.endInterchange()
		c.isa, c.delims, c.wrapped = bytes.Clone(isa), d, wrapped
		c.write(isa)
	}
	if !bytes.Equal(gs, c.gs) {
		c.endGroup()
		c.gs = bytes.Clone(gs)
		c.write(gs)
		c.groups++
		c.totals.Groups++
	}
}

func (c *Composer) endGroup() {
	if c.gs == nil {
		return
	}
	c.trailer("GE", c.sets, nthElement(c.gs[:lenOfSegment(c.gs, c.delims)], c.delims, 6))
	c.gs, c.sets = nil, 0
}

func (c *Composer) endInterchange() {
	if c.isa == nil {
		return
	}
	c.endGroup()
	c.trailer("IEA", c.groups, c.isa[isaControl:isaControl+9])
	c.isa, c.groups = nil, 0
}

func (c *Composer) trailer(id string, count int, number []byte) {
	t := make([]byte, 0, 40)
	t = append(append(t, id...), c.delims.Element)
	t = append(strconv.AppendInt(t, int64(count), 10), c.delims.Element)
	t = append(append(t, number...), c.delims.Segment)
	c.write(append(t, c.delims.Suffix...))
}

func (c *Composer) write(b []byte) {
	if c.wrapped {
		b = withoutWrap(b, c.delims)
	}
	n, err := c.w.Write(b)
	c.totals.Bytes += int64(n)
	if c.err == nil {
		c.err = err
	}
}

// adder adds one unit.
type adder struct {
	c       *Composer
	u       *unit
	o       AddOptions
	strict  bool // loops that never had a claim are left out too
	wrapped bool
	isa, gs []byte
	set     *setCutter // nil outside a set
	sets    int
	stats   SetStats
}

func (a *adder) run() error {
	h, raw, err := a.u.header()
	if err != nil {
		return err
	}
	if err := a.o.Numbers.check(h.Delims); err != nil {
		return err
	}
	if a.isa, err = isaWith(raw, h.Delims, a.o.Numbers); err != nil {
		return err
	}
	a.wrapped = h.Wrapped
	for err == nil {
		if a.set != nil {
			if raw, n := a.u.plain(); n > 0 {
				err = a.set.put(raw, n)
				continue
			}
		}
		var p piece
		if p, err = a.u.next(); errors.Is(err, io.EOF) {
			return a.end()
		}
		if err == nil {
			err = a.piece(p)
		}
		if err == nil {
			err = a.c.err
		}
	}
	return err
}

func (a *adder) end() error {
	switch {
	case a.set != nil:
		return composeError("the set has no SE", "SE")
	case a.sets == 0:
		return composeError("the unit has no transaction set", "ST")
	}
	return nil
}

// piece routes one segment, or part of one.
func (a *adder) piece(p piece) error {
	if a.set != nil {
		return a.inSet(p)
	}
	if !p.last && (p.id == "GS" || p.id == "ST") {
		return composeError("the segment is too long", p.id)
	}
	switch p.id {
	case "GS":
		a.gs = gsWith(p.raw, a.u.d, a.o.Numbers)
	case "ST":
		return a.startSet(p)
	case "ISA":
		return composeError("a unit has one interchange", "ISA")
	}
	return nil // TA1, GE, IEA and the like are not carried over
}

func (a *adder) startSet(p piece) error {
	if a.gs == nil {
		return composeError("the set is in no group", "ST")
	}
	if a.sets++; a.sets > 1 && a.o.Numbers.ST02 != "" {
		return composeError("one ST02 was given for several sets", "ST")
	}
	a.set = &setCutter{a: a, drop: a.o.Drop, nodes: []openLoop{{}}}
	raw := p.raw
	if v := a.o.Numbers.ST02; v != "" {
		raw = setElement(raw, a.u.d, 2, 0, []byte(v))
	}
	return a.set.put(raw, 1)
}

func (a *adder) inSet(p piece) error {
	s, d, n := a.set, a.u.d, a.o.Numbers
	if !p.last && (p.id == "BHT" || p.id == "HL" || p.id == "SE") {
		return composeError("the segment is too long", p.id)
	}
	switch p.id {
	case "BHT":
		if n.BHT03 != "" {
			return s.put(setElement(p.raw, d, 3, 0, []byte(n.BHT03)), 1)
		}
	case "HL":
		return s.startLoop(p)
	case "CLM":
		return s.startClaim(p)
	case "SE":
		err := s.end(p.raw)
		a.set = nil
		return err
	case "ST", "GS", "GE", "ISA", "IEA":
		return composeError("the set has no SE", p.id)
	}
	return s.put(p.raw, p.segments())
}
