package x12

import (
	"bytes"
	"slices"
	"strconv"
)

// claimBuilder collects what identifies a claim. Everything is copied: the bytes
// it comes from may have moved on when the claim ends.
type claimBuilder struct {
	open, stray bool
	out         Claim
	node        uint16 // of the CLM
	pos         int
	off         int64

	payer, npi, subscriber, birth, patient []byte

	clm01     []byte
	frequency byte
	total     int64
	amountOK  bool
	hasF8     bool
	late      bool
	excused   bool // it says why it is late
	faulty    bool // it is not well formed
	dates     []byte
	service   [8]byte // the day from which filing is counted
	served    bool    // there is one
	through   bool    // it is that of DTP 434

	diagnoses int // in HI with the principal one; 0 if unknown

	lineSum int64
	linesOK bool
	lines   int
	arena   []byte // the lines, one after the other
	ends    []int
	sorted  [][]byte
	joined  []byte
	number  []byte
	parts   [8][]byte
}

func (c *claimBuilder) reset() { c.open = false }

// clearParties forgets everybody, at the start of a set.
func (c *claimBuilder) clearParties() {
	c.payer, c.npi, c.subscriber, c.birth, c.patient = c.payer[:0], c.npi[:0], c.subscriber[:0], c.birth[:0], c.patient[:0]
}

// enterLevel forgets who belonged to the levels that end.
func (c *claimBuilder) enterLevel(lv int) {
	switch lv {
	case levelProvider:
		c.clearParties()
	case levelSubscriber:
		c.payer, c.subscriber, c.birth, c.patient = c.payer[:0], c.subscriber[:0], c.birth[:0], c.patient[:0]
	case levelPatient:
		c.birth, c.patient = c.birth[:0], c.patient[:0]
	}
}

func (c *claimBuilder) begin() {
	c.open, c.stray, c.hasF8, c.late, c.excused, c.faulty, c.amountOK, c.linesOK = true, false, false, false, false, false, false, true
	c.frequency, c.total, c.lineSum, c.lines, c.diagnoses = 0, 0, 0, 0, 0
	c.served, c.through = false, false
	c.dates, c.arena, c.ends, c.clm01 = c.dates[:0], c.arena[:0], c.ends[:0], c.clm01[:0]
}

func (c *claimBuilder) lineDate(d []byte) {
	c.arena = append(append(c.arena, 0), d...)
}

// serve takes the date of a DTP 434, through, or of a DTP 472: D8 or RD8.
func (c *claimBuilder) serve(d []byte, through bool) {
	if through && len(d) == 17 {
		d = d[9:]
	}
	if len(d) < 8 || c.through && !through || !goodDT(d[:8]) {
		return
	}
	if !c.served || through || bytes.Compare(d[:8], c.service[:]) < 0 {
		copy(c.service[:], d)
		c.served, c.through = true, through
	}
}

// servedOn returns the day from which filing is counted, nil where there is none.
func (c *claimBuilder) servedOn() []byte {
	if !c.served {
		return nil
	}
	return c.service[:]
}

func (c *claimBuilder) endLine() {
	start := 0
	if n := len(c.ends); n > 0 {
		start = c.ends[n-1]
	}
	if len(c.arena) > start {
		c.ends = append(c.ends, len(c.arena))
	}
}

// fingerprint returns the parts that say what is billed for whom: the same claim
// sent again, under whatever numbers, has the same. Nil where too little of it
// could be read to tell claims apart.
func (c *claimBuilder) fingerprint() [][]byte {
	if c.stray || !c.amountOK || !c.linesOK || len(c.ends) == 0 || len(c.subscriber) == 0 || len(c.payer) == 0 {
		return nil
	}
	c.sorted = c.sorted[:0]
	start := 0
	for _, end := range c.ends {
		c.sorted = append(c.sorted, c.arena[start:end])
		start = end
	}
	slices.SortFunc(c.sorted, bytes.Compare)
	c.joined = c.joined[:0]
	for _, l := range c.sorted {
		c.joined = strconv.AppendInt(c.joined, int64(len(l)), 10)
		c.joined = append(append(c.joined, ':'), l...)
	}
	n := len(c.birth)
	c.birth = append(append(c.birth, 0), c.patient...)
	c.number = strconv.AppendInt(append(c.number[:0], c.frequency), c.total, 10)
	c.parts = [8][]byte{
		c.payer, c.npi, c.subscriber, c.birth, c.dates, c.number[:1], c.joined, c.number[1:],
	}
	c.birth = c.birth[:n]
	return c.parts[:]
}
