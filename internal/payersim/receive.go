package payersim

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"claimdlq/wire/x12"
)

// interchange is one ISA to IEA as it was read.
type interchange struct {
	start  x12.InterchangeStart
	end    x12.InterchangeEnd
	groups []*group
}

type group struct {
	start x12.GroupStart
	end   x12.GroupEnd
	sets  []*set
}

type set struct {
	x12.Set
	*batch
}

// lane is what interchange numbers are unique in.
func (ic *interchange) lane() string { return ic.start.Envelope.Lane() }

// read reads a whole file. Bytes of no interchange are passed over. The error is r's.
func read(r io.Reader, s *Script) (all []*interchange, err error) {
	scanner := x12.NewScanner(r, x12.Options{EnvelopeOnly: s.envelopeOnly, PartSize: 1 << 30})
	var (
		ic *interchange
		g  *group
	)
	for {
		e, err := scanner.Next()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case *x12.InterchangeStart:
			ic, g = &interchange{start: *e}, nil
			ic.start.Raw = nil
			all = append(all, ic)
		case *x12.GroupStart:
			g = &group{start: *e}
			g.start.Raw = nil
			ic.groups = append(ic.groups, g)
		case *x12.Set:
			if g != nil {
				g.sets = append(g.sets, keep(e, ic.start.Delims))
			}
		case *x12.GroupEnd:
			if g != nil {
				g.end = *e
				g.end.Raw, g.end.AK905 = nil, slices.Clone(e.AK905)
			}
		case *x12.InterchangeEnd:
			ic.end = *e
			ic.end.Raw = nil
		case *x12.Junk, *x12.Loose, *x12.SetPart:
		}
	}
}

// keep copies what is needed of a set; the scanner's bytes are gone after this event.
func keep(e *x12.Set, d x12.Delims) *set {
	s := &set{Set: *e, batch: new(batch)}
	if e.ST01 == "837" {
		s.batch = readBatch(e.Raw, d)
	}
	s.Raw = nil
	s.BHT03, s.IK502, s.Faults = bytes.Clone(e.BHT03), slices.Clone(e.IK502), slices.Clone(e.Faults)
	for _, bad := range e.BadClaims {
		if bad.Fault.Severity == x12.Business && bad.Ordinal >= 1 && bad.Ordinal <= len(s.claims) {
			stc := bad.Fault.STC
			if stc == "" {
				stc = "A7:0"
			}
			s.claims[bad.Ordinal-1].stc = stc
		}
	}
	s.BadClaims = nil
	return s
}
