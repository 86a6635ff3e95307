package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
)

// The bounds of a look at the audit log.
const (
	auditWindow = 2000    // entries that are read at a time
	auditMost   = 100_000 // entries that one request reads
)

type auditInput struct {
	Record uint64    `query:"record" minimum:"0" maximum:"9223372036854775807"`
	Actor  string    `query:"actor" maxLength:"80"`
	Action string    `query:"action" maxLength:"40" pattern:"^[a-z_]{1,40}$"`
	From   time.Time `query:"from" doc:"Entries since this time."`
	To     time.Time `query:"to" doc:"Entries before this time."`
	Cursor string    `query:"cursor" maxLength:"20" pattern:"^[0-9]{1,19}$" doc:"The next_cursor of the page before."`
	Limit  int       `query:"limit" minimum:"1" maximum:"1000" default:"100"`
}

// AuditPage is a page of the audit log, the newest entry first.
type AuditPage struct {
	Entries    []Entry `json:"entries"`
	NextCursor string  `json:"next_cursor,omitempty" doc:"Continues the page; absent at the log's beginning. A page may be short and still have one: see looked_at."`
	LookedAt   int     `json:"looked_at" doc:"How many entries were read for this page, at most 100,000."`
}

type auditOutput struct{ Body AuditPage }

func (s *server) auditOperations() {
	add(s, operation{
		id: "list-audit", method: http.MethodGet, path: "/v1/audit", tag: "audit", perm: auth.AuditRead, summary: "Who did what to which record, when and why; newest first",
	}, s.listAudit)
	add(s, operation{
		id: "verify-audit", method: http.MethodPost, path: "/v1/audit/verify", tag: "audit", perm: auth.AuditVerify,
		summary: "Recompute the audit log and find any change to it", about: "It reads all of it; one at a time.",
	}, s.verifyAudit)
}

func (s *server) listAudit(ctx context.Context, in *auditInput) (*auditOutput, error) {
	if _, err := audit.Drain(ctx, s.o.App.Store, s.o.App.Audit); err != nil {
		return nil, err
	}
	top := s.o.App.Audit.Size()
	if in.Cursor != "" {
		n, err := strconv.ParseUint(in.Cursor, 10, 63)
		if err != nil || n == 0 {
			return nil, invalid("list audit log", "cursor", "take the next_cursor of the page before")
		}
		top = min(top, n-1)
	}
	out := &auditOutput{AuditPage{Entries: []Entry{}}}
	for page := &out.Body; top > 0 && page.LookedAt < auditMost; {
		low := uint64(1)
		if top > auditWindow {
			low = top - auditWindow + 1
		}
		es, err := s.window(ctx, in, low, top)
		if err != nil {
			return nil, err
		}
		for _, e := range slices.Backward(es) {
			if ok, err := s.mayRead(ctx, e); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
			page.Entries = append(page.Entries, toEntry(e))
			if len(page.Entries) == in.Limit {
				if e.Seq > 1 {
					page.NextCursor = strconv.FormatUint(e.Seq, 10)
				}
				return out, nil
			}
		}
		page.LookedAt += int(top - low + 1)
		top = low - 1
	}
	if top > 0 {
		out.Body.NextCursor = strconv.FormatUint(top+1, 10)
	}
	return out, nil
}

// mayRead reports whether somebody may see an entry: who is limited to partners sees
// those about their records.
func (s *server) mayRead(ctx context.Context, e claimdlq.Entry) (bool, error) {
	if everything(who(ctx)) {
		return true, nil
	}
	if e.Record == 0 {
		return false, nil
	}
	_, err := s.find(ctx, uint64(e.Record))
	if codeIs(err, claimdlq.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// window reads the entries between two sequence numbers that match, oldest first.
func (s *server) window(ctx context.Context, in *auditInput, low, high uint64) ([]claimdlq.Entry, error) {
	var b bytes.Buffer
	_, err := audit.Export(ctx, &b, app.AuditDir(s.o.DataDir), audit.Filter{
		First: low, Last: high, From: in.From, To: in.To, Record: claimdlq.ID(in.Record), Actor: in.Actor, Action: claimdlq.Action(in.Action),
	})
	if err != nil {
		return nil, err
	}
	var out []claimdlq.Entry
	for line := range bytes.Lines(b.Bytes()) {
		var e struct {
			claimdlq.Entry

			Checkpoint string `json:"checkpoint"`
		}
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read audit log", Hint: "verify it"}
		}
		if e.Checkpoint == "" && e.Seq > 0 {
			out = append(out, e.Entry)
		}
	}
	return out, nil
}

type verifyOutput struct {
	Body struct {
		Whole       bool            `json:"whole"`
		Entries     uint64          `json:"entries"`
		Signed      uint64          `json:"signed" doc:"Up to which entry the newest checkpoint signs; the rest has the chain only."`
		Checkpoints int             `json:"checkpoints"`
		Root        string          `json:"root" doc:"Root hash over all entries."`
		Problems    []audit.Problem `json:"problems"`
		More        int             `json:"more,omitempty" doc:"Further problems."`
		Checkpoint  string          `json:"checkpoint" doc:"The newest signed checkpoint: keep it elsewhere."`
	}
}

func (s *server) verifyAudit(ctx context.Context, in *struct {
	Body struct {
		Kept string `json:"kept,omitempty" maxLength:"4096" doc:"A checkpoint that was kept elsewhere, to find a rollback of the whole log."`
	}
},
) (*verifyOutput, error) {
	select {
	case s.sizing <- struct{}{}:
		defer func() { <-s.sizing }()
	default:
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "verify audit log", On: "one is under way", Hint: "try again"}
	}
	if err := s.note(ctx, who(ctx), claimdlq.ActCheckpoint, "VERIFY"); err != nil {
		return nil, err
	}
	head, err := s.o.App.Checkpoint(ctx)
	if err != nil {
		return nil, err
	}
	v, err := app.Verifier(s.o.DataDir, "")
	if err != nil {
		return nil, err
	}
	rep, err := audit.Verify(ctx, app.AuditDir(s.o.DataDir), v, []byte(in.Body.Kept))
	if in.Body.Kept != "" && errors.Is(err, claimdlq.Corrupt) {
		return nil, invalid("verify audit log", "body.kept", "it is no checkpoint of this log's key")
	}
	if err != nil {
		return nil, err
	}
	out := &verifyOutput{}
	b := &out.Body
	b.Whole, b.Entries, b.Signed, b.Checkpoints, b.Root = rep.OK(), rep.Entries, rep.Signed, rep.Checkpoints, rep.Root.String()
	b.Problems, b.More, b.Checkpoint = append([]audit.Problem{}, rep.Problems...), rep.More, string(head)
	return out, nil
}
