package intake

import (
	"slices"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/store"
)

// release puts the queued sets of a good interchange into submissions. The first carries the interchange as it came, under its own
// numbers; what does not fit, and everything where those numbers were used
// before, goes out under allocated ones, one group a submission.
//
// Under its own numbers nothing need be written per record: HoldIntake means that
// no submission of the interchange carries the record. Under allocated numbers
// the records are released from it, because they could not be found by number.
func (f *file) release(x *interchange) error {
	var claims int64
	for _, g := range x.groups {
		if err := f.revive(g); err != nil {
			return err
		}
		g.order()
		claims += g.claims
	}
	earlier, err := x.earlier(f)
	if err != nil {
		return err
	}
	plans := plan(x.groups, f.o.MaxMembers, x.start.Number != 0 && len(earlier) == 0)
	// The own numbers come last: until then an interrupted release is finished by
	// the next delivery of the file.
	for _, p := range slices.Backward(plans) {
		s := f.submission(x, p)
		var b store.Batch
		if !p.own {
			if err := f.renumber(x, &s, &b, p); err != nil {
				return err
			}
		}
		b.NewSubmissions = []claimdlq.Submission{s}
		if _, err := f.o.Store.Commit(f.ctx, b); err != nil {
			return err
		}
	}
	f.result.Accepted += claims
	return nil
}

// order sorts the group's runs: what was adopted came in earlier.
func (g *group) order() {
	slices.SortFunc(g.ids, func(a, b claimdlq.IDRange) int { return int(a.First) - int(b.First) })
}

// parcel is what one submission will carry.
type parcel struct {
	own     bool // under the interchange's own numbers
	groups  []claimdlq.GroupControl
	members []claimdlq.IDRange
}

// plan shares the queued sets out over submissions of at most limit members. It
// is pure.
func plan(groups []*group, limit int, own bool) []parcel {
	var out []parcel
	cur := parcel{own: own}
	room := limit
	end := func() {
		if len(cur.members) > 0 {
			out = append(out, cur)
			own = false
		}
		cur, room = parcel{own: own}, limit
	}
	for _, g := range groups {
		opened := false
		for _, run := range g.ids {
			for run.First <= run.Last {
				if room == 0 {
					end()
					opened = false
				}
				if !opened {
					cur.groups, opened = append(cur.groups, g.control()), true
				}
				n := min(claimdlq.ID(room), run.Last-run.First+1)
				cur.members = append(cur.members, claimdlq.IDRange{First: run.First, Last: run.First + n - 1})
				run.First += n
				room -= int(n)
			}
		}
		if !cur.own { // one group a submission: its number is allocated
			end()
		}
	}
	end()
	return out
}

func (f *file) submission(x *interchange, p parcel) claimdlq.Submission {
	env := x.start.Envelope
	return claimdlq.Submission{
		State: claimdlq.SubmissionReady, Partner: tidy(env.ReceiverQualifier+":"+env.Receiver, 18), Stream: "837",
		Envelope: env, ISA13: x.start.Number, Groups: p.groups, Members: p.members, CreatedAt: f.now(),
	}
}

// numbers returns those that the interchange may go out under itself.
func (x *interchange) numbers() []uint32 {
	out := []uint32{x.start.Number}
	for _, g := range x.groups {
		out = append(out, g.control().Number)
	}
	return out
}

// renumber gives the submission numbers of its own and releases its members.
func (f *file) renumber(x *interchange, s *claimdlq.Submission, b *store.Batch, p parcel) error {
	g := p.groups[0]
	n, err := envelope.Allocate(f.ctx, f.o.Store, s.Envelope, g.Sender, g.Receiver, x.numbers()...)
	if err != nil {
		return err
	}
	now := f.now()
	s.ISA13, s.Envelope.Date, s.Envelope.Time = n, now.Format("060102"), now.Format("1504")
	g.Number = n
	s.Groups = []claimdlq.GroupControl{g}
	for _, run := range p.members {
		for id := run.First; id <= run.Last; id++ {
			r, err := f.o.Store.Get(f.ctx, id)
			if err != nil {
				return err
			}
			r, err = r.Held(claimdlq.HoldNone, now)
			if err != nil {
				return err
			}
			b.Update = append(b.Update, r)
		}
	}
	return nil
}
