package ncpdp

import (
	"strconv"

	"claimdlq"
)

// Verdict is what a response says of one transaction, to be built.
type Verdict struct {
	Status  string   // 112-AN
	Auth    string   // 503-F3
	Rejects []string // 511-FB, with their count 510-FA
	Texts   []string // 526-FQ, with their count 130-UF and qualifiers 132-UH
	// Amounts are fields of the pricing segment in order, such as F5, F6, F9, in
	// minor units.
	Amounts []FieldAmount
}

// FieldAmount is an amount with its field id.
type FieldAmount struct {
	ID    string
	Units int64
}

// BuildResponse builds the response to a request: 501-F1 header, 504-F4 message
// (none if empty), and a verdict for each transaction. Fewer verdicts than
// transactions, none at all for instance, build what a payer may well send and
// the standard forbids. Errors: Invalid.
func BuildResponse(request *Message, header byte, message string, verdicts []Verdict) ([]byte, error) {
	if request.kind != KindRequest || request.version != VersionD0 || request.body < request.start+RequestHeader {
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "build response", Hint: "it needs a request of version D0 with a readable header"}
	}
	count := string(request.at(hA9))
	b := newResponse(string(request.TransactionCode()), count, string(header),
		string(request.ProviderQualifier()), string(request.Provider()), string(request.ServiceDate()))
	if message != "" {
		b.Segment("20").Field("F4", message)
	}
	for i, v := range verdicts {
		b.Transaction()
		v.build(b)
		b.echo(request, i+1)
		if len(v.Amounts) > 0 {
			b.Segment("23")
			for _, a := range v.Amounts {
				b.Amount(a.ID, a.Units)
			}
		}
	}
	return b.Bytes()
}

func (v Verdict) build(b *Builder) {
	b.Segment("21").Field("AN", v.Status).Field("F3", v.Auth)
	if n := len(v.Rejects); n > 0 {
		b.Field("FA", two(n))
		for _, r := range v.Rejects {
			b.Field("FB", r)
		}
	}
	if n := len(v.Texts); n > 0 {
		b.Field("UF", two(n))
		for i, t := range v.Texts {
			b.Field("UH", two(i+1)).Field("FQ", t)
		}
	}
}

// echo writes segment 22, by which the answer is matched.
func (b *Builder) echo(request *Message, transaction int) {
	if s, ok := request.Segment(transaction, segClaim); ok {
		b.Segment("22")
		for _, f := range request.Fields(s) {
			if f.ID == IDOf("EM") || f.ID == IDOf("D2") {
				b.b = append(b.b, request.raw[f.Start:f.End]...)
			}
		}
	}
}

func two(n int) string {
	s := strconv.Itoa(n)
	if len(s) < 2 {
		return "0" + s
	}
	return s
}
