package api

import (
	"context"
	"io"
	"net/http"

	"claimdlq"
	"claimdlq/flow/correct"
	"claimdlq/internal/auth"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// binary is the content type of documents: no browser shows or runs them.
const binary = "application/octet-stream"

func (s *server) payloadOperations() {
	op := func(verb string, perm auth.Permission, summary string) operation {
		return operation{
			id: verb + "-record", method: http.MethodPost, path: "/v1/records/{id}/" + verb, tag: "payloads", perm: perm, summary: summary, payload: true,
		}
	}
	reveal := op("reveal", auth.PayloadReveal, "Open what a record stands for: PHI")
	reveal.answers = binary
	reveal.about = "The look is in the audit log, with its reason, before anything is decrypted. The answer is the document, byte for byte."
	add(s, reveal, s.reveal)
	history := op("history", auth.PayloadReveal, "Every revision of a corrected record's document, oldest first, back to back: PHI")
	history.about, history.answers = reveal.about, binary
	add(s, history, s.history)
	propose := op("correct:propose", auth.RecordCorrect, "Judge a corrected document and compare it with the present one; nothing is changed")
	propose.id, propose.body = "propose-correction", bodyDocument
	propose.about = "The envelope is locked, counts in trailers are set right. The answer says where it differs, without values."
	add(s, propose, s.propose)
	apply := op("correct", auth.RecordCorrect, "Seal a corrected document as the record's next revision")
	apply.body, apply.command, apply.match = bodyDocument, true, true
	apply.about = "It has to be clean by the current rules. The record stays where it is until it is replayed."
	add(s, apply, s.correct)
}

type documentOutput struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	ETag        string `header:"ETag"`
	Body        []byte
}

func (s *server) reveal(ctx context.Context, in *struct {
	IDPath

	Body struct {
		Because

		Claim uint32 `json:"claim,omitempty" maximum:"16777216" doc:"Only this claim of a set, by its place from 1."`
	}
},
) (*documentOutput, error) {
	r, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	p := who(ctx).For(in.Body.Reason)
	if err := p.May(auth.PayloadReveal, r.Partner); err != nil {
		return nil, err
	}
	doc, err := s.o.App.Reveal(ctx, p.By(), r.ID, in.Body.Claim)
	if err != nil {
		return nil, err
	}
	return &documentOutput{binary, "attachment", etag(r), doc.Reveal()}, nil
}

// maxHistory bounds what is shown of all revisions together, in bytes.
const maxHistory = 64 << 20

func (s *server) history(ctx context.Context, in *reasonInput) (*documentOutput, error) {
	r, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	p := who(ctx).For(in.Body.Reason)
	if err := p.May(auth.PayloadReveal, r.Partner); err != nil {
		return nil, err
	}
	rc, err := s.o.App.Flow.Correct.History(ctx, p.By(), r.ID)
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	b, err := io.ReadAll(io.LimitReader(rc, maxHistory+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxHistory {
		return nil, &claimdlq.Error{Code: claimdlq.Refused, Op: "open history", On: "record " + r.ID.String(), Hint: "it is longer than 64 MiB: use the command line"}
	}
	return &documentOutput{binary, "attachment", etag(r), b}, nil
}

// document is a body that brings a corrected document.
type document struct {
	Because

	Document []byte `json:"document" doc:"The whole document, in base64: byte for byte what is to be sealed." maxLength:"23000000"`
}

type documentInput struct {
	IDPath

	Body document
}

// Proposal is what there is to say about a corrected document. It holds no values.
type Proposal struct {
	Record      uint64            `json:"record"`
	Revision    uint32            `json:"revision" doc:"Of the record it was compared with: the ETag to apply it with."`
	Changes     []x12.Change      `json:"changes" doc:"Where the document differs from the present one."`
	RxChanges   []ncpdp.Change    `json:"rx_changes,omitempty"`
	Faults      []x12.Fault       `json:"faults" doc:"What stands in its way by the current rules."`
	Codes       []string          `json:"codes" doc:"Likewise, where no segment is to blame."`
	Meanings    map[string]string `json:"meanings,omitempty" doc:"The codes in words."`
	Clean       bool              `json:"clean" doc:"It can be applied."`
	RuleVersion string            `json:"rule_version"`
	AmountCents int64             `json:"amount_cents"`
}

type proposalOutput struct {
	ETag string `header:"ETag"`
	Body Proposal
}

func (s *server) toProposal(p correct.Proposal) Proposal {
	out := Proposal{
		Record: uint64(p.ID), Revision: p.Revision, Changes: append([]x12.Change{}, p.Changes...), RxChanges: p.RxChanges,
		Faults: append([]x12.Fault{}, p.Faults...), Codes: []string{}, Clean: p.Clean, RuleVersion: p.RuleVersion, AmountCents: p.AmountCents,
	}
	for _, c := range p.Codes {
		out.Codes = append(out.Codes, c.String())
	}
	return out
}

// proposal judges a document for somebody who may correct the record.
func (s *server) proposal(ctx context.Context, in *documentInput) (correct.Proposal, auth.Principal, error) {
	p := who(ctx).For(in.Body.Reason)
	r, err := s.find(ctx, in.ID)
	if err != nil {
		return correct.Proposal{}, p, err
	}
	if err := p.May(auth.RecordCorrect, r.Partner); err != nil {
		return correct.Proposal{}, p, err
	}
	out, err := s.o.App.Flow.Correct.Propose(ctx, p.By(), r.ID, phi.Wrap(in.Body.Document))
	return out, p, err
}

func (s *server) propose(ctx context.Context, in *documentInput) (*proposalOutput, error) {
	p, _, err := s.proposal(ctx, in)
	if err != nil {
		return nil, err
	}
	out := &proposalOutput{Body: s.toProposal(p)}
	out.ETag = etag(claimdlq.Record{Revision: p.Revision})
	return out, nil
}

func (s *server) correct(ctx context.Context, in *documentInput) (*movedOutput, error) {
	rev, err := ifMatch(ctx)
	if err != nil {
		return nil, err
	}
	lock := s.o.Locks.of(claimdlq.ID(in.ID))
	lock.Lock()
	defer lock.Unlock()
	p, by, err := s.proposal(ctx, in)
	if err != nil {
		return nil, err
	}
	if uint64(p.Revision) != rev {
		return nil, moved("correct record", p.ID.String())
	}
	r, err := s.o.App.Flow.Correct.Apply(ctx, by.By(), p)
	if err != nil {
		return nil, err
	}
	return s.moved(ctx, r, ""), nil
}
