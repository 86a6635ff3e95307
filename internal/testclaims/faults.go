package testclaims

import (
	"slices"
	"strconv"
	"strings"

	"claimdlq"
)

// Scope says in what a fault lies, and so what it spoils.
type Scope string

// The scopes.
const (
	InClaim       Scope = "claim"
	InSet         Scope = "transaction"
	InGroup       Scope = "group"
	InInterchange Scope = "interchange"
	InFile        Scope = "file"
)

// Expect is what a validator must say about a fault, in the codes of the
// acknowledgments. Empty fields are not expected.
type Expect struct {
	TA1   string `json:"ta1,omitempty"`   // TA105
	AK905 string `json:"ak905,omitempty"` // of the group
	IK502 string `json:"ik502,omitempty"` // of the set, beside 5
	IK304 string `json:"ik304,omitempty"`
	IK403 string `json:"ik403,omitempty"`
	// Segment and Element say where; Element may be left to the validator.
	Segment string `json:"segment,omitempty"`
	Element string `json:"element,omitempty"`
	// Business: well formed, to be refused for what it says, as a 277CA does.
	Business bool `json:"business,omitempty"`
}

// Kind describes one fault that can be made.
type Kind struct {
	Name   string `json:"name"`
	Scope  Scope  `json:"scope"`
	What   string `json:"what"`
	Expect Expect `json:"expect"`

	id  kindID
	not []claimdlq.Format // formats that have no such fault
}

type kindID uint8

const (
	missingHI kindID = iota
	badDate
	clm01Missing
	clm01Long
	npiCheck
	billingNPI
	unknownSegment
	charControl
	charLatin1
	charUTF8
	manyElements
	manyComponents
	badSBR01
	badFrequency
	hlGap
	hlParent
	lxRestart
	dmgTwice
	hugeElement
	unbalanced
	voidNoF8
	oldDate
	missingBHT
	se01Low
	se01High
	se01Alpha
	se02Differs
	seMissing
	st02Short
	st02Duplicate
	st03Differs
	geMissing
	ge01Wrong
	ge02Wrong
	gs01Unknown
	gs06Duplicate
	gs08Unknown
	isa09Bad
	isa10Bad
	isa12Unknown
	isa13Alpha
	isa13Duplicate
	isa15Bad
	isaElements
	ieaMissing
	iea01Wrong
	iea02Wrong
	junkAfter
	truncated
	kinds
)

func el(seg, element, ik403 string) Expect {
	return Expect{IK304: "8", IK403: ik403, Segment: seg, Element: element}
}

var catalog = [kinds]Kind{
	missingHI:      {Name: "missing-hi", Scope: InClaim, What: "no HI in the claim", Expect: Expect{IK304: "3", Segment: "HI"}, not: []claimdlq.Format{claimdlq.Format837D}},
	badDate:        {Name: "bad-date", Scope: InClaim, What: "31 February in the first line", Expect: el("DTP", "03", "8")},
	clm01Missing:   {Name: "clm01-missing", Scope: InClaim, What: "CLM01 empty", Expect: el("CLM", "01", "1")},
	clm01Long:      {Name: "clm01-long", Scope: InClaim, What: "CLM01 of 39 characters", Expect: el("CLM", "01", "5")},
	npiCheck:       {Name: "npi-check-digit", Scope: InClaim, What: "rendering or attending provider's NPI fails its check digit", Expect: Expect{Segment: "NM1", Element: "09", Business: true}},
	unknownSegment: {Name: "unknown-segment", Scope: InClaim, What: "a segment id that no guide has", Expect: Expect{IK304: "1", Segment: "ZZZ"}},
	charControl:    {Name: "char-control", Scope: InClaim, What: "a control character in the patient's name", Expect: el("NM1", "03", "6")},
	charLatin1:     {Name: "char-latin1", Scope: InClaim, What: "an ISO-8859-1 letter in the patient's name", Expect: el("NM1", "03", "6")},
	charUTF8:       {Name: "char-utf8", Scope: InClaim, What: "a UTF-8 letter in the patient's name", Expect: el("NM1", "03", "6")},
	manyElements:   {Name: "too-many-elements", Scope: InClaim, What: "HI with 13 elements or more (837D: LX with two)", Expect: Expect{IK304: "8", IK403: "3"}},
	manyComponents: {Name: "too-many-components", Scope: InClaim, What: "CLM05 with four components", Expect: Expect{IK304: "8", IK403: "13", Segment: "CLM"}},
	badSBR01:       {Name: "sbr01-bad", Scope: InClaim, What: "SBR01 not in its code list", Expect: el("SBR", "01", "7")},
	badFrequency:   {Name: "frequency-bad", Scope: InClaim, What: "CLM05-3 of two characters", Expect: Expect{IK304: "8", IK403: "5", Segment: "CLM"}},
	hlGap:          {Name: "hl-gap", Scope: InClaim, What: "HL01 leaves numbers out", Expect: el("HL", "01", "7")},
	hlParent:       {Name: "hl-parent", Scope: InClaim, What: "HL02 names no earlier HL", Expect: el("HL", "02", "7")},
	lxRestart:      {Name: "lx-restart", Scope: InClaim, What: "LX01 does not start at 1", Expect: el("LX", "01", "7")},
	dmgTwice:       {Name: "dmg-twice", Scope: InClaim, What: "DMG twice", Expect: Expect{IK304: "5", Segment: "DMG"}},
	hugeElement:    {Name: "huge-element", Scope: InClaim, What: "a name of 70,000 characters", Expect: el("NM1", "03", "5")},
	unbalanced:     {Name: "unbalanced", Scope: InClaim, What: "CLM02 is not the sum of its lines", Expect: Expect{Segment: "CLM", Business: true}},
	voidNoF8:       {Name: "void-without-f8", Scope: InClaim, What: "frequency 8 without the payer's claim number", Expect: Expect{Business: true}},
	oldDate:        {Name: "old-date", Scope: InClaim, What: "service two years ago", Expect: Expect{Business: true}},

	billingNPI:    {Name: "billing-npi", Scope: InSet, What: "billing provider's NPI fails its check digit", Expect: Expect{Segment: "NM1", Element: "09", Business: true}},
	missingBHT:    {Name: "missing-bht", Scope: InSet, What: "no BHT", Expect: Expect{IK304: "3", Segment: "BHT"}},
	se01Low:       {Name: "se01-low", Scope: InSet, What: "SE01 one too low", Expect: Expect{IK502: "4"}},
	se01High:      {Name: "se01-high", Scope: InSet, What: "SE01 one too high", Expect: Expect{IK502: "4"}},
	se01Alpha:     {Name: "se01-alpha", Scope: InSet, What: "SE01 is not a number", Expect: Expect{IK502: "4"}},
	se02Differs:   {Name: "se02", Scope: InSet, What: "SE02 differs from ST02", Expect: Expect{IK502: "3"}},
	seMissing:     {Name: "se-missing", Scope: InSet, What: "no SE", Expect: Expect{IK502: "2"}},
	st02Short:     {Name: "st02-short", Scope: InSet, What: "ST02 shorter than four characters", Expect: Expect{IK502: "7"}},
	st02Duplicate: {Name: "st02-duplicate", Scope: InSet, What: "ST02 of the set before it in the group", Expect: Expect{IK502: "23"}},
	st03Differs:   {Name: "st03", Scope: InSet, What: "ST03 disagrees with GS08", Expect: Expect{IK502: "19"}},

	geMissing:     {Name: "ge-missing", Scope: InGroup, What: "no GE", Expect: Expect{AK905: "3"}},
	ge01Wrong:     {Name: "ge01", Scope: InGroup, What: "GE01 one too high", Expect: Expect{AK905: "5"}},
	ge02Wrong:     {Name: "ge02", Scope: InGroup, What: "GE02 differs from GS06", Expect: Expect{AK905: "4"}},
	gs01Unknown:   {Name: "gs01-unknown", Scope: InGroup, What: "functional group not supported", Expect: Expect{AK905: "1"}},
	gs06Duplicate: {Name: "gs06-duplicate", Scope: InGroup, What: "GS06 of the group before it in the interchange", Expect: Expect{AK905: "19"}},
	gs08Unknown:   {Name: "gs08-unknown", Scope: InGroup, What: "version not supported", Expect: Expect{AK905: "2"}},

	isa09Bad:       {Name: "isa09", Scope: InInterchange, What: "month 13", Expect: Expect{TA1: "014"}},
	isa10Bad:       {Name: "isa10", Scope: InInterchange, What: "hour 25", Expect: Expect{TA1: "015"}},
	isa12Unknown:   {Name: "isa12", Scope: InInterchange, What: "control version not supported", Expect: Expect{TA1: "003"}},
	isa13Alpha:     {Name: "isa13-alpha", Scope: InInterchange, What: "ISA13 is not a number", Expect: Expect{TA1: "018"}},
	isa13Duplicate: {Name: "isa13-duplicate", Scope: InInterchange, What: "ISA13 of the interchange before it", Expect: Expect{TA1: "025"}},
	isa15Bad:       {Name: "isa15", Scope: InInterchange, What: "usage indicator not I, P or T", Expect: Expect{TA1: "020"}},
	isaElements:    {Name: "isa-separator", Scope: InInterchange, What: "an element separator is missing in the ISA", Expect: Expect{TA1: "022"}},
	ieaMissing:     {Name: "iea-missing", Scope: InInterchange, What: "no IEA", Expect: Expect{TA1: "023"}},
	iea01Wrong:     {Name: "iea01", Scope: InInterchange, What: "IEA01 one too high", Expect: Expect{TA1: "021"}},
	iea02Wrong:     {Name: "iea02", Scope: InInterchange, What: "IEA02 differs from ISA13", Expect: Expect{TA1: "001"}},
	junkAfter:      {Name: "junk-after", Scope: InInterchange, What: "bytes of no interchange after the IEA", Expect: Expect{}},

	truncated: {Name: "truncated", Scope: InFile, What: "the file ends inside the last claim", Expect: Expect{TA1: "023"}},
}

var byName = func() map[string]*Kind {
	m := make(map[string]*Kind, len(catalog))
	for i := range catalog {
		catalog[i].id = kindID(i)
		m[catalog[i].Name] = &catalog[i]
	}
	return m
}()

// Catalog lists every fault that can be made.
func Catalog() []Kind { return append([]Kind(nil), catalog[:]...) }

// AppliesTo reports whether the fault can be made in the format.
func (k Kind) AppliesTo(f claimdlq.Format) bool {
	return !slices.Contains(k.not, f)
}

// ParseFault reads NAME, NAME@3,17 (places from 1) or NAME/100 (each 100th
// place); NAME alone means the first place. Errors: Invalid.
func ParseFault(s string) (Fault, error) {
	return parseFault(s, func(name string) bool { return byName[name] != nil })
}

func parseFault(s string, known func(string) bool) (Fault, error) {
	name, places, isAt := strings.Cut(s, "@")
	var f Fault
	if !isAt {
		var every string
		var isEvery bool
		name, every, isEvery = strings.Cut(s, "/")
		if !isEvery {
			f.At = []int{1}
		} else if n, err := strconv.Atoi(every); err == nil && n > 0 {
			f.Every = n
		} else {
			return Fault{}, invalid("read a fault's rate", "write NAME/N with N from 1")
		}
	} else {
		for p := range strings.SplitSeq(places, ",") {
			n, err := strconv.Atoi(p)
			if err != nil || n < 1 {
				return Fault{}, invalid("read a fault's places", "write NAME@1,2 with places from 1")
			}
			f.At = append(f.At, n)
		}
	}
	if !known(name) {
		return Fault{}, invalid("find a fault", "generate --list-faults shows the names")
	}
	f.Name = name
	return f, nil
}

func invalid(op, hint string) error {
	return &claimdlq.Error{Code: claimdlq.Invalid, Op: op, Hint: hint}
}
