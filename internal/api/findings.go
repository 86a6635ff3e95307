package api

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/auth"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// Place is where something is in a claim, with the names that people use.
type Place struct {
	Loop        string `json:"loop,omitempty" doc:"Such as 2010BA."`
	LoopName    string `json:"loop_name,omitempty"`
	Transaction int    `json:"transaction,omitempty" doc:"Of a pharmacy message, from 1."`
	Segment     string `json:"segment,omitempty" doc:"Such as NM1, or 07."`
	SegmentName string `json:"segment_name,omitempty"`
	Number      int    `json:"segment_number,omitempty" doc:"Of the segment in the document, where it was opened: ISA is 1."`
	Position    int    `json:"position,omitempty" doc:"Of the segment in its set, ST is 1."`
	Element     string `json:"element,omitempty" doc:"Such as 05-3."`
	ElementName string `json:"element_name,omitempty"`
	Field       string `json:"field,omitempty" doc:"Such as D7."`
	FieldName   string `json:"field_name,omitempty"`
	Occurrence  int    `json:"occurrence,omitempty"`
}

// Finding is one thing that is wrong with a claim, without any value.
type Finding struct {
	Place

	Code    string `json:"code" doc:"As a record's error_detail has it."`
	Meaning string `json:"meaning,omitempty"`
	Claim   int    `json:"claim,omitempty" doc:"The claim of the set that it is in, from 1."`
	Record  uint64 `json:"record,omitempty" doc:"The record that it is known of."`
	Hint    string `json:"hint,omitempty" doc:"How it probably came about."`
}

// placeX12 names a place of an interchange. element is such as 05-3, or empty.
func placeX12(segment, element, loop string, position int) Place {
	out := Place{Loop: loop, LoopName: x12.LoopName(loop), Segment: segment, SegmentName: x12.SegmentName(loop, segment, ""), Position: position, Element: element}
	el, comp, _ := strings.Cut(element, "-")
	n, _ := strconv.Atoi(el)
	c, _ := strconv.Atoi(comp)
	if n > 0 && n <= 99 {
		out.ElementName = x12.ElementName(loop, segment, "", n, 0)
		if name := x12.ElementName(loop, segment, "", n, c); c > 0 && c <= 99 && name != "" {
			out.ElementName = name
		}
	}
	return out
}

// placeRx names a place of a pharmacy message; segment is empty for the header.
func placeRx(transaction int, segment, field string) Place {
	return Place{Transaction: transaction, Segment: segment, SegmentName: ncpdp.SegmentTitle(segment), Field: field, FieldName: ncpdp.FieldTitle(field)}
}

// findings says faults in words. at are the numbers of the segments they are about. Their
// codes are noted in seen, if it is not nil.
func findings(faults []x12.Fault, at []int, rx []ncpdp.Fault, seen map[claimdlq.Detail]bool) []Finding {
	out := make([]Finding, 0, len(faults)+len(rx))
	note := func(d claimdlq.Detail) {
		if seen != nil {
			seen[d] = true
		}
	}
	for i := range faults {
		f := &faults[i]
		d := f.Detail()
		note(d)
		x := Finding{Place: placeX12(f.Segment, f.Element, f.Loop, f.Position), Code: d.String(), Meaning: classify.Words(d), Claim: f.ClaimOrd}
		if i < len(at) {
			x.Number = at[i]
		}
		out = append(out, x)
	}
	for i := range rx {
		f := &rx[i]
		d := f.Detail()
		note(d)
		out = append(out, Finding{Place: placeRx(f.Transaction, f.Segment, f.Field), Code: d.String(), Meaning: classify.Words(d), Hint: f.Hint.Text()})
	}
	return out
}

// findingOf says a record's detail as far as the record alone knows it.
func findingOf(r claimdlq.Record) Finding {
	out := Finding{Code: r.Detail.String(), Meaning: classify.Words(r.Detail), Record: uint64(r.ID), Claim: int(r.Ordinal)}
	kind, rest, _ := strings.Cut(out.Code, ":")
	where, _, _ := strings.Cut(rest, ":")
	switch kind {
	case "IK3":
		out.Place = placeX12(where, "", "", 0)
	case "IK4":
		whole, comp, composite := strings.Cut(where, "-")
		if len(whole) < 4 {
			return out
		}
		element := whole[len(whole)-2:]
		if composite {
			element += "-" + comp
		}
		out.Place = placeX12(whole[:len(whole)-2], element, "", 0)
	case "NCPDP":
		segment, field, both := strings.Cut(where, "-")
		if !both && ncpdp.SegmentTitle(segment) == "" {
			segment, field = "", segment
		}
		if len(segment) <= 2 && len(field) <= 2 && strings.Count(out.Code, ":") == 2 {
			out.Place = placeRx(int(r.Ordinal), segment, field)
		}
		return out
	default:
		return out
	}
	if loops := x12.LatestRules().LoopsOf(r.Format.String(), out.Segment); len(loops) == 1 {
		out.Place = placeX12(out.Segment, out.Element, loops[0], 0)
	}
	return out
}

// FaultMap is what is known to be wrong with a record without opening it.
type FaultMap struct {
	Findings []Finding `json:"findings" doc:"Of the record, and of the claims of its set that have records of their own; at most 1,001."`
	Opened   bool      `json:"opened" doc:"Always false: a record keeps one fault, the first that matters. All are found by /view, which opens it."`
}

func (s *server) faults(ctx context.Context, in *IDPath) (*struct{ Body FaultMap }, error) {
	r, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := &struct{ Body FaultMap }{FaultMap{Findings: []Finding{}}}
	if r.Detail != (claimdlq.Detail{}) {
		out.Body.Findings = append(out.Body.Findings, findingOf(r))
	}
	if r.Parted == 0 {
		return out, nil
	}
	kids, err := s.o.App.Store.Lookup(ctx, claimdlq.ParentRef(r.ID), mostKids)
	if err != nil {
		return nil, err
	}
	for _, k := range kids {
		if k.Parent == r.ID && who(ctx).Covers(k.Partner) && k.Detail != (claimdlq.Detail{}) {
			out.Body.Findings = append(out.Body.Findings, findingOf(k))
		}
	}
	return out, nil
}

func (s *server) faultOperations() {
	add(s, operation{
		id: "list-faults", method: http.MethodGet, path: "/v1/records/{id}/faults", tag: "records", perm: auth.RecordsRead,
		summary: "What is known to be wrong with it and where, without opening it",
	}, s.faults)
}
