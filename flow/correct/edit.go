package correct

import (
	"bytes"
	"context"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// Edits are typed changes of a record's present document: Steps of an interchange, or
// RxSteps of a pharmacy message.
type Edits struct {
	Steps   []x12.Step
	RxSteps []ncpdp.Step
}

// Draft is a Proposal with what was and what is at each place that is changed: PHI.
type Draft struct {
	Proposal
	At       []int // the number of the segment that each of Faults is about
	Places   []x12.Difference
	RxPlaces []ncpdp.Difference
}

// Edit proposes what the edits make of the present document. Where shown, somebody is to
// see the values: the look is audited as such. Errors as for Propose; Invalid and, for
// what is locked, Refused where an edit cannot be done, as an *x12.StepError or
// *ncpdp.StepError.
func (c *Correct) Edit(ctx context.Context, by claimdlq.By, id claimdlq.ID, e Edits, shown bool) (Draft, error) {
	act := claimdlq.ActOpen
	if shown {
		act = claimdlq.ActReveal
	}
	r, present, err := c.present(ctx, by, id, act)
	if err != nil {
		return Draft{}, err
	}
	doc, err := e.apply(r, present)
	if err != nil {
		return Draft{}, err
	}
	return c.draft(ctx, r, present, doc)
}

func (e *Edits) apply(r claimdlq.Record, present phi.Bytes) (phi.Bytes, error) {
	if isRx(r) != (len(e.RxSteps) > 0) || isRx(r) == (len(e.Steps) > 0) {
		hint := "it is an interchange: send edits, not rx_edits"
		if isRx(r) {
			hint = "it is a pharmacy claim: send rx_edits, not edits"
		}
		return phi.Bytes{}, &claimdlq.Error{Code: claimdlq.Invalid, Op: "edit record " + r.ID.String(), On: "the edits", Hint: hint}
	}
	var doc []byte
	var err error
	if isRx(r) {
		doc, err = ncpdp.Apply(present.Reveal(), e.RxSteps)
	} else {
		doc, err = x12.Apply(present.Reveal(), e.Steps)
	}
	return phi.Wrap(doc), err
}

// present opens the document of a record that can be corrected, to be judged or shown.
func (c *Correct) present(ctx context.Context, by claimdlq.By, id claimdlq.ID, act claimdlq.Action) (claimdlq.Record, phi.Bytes, error) {
	r, err := c.correctable(ctx, id)
	if err != nil {
		return r, phi.Bytes{}, err
	}
	proof, err := c.proof(ctx, by, act, r)
	if err != nil {
		return r, phi.Bytes{}, err
	}
	doc, err := c.opened(ctx, proof, r)
	return r, doc, err
}

func (c *Correct) opened(ctx context.Context, proof claimdlq.Proof, r claimdlq.Record) (phi.Bytes, error) {
	doc, err := envelope.Document(ctx, c.o.Vault, proof, r)
	if err == nil && isRx(r) {
		return alone(doc, r)
	}
	return doc, err
}

// lookFor is how long one audit entry stands for the proposals of one person, with one
// reason, to one revision of one record: an editor asks at every change. What shows
// values has an entry of its own every time.
const lookFor = 15 * time.Minute

// maxLooks is how many looks are remembered. Who is forgotten is audited again.
const maxLooks = 1024

type look struct {
	by       claimdlq.By
	record   claimdlq.ID
	revision uint32
}

type lookSeen struct {
	proof claimdlq.Proof
	until time.Time
}

// looks are those whose entry still stands. The zero looks are ready.
type looks struct {
	mu   sync.Mutex
	seen map[look]lookSeen
}

func (l *looks) find(k look, now time.Time) (claimdlq.Proof, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s, ok := l.seen[k]
	return s.proof, ok && now.Before(s.until)
}

func (l *looks) keep(k look, s lookSeen, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.seen) >= maxLooks {
		for old, x := range l.seen {
			if !now.Before(x.until) {
				delete(l.seen, old)
			}
		}
	}
	if l.seen == nil || len(l.seen) >= maxLooks {
		l.seen = map[look]lookSeen{}
	}
	l.seen[k] = s
}

// proof makes durable that the record is about to be opened, unless an entry that still
// stands says so.
func (c *Correct) proof(ctx context.Context, by claimdlq.By, act claimdlq.Action, r claimdlq.Record) (claimdlq.Proof, error) {
	k, now := look{by, r.ID, r.Revision}, c.o.Now()
	if p, ok := c.looks.find(k, now); ok && act == claimdlq.ActOpen {
		return p, nil
	}
	p, err := audited.Open(ctx, c.o.Store, by, act, now, r)
	if err == nil {
		c.looks.keep(k, lookSeen{p, now.Add(lookFor)}, now)
	}
	return p, err
}

// View is a record's document as a structure, with what the present rules say of it.
type View struct {
	Record   claimdlq.Record
	Lines    []x12.Line // of an interchange, as many as were asked for
	Total    int        // lines in all
	Delims   x12.Delims
	Blocks   []ncpdp.Block // of a pharmacy message
	Cut      bool          // it has more fields than are shown
	Faults   []x12.Fault
	At       []int // the number of the line that each of Faults is about
	RxFaults []ncpdp.Fault
	Codes    []claimdlq.Detail // what has no place in it
	Size     int               // bytes
	// Readable is false where the document is neither: it can be revealed as it is only.
	Readable bool
}

// View opens a record's document for a person to look at; a claim above 0 is the place
// of one claim in a set, to be cut out of it. Every look is audited with its reason
// before it happens. Errors as for Document; Invalid where the record is no set.
func (c *Correct) View(ctx context.Context, by claimdlq.By, id claimdlq.ID, claim uint32, from, limit int) (View, error) {
	if err := audited.Named(by, "view document"); err != nil {
		return View{}, err
	}
	r, err := c.o.Store.Get(ctx, id)
	if err != nil {
		return View{}, err
	}
	if claim > 0 && (r.Scope != claimdlq.ScopeTransaction || isRx(r)) {
		return View{}, &claimdlq.Error{Code: claimdlq.Invalid, Op: "view claim", On: "of record " + id.String(), Hint: "the record is no transaction set"}
	}
	proof, err := c.proof(ctx, by, claimdlq.ActReveal, r)
	if err != nil {
		return View{}, err
	}
	doc, err := c.opened(ctx, proof, r)
	if err != nil {
		return View{}, err
	}
	if claim > 0 {
		var one bytes.Buffer
		if _, err := x12.CutClaim(&one, bytes.NewReader(doc.Reveal()), int(claim), x12.Numbers{}); err != nil {
			return View{}, err
		}
		doc = phi.Wrap(one.Bytes())
	}
	v := View{Record: r, Size: doc.Len()}
	if isRx(r) {
		v.rx(doc.Reveal())
		return v, nil
	}
	return v, c.viewX12(&v, doc.Reveal(), from, limit)
}

// numbersOf returns the number of the segment that each fault is about.
func numbersOf(doc []byte, faults []x12.Fault) []int {
	h, ta1 := x12.ParseISA(doc)
	if ta1 != "" || len(faults) == 0 {
		return make([]int, len(faults))
	}
	offsets := make([]int64, len(faults))
	for i := range faults {
		offsets[i] = faults[i].Offset
	}
	return x12.NumbersAt(doc, h.Delims, offsets)
}

func (v *View) rx(doc []byte) {
	m := ncpdp.Parse(doc)
	var err error
	v.Blocks, v.Cut, err = m.View()
	v.Readable = err == nil
	v.Codes, v.RxFaults = faultsRx(m)
}

func (c *Correct) viewX12(v *View, doc []byte, from, limit int) error {
	h, ta1 := x12.ParseISA(doc)
	if ta1 != "" || h.Len > len(doc) {
		v.Codes = append(v.Codes, claimdlq.NewDetail("TA1:"+ta1))
		return nil
	}
	v.Readable, v.Delims = true, h.Delims
	var err error
	if v.Lines, v.Total, err = c.o.Rules.View(doc, from, limit); err != nil || v.Record.Format == claimdlq.FormatAck {
		return err
	}
	scan, err := envelope.Judge(bytes.NewReader(doc), c.o.Rules, false, nil)
	v.Faults, v.Codes = scan.Faults, scan.Codes
	v.At = numbersOf(doc, v.Faults)
	return err
}
