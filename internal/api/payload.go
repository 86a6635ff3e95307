package api

import (
	"context"
	"io"
	"net/http"

	"claimdlq"
	"claimdlq/internal/auth"
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
	view := op("view", auth.PayloadReveal, "Open it as a structure: segments, elements and fields by name, with the faults at their places: PHI")
	view.about = "The look is in the audit log, with its reason, before anything is decrypted: each page is one."
	add(s, view, s.view)
	propose := op("correct:propose", auth.RecordCorrect, "Judge a correction and compare it with what is there; nothing is changed")
	propose.id, propose.body = "propose-correction", bodyDocument
	propose.about = sentences(
		"A correction is a list of edits, or a whole document. The envelope is locked, counts in trailers are set right.",
		"The answer says where it differs, by the form of the values: letters as A, digits as 9.",
		"An editor may ask at every change: one entry of the audit log stands for the proposals of one person with one reason to one revision of a record for 15 minutes.",
		"With reveal the values themselves are in the answer: it needs payload.reveal, and each such look has its entry.")
	add(s, propose, s.propose)
	apply := op("correct", auth.RecordCorrect, "Seal a correction as the record's next revision")
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
	r, p, err := s.revealed(ctx, in.ID, in.Body.Reason)
	if err != nil {
		return nil, err
	}
	doc, err := s.o.App.Reveal(ctx, p.By(), r.ID, in.Body.Claim)
	if err != nil {
		return nil, err
	}
	return &documentOutput{binary, "attachment", etag(r), doc.Reveal()}, nil
}

// revealed returns a record to somebody who may open it for that reason.
func (s *server) revealed(ctx context.Context, id uint64, reason string) (claimdlq.Record, auth.Principal, error) {
	p := who(ctx).For(reason)
	r, err := s.find(ctx, id)
	if err == nil {
		err = p.May(auth.PayloadReveal, r.Partner)
	}
	return r, p, err
}

// maxHistory bounds what is shown of all revisions together, in bytes.
const maxHistory = 64 << 20

func (s *server) history(ctx context.Context, in *reasonInput) (*documentOutput, error) {
	r, p, err := s.revealed(ctx, in.ID, in.Body.Reason)
	if err != nil {
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
