package payersim

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"claimdlq/wire/x12"
)

// Key identifies a claim by what it bills for whom: the payer's own reading,
// which owes nothing to the sender's keys.
type Key [16]byte

// String returns the key as 32 hex characters.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// claim is one CLM with what stands above and below it.
type claim struct {
	clm01, npi          string
	member, last, first string
	birth, date         string
	cents               int64
	facility            string // CLM05
	control             string // REF*F8
	codes, diagnoses    []string
	lines               []string
	dates               []string
	stc                 string // a business fault's status
}

// batch is what a set holds besides its verdicts.
type batch struct {
	submitter, submitterID string
	payer, payerID         string
	provider, npi          string
	claims                 []*claim
}

// readBatch reads the claims of one set. What it cannot read is left empty.
func readBatch(raw []byte, d x12.Delims) *batch {
	r := &batchReader{b: new(batch), d: d}
	for s := x12.NewSegments(raw, d); s.Next(); {
		r.segment(s)
	}
	return r.b
}

type batchReader struct {
	b       *batch
	d       x12.Delims
	patient claim // who the next claims are for
	npi     string
	now     *claim
	inLine  bool
}

func (r *batchReader) segment(s *x12.Segments) {
	el := func(n int) string { return string(s.Element(n)) }
	switch s.ID() {
	case "HL":
		r.now, r.inLine = nil, false
		if level := el(3); level == "20" || level == "22" {
			r.patient = claim{}
		}
	case "NM1":
		r.name(s)
	case "DMG":
		if r.now == nil {
			r.patient.birth = el(2)
		}
	case "CLM":
		c := r.patient
		c.clm01, c.npi, c.cents, c.facility = el(1), r.npi, cents(el(2)), el(5)
		r.now, r.inLine = &c, false
		r.b.claims = append(r.b.claims, &c)
	}
	if r.now != nil {
		r.below(s, el)
	}
}

// name reads NM1: loops 1000A, 1000B, 2010AA, 2010BA, 2010BB and 2010CA.
func (r *batchReader) name(s *x12.Segments) {
	last, id := string(s.Element(3)), string(s.Element(9))
	switch string(s.Element(1)) {
	case "41":
		r.b.submitter, r.b.submitterID = last, id
	case "40":
		r.b.payer, r.b.payerID = last, id
	case "85":
		r.npi = id
		if r.b.npi == "" {
			r.b.provider, r.b.npi = last, id
		}
	case "IL":
		if r.now == nil { // in a claim it is another payer's subscriber
			r.patient.member = id
			r.patient.last, r.patient.first = last, string(s.Element(4))
		}
	case "QC":
		r.patient.last, r.patient.first = last, string(s.Element(4))
	}
}

// below reads the segments of a claim and of its lines.
func (r *batchReader) below(s *x12.Segments, el func(int) string) {
	c := r.now
	switch s.ID() {
	case "LX":
		r.inLine = true
	case "HI":
		for n := 1; n <= s.Elements(); n++ {
			c.diagnoses = append(c.diagnoses, string(s.Component(n, 2)))
		}
	case "REF":
		if el(1) == "F8" && !r.inLine {
			c.control = el(2)
		}
	case "SV1", "SV3":
		c.line(string(s.Component(1, 2)), el(1)+"|"+el(2)+"|"+el(4))
	case "SV2":
		c.line(string(s.Component(2, 2)), el(1)+"|"+el(2)+"|"+el(3)+"|"+el(5))
	case "DTP":
		if q := el(1); q != "472" && q != "434" {
			return
		}
		if c.date == "" {
			c.date = el(3)[:min(8, len(el(3)))]
		}
		if r.inLine && len(c.lines) > 0 {
			c.lines[len(c.lines)-1] += "|" + el(3)
			return
		}
		c.dates = append(c.dates, el(3))
	}
}

func (c *claim) line(code, what string) {
	c.codes = append(c.codes, code)
	c.lines = append(c.lines, what)
}

// has reports whether the claim has the value in the field of a rule.
func (c *claim) has(field, value string) bool {
	switch field {
	case "cpt":
		return slices.Contains(c.codes, value)
	case "diag":
		return slices.Contains(c.diagnoses, value)
	case "clm01":
		return c.clm01 == value
	}
	return c.member == value
}

// key hashes everything that is billed; the order of lines does not matter.
func (c *claim) key() (k Key) {
	lines := slices.Sorted(slices.Values(c.lines))
	parts := slices.Concat([]string{c.clm01, c.npi, c.member, c.last, c.first, c.birth, c.facility, c.control, strconv.FormatInt(c.cents, 10)},
		c.diagnoses, []string{""}, c.dates, []string{""}, lines)
	h := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	copy(k[:], h[:])
	return k
}

// original reports whether the claim is billed for the first time by what it
// says: its frequency (CLM05-3) is no replacement and no void.
func (c *claim) original(component byte) bool {
	f := strings.Split(c.facility, string(component))
	return len(f) < 3 || f[2] != "7" && f[2] != "8"
}

func cents(s string) int64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.Abs(f) > 1e12 {
		return 0
	}
	return int64(math.Round(f * 100))
}
