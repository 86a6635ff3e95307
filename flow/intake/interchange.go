package intake

import (
	"bytes"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/store"
	"claimdlq/wire/x12"
)

// interchange is the interchange being read.
type interchange struct {
	start  x12.InterchangeStart // its Raw is in isa
	isa    []byte
	groups []*group
	group  *group // open, or nil
	leave  func() // lets others take it in
	acks   int    // acknowledgment groups and TA1s in it
	loose  *kept  // segments outside any group or set

	sent    []claimdlq.Submission // what went out under its numbers before
	counted bool                  // sent is filled
	// sentToo are submissions of ours with records of it that another pipeline may have
	// sent as well.
	sentToo []claimdlq.SubmissionID
}

// group is one functional group of it.
type group struct {
	start x12.GroupStart // its Raw is in raw
	raw   []byte
	sets  int
	ids   []claimdlq.IDRange // of its queued sets
	// revived are sets that were held back for what was wrong outside of them and
	// go out if the interchange is good this time. They are among ids.
	revived       []claimdlq.IDRange
	revivedClaims int64
	claims        int64 // of ids
}

func (f *file) startInterchange(e *x12.InterchangeStart) error {
	f.result.Interchanges++
	x := &interchange{start: *e, isa: bytes.Clone(e.Raw)}
	x.start.Raw = nil
	var err error
	if x.leave, err = f.lanes.enter(f.ctx, x.ref()); err != nil {
		return err
	}
	f.x = x
	return nil
}

func (x *interchange) ref() claimdlq.Ref {
	return store.InterchangeRef(x.start.Envelope, x.start.Number)
}

// stamp puts what the envelope says on a record.
func (x *interchange) stamp(r *claimdlq.Record) {
	env := x.start.Envelope
	r.InterchangeID = tidy(x.start.ISA13, 9)
	r.Sender = tidy(env.SenderQualifier+":"+env.Sender, 18)
	r.Partner = tidy(env.ReceiverQualifier+":"+env.Receiver, 18)
	r.Usage = tidy(env.Usage, 1)
}

// covered reports whether a submission under the interchange's own numbers
// carries the record already. Submissions under other numbers release their
// members from HoldIntake, so that they need no looking up.
func (x *interchange) covered(f *file, r claimdlq.Record) (bool, error) {
	s, err := x.carrier(f, r.ID, func(claimdlq.Submission) bool { return true })
	return s.ID != 0, err
}

// carrier returns the submission under the interchange's own numbers that carries the
// record and is as asked for; the zero Submission if there is none.
func (x *interchange) carrier(f *file, id claimdlq.ID, is func(claimdlq.Submission) bool) (claimdlq.Submission, error) {
	sent, err := x.earlier(f)
	if err != nil {
		return claimdlq.Submission{}, err
	}
	for _, s := range sent {
		for _, m := range s.Members {
			if m.First <= id && id <= m.Last && is(s) {
				return s, nil
			}
		}
	}
	return claimdlq.Submission{}, nil
}

// maxEarlier bounds how many submissions under one ISA13 are looked at.
const maxEarlier = 1000

func (x *interchange) earlier(f *file) ([]claimdlq.Submission, error) {
	if x.counted || x.start.Number == 0 {
		return x.sent, nil
	}
	var err error
	x.sent, err = f.o.Store.FindSubmissions(f.ctx, x.ref(), maxEarlier)
	x.counted = err == nil
	return x.sent, err
}

func (f *file) startGroup(e *x12.GroupStart) error {
	g := &group{start: *e, raw: bytes.Clone(e.Raw)}
	g.start.Raw = nil
	if e.GS01 == "FA" || e.GS01 == "HN" {
		f.x.acks++
		if f.result.TransactionSets == 0 {
			return f.ackFile()
		}
	}
	f.x.groups, f.x.group = append(f.x.groups, g), g
	return nil
}

// inGroup makes sure that a set has a group: one outside of any (IK502 18) is in
// a group without a header.
func (x *interchange) inGroup() {
	if x.group == nil {
		x.group = &group{}
		x.groups = append(x.groups, x.group)
	}
}

// add takes a queued set in.
func (g *group) add(id claimdlq.ID, claims int64) {
	g.claims += claims
	if n := len(g.ids); n > 0 && g.ids[n-1].Last+1 == id {
		g.ids[n-1].Last = id
		return
	}
	g.ids = append(g.ids, claimdlq.IDRange{First: id, Last: id})
}

func (g *group) adopt(r claimdlq.Record) {
	g.add(r.ID, int64(r.Claims))
	if r.State == claimdlq.StateQuarantined {
		g.revived = append(g.revived, claimdlq.IDRange{First: r.ID, Last: r.ID})
		g.revivedClaims += int64(r.Claims)
	}
}

// control returns the group's addressing and number.
func (g *group) control() claimdlq.GroupControl {
	n, _ := envelope.Number(g.start.Control)
	return claimdlq.GroupControl{Sender: g.start.Sender, Receiver: g.start.Receiver, Number: n}
}

func (f *file) addLoose(e *x12.Loose) error {
	if f.x == nil {
		return nil
	}
	if e.ID == "TA1" {
		f.x.acks++
	}
	if f.x.loose == nil {
		f.x.loose = &kept{digests: newDigests(f.ids)}
		if err := f.x.loose.add(f, f.x.isa); err != nil {
			return err
		}
	}
	return f.x.loose.add(f, e.Raw)
}

func (f *file) endGroup(e *x12.GroupEnd) error {
	g := f.x.group
	f.x.group = nil
	if g == nil {
		return nil
	}
	if e.AK9 != "R" || len(e.AK905) == 0 {
		return nil
	}
	if err := f.flush(); err != nil {
		return err
	}
	return f.refuse(g, claimdlq.NewDetail("AK9:R:"+e.AK905[0]))
}
