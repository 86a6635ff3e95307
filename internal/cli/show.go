package cli

import (
	"context"
	"fmt"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/classify"
	"claimdlq/internal/app"
)

// maxChildren is how many parted claims show lists.
const maxChildren = 5000

type showJSON struct {
	Record      recordJSON            `json:"record"`
	Meaning     string                `json:"meaning,omitempty"` // of its error_detail, in words
	Next        []string              `json:"next"`              // what may be done now
	Timeline    []claimdlq.Entry      `json:"timeline"`
	Submissions []claimdlq.Submission `json:"submissions"`
	Claims      []recordJSON          `json:"claims"` // of the set, those with records of their own
}

func newShow(s *session) *cobra.Command {
	var payload bool
	var claim uint32
	var out, reason string
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show one record and what happened to it",
		Long: `Show prints a record, its history from the audit log, the submissions that carried it, and
the claims of its set that have records of their own. None of it is PHI.

With --payload it decrypts the document instead (one claim, one transaction set, or the
corrected one) and writes it to standard output, or to a new file with --out. That needs
a reason and is in the audit log before anything is decrypted.

` + argID,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			switch {
			case payload:
				if err := s.needReason(reason); err != nil {
					return err
				}
				if s.json {
					return usagef("a payload is not JSON: leave --json out")
				}
			case reason != "" || out != "" || claim != 0:
				return usagef("--reason, --claim and --out belong to --payload")
			}
			return s.with(c.Context(), func(a *app.App) error {
				rec, err := s.resolve(c.Context(), a.Store, args[0])
				if err != nil {
					return err
				}
				if payload {
					return s.reveal(c.Context(), a, s.by(reason), rec.ID, claim, out)
				}
				return s.show(c.Context(), a, rec)
			})
		},
	}
	c.Flags().BoolVar(&payload, "payload", false, "decrypt the document and print it: PHI")
	c.Flags().Uint32Var(&claim, "claim", 0, "only the `Nth` claim of a set, with its provider and subscriber")
	c.Flags().StringVar(&out, "out", "", "write the document to this new `file`, readable by you only")
	addReason(c, &reason)
	return c
}

func (s *session) reveal(ctx context.Context, a *app.App, by claimdlq.By, id claimdlq.ID, claim uint32, out string) error {
	w := s.env.Stdout
	if out != "" {
		f, err := s.createNew(out)
		if err != nil {
			return err
		}
		defer f.Close()
		w = f
	}
	doc, err := a.Reveal(ctx, by, id, claim)
	if err != nil {
		return err
	}
	_, err = w.Write(doc.Reveal())
	return err
}

func (s *session) show(ctx context.Context, a *app.App, rec claimdlq.Record) error {
	out := showJSON{Record: toJSON(rec), Meaning: classify.Words(rec.Detail), Next: next(rec), Timeline: []claimdlq.Entry{}, Submissions: []claimdlq.Submission{}, Claims: []recordJSON{}}
	h, err := a.Timeline(ctx, rec, audit.Bound{})
	if err != nil {
		return err
	}
	out.Timeline = append(out.Timeline, h.Entries...)
	seen := map[claimdlq.SubmissionID]bool{0: true}
	for _, id := range append(submissionsOf(out.Timeline), rec.Submission) {
		if seen[id] {
			continue
		}
		seen[id] = true
		sub, err := a.Store.Submission(ctx, id)
		if err != nil {
			return err
		}
		out.Submissions = append(out.Submissions, sub)
	}
	if rec.Parted > 0 {
		kids, err := a.Store.Lookup(ctx, claimdlq.ParentRef(rec.ID), maxChildren)
		if err != nil {
			return err
		}
		for _, k := range kids {
			if k.Parent == rec.ID {
				out.Claims = append(out.Claims, toJSON(k))
			}
		}
	}
	if s.json {
		return s.printJSON(out)
	}
	return s.printShow(rec, out)
}

func submissionsOf(es []claimdlq.Entry) []claimdlq.SubmissionID {
	out := make([]claimdlq.SubmissionID, 0, len(es))
	for _, e := range es {
		out = append(out, e.Submission)
	}
	return out
}

// next says what a person may do with a record now.
func next(r claimdlq.Record) []string {
	id := r.ID.String()
	switch r.State {
	case claimdlq.StateQuarantined:
		verbs := []string{"correct " + id, "replay " + id, "park " + id, "withdraw " + id}
		if r.FateUnknown {
			return append([]string{"inquire " + id, "resolve " + id + " arrived|not-arrived"}, verbs[2:]...)
		}
		if r.PayloadRevision > r.RefusedRevision {
			return append([]string{"replay " + id}, verbs[0], verbs[2], verbs[3])
		}
		return verbs
	case claimdlq.StateInDoubt:
		return []string{"inquire " + id, "acks FILE", "resolve " + id + " arrived|not-arrived"}
	case claimdlq.StateParked:
		return []string{"unpark " + id, "withdraw " + id}
	case claimdlq.StateQueued:
		return []string{"deliver", "park " + id, "withdraw " + id}
	case claimdlq.StateSubmitted:
		return []string{"acks FILE"}
	case claimdlq.StateLeased, claimdlq.StateSettled, claimdlq.StateWithdrawn:
	}
	return []string{}
}

func (s *session) printShow(r claimdlq.Record, out showJSON) error {
	w := tabwriter.NewWriter(s.env.Stdout, 0, 8, 2, ' ', 0)
	row := func(name string, format string, a ...any) { _, _ = fmt.Fprintf(w, name+"\t"+format+"\n", a...) }
	row("record", "%d", r.ID)
	row("key", "%s", keyOf(r))
	row("state", "%s", r.State)
	row("cause", "%s", cause(r))
	if m := classify.Words(r.Detail); m != "" {
		row("meaning", "%s", m)
	}
	row("format", "%s, %s", r.Format, r.Scope)
	if r.Format == claimdlq.FormatNCPDP {
		row("transaction", "%s, number %d of its transmission", dash(r.TransactionID), r.Ordinal)
	} else {
		row("numbers", "ISA13 %s, GS06 %s, ST02 %s", dash(r.InterchangeID), dash(r.GroupID), dash(r.TransactionID))
	}
	row("from, to", "%s, %s", dash(r.Sender), dash(r.Partner))
	row("claims", "%d for %s (%d more have records of their own)", r.Claims, money(r.AmountCents), r.Parted)
	row("counts", "%d attempts, %d since the last replay, %d replays", r.AttemptCount, r.ReceiveCount, r.ReplayCount)
	row("payload", "revision %d, last refused %d, rules %s", r.PayloadRevision, r.RefusedRevision, dash(r.RuleVersion))
	row("received", "%s", stamp(r.CreatedAt))
	row("first failed", "%s", stamp(r.FirstFailedAt))
	if !r.NotBefore.IsZero() {
		row("not before", "%s", stamp(r.NotBefore))
	}
	if r.Parent != 0 {
		row("of set", "record %d, claim %d", r.Parent, r.Ordinal)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := s.printTimeline(out.Timeline); err != nil {
		return err
	}
	if err := s.printSubmissions(out.Submissions); err != nil {
		return err
	}
	if len(out.Claims) > 0 {
		_, _ = fmt.Fprintln(s.env.Stdout)
		rs := make([]claimdlq.Record, len(out.Claims))
		for i, k := range out.Claims {
			rs[i] = k.Record
		}
		if err := s.recordTable(rs); err != nil {
			return err
		}
		if more := int(r.Parted) - len(rs); more > 0 {
			s.say("%d more are not shown", more)
		}
	}
	if len(out.Next) > 0 {
		_, _ = fmt.Fprintln(s.env.Stdout)
		for _, n := range out.Next {
			_, _ = fmt.Fprintln(s.env.Stdout, "next: claimdlq", n)
		}
	}
	return nil
}

func (s *session) printTimeline(es []claimdlq.Entry) error {
	if len(es) == 0 {
		return nil
	}
	_, _ = fmt.Fprintln(s.env.Stdout)
	rows := make([][]string, len(es))
	for i, e := range es {
		rows[i] = []string{
			stamp(e.At), e.Actor, string(e.Action), moveOf(e), dash(e.Detail.String()), number(uint64(e.Submission)), dash(oneLine(e.Note)),
		}
	}
	return s.table("TIME ACTOR ACTION STATE DETAIL SUBMISSION REASON", rows)
}

func moveOf(e claimdlq.Entry) string {
	switch {
	case e.To == 0:
		return "-"
	case e.From == 0 || e.From == e.To:
		return e.To.String()
	}
	return e.From.String() + ">" + e.To.String()
}

func number(n uint64) string {
	if n == 0 {
		return "-"
	}
	return strconv.FormatUint(n, 10)
}

func (s *session) printSubmissions(subs []claimdlq.Submission) error {
	if len(subs) == 0 {
		return nil
	}
	_, _ = fmt.Fprintln(s.env.Stdout)
	rows := make([][]string, len(subs))
	for i, x := range subs {
		isa13 := "-"
		if x.ISA13 > 0 {
			isa13 = fmt.Sprintf("%09d", x.ISA13)
		}
		rows[i] = []string{
			number(uint64(x.ID)), x.State.String(), isa13, dash(x.Partner), number(uint64(x.Receives)),
			strconv.FormatInt(x.Bytes, 10), stamp(x.SentAt), dash(x.Last.String()),
		}
	}
	return s.table("SUBMISSION STATE ISA13 PARTNER DELIVERIES BYTES SENT LAST", rows)
}
