package check

import (
	"context"
	"errors"
	"io"

	"claimdlq"
	"claimdlq/wire/x12"
)

const (
	maxSets  = 100_000 // listed in a report although they are clean
	maxJunk  = 1000
	progress = 4 << 20
)

// checker collects a report from the events of a file.
type checker struct {
	o      Options
	report Report
	acks   bool // it holds acknowledgments
	claims bool // it holds other sets
	any    bool
	sets   int
	told   int64

	// claims and bad claims before the open group and the open interchange
	beforeGroup, beforeInterchange tally

	ic    Interchange
	start *x12.InterchangeStart
	group *x12.GroupStart
	dup   *duplicates
	out   *answerFiles
}

func newChecker(path string, o Options) *checker {
	c := &checker{o: o, dup: newDuplicates()}
	c.report = Report{
		File: path, Format: claimdlq.FormatUnreadable.String(), Verdict: "OK",
		RuleVersion: o.Rules.Version(), Interchanges: []Interchange{},
	}
	if o.AckOut != "" {
		c.out = newAnswerFiles(o.AckOut, path, o.Now)
	}
	return c
}

func (c *checker) scan(ctx context.Context, r io.Reader) error {
	head := &headReader{r: r}
	s := x12.NewScanner(head, x12.Options{Rules: c.o.Rules, OnClaim: c.dup.claim})
	for {
		ev, err := s.Next()
		switch {
		case errors.Is(err, io.EOF):
			c.finish(head)
			return nil
		case err != nil:
			return unavailable(err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		if err := c.event(ev); err != nil {
			return err
		}
		if c.o.Progress != nil && head.n-c.told >= progress {
			c.told = head.n
			c.o.Progress(head.n)
		}
	}
}

func (c *checker) event(ev x12.Event) error {
	switch e := ev.(type) {
	case *x12.Junk:
		c.junk(e)
	case *x12.InterchangeStart:
		c.any = true
		c.ic = Interchange{ISA13: e.ISA13, Offset: e.Offset, Groups: []Group{}}
		kept := *e
		kept.Raw = nil
		c.start = &kept
		c.beforeInterchange = c.tally()
		c.dup.interchange(e)
	case *x12.Loose:
		c.acks = c.acks || e.ID == "TA1"
	case *x12.GroupStart:
		kept := *e
		kept.Raw = nil
		c.group = &kept
		c.beforeGroup = c.tally()
		c.ic.Groups = append(c.ic.Groups, Group{GS06: e.Control, AK905: []string{}, Sets: []Set{}})
		c.dup.group(e)
	case *x12.SetPart:
	case *x12.Set:
		c.set(e)
	case *x12.GroupEnd:
		g := &c.ic.Groups[len(c.ic.Groups)-1]
		g.AK9 = e.AK9
		g.AK905 = append(g.AK905, e.AK905...)
		if e.AK9 == "R" && len(e.AK905) > 0 {
			c.holdSince(c.beforeGroup)
		}
		if e.AK9 == "R" || e.AK9 == "P" {
			c.report.worse("FATAL_SYNTAX")
		}
	case *x12.InterchangeEnd:
		c.end(e)
	}
	if c.out != nil {
		return c.out.event(c.start, ev)
	}
	return nil
}

func (c *checker) junk(e *x12.Junk) {
	switch {
	case e.Harmless:
		c.report.worse("TOLERATE")
	case e.Poison || e.TA1 != "":
		c.report.worse("POISON")
	default:
		c.report.worse("FATAL_SYNTAX")
	}
	if e.TA1 != "" {
		if c.report.Problem == nil {
			c.report.Problem = &Problem{Code: "ISA_" + e.TA1, Offset: e.Offset, Text: unreadableISA[e.TA1]}
		}
		c.report.Interchanges = append(c.report.Interchanges, Interchange{
			Offset: e.Offset, TA1: TA1{Code: "R", Note: e.TA1}, Groups: []Group{},
		})
	}
	n := len(c.report.Junk)
	if n > 0 {
		if last := &c.report.Junk[n-1]; last.Offset+last.Bytes == e.Offset && last.Harmless == e.Harmless {
			last.Bytes += int64(len(e.Raw))
			return
		}
	}
	if n < maxJunk {
		c.report.Junk = append(c.report.Junk, Junk{Offset: e.Offset, Bytes: int64(len(e.Raw)), Harmless: e.Harmless})
	}
}

// unreadableISA says what is wrong with an ISA that cannot be read, by TA105.
var unreadableISA = map[string]string{
	"004": "the segment terminator, byte 106 of the ISA, cannot be one",
	"022": "the ISA does not have sixteen elements in their places",
	"023": "the file ends inside the ISA",
	"026": "the element separator, byte 4 of the ISA, cannot be one",
	"027": "the component separator, ISA16, is missing",
}

func (c *checker) set(e *x12.Set) {
	if e.Format == claimdlq.FormatAck {
		c.acks = true
	} else {
		c.claims = true
	}
	if c.report.Format == claimdlq.FormatUnreadable.String() {
		c.report.Format = e.Format.String()
	}
	s := Set{
		ST02: e.ST02, IK5: e.IK5, IK502: append([]string{}, e.IK502...), Claims: e.Claims, Offset: e.Offset,
		Whole: e.Whole, Errors: make([]Fault, 0, len(e.Faults)), ErrorCount: e.FaultCount,
	}
	if s.IK5 == "R" {
		c.report.worse("FATAL_SYNTAX")
	}
	for _, f := range e.Faults {
		s.add(f)
		switch f.Severity {
		case x12.Business:
			c.report.worse("TERMINAL")
		case x12.Note:
			c.report.worse("TOLERATE")
		case x12.Error:
		}
	}
	for _, b := range e.BadClaims {
		s.Bad = append(s.Bad, b.Ordinal)
		if b.Fault.Severity == x12.Business {
			c.report.worse("TERMINAL")
		}
	}
	for _, f := range c.dup.set(e) {
		s.add(f)
		s.ErrorCount++
		s.Bad = insert(s.Bad, f.ClaimOrd)
		c.report.worse("TERMINAL")
	}
	if e.Whole {
		s.Bad = nil
		c.report.BadClaims += e.Claims
	}
	c.report.Claims += e.Claims
	c.report.BadClaims += len(s.Bad)
	if c.sets++; c.sets > maxSets && s.IK5 == "A" && len(s.Errors) == 0 {
		c.report.OmittedSets++
		return
	}
	g := &c.ic.Groups[len(c.ic.Groups)-1]
	g.Sets = append(g.Sets, s)
}

func (s *Set) add(f x12.Fault) {
	s.Errors = append(s.Errors, Fault{f, severities[f.Severity]})
}

// tally is how many claims there are so far, and how many of them are bad.
type tally struct{ claims, bad int }

func (c *checker) tally() tally { return tally{c.report.Claims, c.report.BadClaims} }

// holdSince counts every claim since then as bad: what is wrong with their group or
// their interchange holds them all.
func (c *checker) holdSince(t tally) {
	c.report.BadClaims = t.bad + c.report.Claims - t.claims
}

// insert puts n into the sorted list once.
func insert(list []int, n int) []int {
	at := len(list)
	for at > 0 && list[at-1] >= n {
		if list[at-1] == n {
			return list
		}
		at--
	}
	list = append(list, 0)
	copy(list[at+1:], list[at:])
	list[at] = n
	return list
}

func (c *checker) end(e *x12.InterchangeEnd) {
	c.ic.TA1, c.ic.Notes = TA1{e.TA1, e.Note}, e.Notes
	if e.TA1 == "R" {
		c.holdSince(c.beforeInterchange)
	}
	switch {
	case e.TA1 == "R" && e.Note == "025":
		c.report.worse("TERMINAL")
	case e.TA1 == "R":
		c.report.worse("FATAL_SYNTAX")
	case len(e.Notes) > 0:
		c.report.worse("TOLERATE")
	}
	c.report.Interchanges = append(c.report.Interchanges, c.ic)
	if c.acks && !c.claims {
		c.report.Format = claimdlq.FormatAck.String()
	}
}

func (c *checker) finish(h *headReader) {
	if c.out != nil {
		c.report.Acknowledgments = c.out.written
	}
	if c.o.Progress != nil {
		c.o.Progress(h.n)
	}
	if c.any || len(c.report.Interchanges) > 0 {
		return
	}
	c.report.Verdict = "POISON"
	c.report.Problem = sniff(h.head)
}

// headReader keeps the first bytes of what it reads.
type headReader struct {
	r    io.Reader
	n    int64
	head []byte
}

const headSize = 1024

func (h *headReader) Read(p []byte) (int, error) {
	n, err := h.r.Read(p)
	h.n += int64(n)
	if room := headSize - len(h.head); room > 0 {
		h.head = append(h.head, p[:min(n, room)]...)
	}
	return n, err
}
