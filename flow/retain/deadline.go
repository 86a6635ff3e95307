package retain

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/filing"
	"claimdlq/store"
)

// Figures are what a stream's unresolved records are counted into by Watch.
type Figures struct {
	// Stages counts those that have a filing window by how much of it has gone.
	Stages map[filing.Stage]int64
	// Ripe counts those that will be parked by their retention and have 80 % of it
	// behind them.
	Ripe int64
	// Expired counts those that this process has parked by their retention.
	Expired int64
	// Held counts the queued ones that show what they wait for, by that: a target, their
	// lineage, somebody to start deliveries again. None of a breaker, which is watched by
	// itself.
	Held map[claimdlq.Hold]Held
}

// Held counts records and says since when the one has been held that is held longest.
type Held struct {
	Records int64
	Since   time.Time
}

// held are the holds that Watch counts.
var held = []claimdlq.Hold{claimdlq.HoldTarget, claimdlq.HoldLineage, claimdlq.HoldStopped}

// hold counts a record that is held. Its last step is that which holds it.
func (f *Figures) hold(r claimdlq.Record) {
	if r.State != claimdlq.StateQueued || !slices.Contains(held, r.Hold) {
		return
	}
	if f.Held == nil {
		f.Held = map[claimdlq.Hold]Held{}
	}
	h := f.Held[r.Hold]
	if h.Records == 0 || r.UpdatedAt.Before(h.Since) {
		h.Since = r.UpdatedAt
	}
	h.Records++
	f.Held[r.Hold] = h
}

// Watch looks at every unresolved record: how much of its filing window has gone, and
// of its retention, and what holds it. Days are opened once for each record, never a payload, and kept in
// memory only; what is published are counts. One audit entry covers what a call opens;
// where no window is configured nothing is opened. Some seconds at a million records,
// the first time.
//
// Errors: those of the store; Unavailable of the vault.
func (t *Retain) Watch(ctx context.Context) error {
	found := map[string]Figures{}
	known, warned := map[claimdlq.ID]known{}, map[claimdlq.ID]bool{}
	now := t.o.Now().UTC()
	look := t.looker(claimdlq.System("retain"), claimdlq.ActOpen)
	err := t.eachUnresolved(ctx, func(r claimdlq.Record) error {
		if _, twice := known[r.ID]; twice { // it moved meanwhile
			return nil
		}
		w := t.o.Windows.For(r.Stream, r.Partner)
		d, err := look.day(ctx, r, w)
		if err != nil {
			return err
		}
		f := found[r.Stream]
		if f.Stages == nil {
			f.Stages = map[filing.Stage]int64{}
		}
		if w > 0 {
			known[r.ID] = knownOf(r, d)
			f.Stages[w.Stage(d, now)]++
		}
		if t.ripe80(r, now) {
			f.Ripe++
		}
		f.hold(r)
		found[r.Stream] = f
		return nil
	})
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for id := range t.warned {
		if _, still := known[id]; still {
			warned[id] = true
		}
	}
	t.known, t.warned, t.figures = known, warned, found
	return nil
}

// Figures returns what the last Watch counted, by stream, and whether there was one yet.
func (t *Retain) Figures() (figures map[string]Figures, watched bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := map[string]Figures{}
	maps.Copy(out, t.figures)
	for stream, n := range t.expired {
		f := out[stream]
		f.Expired = n
		out[stream] = f
	}
	return out, t.figures != nil
}

// Shredded returns how many sealed units this process has destroyed, orphans included.
func (t *Retain) Shredded() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shredded
}

// ripe80 reports whether four fifths of the record's retention have gone and it will be
// parked at the end.
func (t *Retain) ripe80(r claimdlq.Record, now time.Time) bool {
	if !slices.Contains(expires, r.State) {
		return false
	}
	return now.Sub(since(r)) >= t.o.Policies.For(r.Stream).Retention/5*4
}

// since returns from when the record's retention is counted.
func since(r claimdlq.Record) time.Time {
	if r.Reason == claimdlq.Expired { // un-parked: it has a retention more
		return r.UpdatedAt
	}
	return cmp.Or(r.FirstFailedAt, r.CreatedAt)
}

// known is a day that was opened, and of what.
type known struct {
	revision         uint16
	parted, answered uint32
	day              filing.Day
}

func knownOf(r claimdlq.Record, d filing.Day) known {
	return known{r.PayloadRevision, r.Parted, uint32(r.Answered.Len()), d}
}

// looker opens days, in somebody's name.
type looker struct {
	t     *Retain
	by    claimdlq.By
	act   claimdlq.Action
	proof claimdlq.Proof
	unit  string // whose basis it has: neighbours share a unit
	basis filing.Basis
}

func (t *Retain) looker(by claimdlq.By, a claimdlq.Action) *looker {
	return &looker{t: t, by: by, act: a}
}

// detailDeadlines is what the audit entry says was opened.
var detailDeadlines = claimdlq.NewDetail("DEADLINES")

// audit makes durable that days are about to be opened.
func (l *looker) audit(ctx context.Context) error {
	if l.proof.Valid() {
		return nil
	}
	receipt, err := l.t.o.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{{
		At: l.t.o.Now().UTC(), Actor: l.by.Actor, Action: l.act, Detail: detailDeadlines, Note: audited.Note(l.by.Reason),
	}}})
	l.proof = receipt.Proof
	return err
}

// day returns from which day the record's window is counted; the zero Day where nobody
// can tell, or there is no window.
func (l *looker) day(ctx context.Context, r claimdlq.Record, w filing.Window) (filing.Day, error) {
	if w == 0 || r.Payload.IsZero() {
		return filing.Day{}, nil
	}
	l.t.mu.Lock()
	k, ok := l.t.known[r.ID]
	l.t.mu.Unlock()
	if ok && k == knownOf(r, k.day) {
		return k.day, nil
	}
	if err := l.open(ctx, r.Payload); err != nil {
		return filing.Day{}, err
	}
	settled, err := l.t.settledClaims(ctx, r)
	if err != nil {
		return filing.Day{}, err
	}
	return l.basis.Of(r, settled), nil
}

// open opens the attributes of a unit. One that is gone or damaged has none: fsck says so.
func (l *looker) open(ctx context.Context, ref claimdlq.PayloadRef) error {
	if ref.Unit == l.unit {
		return nil
	}
	if err := l.audit(ctx); err != nil {
		return err
	}
	p, err := l.t.o.Vault.Attributes(ctx, ref, l.proof)
	if err == nil {
		l.basis, err = filing.Open(p)
		clear(p.Reveal())
	}
	if errors.Is(err, claimdlq.NotFound) || errors.Is(err, claimdlq.Corrupt) {
		l.basis, err = filing.Basis{}, nil
	}
	if err == nil {
		l.unit = ref.Unit
	}
	return err
}

// settledClaims returns which claims of a set do not count: those with records of their
// own and those that an acknowledgment has accepted. Nil where all count.
func (t *Retain) settledClaims(ctx context.Context, r claimdlq.Record) (func(uint32) bool, error) {
	if r.Parted == 0 && r.Answered == "" {
		return nil, nil //nolint:nilnil // nobody is left out
	}
	out := r.Answered
	if r.Parted > 0 {
		// A look-up may hold a stranger whose value is the same by chance.
		found, err := t.o.Store.Lookup(ctx, claimdlq.ParentRef(r.ID), int(r.Parted)+page)
		if err != nil {
			return nil, err
		}
		var parted []uint32
		for _, c := range found {
			if c.Parent == r.ID {
				parted = append(parted, c.Ordinal)
			}
		}
		out = out.With(parted...)
	}
	return out.Has, nil
}

// Due is an unresolved record with a filing window. LastDay may tell a date of service:
// it is PHI.
type Due struct {
	Record  claimdlq.Record
	Stage   filing.Stage
	LastDay time.Time // zero where no day is known
	Window  filing.Window
}

// DaysLeft returns how many days remain until the last day begins, in UTC: 0 on that day,
// below 0 after it; false where no day is known. It is PHI like the day.
func (d *Due) DaysLeft(now time.Time) (int, bool) {
	if d.LastDay.IsZero() {
		return 0, false
	}
	return int(d.LastDay.Sub(now.UTC().Truncate(24*time.Hour)) / (24 * time.Hour)), true
}

// DueFilter says which records a listing is about.
type DueFilter struct {
	Stages []filing.Stage // none: all
	store.Filter

	// Covers says of which partners records are listed; nothing of others is opened. Nil:
	// of all.
	Covers func(partner string) bool
	// After leaves out the record with the id and all that come before it: the last of the
	// page before, 0 for the first page.
	After claimdlq.ID
}

func (f *DueFilter) covers(r claimdlq.Record) bool { return f.Covers == nil || f.Covers(r.Partner) }

// Due lists unresolved records by the end of their filing windows, the nearest first and
// at most limit of them, for a person: days are PHI. One audit entry with his reason is
// durable before anything is opened. Errors: Refused without a name and a reason,
// NotFound where there is no record After, and those of Watch.
func (t *Retain) Due(ctx context.Context, by claimdlq.By, f DueFilter, limit int) ([]Due, error) {
	if err := audited.Named(by, "list deadlines"); err != nil {
		return nil, err
	}
	look := t.looker(by, claimdlq.ActReveal)
	if err := look.audit(ctx); err != nil {
		return nil, err
	}
	list := dueList{limit: limit}
	now := t.o.Now().UTC()
	after, err := look.after(ctx, f, now)
	if err != nil {
		return nil, err
	}
	add := func(r claimdlq.Record) error {
		if !f.covers(r) {
			return nil
		}
		d, err := look.due(ctx, r, now)
		if err != nil || d.Window == 0 || f.After != 0 && compareDue(d, after) <= 0 {
			return err
		}
		if len(f.Stages) == 0 || slices.Contains(f.Stages, d.Stage) {
			list.add(d)
		}
		return nil
	}
	for _, s := range unresolved {
		if f.State != 0 && f.State != s {
			continue
		}
		one := f.Filter
		one.State = s
		if err := t.each(ctx, one, add); err != nil {
			return nil, err
		}
	}
	return list.nearest(), nil
}

// due says how far the record's window has gone.
func (l *looker) due(ctx context.Context, r claimdlq.Record, now time.Time) (Due, error) {
	w := l.t.o.Windows.For(r.Stream, r.Partner)
	d, err := l.day(ctx, r, w)
	return Due{r, w.Stage(d, now), w.Deadline(d), w}, err
}

// after returns where a page begins. The record may have moved, or be final, since the
// page before.
func (l *looker) after(ctx context.Context, f DueFilter, now time.Time) (Due, error) {
	if f.After == 0 {
		return Due{}, nil
	}
	r, err := l.t.o.Store.Get(ctx, f.After)
	if err != nil {
		return Due{}, err
	}
	if !f.covers(r) {
		return Due{}, &claimdlq.Error{Code: claimdlq.NotFound, Op: "list deadlines", On: "record " + f.After.String()}
	}
	return l.due(ctx, r, now)
}

// dueList keeps the nearest of those that are added: a listing is as large as what was
// asked for, whatever the backlog is.
type dueList struct {
	limit int
	all   []Due
}

func (l *dueList) add(d Due) {
	if len(l.all) >= 2*l.limit+page {
		l.all = nearest(l.all, l.limit)
	}
	l.all = append(l.all, d)
}

func (l *dueList) nearest() []Due { return nearest(l.all, l.limit) }

// compareDue orders by the last days, and then by the ids; what is unknown comes last.
func compareDue(a, b Due) int {
	if a.LastDay.IsZero() != b.LastDay.IsZero() {
		return cmp.Compare(b.LastDay.Unix(), a.LastDay.Unix())
	}
	return cmp.Or(a.LastDay.Compare(b.LastDay), cmp.Compare(a.Record.ID, b.Record.ID))
}

// nearest returns the first of them.
func nearest(out []Due, limit int) []Due {
	slices.SortFunc(out, compareDue)
	out = slices.CompactFunc(out, func(a, b Due) bool { return a.Record.ID == b.Record.ID })
	return out[:min(limit, len(out))]
}
