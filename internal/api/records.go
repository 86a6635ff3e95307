package api

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/classify"
	"claimdlq/internal/auth"
	"claimdlq/internal/background"
	"claimdlq/store"
)

// The bounds of lists.
const (
	lookPage  = 1000   // records that a scan reads at a time
	lookMost  = 5_000  // records that one request looks at
	mostCause = 20_000 // groups that are summed up
	mostLines = 1000   // of a timeline
	mostKids  = 1000   // claims of a set that are listed

	lookGroups = 100_000 // records that are looked at to count those of a group
)

type listInput struct {
	Waiting

	Key    string `query:"key" maxLength:"80" pattern:"^[ -~]{1,80}$" doc:"Alone: the records with this key, ISA13:ST02, ISA13:ST02:N for the Nth claim of the set, or the 24 characters of a pharmacy claim's key; at most 1,000."`
	Cursor string `query:"cursor" maxLength:"20" pattern:"^[0-9]{1,19}$" doc:"The next_cursor of the page before."`
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"50"`
}

// RecordPage is a page of records, the newest first.
type RecordPage struct {
	Records    []Record `json:"records"`
	NextCursor string   `json:"next_cursor,omitempty" doc:"Continues the list; absent at its end. A page may be short, or empty, and still have one: see looked_at."`
	LookedAt   int      `json:"looked_at" doc:"How many records were read for this page, at most 5,000: what the store cannot select by is looked for record by record."`
	Total      *int64   `json:"total,omitempty" doc:"How many there are in all, on the first page, where that is known without counting."`
}

type recordPageOutput struct{ Body RecordPage }

func (s *server) recordOperations() {
	add(s, operation{
		id: "list-records", method: http.MethodGet, path: "/v1/records", tag: "records", perm: auth.RecordsRead, summary: "List records, newest first",
	}, s.listRecords)
	add(s, operation{
		id: "get-record", method: http.MethodGet, path: "/v1/records/{id}", tag: "records", perm: auth.RecordsRead,
		summary: "One record: what it is, why, what happened, and what may be done",
	}, s.getRecord)
	add(s, operation{
		id: "list-groups", method: http.MethodGet, path: "/v1/groups", tag: "records", perm: auth.GroupsRead,
		summary: "Records by cause, largest first", about: "Settled and withdrawn records are in no group. By rule_version, amount or hold at most 100,000 records are looked at; it is refused where there are more.",
	}, s.listGroups)
}

func (s *server) listRecords(ctx context.Context, q *listInput) (*recordPageOutput, error) {
	p := who(ctx)
	sel, err := q.selection(s.o.Now())
	if err != nil {
		return nil, err
	}
	var before claimdlq.ID
	if q.Cursor != "" {
		n, err := strconv.ParseUint(q.Cursor, 10, 63)
		if err != nil || n == 0 {
			return nil, invalid("list records", "cursor", "take the next_cursor of the page before")
		}
		before = claimdlq.ID(n)
	}
	out := &recordPageOutput{RecordPage{Records: []Record{}}}
	if q.Partner != "" && !p.Covers(q.Partner) {
		return out, nil
	}
	if q.Key != "" {
		return out, s.lookUp(ctx, q, &out.Body)
	}
	if err := s.look(ctx, &sel, q.Limit, before, &out.Body); err != nil {
		return nil, err
	}
	if q.Cursor == "" && !sel.Narrow() && everything(p) {
		out.Body.Total, err = s.total(ctx, sel.Filter)
	}
	return out, err
}

// look fills a page. Where the store cannot select all that is asked for, it reads on
// until the page is full or enough was looked at.
func (s *server) look(ctx context.Context, sel *background.Selection, limit int, before claimdlq.ID, page *RecordPage) error {
	p := who(ctx)
	extra := sel.Narrow() || !everything(p)
	for page.LookedAt < lookMost {
		size := lookPage
		if !extra {
			size = limit
		}
		rs, err := s.o.App.Store.List(ctx, sel.Filter, before, size)
		if err != nil {
			return err
		}
		for _, r := range rs {
			page.LookedAt, before = page.LookedAt+1, r.ID
			if sel.Matches(&r) && p.Covers(r.Partner) {
				page.Records = append(page.Records, toRecord(r))
			}
			if len(page.Records) == limit || page.LookedAt == lookMost {
				if r.ID > 1 {
					page.NextCursor = r.ID.String()
				}
				return nil
			}
		}
		if len(rs) < size {
			return nil
		}
	}
	return nil
}

// mostSame is how many records with one key are looked at.
const mostSame = 1000

// lookUp fills a page with the records of a key.
func (s *server) lookUp(ctx context.Context, q *listInput, page *RecordPage) error {
	key, ordinal := q.Key, uint64(0)
	if parts := strings.Split(key, ":"); len(parts) == 3 {
		n, err := strconv.ParseUint(parts[2], 10, 32)
		if err != nil || n == 0 {
			return invalid("list records", "key", "ISA13:ST02:N, N from 1")
		}
		key, ordinal = parts[0]+":"+parts[1], n
	}
	rs, err := s.o.App.Store.Lookup(ctx, claimdlq.DisplayRef(key), mostSame)
	if err != nil {
		return err
	}
	for _, r := range rs {
		page.LookedAt++
		if r.DisplayKey() == key && (ordinal == 0 || uint64(r.Ordinal) == ordinal) && who(ctx).Covers(r.Partner) {
			page.Records = append(page.Records, toRecord(r))
		}
	}
	slices.SortFunc(page.Records, func(a, b Record) int { return cmp.Compare(b.ID, a.ID) })
	page.Records = page.Records[:min(len(page.Records), q.Limit)]
	return nil
}

// total counts what matches, where the groups know it: nil elsewhere.
func (s *server) total(ctx context.Context, f store.Filter) (*int64, error) {
	if f.State == 0 || !f.State.Unresolved() || f.Format != nil || !f.Older.IsZero() || f.Stream == claimdlq.StreamAcks {
		return nil, nil
	}
	gs, err := s.o.App.Store.Groups(ctx, f, mostCause)
	if err != nil || len(gs) == mostCause {
		return nil, err
	}
	var n int64
	for i := range gs {
		n += gs[i].Records
	}
	return &n, nil
}

type recordInput struct {
	ID          uint64 `path:"id" minimum:"1" maximum:"9223372036854775807"`
	IfNoneMatch string `header:"If-None-Match" maxLength:"64"`
}

// RecordDetails is all there is to say about a record without opening it.
type RecordDetails struct {
	Record   Record `json:"record"`
	Meaning  string `json:"meaning,omitempty" doc:"The cause in words."`
	Outlook  string `json:"outlook" doc:"What happens next without anybody."`
	Limits   Limits `json:"limits"`
	Next     []Next `json:"next" doc:"What a person may do now, the likeliest first."`
	Timeline struct {
		Entries []Entry `json:"entries" doc:"Oldest first."`
		Cut     int     `json:"cut,omitempty" doc:"How many older ones are left out: see /v1/audit."`
		Whole   bool    `json:"whole" doc:"Otherwise the log is longer than what is read for one answer, 1 GiB: see /v1/audit."`
	} `json:"timeline"`
	Submissions []Submission `json:"submissions"`
	Claims      []Record     `json:"claims" doc:"Of its set, those with records of their own; at most 1,000."`
}

type recordOutput struct {
	ETag string `header:"ETag"`
	Body RecordDetails
}

// find returns a record that the principal may see. For others there is none.
func (s *server) find(ctx context.Context, id uint64) (claimdlq.Record, error) {
	on := "record " + strconv.FormatUint(id, 10)
	r, err := s.o.App.Store.Get(ctx, claimdlq.ID(id))
	if codeIs(err, claimdlq.NotFound) || err == nil && !who(ctx).Covers(r.Partner) {
		return r, missing("record", on)
	}
	return r, err
}

func etag(r claimdlq.Record) string { return `"` + strconv.FormatUint(uint64(r.Revision), 10) + `"` }

func (s *server) getRecord(ctx context.Context, in *recordInput) (*recordOutput, error) {
	r, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	if in.IfNoneMatch == etag(r) {
		p := problemOf(withStatus(http.StatusNotModified, "", "", "", ""))
		p.header.Set("ETag", etag(r))
		return nil, p
	}
	out := &recordOutput{ETag: etag(r)}
	b := &out.Body
	b.Record, b.Meaning, b.Outlook, b.Next = toRecord(r), classify.Words(r.Detail), outlook(r), s.next(ctx, r)
	if r.State == claimdlq.StateQueued && r.Hold != claimdlq.HoldNone {
		if b.Outlook, err = s.held(ctx, r); err != nil {
			return nil, err
		}
	}
	b.Limits = limits(s.o.App.Policies().For(r.Stream), r)
	h, err := s.o.App.Timeline(ctx, r, audit.Bound{Entries: mostLines, Bytes: readMost})
	if err != nil {
		return nil, err
	}
	es := h.Entries
	b.Timeline.Entries, b.Timeline.Cut, b.Timeline.Whole = []Entry{}, h.Cut, h.Whole
	seen, ids := map[claimdlq.SubmissionID]bool{0: true}, []claimdlq.SubmissionID{}
	for i := range es {
		b.Timeline.Entries = append(b.Timeline.Entries, toEntry(es[i]))
		if !seen[es[i].Submission] {
			seen[es[i].Submission], ids = true, append(ids, es[i].Submission)
		}
	}
	if !seen[r.Submission] {
		ids = append(ids, r.Submission)
	}
	if b.Submissions, err = s.submissions(ctx, ids); err != nil {
		return nil, err
	}
	b.Claims, err = s.parted(ctx, r)
	return out, err
}

func (s *server) submissions(ctx context.Context, ids []claimdlq.SubmissionID) ([]Submission, error) {
	out := []Submission{}
	for _, id := range ids[max(0, len(ids)-mostLines):] {
		sub, err := s.o.App.Store.Submission(ctx, id)
		if codeIs(err, claimdlq.NotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, toSubmission(sub))
	}
	return out, nil
}

// parted lists the claims of a set that have records of their own.
func (s *server) parted(ctx context.Context, r claimdlq.Record) ([]Record, error) {
	out := []Record{}
	if r.Parted == 0 {
		return out, nil
	}
	kids, err := s.o.App.Store.Lookup(ctx, claimdlq.ParentRef(r.ID), mostKids)
	if err != nil {
		return nil, err
	}
	for _, k := range kids {
		if k.Parent == r.ID && who(ctx).Covers(k.Partner) {
			out = append(out, toRecord(k))
		}
	}
	return out, nil
}

// actions says which permission each action of nextOf needs.
var actions = map[string]auth.Permission{
	"correct": auth.RecordCorrect, "replay": auth.ReplayRun, "park": auth.RecordPark, "unpark": auth.RecordUnpark,
	"withdraw": auth.RecordWithdraw, "resolve": auth.RecordResolve, "inquire": auth.RecordInquire, "acknowledge": auth.AcksIntake,
}

func (s *server) next(ctx context.Context, r claimdlq.Record) []Next {
	out := []Next{}
	for _, a := range nextOf(r) {
		perm := actions[a]
		out = append(out, Next{Action: a, Permission: string(perm), Allowed: who(ctx).For("-").May(perm, r.Partner) == nil})
	}
	return out
}
