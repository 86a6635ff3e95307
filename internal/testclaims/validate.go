package testclaims

import (
	"math"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/wire/x12"
)

// DefaultOptions returns o with every zero field set to its default.
func DefaultOptions(o Options) Options {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	text := func(p *string, v string) {
		if *p == "" {
			*p = v
		}
	}
	number := func(p *uint32) {
		if *p == 0 {
			*p = 1
		}
	}
	if o.Format == claimdlq.FormatUnreadable {
		o.Format = claimdlq.Format837P
	}
	switch {
	case o.Claims == 0 && o.Bytes == 0:
		o.Claims = 1
	case o.Claims == 0:
		o.Claims = math.MaxInt
	case o.Bytes == 0:
		o.Bytes = math.MaxInt64
	}
	if o.Bytes == 0 {
		o.Bytes = math.MaxInt64
	}
	def(&o.ClaimsPerSet, 50)
	def(&o.SetsPerGroup, 200)
	def(&o.GroupsPerInterchange, 1)
	def(&o.ClaimsPerPatient, 1)
	def(&o.DependentEvery, 10)
	def(&o.FirstClaim, 1)
	text(&o.SenderQualifier, "ZZ")
	text(&o.Sender, "TESTSENDER")
	text(&o.ReceiverQualifier, "ZZ")
	text(&o.Receiver, "TESTPAYER")
	number(&o.ISA13)
	number(&o.GS06)
	number(&o.ST02)
	if o.Usage == 0 {
		o.Usage = 'T'
	}
	if o.Date.IsZero() {
		o.Date = time.Date(2026, 7, 17, 12, 0, 0, 0, time.UTC)
	}
	byteDef := func(p *byte, v byte) {
		if *p == 0 {
			*p = v
		}
	}
	byteDef(&o.Delims.Element, '*')
	byteDef(&o.Delims.Component, ':')
	byteDef(&o.Delims.Segment, '~')
	byteDef(&o.Delims.Repetition, '^')
	return o
}

// Validate reports the first option that cannot be met. Errors: Invalid.
func (o Options) Validate() error {
	const op = "check options of the generator"
	o = DefaultOptions(o)
	switch {
	case o.Format != claimdlq.Format837P && o.Format != claimdlq.Format837I && o.Format != claimdlq.Format837D:
		return invalid(op, "the format must be 837p, 837i or 837d")
	case o.Claims < 0, o.Bytes < 0, o.ClaimsPerSet < 0, o.SetsPerGroup < 0, o.GroupsPerInterchange < 0, o.ClaimsPerPatient < 0, o.FirstClaim < 0:
		return invalid(op, "counts must not be negative")
	case len(o.SenderQualifier) != 2, len(o.ReceiverQualifier) != 2:
		return invalid(op, "ISA05 and ISA07 have two characters")
	case len(o.Sender) < 2, len(o.Sender) > 15, len(o.Receiver) < 2, len(o.Receiver) > 15:
		return invalid(op, "sender and receiver have 2 to 15 characters")
	case o.ISA13 > maxControl, o.GS06 > maxControl, o.ST02 > maxControl:
		return invalid(op, "control numbers have at most nine digits")
	case o.Date.Year() < 2000 || o.Date.Year() > 2098:
		return invalid(op, "the date must lie in the years 2000 to 2098")
	}
	if err := checkDelims(o.Delims); err != nil {
		return err
	}
	for _, b := range []byte(o.SenderQualifier + o.Sender + o.ReceiverQualifier + o.Receiver + string(o.Usage)) {
		if !plain(b) {
			return invalid(op, "qualifiers, ids and usage are capital letters, digits, '-' or '.'")
		}
	}
	for _, f := range o.Faults {
		k := byName[f.Name]
		if k == nil {
			return invalid("find a fault", "generate --list-faults shows the names")
		}
		if !k.AppliesTo(o.Format) {
			return invalid("make fault "+k.Name, "the format "+o.Format.String()+" has no such fault")
		}
	}
	return nil
}

// checkDelims refuses delimiters that the generated data could hold.
func checkDelims(d x12.Delims) error {
	const op = "check the delimiters"
	all := []byte{d.Element, d.Component, d.Segment, d.Repetition}
	for i, b := range all {
		if plain(b) || b >= 'a' && b <= 'z' || b == ' ' || b == '/' || b > 0x7e || b == 0x01 {
			return invalid(op, "a delimiter must be a mark or control character that the data does not use")
		}
		if slices.Contains(all[:i], b) {
			return invalid(op, "each delimiter must be another character")
		}
	}
	switch d.Suffix {
	case "", "\n", "\r\n", "\r":
		return nil
	}
	return invalid(op, `the suffix must be "", "\n", "\r\n" or "\r"`)
}

func plain(b byte) bool {
	return b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-' || b == '.'
}
