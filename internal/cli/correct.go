package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/flow/correct"
	"claimdlq/internal/app"
	"claimdlq/phi"
	"claimdlq/wire/ncpdp"
	"claimdlq/wire/x12"
)

// maxDocument is the largest document a person may hand in.
const maxDocument = 64 << 20

type correctJSON struct {
	correct.Proposal

	DryRun  bool        `json:"dry_run"`
	Applied bool        `json:"applied"`
	Record  *recordJSON `json:"record,omitempty"`
}

type correction struct {
	sets    []string
	inserts []string
	deletes []string
	from    string
	edited  string
	dryRun  bool
	reason  string
	lines   []string // assignments as they were given
	rx      []ncpdp.Assignment
	changed []x12.Assignment
	added   []x12.Insertion
	removed []x12.Place
}

func newCorrect(s *session) *cobra.Command {
	var o correction
	c := &cobra.Command{
		Use:   "correct ID",
		Short: "Give a quarantined claim its next revision",
		Long: `Correct changes elements of a quarantined claim, or takes a whole edited document, judges
the result by the current rules, and keeps it as the claim's next revision if it is clean.
It shows where the document differs and which faults are left, never a value. Counts and
control numbers are recomputed; envelope segments cannot be edited.

An assignment is SEGMENT, the occurrence in brackets where there are several, element and
component: CLM05-3=7, NM1[3]-09=..., HI01-2=J45. Values on a command line can be seen by
other users of the machine: --set-from reads assignments from a file or standard input.

--insert puts a segment behind another, written with * and : whatever the document uses;
--delete takes one away. Elements are set first, then segments deleted, then inserted.

Of a pharmacy claim it is SEGMENT-FIELD=VALUE: 07-D7=99999000102, 11-D9=557{, or a header
field: A4=TESTPCN. An empty value takes the field out. What says which fill it is (103-A3,
201-B1, 202-B2, 401-D1, 402-D2, 455-EM) cannot be changed: that is another claim.

To edit freely: claimdlq show ID --payload --reason ... > claim.x12, edit it, and
claimdlq correct ID --edit claim.x12 --reason ...

` + argID,
		Example: `  claimdlq correct 000000123:0001 --set HI01-2=J45909 --reason "diagnosis code typo" --dry-run
  claimdlq correct 4f0c2a91d3b8e5a7c6d01f22 --set 07-D7=99999000102 --reason "NDC typo"
  claimdlq correct 17 --insert 'CLM=HI*ABK:J069' --reason "diagnosis was left out"
  claimdlq correct 17 --edit claim.x12 --reason "resubmitted by the practice"`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := s.needReason(o.reason); err != nil {
				return err
			}
			if err := s.readAssignments(&o); err != nil {
				return err
			}
			if (len(o.lines)+len(o.added)+len(o.removed) > 0) == (o.edited != "") {
				return usagef("say what to change with --set, --set-from, --insert or --delete, or give the document with --edit")
			}
			return s.with(c.Context(), func(a *app.App) error { return s.correct(c.Context(), a, args[0], o) })
		},
	}
	c.Flags().StringArrayVar(&o.sets, "set", nil, "change one element: `SEGMENT=VALUE`; repeatable")
	c.Flags().StringArrayVar(&o.inserts, "insert", nil, "put a segment behind another: `AFTER=SEGMENT`; repeatable")
	c.Flags().StringArrayVar(&o.deletes, "delete", nil, "take a `SEGMENT` away; repeatable")
	c.Flags().StringVar(&o.from, "set-from", "", "read assignments from this `file`, one a line; - is standard input")
	c.Flags().StringVar(&o.edited, "edit", "", "take the edited document from this `file`; - is standard input")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the differences and faults, keep nothing")
	addReason(c, &o.reason)
	return c
}

func (s *session) readAssignments(o *correction) error {
	lines := o.sets
	if o.from != "" {
		b, err := s.readInput(o.from)
		if err != nil {
			return err
		}
		for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
			if line := sc.Text(); line != "" {
				lines = append(lines, line)
			}
		}
	}
	o.lines = lines
	// What kind of claim it is says the record, later: only what is none of both is a
	// mistake already.
	if o.assign(claimdlq.Format837P) != nil && o.assign(claimdlq.FormatNCPDP) != nil {
		return &claimdlq.Error{
			Code: claimdlq.Invalid, Op: "read assignment",
			Hint: "it is SEGMENT and element such as CLM05-3=7 or HI01-2=J45; in a pharmacy claim SEGMENT-FIELD such as 07-D7=99999000102, or a header field such as A4=TESTPCN",
		}
	}
	for _, l := range o.inserts {
		x, err := x12.ParseInsertion(l)
		if err != nil {
			return err
		}
		o.added = append(o.added, x)
	}
	for _, l := range o.deletes {
		x, err := x12.ParsePlace(l)
		if err != nil {
			return err
		}
		o.removed = append(o.removed, x)
	}
	return nil
}

// assign reads the assignments as those of a format.
func (o *correction) assign(f claimdlq.Format) error {
	o.changed, o.rx = nil, nil
	for _, l := range o.lines {
		if f == claimdlq.FormatNCPDP {
			x, err := ncpdp.ParseAssignment(l)
			if err != nil {
				return err
			}
			o.rx = append(o.rx, x)
			continue
		}
		x, err := x12.ParseAssignment(l)
		if err != nil {
			return err
		}
		o.changed = append(o.changed, x)
	}
	return nil
}

// edit applies what the person asked for: elements, deletions, insertions.
func (o correction) edit(f claimdlq.Format, doc []byte) ([]byte, error) {
	if f == claimdlq.FormatNCPDP {
		if len(o.added)+len(o.removed) > 0 {
			return nil, usagef("a pharmacy claim has no segments to insert or delete: --set 07-D7= takes a field out")
		}
		return ncpdp.Edit(doc, 1, o.rx)
	}
	doc, err := x12.Edit(doc, o.changed)
	for i := 0; i < len(o.removed) && err == nil; i++ {
		doc, err = x12.Delete(doc, o.removed[i])
	}
	for i := 0; i < len(o.added) && err == nil; i++ {
		doc, err = x12.Insert(doc, o.added[i])
	}
	return doc, err
}

func (s *session) readInput(name string) ([]byte, error) {
	f, err := s.openInput(name, 1)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f, maxDocument)
}

func (s *session) correct(ctx context.Context, a *app.App, arg string, o correction) error {
	rec, err := s.resolve(ctx, a.Store, arg)
	if err != nil {
		return err
	}
	if err := o.assign(rec.Format); err != nil {
		return err
	}
	by := s.by(o.reason)
	doc, err := s.correctedDocument(ctx, a, by, rec, o)
	if err != nil {
		return err
	}
	p, err := a.Flow.Correct.Propose(ctx, by, rec.ID, doc)
	if err != nil {
		return err
	}
	out := correctJSON{Proposal: p, DryRun: o.dryRun}
	if p.Clean && !o.dryRun {
		if rec, err = a.Flow.Correct.Apply(ctx, by, p); err != nil {
			return err
		}
		j := toJSON(rec)
		out.Applied, out.Record = true, &j
	}
	if err := s.printCorrected(arg, out); err != nil {
		return err
	}
	if !p.Clean {
		return &silentError{exitInvalid}
	}
	return nil
}

func (s *session) correctedDocument(ctx context.Context, a *app.App, by claimdlq.By, rec claimdlq.Record, o correction) (phi.Bytes, error) {
	if o.edited != "" {
		b, err := s.readInput(o.edited)
		if err != nil {
			return phi.Bytes{}, err
		}
		if rec.Format != claimdlq.FormatNCPDP {
			b, err = x12.Repair(b)
		}
		return phi.Wrap(b), err
	}
	doc, err := a.Flow.Correct.Document(ctx, by, rec.ID)
	if err != nil {
		return phi.Bytes{}, err
	}
	b, err := o.edit(rec.Format, doc.Reveal())
	return phi.Wrap(b), err
}

func (s *session) printCorrected(arg string, out correctJSON) error {
	if s.json {
		return s.printJSON(out)
	}
	rows := make([][]string, len(out.Changes))
	for i, ch := range out.Changes {
		rows[i] = []string{
			ch.Kind, ch.Segment + ch.Element, dash(ch.Loop), strconv.Itoa(ch.Position),
			strconv.Itoa(ch.OldLen), strconv.Itoa(ch.NewLen),
		}
	}
	if len(rows) > 0 {
		if err := s.table("CHANGE ELEMENT LOOP POSITION OLD_BYTES NEW_BYTES", rows); err != nil {
			return err
		}
	}
	if err := s.printRxChanges(out.RxChanges); err != nil {
		return err
	}
	if err := s.printFaults(out.Faults); err != nil {
		return err
	}
	for _, code := range out.Codes {
		if w := classify.Words(code); w != "" {
			_, _ = fmt.Fprintf(s.env.Stdout, "fault %s: %s\n", code, w)
		} else {
			_, _ = fmt.Fprintln(s.env.Stdout, "fault", code)
		}
	}
	verdict := "clean by rules " + out.RuleVersion
	switch {
	case !out.Clean:
		verdict = "not accepted: faults are left; nothing was changed"
	case out.DryRun:
		verdict += "; dry run: nothing was changed"
	default:
		verdict += fmt.Sprintf("; record %d is at payload revision %d (claimdlq replay %s --reason ...)", out.ID, out.Record.PayloadRevision, arg)
	}
	_, err := fmt.Fprintln(s.env.Stdout, verdict)
	return err
}

// printRxChanges prints in which fields of a pharmacy claim the documents differ.
func (s *session) printRxChanges(cs []ncpdp.Change) error {
	if len(cs) == 0 {
		return nil
	}
	rows := make([][]string, len(cs))
	for i, ch := range cs {
		rows[i] = []string{ch.Kind, dash(ch.Segment), dash(ch.Field), strconv.Itoa(ch.Occurrence), strconv.Itoa(ch.OldLen), strconv.Itoa(ch.NewLen)}
	}
	return s.table("CHANGE SEGMENT FIELD OCCURRENCE OLD_BYTES NEW_BYTES", rows)
}

// printFaults prints faults as a table: where and which code, never a value.
func (s *session) printFaults(fs []x12.Fault) error {
	if len(fs) == 0 {
		return nil
	}
	rows := make([][]string, len(fs))
	for i, f := range fs {
		rows[i] = []string{
			f.Segment + f.Element, dash(f.Loop), strconv.Itoa(f.Position), dash(f.IK304), dash(f.IK403), dash(f.STC), dash(f.Rule), dash(classify.Words(f.Detail())),
		}
	}
	return s.table("FAULT LOOP POSITION IK304 IK403 STC RULE MEANING", rows)
}
