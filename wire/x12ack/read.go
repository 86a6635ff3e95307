package x12ack

import (
	"errors"
	"io"
	"slices"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/wire/x12"
)

const (
	// maxSet is how large one acknowledgment set may be. A 277CA needs about 160
	// bytes for a claim.
	maxSet = 64 << 20
	// maxAnswers bounds what one file can make us hold.
	maxAnswers = 1_000_000
	maxFaults  = 1000
)

// Read reads a file of acknowledgments: any number of interchanges, each with
// TA1, 999, 997 or 277CA in any mix. What cannot be understood becomes a fault
// and stops nothing else. It is liberal where senders are known to be sloppy and
// nothing can be mistaken: TA101 without leading zeros, IEA01 1 over a TA1 alone,
// AK203 or parts of IK3 and IK4 missing, wrong counts. The error is the reader's.
func Read(r io.Reader) (*Acks, error) {
	p := reader{acks: &Acks{}}
	s := x12.NewScanner(r, x12.Options{EnvelopeOnly: true, PartSize: maxSet})
	for {
		e, err := s.Next()
		if errors.Is(err, io.EOF) {
			return p.acks, nil
		}
		if err != nil {
			return p.acks, err
		}
		p.event(e)
	}
}

type reader struct {
	acks  *Acks
	total int

	delims   x12.Delims
	original claimdlq.Envelope // whose answers these are
	groups   int
	ta1s     int

	// Of the open group, swapped: GS02 and GS03 of the original.
	groupSender, groupReceiver, version string
	oversize                            bool
}

func (p *reader) event(e x12.Event) {
	switch e := e.(type) {
	case *x12.Junk:
		if !e.Harmless {
			p.fault("", 0, "JUNK")
		}
	case *x12.InterchangeStart:
		p.start(e)
	case *x12.Loose:
		if e.ID == "TA1" {
			p.ta1(e.Elements)
		}
	case *x12.GroupStart:
		p.groups++
		p.groupSender, p.groupReceiver, p.version = e.Receiver, e.Sender, e.Version
	case *x12.SetPart:
		p.oversize = true
	case *x12.Set:
		p.set(e)
	case *x12.GroupEnd:
	case *x12.InterchangeEnd:
		p.end(e)
	}
}

func (p *reader) start(e *x12.InterchangeStart) {
	env := e.Envelope
	p.delims, p.groups, p.ta1s = e.Delims, 0, 0
	p.original = claimdlq.Envelope{
		SenderQualifier: env.ReceiverQualifier, Sender: env.Receiver,
		ReceiverQualifier: env.SenderQualifier, Receiver: env.Sender, Usage: env.Usage,
	}
	i := Interchange{Envelope: env, Number: e.Number}
	if _, ok := number(e.ISA13); ok {
		i.ISA13 = e.ISA13
	}
	p.acks.Interchanges = append(p.acks.Interchanges, i)
}

// end notes an interchange of TA1s alone whose IEA01 is 1, and one that is not
// whole. A number that was used before in the same file is no fault: whether an
// acknowledgment is a repetition is found by what it answers.
func (p *reader) end(e *x12.InterchangeEnd) {
	for _, n := range e.Notes {
		p.note(n)
	}
	for s := x12.NewSegments(e.Raw, p.delims); s.Next(); {
		if n, _ := number(string(s.Element(1))); s.ID() == "IEA" && n == 1 && p.groups == 0 && p.ta1s > 0 {
			p.note("IEA01_TA1_ONLY")
			return
		}
	}
	switch {
	case e.TA1 == "R" && e.Note == "025":
		p.note("ISA13_REPEATED")
	case e.TA1 == "R":
		p.fault("IEA", 0, "INTERCHANGE_"+e.Note)
	}
}

func (p *reader) ta1(el []string) {
	p.ta1s++
	el = append(slices.Clone(el), make([]string, 5)...)
	n, ok := number(el[0])
	if !ok {
		p.fault("TA1", 0, "TA101")
		return
	}
	if len(el[0]) != 9 {
		p.note("TA101_UNPADDED")
	}
	ack, ok := classify.TA1(el[3], el[4])
	if !ok {
		p.fault("TA1", 0, "TA104")
		return
	}
	a := Answer{Kind: KindTA1, Envelope: p.original, ISA13: n, Ack: ack, Codes: []claimdlq.Detail{ack.Outcome.Code}}
	if _, ok := number(el[1]); ok && len(el[1]) == 6 {
		a.Envelope.Date = el[1]
	}
	if _, ok := number(el[2]); ok && len(el[2]) == 4 {
		a.Envelope.Time = el[2]
	}
	p.add(a)
}

func (p *reader) set(e *x12.Set) {
	oversize := p.oversize
	p.oversize = false
	if oversize {
		p.fault("ST", 1, "SET_TOO_LARGE")
		return
	}
	s := x12.NewSegments(e.Raw, p.delims)
	switch {
	case e.ST01 == "999", e.ST01 == "997":
		p.read999(s)
	case e.ST01 == "277" && is277CA(e.ST03, p.version):
		p.read277CA(s)
	default:
		p.fault("ST", 1, "NO_ACKNOWLEDGMENT")
		return
	}
	for _, code := range e.IK502 {
		if code == "4" || code == "3" {
			p.note("SE_" + code) // wrong count or number: seen in real files
			continue
		}
		p.fault("SE", e.Segments, "SET_"+code)
	}
}

// is277CA tells 005010X214 from the claim status responses X212 and X213.
func is277CA(st03, gs08 string) bool {
	v := st03
	if v == "" {
		v = gs08
	}
	return v == "" || len(v) >= 10 && v[6:10] == "X214"
}

func (p *reader) add(a Answer) {
	if p.total++; p.total > maxAnswers {
		p.fault("", 0, "TOO_MANY_ANSWERS")
		return
	}
	i := len(p.acks.Interchanges) - 1
	if i < 0 {
		return
	}
	in := &p.acks.Interchanges[i]
	in.Answers = append(in.Answers, a)
}

func (p *reader) fault(segment string, position int, rule string) {
	if len(p.acks.Faults) < maxFaults {
		p.acks.Faults = append(p.acks.Faults, x12.Fault{
			Segment: segment, Position: position, Rule: claimdlq.NewDetail("ACK_" + rule).String(), Severity: x12.Error,
		})
	}
}

func (p *reader) note(rule string) {
	if !slices.Contains(p.acks.Notes, rule) {
		p.acks.Notes = append(p.acks.Notes, rule)
	}
}

// number returns a control number of one to nine digits.
func number(s string) (uint32, bool) {
	if len(s) == 0 || len(s) > 9 {
		return 0, false
	}
	n := uint32(0)
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + uint32(s[i]-'0')
	}
	return n, true
}
