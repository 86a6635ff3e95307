package x12ack

import (
	"io"
	"strconv"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/wire/x12"
)

// version277CA is the claim acknowledgment guide.
const version277CA = "005010X214"

// Batch is what a payer says about one batch of claims (one 837 BHT03). Its
// byte slices are PHI.
type Batch struct {
	Submitted
	GroupSender, GroupReceiver string // GS02 and GS03 of the original
	Payer, PayerID             string
	Submitter, SubmitterID     string
	Provider, ProviderNPI      string
	Reference                  string // BHT03 of the acknowledgment itself
	BHT03                      []byte // of the batch
	Status                     classify.Status
	AmountCents                int64
	// Claims may be empty: then Status is the verdict about all of them.
	Claims []Claim
}

// Claim is what a payer says about one claim.
type Claim struct {
	CLM01        []byte // at most 20 characters are returned
	AmountCents  int64
	Status       classify.Status
	PayerControl []byte // REF*1K; empty for none
	Last, First  []byte // patient
	MemberID     []byte
	ServiceDate  []byte // CCYYMMDD; empty for none
}

// maxReturned is how much of CLM01 a payer must return (005010X222, CLM01).
const maxReturned = 20

// Write277CA writes a batch as an interchange of its own. n gives ISA13, GS06,
// Date and Time. Errors: Invalid, where they are missing; the writer's.
func Write277CA(out io.Writer, b Batch, n x12.Numbers) error {
	if err := checkNumbers(n); err != nil {
		return err
	}
	if n.GS06 == 0 {
		n.GS06 = 1
	}
	w := newWriter(out, b.Delims)
	gs06 := strconv.FormatUint(uint64(n.GS06), 10)
	w.start(b.Submitted, n)
	w.segment("GS", "HN", b.GroupReceiver, b.GroupSender, n.Date, n.Time, gs06, "X", version277CA)
	w.count = 0
	w.segment("ST", "277", "0001", version277CA)
	w.segment("BHT", "0085", "08", b.Reference, n.Date, n.Time, "TH")
	w.segment("HL", 1, "", "20", 1)
	w.segment("NM1", "PR", 2, b.Payer, "", "", "", "", "PI", b.PayerID)
	w.segment("TRN", 1, b.Reference)
	w.segment("DTP", "050", "D8", n.Date)
	w.segment("DTP", "009", "D8", n.Date)
	w.batch(b, n)
	if len(b.Claims) > 0 {
		w.provider(b)
	}
	for i, c := range b.Claims {
		w.claim(4+i, c, n)
	}
	w.segment("SE", w.count+1, "0001")
	w.segment("GE", 1, gs06)
	return w.finish(1, n)
}

func (w *writer) batch(b Batch, n x12.Numbers) {
	child := 0
	if len(b.Claims) > 0 {
		child = 1
	}
	w.segment("HL", 2, 1, "21", child)
	w.segment("NM1", "41", 2, b.Submitter, "", "", "", "", "46", b.SubmitterID)
	w.segment("TRN", 2, b.BHT03)
	w.segment("STC", statusOf(b.Status), n.Date, action(b.Status), money(b.AmountCents))
	w.totals(b.Claims, "90", "AA")
	good, bad := amounts(b.Claims)
	if good > 0 {
		w.segment("AMT", "YU", money(good))
	}
	if bad > 0 {
		w.segment("AMT", "YY", money(bad))
	}
}

func (w *writer) provider(b Batch) {
	w.segment("HL", 3, 2, "19", 1)
	w.segment("NM1", "85", 2, b.Provider, "", "", "", "", "XX", b.ProviderNPI)
	w.segment("TRN", 1, "0")
	st := b.Status
	if !refused(st) {
		st = classify.Status{Category: "A1", Code: "19", Entity: "PR"}
	}
	w.segment("STC", statusOf(st), "", action(st), money(b.AmountCents))
	w.totals(b.Claims, "QA", "QC")
}

// totals counts accepted and rejected claims.
func (w *writer) totals(claims []Claim, good, bad string) {
	refusedClaims := 0
	for _, c := range claims {
		if refused(c.Status) {
			refusedClaims++
		}
	}
	if n := len(claims) - refusedClaims; n > 0 {
		w.segment("QTY", good, n)
	}
	if refusedClaims > 0 {
		w.segment("QTY", bad, refusedClaims)
	}
}

func amounts(claims []Claim) (good, bad int64) {
	for _, c := range claims {
		if refused(c.Status) {
			bad += c.AmountCents
		} else {
			good += c.AmountCents
		}
	}
	return good, bad
}

func (w *writer) claim(hl int, c Claim, n x12.Numbers) {
	w.segment("HL", hl, 3, "PT")
	id := ""
	if len(c.MemberID) > 0 {
		id = "MI"
	}
	w.segment("NM1", "QC", 1, c.Last, c.First, "", "", "", id, c.MemberID)
	w.segment("TRN", 2, c.CLM01[:min(len(c.CLM01), maxReturned)])
	w.segment("STC", statusOf(c.Status), n.Date, action(c.Status), money(c.AmountCents))
	if len(c.PayerControl) > 0 {
		w.segment("REF", "1K", c.PayerControl)
	}
	if len(c.ServiceDate) > 0 {
		w.segment("DTP", "472", "D8", c.ServiceDate)
	}
}

func statusOf(s classify.Status) composite { return composite{s.Category, s.Code, s.Entity} }

// action returns STC03: U where the status is a refusal, else WQ.
func action(s classify.Status) string {
	switch {
	case s.Action != "":
		return s.Action
	case refused(s):
		return "U"
	}
	return "WQ"
}

// refused reports whether a status says that the claim is not in adjudication.
func refused(s classify.Status) bool {
	a, _ := classify.Statuses([]classify.Status{s})
	return a.Class != claimdlq.ClassNone
}

// money writes cents as X12 writes amounts: 125, 100.5, 0.07.
func money(cents int64) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	s := sign + strconv.FormatInt(cents/100, 10)
	switch rest := cents % 100; {
	case rest == 0:
		return s
	case rest%10 == 0:
		return s + "." + strconv.FormatInt(rest/10, 10)
	case rest < 10:
		return s + ".0" + strconv.FormatInt(rest, 10)
	default:
		return s + "." + strconv.FormatInt(rest, 10)
	}
}
