package check

import (
	"encoding/json"
	"fmt"
	"strings"

	"claimdlq"
	"claimdlq/wire/x12"
)

// Report is what check says of one file. Its JSON is a contract.
type Report struct {
	File    string `json:"file"`
	Format  string `json:"format"`  // of its first set: 837p, 837i, 837d, ack, x12 or unreadable
	Verdict string `json:"verdict"` // OK, TOLERATE, TRANSIENT, TERMINAL, FATAL_SYNTAX or POISON
	// RuleVersion names the rules that judged it.
	RuleVersion string `json:"rule_version"`
	Claims      int    `json:"claims"`
	BadClaims   int    `json:"bad_claims"` // of them, those that must be held
	// Problem says why nothing could be read.
	Problem *Problem `json:"problem,omitempty"`
	// Junk is what stands outside any interchange.
	Junk         []Junk        `json:"junk,omitempty"`
	Interchanges []Interchange `json:"interchanges"`
	Answers      []Answer      `json:"answers,omitempty"`
	// OmittedSets counts clean sets that are not listed, beyond the first 100,000.
	OmittedSets int `json:"omitted_sets,omitempty"`
	// Acknowledgments are the names of the files written into Options.AckOut.
	Acknowledgments []string `json:"acknowledgments,omitempty"`
	// NCPDP is the whole report of a pharmacy file; the other fields are empty then.
	NCPDP *NCPDP `json:"-"`
}

// MarshalJSON writes the report of the file's format.
func (r Report) MarshalJSON() ([]byte, error) {
	if r.NCPDP != nil {
		return json.Marshal(r.NCPDP)
	}
	type plain Report // without this method
	return json.Marshal(plain(r))
}

// Problem is why a file cannot be read as X12.
type Problem struct {
	Code   string `json:"code"` // such as EMPTY, HL7_V2, PDF
	Offset int64  `json:"offset"`
	Text   string `json:"text"`
}

// Junk is a stretch of bytes outside any readable interchange.
type Junk struct {
	Offset   int64 `json:"offset"`
	Bytes    int64 `json:"bytes"`
	Harmless bool  `json:"harmless"`
}

// Interchange is one ISA to IEA.
type Interchange struct {
	ISA13  string   `json:"isa13"`
	Offset int64    `json:"offset"`
	TA1    TA1      `json:"ta1"`
	Notes  []string `json:"notes,omitempty"` // what was tolerated
	Groups []Group  `json:"groups"`
}

// TA1 is the answer to an interchange: A, E or R, and TA105.
type TA1 struct {
	Code string `json:"code"`
	Note string `json:"note"`
}

// Group is one GS to GE.
type Group struct {
	GS06  string   `json:"gs06"`
	AK9   string   `json:"ak9"`
	AK905 []string `json:"ak905"`
	Sets  []Set    `json:"sets"`
}

// Set is one ST to SE.
type Set struct {
	ST02   string   `json:"st02"`
	IK5    string   `json:"ik5"`
	IK502  []string `json:"ik502"`
	Claims int      `json:"claims"`
	Offset int64    `json:"offset"`
	// Bad are the ordinals of the claims that must be held; Whole says that all
	// must.
	Bad   []int `json:"bad_claims,omitempty"`
	Whole bool  `json:"whole,omitempty"`
	// Errors are the faults, those that were tolerated included; at most 1000.
	Errors     []Fault `json:"errors"`
	ErrorCount int     `json:"error_count"`
}

// Fault is one finding. Severity is error, business or note.
type Fault struct {
	x12.Fault
	Severity string `json:"severity"`
}

// Answer is what an acknowledgment says of something that was sent.
type Answer struct {
	For    string            `json:"for"`
	Result string            `json:"result"`
	Class  string            `json:"class"`
	Codes  []claimdlq.Detail `json:"codes,omitempty"`
}

// ranks orders the verdicts: the worst finding decides.
var ranks = map[string]int{"OK": 0, "TOLERATE": 1, "TRANSIENT": 2, "TERMINAL": 3, "FATAL_SYNTAX": 4, "POISON": 5}

// worse raises the verdict to v if that is worse.
func (r *Report) worse(v string) {
	if ranks[v] > ranks[r.Verdict] {
		r.Verdict = v
	}
}

// OK reports whether the file can be sent as it is.
func (r Report) OK() bool {
	if r.NCPDP != nil {
		return r.NCPDP.OK()
	}
	return ranks[r.Verdict] <= ranks["TOLERATE"]
}

var severities = [...]string{x12.Note: "note", x12.Business: "business", x12.Error: "error"}

// maxShown is how many faults of a set String lists.
const maxShown = 20

// String returns the report for people: a line for the file, then what is wrong.
func (r Report) String() string {
	if r.NCPDP != nil {
		return r.NCPDP.String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s", r.File, r.Verdict, r.Format)
	if r.Claims > 0 {
		fmt.Fprintf(&b, ", %d claims, %d bad", r.Claims, r.BadClaims)
	}
	b.WriteString(")")
	if r.Problem != nil {
		fmt.Fprintf(&b, "\n  %s at byte %d: %s", r.Problem.Code, r.Problem.Offset, r.Problem.Text)
	}
	for _, j := range r.Junk {
		if !j.Harmless {
			fmt.Fprintf(&b, "\n  %d bytes outside any interchange at byte %d", j.Bytes, j.Offset)
		}
	}
	for _, i := range r.Interchanges {
		i.print(&b)
	}
	for _, a := range r.Answers {
		fmt.Fprintf(&b, "\n  %s: %s", a.For, a.Result)
		for _, c := range a.Codes {
			fmt.Fprintf(&b, " %s", c)
		}
	}
	for _, n := range r.Acknowledgments {
		fmt.Fprintf(&b, "\n  wrote %s", n)
	}
	return b.String()
}

func (i Interchange) print(b *strings.Builder) {
	if i.TA1.Code != "A" || len(i.Notes) > 0 {
		name := "interchange"
		if i.ISA13 != "" { // it may be cut off before its number
			name += " " + i.ISA13
		}
		fmt.Fprintf(b, "\n  %s at byte %d: TA1 %s %s", name, i.Offset, i.TA1.Code, i.TA1.Note)
	}
	for _, n := range i.Notes {
		fmt.Fprintf(b, "\n    tolerated: %s", n)
	}
	for _, g := range i.Groups {
		if len(g.AK905) > 0 {
			fmt.Fprintf(b, "\n  group %s: AK9 %s %s", g.GS06, g.AK9, strings.Join(g.AK905, " "))
		}
		for _, s := range g.Sets {
			s.print(b)
		}
	}
}

func (s Set) print(b *strings.Builder) {
	if s.IK5 == "A" && len(s.Errors) == 0 {
		return
	}
	fmt.Fprintf(b, "\n  set %s: IK5 %s", s.ST02, strings.Join(append([]string{s.IK5}, s.IK502...), " "))
	switch {
	case s.Whole:
		fmt.Fprintf(b, ", none of %d claims can go on", s.Claims)
	case len(s.Bad) > 0:
		fmt.Fprintf(b, ", %d of %d claims held", len(s.Bad), s.Claims)
	}
	for i, f := range s.Errors {
		if i == maxShown {
			fmt.Fprintf(b, "\n    and %d more", s.ErrorCount-maxShown)
			break
		}
		fmt.Fprintf(b, "\n    %s%s at segment %d", f.Segment, f.Element, f.Position)
		if f.Loop != "" {
			fmt.Fprintf(b, ", loop %s", f.Loop)
		}
		if f.ClaimOrd > 0 {
			fmt.Fprintf(b, ", claim %d", f.ClaimOrd)
		}
		fmt.Fprintf(b, ": %s%s", f.Rule, codesOf(f))
	}
}

func codesOf(f Fault) string {
	switch {
	case f.STC != "":
		return " (277CA " + f.STC + ")"
	case f.IK403 != "":
		return " (IK304 " + f.IK304 + ", IK403 " + f.IK403 + ")"
	case f.IK304 != "":
		return " (IK304 " + f.IK304 + ")"
	}
	return " (tolerated)"
}
