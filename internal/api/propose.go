package api

import (
	"context"
	"errors"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/correct"
	"claimdlq/internal/auth"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// Edit is a change of one place of an interchange.
type Edit struct {
	Op        string `json:"op" enum:"set,insert,delete" doc:"set: an element, or a component of it. insert: a segment behind the one that is named. delete: the segment."`
	Segment   int    `json:"segment" minimum:"1" maximum:"10000000" doc:"Its number in the document as view shows it, whatever other edits do: ISA is 1."`
	Element   int    `json:"element,omitempty" minimum:"1" maximum:"99"`
	Component int    `json:"component,omitempty" minimum:"1" maximum:"99" doc:"Left out: the whole element."`
	Repeat    int    `json:"repeat,omitempty" minimum:"1" maximum:"99"`
	Value     string `json:"value,omitempty" maxLength:"10000" doc:"Of set; empty clears it. That of a whole element has the document's own separators inside."`
	Text      string `json:"text,omitempty" maxLength:"10000" doc:"Of insert: a segment with * between elements, : between components and ^ between repetitions, whatever the document uses."`
}

// RxEdit is a change of one field or segment of a pharmacy message.
type RxEdit struct {
	Op          string `json:"op" enum:"set,insert,delete" doc:"insert: one more of the field behind those that are there; without a field, a segment. delete: the field; without one, the segment."`
	Transaction int    `json:"transaction,omitempty" minimum:"0" maximum:"4" doc:"0 for what belongs to all; a record's document has one."`
	Segment     string `json:"segment,omitempty" pattern:"^[0-9]{2}$" doc:"Such as 07; left out for the header."`
	Field       string `json:"field,omitempty" pattern:"^[0-9A-Z]{2}$" doc:"Such as D7."`
	Occurrence  int    `json:"occurrence,omitempty" minimum:"1" maximum:"99"`
	Value       string `json:"value,omitempty" maxLength:"10000"`
}

// Correction is a body that brings a correction: edits, or a whole document.
type Correction struct {
	Because

	Edits    []Edit   `json:"edits,omitempty" maxItems:"500" doc:"Of an interchange."`
	RxEdits  []RxEdit `json:"rx_edits,omitempty" maxItems:"500" doc:"Of a pharmacy claim."`
	Document []byte   `json:"document,omitempty" doc:"Instead of edits: the whole document, in base64, byte for byte what is to be sealed." maxLength:"23000000"`
}

func (c *Correction) edits() (out correct.Edits, err error) {
	if given(len(c.Edits) > 0, len(c.RxEdits) > 0, len(c.Document) > 0) != 1 {
		return out, invalid("read correction", "body", "send edits, rx_edits or a document")
	}
	for i := range c.Edits {
		e := &c.Edits[i]
		out.Steps = append(out.Steps, x12.Step{
			Op: e.Op, Segment: e.Segment, Element: e.Element, Component: e.Component, Repeat: e.Repeat, Value: []byte(e.Value), Text: []byte(e.Text),
		})
	}
	for _, e := range c.RxEdits {
		out.RxSteps = append(out.RxSteps, ncpdp.Step{
			Op: e.Op, Transaction: e.Transaction, Segment: e.Segment, Field: e.Field, Occurrence: e.Occurrence, Value: []byte(e.Value),
		})
	}
	return out, nil
}

type proposeInput struct {
	IDPath

	Body struct {
		Correction

		Reveal bool `json:"reveal,omitempty" doc:"Show the values that differ: needs payload.reveal."`
	}
}

type correctInput struct {
	IDPath

	Body Correction
}

// Difference is one place at which a correction differs from what is there.
type Difference struct {
	Place

	Kind   string `json:"kind" enum:"changed,added,removed"`
	Before string `json:"before" doc:"By its form, unless it was to be revealed: letters as A, digits as 9; at most 80 characters."`
	After  string `json:"after" doc:"Likewise."`
	OldLen int    `json:"old_len" doc:"Bytes."`
	NewLen int    `json:"new_len"`
}

// Proposal is what there is to say about a correction. It holds no values unless they
// were asked for.
type Proposal struct {
	Record      uint64         `json:"record"`
	Revision    uint32         `json:"revision" doc:"Of the record it was compared with: the ETag to apply it with."`
	Differences []Difference   `json:"differences" doc:"Where it differs from what is there; at most 1,000."`
	MoreDiffs   int            `json:"more_differences,omitempty"`
	Masked      bool           `json:"masked" doc:"before and after show the form of the values only."`
	Findings    []Finding      `json:"findings" doc:"What stands in its way by the current rules, in words, with its place."`
	Changes     []x12.Change   `json:"changes" doc:"Where it differs, as the command line has it."`
	RxChanges   []ncpdp.Change `json:"rx_changes,omitempty"`
	Faults      []x12.Fault    `json:"faults" doc:"What stands in its way, as the command line has it."`
	Codes       []string       `json:"codes" doc:"Likewise, where no segment is to blame."`
	Clean       bool           `json:"clean" doc:"It can be applied."`
	RuleVersion string         `json:"rule_version"`
	AmountCents int64          `json:"amount_cents"`
}

type proposalOutput struct {
	ETag string `header:"ETag"`
	Body Proposal
}

// mostDiffs is how many differences are shown.
const mostDiffs = 1000

func toProposal(d *correct.Draft, shown bool) Proposal {
	p := &d.Proposal
	out := Proposal{
		Record: uint64(p.ID), Revision: p.Revision, Changes: append([]x12.Change{}, p.Changes...), RxChanges: p.RxChanges,
		Faults: append([]x12.Fault{}, p.Faults...), Codes: []string{}, Clean: p.Clean, RuleVersion: p.RuleVersion, AmountCents: p.AmountCents,
		Masked: !shown, Differences: []Difference{},
	}
	placed := map[claimdlq.Detail]bool{}
	out.Findings = findings(p.Faults, d.At, p.RxFaults, placed)
	for _, c := range p.Codes {
		out.Codes = append(out.Codes, c.String())
		if !placed[c] {
			out.Findings = append(out.Findings, Finding{Code: c.String(), Meaning: classify.Words(c)})
		}
	}
	show := func(s string) string { return correct.Form(s, mostMask) }
	if shown {
		show = func(s string) string { return s }
	}
	for i := range d.Places[:min(len(d.Places), mostDiffs)] {
		x := &d.Places[i]
		out.Differences = append(out.Differences, Difference{
			Place: placeX12(x.Segment, x.Element, x.Loop, x.Position), Kind: x.Kind, Before: show(x.Old), After: show(x.New), OldLen: x.OldLen, NewLen: x.NewLen,
		})
	}
	for i := range d.RxPlaces[:min(len(d.RxPlaces), mostDiffs)] {
		x := &d.RxPlaces[i]
		place := placeRx(x.Transaction, x.Segment, x.Field)
		place.Occurrence = x.Occurrence
		out.Differences = append(out.Differences, Difference{Place: place, Kind: x.Kind, Before: show(x.Old), After: show(x.New), OldLen: x.OldLen, NewLen: x.NewLen})
	}
	out.MoreDiffs = len(d.Places) + len(d.RxPlaces) - len(out.Differences)
	return out
}

// mostMask bounds the form of a value that is shown.
const mostMask = 80

// draft judges a correction for somebody who may correct the record, and, where it is to
// be shown, see it.
func (s *server) draft(ctx context.Context, id uint64, c *Correction, shown bool) (correct.Draft, auth.Principal, error) {
	p := who(ctx).For(c.Reason)
	r, err := s.find(ctx, id)
	if err != nil {
		return correct.Draft{}, p, err
	}
	if err := p.May(auth.RecordCorrect, r.Partner); err != nil {
		return correct.Draft{}, p, err
	}
	if shown {
		if err := p.May(auth.PayloadReveal, r.Partner); err != nil {
			return correct.Draft{}, p, err
		}
	}
	e, err := c.edits()
	if err != nil {
		return correct.Draft{}, p, err
	}
	var d correct.Draft
	if len(c.Document) > 0 {
		d, err = s.o.App.Flow.Correct.Whole(ctx, p.By(), r.ID, phi.Wrap(c.Document), shown)
	} else {
		d, err = s.o.App.Flow.Correct.Edit(ctx, p.By(), r.ID, e, shown)
	}
	if err == nil {
		err = stays(p, r, d.Goes())
	}
	return d, p, located(err)
}

// stays refuses to let somebody send a claim to a partner whose things are not his.
func stays(p auth.Principal, r claimdlq.Record, to string) error {
	if to == "" || to == r.Partner || p.Covers(to) {
		return nil
	}
	return elsewhere("correct record " + r.ID.String())
}

func elsewhere(op string) error {
	return &claimdlq.Error{Code: claimdlq.Refused, Op: op, On: "101-A1, 104-A4", Hint: "it would go to a partner that is not yours: ask somebody who has both"}
}

// located is an error with the edit that it is about as a field of the request.
func located(err error) error {
	index, code := -1, ""
	if e, ok := errors.AsType[*x12.StepError](err); ok {
		index, code = e.Index, e.Code
	} else if e, ok := errors.AsType[*ncpdp.StepError](err); ok {
		index, code = e.Index, e.Code
	}
	if index < 0 {
		return err
	}
	p := problemOf(err)
	message := p.Hint
	if code != "" {
		message = code + ": " + message
	}
	p.Errors = append(p.Errors, Fault{Location: "body.edits[" + itoa(index) + "]", Message: message})
	return p
}

func (s *server) propose(ctx context.Context, in *proposeInput) (*proposalOutput, error) {
	d, _, err := s.draft(ctx, in.ID, &in.Body.Correction, in.Body.Reveal)
	if err != nil {
		return nil, err
	}
	out := &proposalOutput{Body: toProposal(&d, in.Body.Reveal)}
	out.ETag = etag(claimdlq.Record{Revision: d.Revision})
	return out, nil
}

func (s *server) correct(ctx context.Context, in *correctInput) (*movedOutput, error) {
	rev, err := ifMatch(ctx)
	if err != nil {
		return nil, err
	}
	lock := s.o.Locks.of(claimdlq.ID(in.ID))
	lock.Lock()
	defer lock.Unlock()
	d, by, err := s.draft(ctx, in.ID, &in.Body, false)
	if err != nil {
		return nil, err
	}
	if uint64(d.Revision) != rev {
		return nil, moved("correct record", d.ID.String())
	}
	r, err := s.o.App.Flow.Correct.Apply(ctx, by.By(), d.Proposal)
	if err != nil {
		return nil, err
	}
	return s.moved(ctx, r, ""), nil
}
