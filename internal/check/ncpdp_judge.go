package check

import (
	"bytes"
	"context"
	"errors"
	"io"

	"claimdlq/classify"
	"claimdlq/wire/ncpdp"
)

// pharmacist fills the report of one file.
type pharmacist struct {
	o      Options
	answer bool // the file should hold answers
	r      *NCPDP
	reply  ncpdp.Reply
	sent   *ncpdp.Message // what the file should answer; nil if it is not known
}

// head writes what the header of a single message says.
func (p *pharmacist) head(m *ncpdp.Message) {
	p.r.Kind = m.Kind().String()
	if v := m.Version().String(); v != "" {
		p.r.Version = &v
	}
	if c := m.TransactionCode(); len(c) == 2 {
		s := string(c)
		p.r.TransactionCode = &s
	}
	if n := m.Count(); n > 0 {
		p.r.Count = &n
	}
	if m.Version() == ncpdp.VersionF6 {
		p.headF6(m)
	}
}

// headF6 reads the transaction code and the count of an F6 message where they
// would be if its header were that of D.0 but for the longer issuer number. The
// layout is not public: they are shown if they are plausible, and decide nothing.
func (p *pharmacist) headF6(m *ncpdp.Message) {
	b := bytes.TrimLeft(m.Raw(), "\x02")
	i := bytes.Index(b[:min(len(b), 10)], []byte("F6"))
	code, count := i+2, i+14
	if m.Kind() == ncpdp.KindResponse {
		count = i + 4
	}
	if i < 0 || len(b) <= count || !ncpdp.KnownTransaction(b[code:code+2]) {
		return
	}
	s := string(b[code : code+2])
	p.r.TransactionCode = &s
	if n := int(b[count] - '0'); n >= 1 && n <= ncpdp.MaxTransactions {
		p.r.Count = &n
	}
}

// message judges one message, adds its transactions and faults to the report, and
// returns its verdict. detail is its place in a batch, 0 outside one.
func (p *pharmacist) message(m *ncpdp.Message, detail int) string {
	if m.Version() == ncpdp.VersionF6 {
		return verdictRouteF6
	}
	faults := m.Validate()
	bad, isBad := ncpdp.Worst(faults)
	if p.answer && m.Kind() == ncpdp.KindRequest {
		bad.Hint = ncpdp.HintEcho
	}
	p.faults(faults, detail, bad.Hint)
	class := ""
	switch {
	case m.Kind() == ncpdp.KindUnknown && ncpdp.IsHTML(m.Raw()):
		return classify.NCPDPTransport(true, namesGateway(m.Raw())).Class.String()
	case m.Kind() != ncpdp.KindRequest && (isBad && (m.Kind() == ncpdp.KindResponse || p.answer)), bad.Hint == ncpdp.HintEcho:
		class = classify.NCPDPSuspect.String()
	case m.Kind() == ncpdp.KindUnknown, isBad:
		class = verdictPoison
	case m.Kind() == ncpdp.KindRequest:
		class = verdictOK
	}
	if _, broken := m.Fault(); broken {
		return class
	}
	verdict := class
	for t := 1; t <= m.Transactions(); t++ {
		if c := p.transaction(m, t, class); verdict == "" || t == 1 {
			verdict = c
		} else if verdict != c {
			verdict = verdictMixed
		}
	}
	if verdict == "" { // an answer with no transaction at all
		verdict = classify.NCPDPSuspect.String()
	}
	return verdict
}

// namesGateway sees the pages by which a gateway says that it sent the request
// on and got no good answer.
func namesGateway(page []byte) bool {
	page = bytes.ToLower(page[:min(len(page), headSize)])
	for _, s := range []string{"502", "504", "bad gateway", "gateway time"} {
		if bytes.Contains(page, []byte(s)) {
			return true
		}
	}
	return false
}

// transaction adds one transaction, with the class given or, where that is
// empty, the class of the answer.
func (p *pharmacist) transaction(m *ncpdp.Message, n int, class string) string {
	t := NCPDPTransaction{Class: class, Rejects: []string{}}
	p.identify(m, n, &t)
	if m.Kind() == ncpdp.KindResponse {
		p.reply = m.Reply(n, &p.reply)
		t.Rejects = classify.CodesOf(p.reply.Rejects)
		if class == "" {
			a := classify.NCPDPAnswer{
				Header: p.reply.Header, Found: p.reply.Found, Status: p.reply.Status,
				Rejects: p.reply.Rejects, Texts: p.reply.Texts,
			}
			copy(a.Code[:], m.TransactionCode())
			if p.sent != nil {
				a.Mismatch = string(ncpdp.Correlate(p.sent, m, n))
				a.BIN, a.PCN = p.sent.BIN(), p.sent.PCN()
				copy(a.Code[:], p.sent.TransactionCode())
			}
			res := p.o.Pharmacy.Classify(a)
			t.Class, t.Ambiguous = res.Class.String(), res.Ambiguous
		}
	}
	if t.Class == classify.NCPDPSuspect.String() {
		t.Ambiguous = true
	}
	if len(p.r.Transactions) < maxSets {
		p.r.Transactions = append(p.r.Transactions, t)
	} else {
		p.r.Omitted++
	}
	return t.Class
}

// identify writes what identifies the transaction, or that there is something.
func (p *pharmacist) identify(m *ncpdp.Message, n int, t *NCPDPTransaction) {
	show := func(v []byte) *string {
		switch s := string(v); {
		case len(v) == 0:
			return nil
		case !p.o.Reveal:
			s = masked
			return &s
		default:
			return &s
		}
	}
	t.Rx = show(m.RxOf(n))
	claim := ncpdp.IDOf("07")
	if fill, ok := m.Get(n, claim, ncpdp.IDOf("D3")); ok {
		t.Fill = show(fill)
	}
	if ndc, ok := m.Get(n, claim, ncpdp.IDOf("D7")); ok {
		t.NDC = show(ndc)
	}
	if q, ok := m.QuantityOf(n); ok {
		t.Quantity = show([]byte(q.String()))
	}
}

// faults adds findings to the report; the first error is its error.
func (p *pharmacist) faults(faults []ncpdp.Fault, detail int, hint ncpdp.Hint) {
	for _, f := range faults {
		severity := "note"
		if f.Severity == ncpdp.Error {
			severity = "error"
			if p.r.Error == nil {
				code := string(f.Code)
				p.r.Error = &code
			}
		}
		if len(p.r.Faults) < maxNCPDPFaults {
			p.r.Faults = append(p.r.Faults, NCPDPFault{
				Code: string(f.Code), Detail: detail, Offset: f.Offset, Transaction: f.Transaction,
				Segment: f.Segment, Field: f.Field, Severity: severity,
			})
		}
	}
	if p.r.Hint == "" {
		p.r.Hint = string(hint)
	}
}

// maxNCPDPFaults is how many findings are listed.
const maxNCPDPFaults = 1000

// batch judges a batch file, one record at a time.
func (p *pharmacist) batch(ctx context.Context, f io.Reader) error {
	p.r.Kind = "batch"
	b := ncpdp.NewBatchReader(f, ncpdp.BatchOptions{Several: true}) // as intake reads them
	details := 0
	var read, told int64
	for {
		rec, err := b.Next()
		switch {
		case errors.Is(err, io.EOF):
			p.sum(details)
			return nil
		case err != nil:
			return unavailable(err)
		case ctx.Err() != nil:
			return ctx.Err()
		}
		switch rec := rec.(type) {
		case *ncpdp.BatchStart:
			read = rec.Offset + int64(len(rec.Raw))
			p.faults(rec.Faults, 0, "")
			if v := rec.Header.Version; v == "12" || v == "11" {
				p.r.Version = &v
			}
			p.answer = rec.Header.Type == 'R' || rec.Header.Type == 'E'
		case *ncpdp.BatchDetail:
			read = rec.Offset + int64(len(rec.Raw))
			details++
			p.faults(rec.Faults, rec.Number, "")
			p.detail(rec)
		case *ncpdp.BatchJunk:
			p.faults(rec.Faults, 0, "")
		case *ncpdp.BatchEnd:
			p.faults(rec.Faults, 0, "")
		}
		if p.o.Progress != nil && read-told >= progress {
			told = read
			p.o.Progress(read)
		}
	}
}

func (p *pharmacist) detail(d *ncpdp.BatchDetail) {
	if c := d.Message.TransactionCode(); len(c) == 2 && ncpdp.KnownTransaction(c) && p.r.TransactionCode == nil && d.Number == 1 {
		s := string(c)
		p.r.TransactionCode = &s
	} else if p.r.TransactionCode != nil && string(c) != *p.r.TransactionCode {
		p.r.TransactionCode = nil // they differ
	}
	p.merge(p.message(d.Message, d.Number))
}

// merge joins the verdict of a detail to that of the batch.
func (p *pharmacist) merge(v string) {
	switch p.r.Verdict {
	case "", v:
		p.r.Verdict = v
	default:
		p.r.Verdict = verdictMixed
	}
}

// sum ends a batch: a fault anywhere in it refuses the file.
func (p *pharmacist) sum(details int) {
	p.r.Count = &details
	switch {
	case p.r.Error != nil && p.answer:
		p.r.Verdict = classify.NCPDPSuspect.String()
	case p.r.Error != nil:
		p.r.Verdict = verdictPoison
	case p.r.Verdict == "":
		p.r.Verdict = verdictOK // a batch without details
	}
}
