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
type Correct struct{ o Options }

// New returns a Correct.
func New(o Options) *Correct { return &Correct{o} }

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
	r, err := c.correctable(ctx, id)
	if err != nil {
		return Proposal{}, err
	}
	if isRx(r) {
		return c.proposeRx(ctx, by, r, doc)
	}
	present, err := c.document(ctx, by, claimdlq.ActOpen, r)
	if err != nil {
		return Proposal{}, err
	}
	p := Proposal{ID: id, Revision: r.Revision, RuleVersion: c.o.Rules.Version(), doc: doc}
	if fixed, err := x12.Repair(doc.Reveal()); err == nil {
		p.doc = phi.Wrap(fixed)
	}
	if p.Changes, err = x12.Diff(present.Reveal(), p.doc.Reveal()); err != nil {
		return Proposal{}, err
	}
	if !sameEnvelope(present.Reveal(), p.doc.Reveal()) {
		p.Codes = append(p.Codes, claimdlq.NewDetail("RULE:ENVELOPE_LOCKED"))
	}
	return p, c.judge(ctx, r, &p)
}

func (c *Correct) correctable(ctx context.Context, id claimdlq.ID) (claimdlq.Record, error) {
	r, err := c.o.Store.Get(ctx, id)
	if err != nil {
		return r, err
	}
	refused := &claimdlq.Error{Code: claimdlq.Refused, Op: "correct record " + id.String()}
	switch {
	case r.State != claimdlq.StateQuarantined:
		refused.On = "state " + r.State.String()
		refused.Hint = "only a quarantined record can be corrected"
		return r, refused
	case r.Scope > claimdlq.ScopeClaim || r.Format == claimdlq.FormatAck:
		refused.On = "it is no claim that could be read"
		refused.Hint = "ask the submitter for a new file, then: claimdlq withdraw " + id.String()
		return r, refused
	}
	return r, nil
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
	op := "correct record " + p.ID.String()
	if err := audited.Named(by, op); err != nil {
		return claimdlq.Record{}, err
	}
	switch {
	case !p.Clean:
		return claimdlq.Record{}, &claimdlq.Error{Code: claimdlq.Invalid, Op: op, On: "the rules do not pass it", Hint: "see the proposal's faults"}
	case len(p.Changes)+len(p.RxChanges) == 0:
		return claimdlq.Record{}, &claimdlq.Error{
			Code: claimdlq.Invalid, Op: op, On: "nothing is changed",
			Hint: "to send it as it is: claimdlq replay --unchanged --reason …",
		}
	}
	r, err := c.correctable(ctx, p.ID)
	if err != nil {
		return r, err
	}
	if r.Revision != p.Revision {
		return r, &claimdlq.Error{Code: claimdlq.Conflict, Op: op, On: "the record has moved on", Hint: "propose again"}
	}
	ref, err := c.seal(ctx, by, r, p)
	if err != nil {
		return r, err
	}
	now := c.o.Now()
	n, err := r.Correct(ref, p.AmountCents, p.RuleVersion, now)
	if err != nil {
		return r, err
	}
	if isRx(r) {
		n.Partner = p.partner // 101-A1 and 104-A4 may have been the fault
	}
	_, err = c.o.Store.Commit(ctx, store.Batch{
		Update:  []claimdlq.Record{n},
		Entries: []claimdlq.Entry{audited.Entry(by, claimdlq.ActCorrect, r, n, now)},
	})
	if err != nil {
		return r, err
	}
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
