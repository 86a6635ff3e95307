package api

import (
	"context"
	"strconv"

	"claimdlq/classify"
	"claimdlq/flow/correct"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

func itoa(n int) string { return strconv.Itoa(n) }

// ClaimView is a record's document as a structure. Its values are PHI.
type ClaimView struct {
	Record          uint64      `json:"record"`
	Revision        uint32      `json:"revision"`
	PayloadRevision uint16      `json:"payload_revision"`
	Format          string      `json:"format"`
	Readable        bool        `json:"readable" doc:"Otherwise it has no structure, and can be revealed as it is only."`
	Bytes           int         `json:"bytes"`
	Delimiters      *Delimiters `json:"delimiters,omitempty"`
	Segments        []Segment   `json:"segments" doc:"Of an interchange: a page of them, in order."`
	Total           int         `json:"total" doc:"How many segments it has."`
	Next            *int        `json:"next,omitempty" doc:"The from of the next page; absent at the end. Each page is a look, with its entry in the audit log."`
	RxSegments      []RxSegment `json:"rx_segments" doc:"Of a pharmacy claim: the header, then all segments."`
	Cut             bool        `json:"cut,omitempty" doc:"It has more fields than are shown, 5,000."`
	Findings        []Finding   `json:"findings" doc:"All that the current rules find in the whole document, also outside the page; at most 1,000."`
}

// Delimiters are those of an interchange.
type Delimiters struct {
	Element    string `json:"element"`
	Component  string `json:"component,omitempty"`
	Repetition string `json:"repetition,omitempty"`
	Segment    string `json:"segment"`
}

// Segment is a segment of an interchange.
type Segment struct {
	x12.Line

	Findings []int `json:"findings,omitempty" doc:"What is found in it: places in findings."`
}

// RxSegment is the header or a segment of a pharmacy message.
type RxSegment struct {
	ncpdp.Block

	Locked   bool  `json:"locked" doc:"It cannot be deleted."`
	Findings []int `json:"findings,omitempty" doc:"What is found in it: places in findings."`
}

type viewInput struct {
	IDPath

	Body struct {
		Because

		Claim uint32 `json:"claim,omitempty" maximum:"16777216" doc:"Only this claim of a set, by its place from 1."`
		From  int    `json:"from,omitempty" minimum:"0" maximum:"10000000" doc:"The next of the page before."`
		Limit int    `json:"limit,omitempty" minimum:"1" maximum:"2000" doc:"Segments. Default: 500."`
	}
}

type viewOutput struct {
	ETag string `header:"ETag"`
	Body ClaimView
}

func (s *server) view(ctx context.Context, in *viewInput) (*viewOutput, error) {
	r, p, err := s.revealed(ctx, in.ID, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	limit := in.Body.Limit
	if limit == 0 {
		limit = 500
	}
	v, err := s.o.App.Flow.Correct.View(ctx, p.By(), r.ID, in.Body.Claim, max(1, in.Body.From), limit)
	if err != nil {
		return nil, err
	}
	return &viewOutput{etag(v.Record), toView(&v, max(1, in.Body.From))}, nil
}

func toView(v *correct.View, from int) ClaimView {
	out := ClaimView{
		Record: uint64(v.Record.ID), Revision: v.Record.Revision, PayloadRevision: v.Record.PayloadRevision, Format: v.Record.Format.String(),
		Readable: v.Readable, Bytes: v.Size, Segments: []Segment{}, RxSegments: []RxSegment{}, Total: v.Total, Cut: v.Cut,
		Findings: findings(v.Faults, v.At, v.RxFaults, nil),
	}
	for _, c := range v.Codes {
		if !anyOf(out.Findings, c.String()) {
			out.Findings = append(out.Findings, Finding{Code: c.String(), Meaning: classify.Words(c)})
		}
	}
	if d := v.Delims; d.Element != 0 {
		out.Delimiters = &Delimiters{Element: character(d.Element), Component: character(d.Component), Repetition: character(d.Repetition), Segment: character(d.Segment)}
	}
	found := map[int][]int{}
	for i := range out.Findings {
		if n := out.Findings[i].Number; n > 0 {
			found[n] = append(found[n], i)
		}
	}
	for i := range v.Lines {
		out.Segments = append(out.Segments, Segment{v.Lines[i], found[v.Lines[i].Number]})
	}
	if next := from + len(v.Lines); len(v.Lines) > 0 && next <= v.Total {
		out.Next = &next
	}
	for i := range v.Blocks {
		b := RxSegment{Block: v.Blocks[i], Locked: v.Blocks[i].Segment == "" || v.Blocks[i].Segment == "07"}
		for k := range out.Findings {
			if f := &out.Findings[k]; f.Segment == b.Segment && f.Transaction == b.Transaction && (f.Segment != "" || f.Field != "") {
				b.Findings = append(b.Findings, k)
			}
		}
		out.RxSegments = append(out.RxSegments, b)
	}
	return out
}

func anyOf(fs []Finding, code string) bool {
	for i := range fs {
		if fs[i].Code == code {
			return true
		}
	}
	return false
}

// character is a delimiter as text, empty for none.
func character(c byte) string {
	if c == 0 {
		return ""
	}
	return string(rune(c))
}
