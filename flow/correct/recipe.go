package correct

import (
	"context"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// Recipe is one correction for many records: Rules for interchanges, RxRules for
// pharmacy claims. What its rules set may be PHI.
type Recipe struct {
	Rules   []x12.Rule   `json:"rules,omitempty"`
	RxRules []ncpdp.Rule `json:"rx_rules,omitempty"`
}

// maxRules bounds the rules of a recipe.
const maxRules = 20

// Check says what is wrong with the recipe, never with a value. Errors: Invalid, and
// Refused for what may not be corrected.
func (rc *Recipe) Check() error {
	if n := len(rc.Rules) + len(rc.RxRules); n == 0 || n > maxRules {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "read recipe", On: "its rules", Hint: "give 1 to 20"}
	}
	for i := range rc.Rules {
		if err := rc.Rules[i].Check(); err != nil {
			return err
		}
	}
	for i := range rc.RxRules {
		if err := rc.RxRules[i].Check(); err != nil {
			return err
		}
	}
	return nil
}

// Verdict is what a recipe would make of a record.
type Verdict string

// The verdicts of a Trial.
const (
	Clean          Verdict = "clean"           // it can be applied
	Faulty         Verdict = "faulty"          // the rules still do not pass it
	NotApplicable  Verdict = "not_applicable"  // it has no place that the recipe is about
	Unchanged      Verdict = "unchanged"       // it is at those places as the recipe wants it
	NotCorrectable Verdict = "not_correctable" // not quarantined, no claim that could be read, or a value cannot stand in it
)

// Trial is what a recipe makes of one record. Its Draft is there where the verdict is
// Clean or Faulty.
type Trial struct {
	Verdict Verdict
	Code    claimdlq.Detail // of Faulty: the first
	Draft   Draft
}

// Rules returns the rule versions that judge now, by stream.
func (c *Correct) Rules() map[string]string {
	return map[string]string{claimdlq.StreamX12: c.o.Rules.Version(), claimdlq.StreamNCPDP: envelope.RxRules}
}

// OpenGroup makes durable that the documents of all the records are about to be opened.
func (c *Correct) OpenGroup(ctx context.Context, by claimdlq.By, rs []claimdlq.Record) (claimdlq.Proof, error) {
	if err := audited.Named(by, "correct group"); err != nil {
		return claimdlq.Proof{}, err
	}
	return audited.Open(ctx, c.o.Store, by, claimdlq.ActOpen, c.o.Now(), rs...)
}

// Try judges what the recipe makes of the record's present document, and changes
// nothing. proof is OpenGroup's. Errors: those of the vault and the store.
func (c *Correct) Try(ctx context.Context, proof claimdlq.Proof, r claimdlq.Record, rc *Recipe) (Trial, error) {
	if !open(r) {
		return Trial{Verdict: NotCorrectable}, nil
	}
	if isRx(r) && len(rc.RxRules) == 0 || !isRx(r) && len(rc.Rules) == 0 {
		return Trial{Verdict: NotApplicable}, nil
	}
	present, err := c.opened(ctx, proof, r)
	if err != nil {
		return Trial{}, err
	}
	doc, places, ok := c.follow(r, present, rc)
	switch {
	case !ok:
		return Trial{Verdict: NotCorrectable}, nil
	case places == 0:
		return Trial{Verdict: NotApplicable}, nil
	}
	d, err := c.draft(ctx, r, present, doc)
	if err != nil {
		return Trial{}, err
	}
	t := Trial{Verdict: Clean, Draft: d}
	switch {
	case len(d.Places)+len(d.RxPlaces) == 0:
		return Trial{Verdict: Unchanged}, nil
	case d.Clean:
	case len(d.Codes) > 0:
		t.Verdict, t.Code = Faulty, d.Codes[0]
	case len(d.Faults) > 0:
		t.Verdict, t.Code = Faulty, d.Faults[0].Detail()
	default:
		t.Verdict = Faulty
	}
	return t, nil
}

// open reports whether the record can be corrected as it is.
func open(r claimdlq.Record) bool { return refusal(r) == nil }

// follow returns the document with the rules followed, and how many places match them;
// false where it cannot be read so far, or a value cannot stand in it.
func (c *Correct) follow(r claimdlq.Record, present phi.Bytes, rc *Recipe) (out phi.Bytes, places int, ok bool) {
	var doc []byte
	var err error
	if isRx(r) {
		var steps []ncpdp.Step
		if steps, places, err = ncpdp.Parse(present.Reveal()).Find(rc.RxRules); err == nil {
			doc, err = ncpdp.Apply(present.Reveal(), steps)
		}
	} else {
		var steps []x12.Step
		if steps, places, err = c.o.Rules.Find(present.Reveal(), rc.Rules); err == nil {
			doc, err = x12.Apply(present.Reveal(), steps)
		}
	}
	return phi.Wrap(doc), places, err == nil
}

// Form returns the form of a value, at most n bytes of it: letters as A, digits as 9,
// spaces and the signs that forms are made of as they are, everything else as ?.
func Form(s string, n int) string {
	out := make([]byte, min(len(s), n))
	for i := range out {
		c := s[i]
		switch {
		case c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z':
			c = 'A'
		case c >= '0' && c <= '9':
			c = '9'
		case c == ' ', c == '-', c == '.', c == '/', c == ',', c == '*', c == ':', c == '^':
		default:
			c = '?'
		}
		out[i] = c
	}
	return string(out)
}
