package auth

import (
	"slices"
	"strings"
	"time"

	"claimdlq"
)

const (
	fileApprovals = 1 // version of approvals.json
	maxApprovals  = 5000
	maxReason     = 200
	keepApprovals = 30 * 24 * time.Hour
)

// ApprovalState says what became of a request for a second person. Whether it has
// expired is told by the clock: see Approval.Expired.
type ApprovalState string

// The states.
const (
	ApprovalAsked   ApprovalState = "asked"
	ApprovalGiven   ApprovalState = "given"
	ApprovalRefused ApprovalState = "refused"
	ApprovalUsed    ApprovalState = "used"
)

// Approval is a request for a second person: who asks to do what, to exactly what.
type Approval struct {
	ID         string     `json:"id"` // AP-..., for the audit log
	Permission Permission `json:"permission"`
	// On says to what, for people: a record's or a plan's id, [A-Z0-9_:.-]{1,64}.
	On string `json:"on"`
	// Digest is the SHA-256, in hex, of exactly what is to be done: of a replay's frozen
	// plan, of a record's id and revision. Another one needs another approval.
	Digest string `json:"digest"`
	// Partners whose things it is about; empty stands for all.
	Partners  []string      `json:"partners,omitempty"`
	State     ApprovalState `json:"state"`
	AskedBy   string        `json:"asked_by"`
	AskedAt   time.Time     `json:"asked_at"`
	Reason    string        `json:"reason"` // of who asks; it names no patient
	ExpiresAt time.Time     `json:"expires_at"`
	DecidedBy string        `json:"decided_by,omitempty"`
	DecidedAt time.Time     `json:"decided_at,omitzero"`
	Answer    string        `json:"answer,omitempty"` // the reason of who decided
	UsedAt    time.Time     `json:"used_at,omitzero"`
}

// Expired reports whether it is too late to decide or to use it.
func (a Approval) Expired(now time.Time) bool { return !now.Before(a.ExpiresAt) }

// live reports whether it may still come to something.
func (a Approval) live(now time.Time) bool {
	return !a.Expired(now) && (a.State == ApprovalAsked || a.State == ApprovalGiven)
}

type approvalFile struct {
	Version   int        `json:"version"`
	Approvals []Approval `json:"approvals"` // oldest first
}

func (f *approvalFile) find(id string) *Approval {
	for i := range f.Approvals {
		if f.Approvals[i].ID == id {
			return &f.Approvals[i]
		}
	}
	return nil
}

func checkApprovals(f *approvalFile) error {
	bad := func(on string) error {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read approvals", On: on, Hint: "restore approvals.json from its backup"}
	}
	if f.Version != fileApprovals && (f.Version != 0 || len(f.Approvals) > 0) {
		return bad("version")
	}
	for _, a := range f.Approvals {
		decided := a.State == ApprovalGiven || a.State == ApprovalRefused || a.State == ApprovalUsed
		if a.State != ApprovalAsked && !decided || a.Permission.Second() == "" || !digestText(a.Digest) || a.AskedBy == "" {
			return bad(a.ID)
		}
		if decided && (a.DecidedBy == "" || a.State != ApprovalRefused && SamePerson(a.DecidedBy, a.AskedBy)) {
			return bad(a.ID)
		}
	}
	return nil
}

// digestText allows a SHA-256 in hex.
func digestText(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// Request is what somebody asks a second person for; the fields are those of Approval.
type Request struct {
	Permission Permission `json:"permission"`
	On         string     `json:"on"`
	Digest     string     `json:"digest"`
	Partners   []string   `json:"partners,omitempty"`
}

// mayAll asks May for each partner; none stands for all.
func mayAll(p Principal, perm Permission, partners []string) error {
	if len(partners) == 0 {
		return p.May(perm, "")
	}
	for _, partner := range partners {
		if err := p.May(perm, partner); err != nil {
			return err
		}
	}
	return nil
}

// Ask asks a second person. Who asks needs the permission itself, and a reason
// (Principal.For). Errors: Invalid, Conflict (the same was asked, and it waits or is
// approved), and those of May.
func (d *Desk) Ask(by Principal, r Request) Act[Approval] {
	const op = "ask for approval"
	now := d.o.Now().UTC()
	if err := mayAll(by, r.Permission, r.Partners); err != nil {
		return refused[Approval](by.Denied(now, r.Permission), err)
	}
	on := claimdlq.NewDetail(r.On)
	switch {
	case r.Permission.Second() == "":
		return refused[Approval](Event{}, invalid(op, "it needs no second person"))
	case on.IsZero() || on.String() != r.On || !digestText(r.Digest):
		return refused[Approval](Event{}, invalid(op, "say on what, and the SHA-256 of what exactly, in hex"))
	case len(r.Partners) > maxPatterns || slices.Contains(r.Partners, ""):
		return refused[Approval](Event{}, invalid(op, "too many partners, or one without a name: name none for all"))
	case by.Reason == "" || len(by.Reason) > maxReason:
		return refused[Approval](Event{}, refuse(op, "", ErrReason, "give a reason of at most 200 bytes; it must name no patient"))
	}
	a := Approval{
		ID: newID("AP-"), Permission: r.Permission, On: r.On, Digest: r.Digest, Partners: slices.Clone(r.Partners), State: ApprovalAsked,
		AskedBy: by.Actor, AskedAt: now, Reason: by.Reason, ExpiresAt: now.Add(d.o.ApprovalFor),
	}
	return d.onApprovals(event(now, by.Actor, ActApprovalAsk, a.ID, by.Reason), func(f *approvalFile) (*Approval, error) {
		f.Approvals = slices.DeleteFunc(f.Approvals, func(a Approval) bool { return now.Sub(a.ExpiresAt) > keepApprovals })
		for i := range f.Approvals {
			if b := &f.Approvals[i]; b.ID == a.ID || b.live(now) && b.Permission == a.Permission && b.Digest == a.Digest {
				return nil, conflict(op, b.ID, "it was asked for: see there")
			}
		}
		if len(f.Approvals) >= maxApprovals {
			return nil, refuse(op, "", nil, "there are too many: decide some")
		}
		f.Approvals, f.Version = append(f.Approvals, a), fileApprovals
		return f.find(a.ID), nil
	})
}

// onApprovals is an act that changes an approval. Fn is tried now, and judges again when
// it is done.
func (d *Desk) onApprovals(e Event, fn func(*approvalFile) (*Approval, error)) Act[Approval] {
	if err := d.approvals.try(func(f *approvalFile) error { _, err := fn(f); return err }); err != nil {
		return refused[Approval](Event{}, err)
	}
	return Act[Approval]{Event: e, do: func() (out Approval, err error) {
		err = d.approvals.change(func(f *approvalFile) error {
			a, err := fn(f)
			if err == nil {
				out = a.clone()
			}
			return err
		})
		return out, err
	}}
}

func (a Approval) clone() Approval {
	a.Partners = slices.Clone(a.Partners)
	return a
}

// Approve says yes to exactly what has the digest, which is what the approver was shown.
// He needs the permission's Second for every partner, is a person who signed in, and
// is not who asked. Errors: NotFound, Conflict (another digest, decided, expired),
// Refused, and those of May.
func (d *Desk) Approve(by Principal, id, digest string) Act[Approval] {
	return d.decide(by, id, ActApprovalGive, func(a *Approval) error {
		if a.Digest != digest {
			return conflict("approve", a.ID, "what you saw is not what was asked for: look again")
		}
		a.State = ApprovalGiven
		return nil
	})
}

// OwnWork refuses an approval by who has done what it would release: the plan, or the
// correction of one of its records.
func (d *Desk) OwnWork(by Principal, a Approval) Act[Approval] {
	return refused[Approval](by.Denied(d.o.Now().UTC(), a.Permission.Second()), refuse("approve", a.ID, ErrForbidden, "it is your own plan or correction: another person has to approve it"))
}

// Refuse says no, with a reason. An approver may, also to what is approved and not yet
// used; and who asked takes it back. Errors: NotFound, Conflict (expired or over),
// Refused, and those of May.
func (d *Desk) Refuse(by Principal, id string) Act[Approval] {
	return d.decide(by, id, ActApprovalRefuse, func(a *Approval) error {
		a.State = ApprovalRefused
		return nil
	})
}

func (d *Desk) decide(by Principal, id string, what claimdlq.Action, fn func(*Approval) error) Act[Approval] {
	const op = "decide"
	now := d.o.Now().UTC()
	a := d.approvals.get().find(id)
	if a == nil {
		return refused[Approval](Event{}, notFound(op))
	}
	his := SamePerson(by.Actor, a.AskedBy)
	second := a.Permission.Second()
	if his && what == ActApprovalRefuse {
		second = a.Permission // he takes back what he asked for
	}
	if err := mayAll(by, second, a.Partners); err != nil {
		return refused[Approval](by.Denied(now, second), err)
	}
	switch {
	case his && what == ActApprovalGive:
		return refused[Approval](by.Denied(now, second), refuse(op, id, ErrForbidden, "another person has to approve it"))
	case by.Source == FromToken && what == ActApprovalGive:
		return refused[Approval](by.Denied(now, second), refuse(op, id, ErrForbidden, "a person has to approve it"))
	case what == ActApprovalRefuse && by.Reason == "" || len(by.Reason) > maxReason:
		return refused[Approval](Event{}, refuse(op, id, ErrReason, "give a reason of at most 200 bytes; it must name no patient"))
	}
	return d.onApprovals(event(d.o.Now(), by.Actor, what, id, by.Reason), func(f *approvalFile) (*Approval, error) {
		a := f.find(id)
		if a == nil || !a.live(now) || a.State == ApprovalGiven && what == ActApprovalGive {
			return nil, conflict(op, id, "it is decided, used or expired")
		}
		if err := fn(a); err != nil {
			return nil, err
		}
		a.DecidedBy, a.DecidedAt, a.Answer = by.Actor, now, by.Reason
		return a, nil
	})
}

// Use uses an approval up, by who asked for it and for exactly what has the digest,
// before that is done: an approval is good once, also if a crash follows. Who approved
// must still be able to. Errors: NotFound, Conflict (another digest, used, expired),
// ErrApproval (nobody approved it yet), Refused, and those of May.
func (d *Desk) Use(by Principal, id string, perm Permission, digest string) Act[Approval] {
	const op = "use approval"
	now := d.o.Now().UTC()
	a := d.approvals.get().find(id)
	if a == nil {
		return refused[Approval](Event{}, notFound(op))
	}
	if err := mayAll(by, perm, a.Partners); err != nil {
		return refused[Approval](by.Denied(now, perm), err)
	}
	if by.Actor != a.AskedBy {
		return refused[Approval](by.Denied(now, perm), refuse(op, id, ErrForbidden, "who asked for it uses it"))
	}
	return d.onApprovals(event(now, by.Actor, ActApprovalUse, id, by.Reason), func(f *approvalFile) (*Approval, error) {
		a := f.find(id)
		switch {
		case a == nil:
			return nil, notFound(op)
		case a.Permission != perm || a.Digest != digest:
			return nil, conflict(op, id, "something else was approved: ask again")
		case a.State == ApprovalAsked && !a.Expired(now):
			return nil, refuse(op, id, ErrApproval, "wait for the second person")
		case a.State != ApprovalGiven || a.Expired(now):
			return nil, conflict(op, id, "it was refused, used or has expired: ask again")
		case SamePerson(a.DecidedBy, a.AskedBy) || !d.standing(a.DecidedBy):
			return nil, refuse(op, id, ErrApproval, "who approved it no longer may: ask again")
		}
		a.State, a.UsedAt = ApprovalUsed, now
		return a, nil
	})
}

// standing reports whether an approver has not been disabled since. Of accounts that
// are not here nothing is known.
func (d *Desk) standing(actor string) bool {
	a := d.users.get().find(actor)
	return a == nil || !a.Disabled
}

// Approval returns a request by its id, for the part that it is given to.
func (d *Desk) Approval(id string) (Approval, bool) {
	a := d.approvals.get().find(id)
	if a == nil {
		return Approval{}, false
	}
	return a.clone(), true
}

// Approvals lists the requests that somebody may see, newest first: his own, and those
// about his partners if he reads records at all.
func (d *Desk) Approvals(p Principal) []Approval {
	out := []Approval{}
	if p.MaySome(RecordsRead) != nil {
		return out
	}
	for _, a := range d.approvals.get().Approvals {
		if SamePerson(p.Actor, a.AskedBy) || mayAll(p, RecordsRead, a.Partners) == nil {
			out = append(out, a.clone())
		}
	}
	slices.Reverse(out)
	return out
}
