package correct

import (
	"bytes"
	"context"
	"io"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/flow/filing"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/vault"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// Options join a Correct to what it works with. All are required.
type Options struct {
	Store store.Store
	Vault vault.Vault
	Rules *x12.Rules
	Now   func() time.Time
}

// Correct gives records their next payload revision. It is safe for concurrent use.
type Correct struct {
	o     Options
	looks looks
}

// New returns a Correct.
func New(o Options) *Correct { return &Correct{o: o} }

// Proposal is a corrected document and what is to be said about it. Apply takes
// it only if it is Clean.
type Proposal struct {
	ID       claimdlq.ID `json:"id"`
	Revision uint32      `json:"revision"` // of the record it was made from
	// Changes show where the document differs from the present one, without values.
	Changes []x12.Change `json:"changes"`
	// RxChanges are the same for a pharmacy claim, which has no Changes.
	RxChanges []ncpdp.Change `json:"rx_changes,omitempty"`
	// Faults stand in its way by the current rules.
	Faults []x12.Fault `json:"faults"`
	// RxFaults are the same for a pharmacy claim; each is in Codes, too.
	RxFaults []ncpdp.Fault `json:"-"`
	// Codes are what stands in its way and has no segment: envelope and structure;
	// for a pharmacy claim, everything.
	Codes       []claimdlq.Detail `json:"codes"`
	Clean       bool              `json:"clean"`
	RuleVersion string            `json:"rule_version"`
	AmountCents int64             `json:"amount_cents"`

	doc     phi.Bytes
	basis   filing.Basis
	partner string // that the corrected pharmacy claim goes to
}

// Goes returns the partner that the document goes to, where the correction may change
// that; empty elsewhere. Who may correct a record of one partner only looks at it.
func (p *Proposal) Goes() string { return p.partner }

// Document returns the record's present document, a complete interchange or a
// pharmacy transaction alone in its message, for a person to look at. The look is audited with its reason before it happens.
// Errors: NotFound, Refused without a name and a reason, and those of the vault.
func (c *Correct) Document(ctx context.Context, by claimdlq.By, id claimdlq.ID) (phi.Bytes, error) {
	if err := audited.Named(by, "show document"); err != nil {
		return phi.Bytes{}, err
	}
	r, err := c.o.Store.Get(ctx, id)
	if err != nil {
		return phi.Bytes{}, err
	}
	return c.document(ctx, by, claimdlq.ActReveal, r)
}

func (c *Correct) document(ctx context.Context, by claimdlq.By, a claimdlq.Action, r claimdlq.Record) (phi.Bytes, error) {
	proof, err := audited.Open(ctx, c.o.Store, by, a, c.o.Now(), r)
	if err != nil {
		return phi.Bytes{}, err
	}
	doc, err := envelope.Document(ctx, c.o.Vault, proof, r)
	if err == nil && isRx(r) {
		return alone(doc, r)
	}
	return doc, err
}

// Propose judges a corrected document by the current rules and compares it with
// the present one. Counts in trailers (SE01, GE01, IEA01), HL and LX numbers are
// set right; everything else is taken as it is. A pharmacy document is one
// transaction. Nothing is changed.
//
// Errors: NotFound; Refused where the record is not quarantined or stands for
// bytes that no claim can be cut from; Invalid where doc is no interchange, or no
// pharmacy message.
func (c *Correct) Propose(ctx context.Context, by claimdlq.By, id claimdlq.ID, doc phi.Bytes) (Proposal, error) {
	d, err := c.Whole(ctx, by, id, doc, false)
	return d.Proposal, err
}

// Whole is Propose with the values at the places that are changed. Where shown, somebody
// is to see them: the look is audited as such.
func (c *Correct) Whole(ctx context.Context, by claimdlq.By, id claimdlq.ID, doc phi.Bytes, shown bool) (Draft, error) {
	act := claimdlq.ActOpen
	if shown {
		act = claimdlq.ActReveal
	}
	r, present, err := c.present(ctx, by, id, act)
	if err != nil {
		return Draft{}, err
	}
	return c.draft(ctx, r, present, doc)
}

// draft judges a corrected document against the present one.
func (c *Correct) draft(ctx context.Context, r claimdlq.Record, present, doc phi.Bytes) (Draft, error) {
	if isRx(r) {
		return draftRx(r, present, doc)
	}
	d := Draft{Proposal: Proposal{ID: r.ID, Revision: r.Revision, RuleVersion: c.o.Rules.Version(), doc: doc}}
	p := &d.Proposal
	if fixed, err := x12.Repair(doc.Reveal()); err == nil {
		p.doc = phi.Wrap(fixed)
	}
	var err error
	if d.Places, err = x12.Differences(present.Reveal(), p.doc.Reveal()); err != nil {
		return Draft{}, err
	}
	for i := range d.Places {
		p.Changes = append(p.Changes, d.Places[i].Change)
	}
	if !sameEnvelope(present.Reveal(), p.doc.Reveal()) {
		p.Codes = append(p.Codes, claimdlq.NewDetail("RULE:ENVELOPE_LOCKED"))
	}
	err = c.judge(ctx, r, p)
	d.At = numbersOf(p.doc.Reveal(), p.Faults)
	return d, err
}

func (c *Correct) correctable(ctx context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	r, err := c.o.Store.Get(ctx, id)
	if err != nil {
		return r, err
	}
	return r, refusal(r)
}

// Can reports whether the record can be corrected as it is: it is quarantined, and a claim
// that could be read.
func Can(r claimdlq.Record) bool { return refusal(r) == nil }

// refusal says why the record cannot be corrected as it is, nil if it can.
func refusal(r claimdlq.Record) error {
	refused := &claimdlq.Error{Code: claimdlq.Refused, Op: "correct record " + r.ID.String()}
	switch {
	case r.State != claimdlq.StateQuarantined:
		refused.On = "state " + r.State.String()
		refused.Hint = "only a quarantined record can be corrected"
		return refused
	case r.Scope > claimdlq.ScopeClaim || r.Format == claimdlq.FormatAck:
		refused.On = "it is no claim that could be read"
		refused.Hint = "ask the submitter for a new file, then: claimdlq withdraw " + r.ID.String()
		return refused
	}
	return nil
}

// judge fills in what the current rules say. Claims that parted are judged with
// their own records.
func (c *Correct) judge(ctx context.Context, r claimdlq.Record, p *Proposal) error {
	part, err := envelope.PartOf(ctx, c.o.Store, r)
	if err != nil {
		return err
	}
	scan, err := envelope.Judge(bytes.NewReader(p.doc.Reveal()), c.o.Rules, false, func(cl *x12.Claim) {
		if part.Drop == nil || !part.Drop(cl.Ordinal) {
			p.AmountCents += cl.AmountCents
		}
		p.basis.Add(uint64(cl.Ordinal), filing.ParseDay(cl.Service))
	})
	if err != nil {
		return err
	}
	for _, f := range scan.Faults {
		if f.ClaimOrd == 0 || part.Drop == nil || !part.Drop(f.ClaimOrd) {
			p.Faults = append(p.Faults, f)
		}
	}
	p.Codes = append(p.Codes, scan.Codes...)
	if scan.Claims != int(r.Claims+r.Parted) {
		p.Codes = append(p.Codes, claimdlq.NewDetail("RULE:CLAIM_COUNT"))
	}
	p.Clean = scan.Clean(part.Drop) && len(p.Faults) == 0 && len(p.Codes) == 0
	return nil
}

// sameEnvelope reports whether ISA, GS and ST are the same, byte by byte.
func sameEnvelope(a, b []byte) bool {
	left, ok := heads(a)
	right, okToo := heads(b)
	return ok && okToo && left == right
}

func heads(doc []byte) (out [3]string, ok bool) {
	h, ta1 := x12.ParseISA(doc)
	if ta1 != "" {
		return out, false
	}
	segs := x12.NewSegments(doc, h.Delims)
	for segs.Next() {
		for i, id := range [...]string{"ISA", "GS", "ST"} {
			if segs.ID() != id {
				continue
			}
			if out[i] != "" {
				return out, false // a second one
			}
			out[i] = string(bytes.TrimRight(segs.Raw(), "\r\n"))
		}
	}
	return out, out[0] != "" && out[1] != "" && out[2] != ""
}

// Apply seals the proposed document as the record's next payload revision, judged
// under the current rules. The record stays quarantined until it is replayed.
// Errors: Refused without a name and a reason, Invalid where the proposal is not
// clean or changes nothing, Conflict where the record has moved on.
func (c *Correct) Apply(ctx context.Context, by claimdlq.By, p Proposal) (claimdlq.Record, error) {
	s, err := c.Seal(ctx, by, p)
	if err != nil {
		return claimdlq.Record{}, err
	}
	return s.Commit(ctx)
}

// Sealed is a proposal whose document rests in the vault, and whose record does not know
// of it yet. One that is never committed is an orphan unit, swept and audited.
type Sealed struct {
	c        *Correct
	by       claimdlq.By
	at       time.Time
	from, to claimdlq.Record
}

// Unit names the sealed unit: the record has it as its payload's once Commit has
// happened, and no other record ever does.
func (s *Sealed) Unit() string { return s.to.Payload.Unit }

// Seal is the first half of Apply: the document is durable on return. Errors as for
// Apply.
func (c *Correct) Seal(ctx context.Context, by claimdlq.By, p Proposal) (*Sealed, error) {
	op := "correct record " + p.ID.String()
	if err := audited.Named(by, op); err != nil {
		return nil, err
	}
	switch {
	case !p.Clean:
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: "the rules do not pass it", Hint: "see the proposal's faults"}
	case len(p.Changes)+len(p.RxChanges) == 0:
		return nil, &claimdlq.Error{
			Code: claimdlq.Invalid, Op: op, On: "nothing is changed",
			Hint: "to send it as it is: claimdlq replay --unchanged --reason …",
		}
	}
	r, err := c.correctable(ctx, p.ID)
	if err != nil {
		return nil, err
	}
	if r.Revision != p.Revision {
		return nil, &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: "the record has moved on", Hint: "propose again"}
	}
	ref, err := c.seal(ctx, by, r, p)
	if err != nil {
		return nil, err
	}
	now := c.o.Now()
	n, err := r.Correct(ref, p.AmountCents, p.RuleVersion, now)
	if err != nil {
		return nil, err
	}
	if isRx(r) {
		n.Partner = p.partner // 101-A1 and 104-A4 may have been the fault
	}
	return &Sealed{c, by, now, r, n}, nil
}

// Commit gives the record its next payload revision. Errors: Conflict where it has moved
// on, and those of the store.
func (s *Sealed) Commit(ctx context.Context) (claimdlq.Record, error) {
	_, err := s.c.o.Store.Commit(ctx, store.Batch{
		Update:  []claimdlq.Record{s.to},
		Entries: []claimdlq.Entry{audited.Entry(s.by, claimdlq.ActCorrect, s.from, s.to, s.at)},
	})
	if err != nil {
		return s.from, err
	}
	n := s.to
	n.Revision++
	return n, nil
}

// seal seals the document behind all earlier revisions, in one unit: what was
// received stays as long as the record needs its payload.
func (c *Correct) seal(ctx context.Context, by claimdlq.By, r claimdlq.Record, p Proposal) (claimdlq.PayloadRef, error) {
	doc := p.doc
	earlier, err := c.earlier(ctx, by, r)
	if err != nil {
		return claimdlq.PayloadRef{}, err
	}
	defer func() { _ = earlier.Close() }()
	w, err := c.o.Vault.Create()
	if err != nil {
		return claimdlq.PayloadRef{}, err
	}
	n, err := io.Copy(w, earlier)
	if err == nil && isRx(r) { // its revisions have nothing else between them
		var lf int
		lf, err = w.Write([]byte{'\n'})
		n += int64(lf)
	}
	if err == nil {
		_, err = w.Write(doc.Reveal())
	}
	if err == nil {
		err = w.Describe(p.basis.Seal())
	}
	if err != nil {
		w.Abort()
		return claimdlq.PayloadRef{}, err
	}
	ref, err := w.Close()
	if err != nil {
		return ref, err
	}
	ref.Offset, ref.Length = n, int64(doc.Len())
	return ref, c.o.Vault.Sync(ctx)
}

// earlier returns every revision of the record so far, back to back.
func (c *Correct) earlier(ctx context.Context, by claimdlq.By, r claimdlq.Record) (io.ReadCloser, error) {
	proof, err := audited.Open(ctx, c.o.Store, by, claimdlq.ActOpen, c.o.Now(), r)
	if err != nil {
		return nil, err
	}
	if envelope.Cut(r) || isRx(r) && r.PayloadRevision <= 1 { // the unit, which it shares, stays too
		doc, err := envelope.Document(ctx, c.o.Vault, proof, r)
		if err == nil && isRx(r) {
			doc, err = alone(doc, r)
		}
		return io.NopCloser(bytes.NewReader(doc.Reveal())), err
	}
	all := r.Payload
	all.Offset, all.Length = 0, r.Payload.Offset+r.Payload.Length
	return c.o.Vault.OpenReader(ctx, all, proof)
}

// History returns every payload revision of the record, oldest first, back to
// back: each begins with its ISA, and a set as it was received ends with its SE.
// Those of a pharmacy claim have a line feed between them.
// The look is audited as Document's is; the caller closes what it gets. Errors as
// for Document.
func (c *Correct) History(ctx context.Context, by claimdlq.By, id claimdlq.ID) (io.ReadCloser, error) {
	if err := audited.Named(by, "show history"); err != nil {
		return nil, err
	}
	r, err := c.o.Store.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.earlier(ctx, by, r)
}
