package api

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/internal/app"
	"claimdlq/internal/auth"
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

// readMost bounds what one request reads of the log, in bytes.
const readMost = 1 << 30

// AuditPage is a page of the audit log, the newest entry first.
type AuditPage struct {
	Entries    []Entry `json:"entries"`
	NextCursor string  `json:"next_cursor,omitempty" doc:"Continues the page; absent at the log's beginning. A page may be short and still have one: see looked_at."`
	LookedAt   int     `json:"looked_at" doc:"How many entries were read for this page, of at most 1 GiB."`
}

type auditOutput struct{ Body AuditPage }

func (s *server) auditOperations() {
	add(s, operation{
		id: "list-audit", method: http.MethodGet, path: "/v1/audit", tag: "audit", perm: auth.AuditRead, summary: "Who did what to which record, when and why; newest first",
	}, s.listAudit)
	add(s, operation{
		id: "verify-audit", method: http.MethodPost, path: "/v1/audit/verify", tag: "audit", perm: auth.AuditVerify,
		patience: 15 * time.Minute, summary: "Recompute the audit log and find any change to it", about: "It reads all of it; one at a time.",
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
	page, match := &out.Body, in.matcher()
	next, more, err := audit.Backwards(ctx, app.AuditDir(s.o.DataDir), top, readMost, func(line []byte) (bool, error) {
		page.LookedAt++
		if !match(line) {
			return true, nil
		}
		e, err := audit.Decode(line)
		if err != nil || !in.match(e) {
			return true, err
		}
		ok, err := s.mayRead(ctx, e)
		if ok {
			page.Entries = append(page.Entries, toEntry(e))
		}
		return len(page.Entries) < in.Limit, err
	})
	if err != nil {
		return nil, err
	}
	if more && next > 1 {
		page.NextCursor = strconv.FormatUint(next, 10)
	}
	return out, nil
}

// matcher passes lines over by their bytes. What it lets through may still be about
// something else.
func (in *auditInput) matcher() func(line []byte) bool {
	var want [][]byte
	about := audit.AboutRecord(claimdlq.ID(in.Record))
	if in.Action != "" {
		want = append(want, []byte(`,"action":"`+in.Action+`"`))
	}
	if in.Actor != "" && !strings.ContainsAny(in.Actor, `"\\`) {
		want = append(want, []byte(`,"actor":"`+in.Actor+`"`))
	}
	return func(line []byte) bool {
		for _, w := range want {
			if !bytes.Contains(line, w) {
				return false
			}
		}
		return in.Record == 0 || about(line)
	}
}

func (in *auditInput) match(e claimdlq.Entry) bool {
	return (in.Record == 0 || e.About(claimdlq.ID(in.Record))) && (in.Actor == "" || e.Actor == in.Actor) &&
		(in.Action == "" || string(e.Action) == in.Action) &&
		(in.From.IsZero() || !e.At.Before(in.From)) && (in.To.IsZero() || e.At.Before(in.To))
}

// mayRead reports whether somebody may see an entry: who is limited to partners sees
// those about their records.
func (s *server) mayRead(ctx context.Context, e claimdlq.Entry) (bool, error) {
	if everything(who(ctx)) {
		return true, nil
	}
	id := e.Record
	if id == 0 {
		id = e.Records.First() // all of them are of one partner
	}
	if id == 0 {
		return false, nil
	}
	_, err := s.find(ctx, uint64(id))
	if codeIs(err, claimdlq.NotFound) {
		return false, nil
	}
	return err == nil, err
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
