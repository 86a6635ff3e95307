package replay

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/envelope"
	"claimdlq/flow/lineage"
	"claimdlq/store"
	"claimdlq/vault"
	"claimdlq/wire/x12"
)

// Config joins a Replay to what it works with. All but Guard, Log and RxLog are
// required.
type Config struct {
	Store      store.Store
	Vault      vault.Vault
	Identities []*claimdlq.Identity
	Policies   claimdlq.Policies
	Rules      *x12.Rules
	// Guard is shared with all that release claims. Default: one of its own.
	Guard *lineage.Guard
	Log   *slog.Logger
	// RxLog takes the lines about pharmacy claims (dlqlog.NamedRx). Default: Log.
	RxLog *slog.Logger
	Now   func() time.Time
}

// Replay releases records for delivery. It is safe for concurrent use.
type Replay struct{ c Config }

// New returns a Replay.
func New(c Config) *Replay {
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	c.RxLog = cmp.Or(c.RxLog, c.Log)
	c.Guard = cmp.Or(c.Guard, lineage.NewGuard())
	return &Replay{c}
}

// Options say how to replay.
type Options struct {
	// Unchanged releases a payload that was refused as it is: a named person says,
	// with a reason, that the cause lies outside the payload and is gone. The
	// current rules must pass it all the same.
	Unchanged bool
	// WrittenOff releases a claim of which an earlier sending was written off in doubt
	// (lineage.WrittenOff): a named person says, with a reason, that the payer does not
	// have it. It is for One: a drain must not say so of many.
	WrittenOff bool
	// DryRun decides and changes nothing. Payloads are opened, and that is audited.
	DryRun bool
	// Limit is the most records that Select looks at, the oldest; 0 is all.
	Limit int
	// Rate is how many of the pharmacy claims that Select releases are due a second,
	// beginning now, so that a drain does not break again what has just come back. It
	// is kept in the store: nobody need wait for the end. 0: all are due at once.
	Rate float64
}

// maxRounds bounds how often a decision is made anew because somebody else moved
// the record.
const maxRounds = 16

// One releases the record, or says why not, and returns the record as it is then.
// A record that is not there is claimdlq.ReplayNotFound and no error. Errors:
// Refused (Unchanged or WrittenOff without a name and a reason), those of store and
// vault.
func (p *Replay) One(ctx context.Context, by claimdlq.By, id claimdlq.ID, o Options) (claimdlq.ReplayResult, claimdlq.Record, error) {
	if o.Unchanged || o.WrittenOff {
		if err := audited.Named(by, "replay record "+id.String()+" on a person's word"); err != nil {
			return "", claimdlq.Record{}, err
		}
	}
	return p.job(ctx, by, o, nil).one(id)
}

func (p *Replay) job(ctx context.Context, by claimdlq.By, o Options, due *pace) *job {
	j := &job{Config: &p.c, ctx: ctx, by: by, o: o, pace: due, opened: map[claimdlq.ID]*rxItem{}}
	for _, i := range p.c.Identities {
		j.ids = append(j.ids, i.Clone())
	}
	return j
}

// job is one caller's replays: it has identities of its own.
type job struct {
	*Config
	ctx context.Context
	by  claimdlq.By
	o   Options
	ids []*claimdlq.Identity
	// pace is when a bulk's releases are due; nil for a single one, which is urgent.
	pace *pace
	// ahead is what a bulk has read of the one record that the job is about.
	ahead *ahead

	// Used again for each page of pharmacy records.
	read                []claimdlq.Record
	items               []rxItem
	sent                []store.Sending
	fast, slow, refused []*rxItem
	many                []*rxItem
	keys                []claimdlq.Key
	opened              map[claimdlq.ID]*rxItem // those of the page whose payloads were opened
	batch               store.Batch
}

func (j *job) one(id claimdlq.ID) (claimdlq.ReplayResult, claimdlq.Record, error) {
	for range maxRounds {
		r, err := j.Store.Get(j.ctx, id)
		if errors.Is(err, claimdlq.NotFound) {
			return claimdlq.ReplayNotFound, r, nil
		}
		if err != nil {
			return "", r, err
		}
		result, n, err := j.try(r)
		if !errors.Is(err, claimdlq.Conflict) {
			return result, n, err
		}
	}
	return "", claimdlq.Record{}, &claimdlq.Error{Code: claimdlq.Conflict, Op: "replay record " + id.String(), On: "it keeps moving", Hint: "try again"}
}

// try decides about the record as it was read and makes the decision durable.
func (j *job) try(r claimdlq.Record) (claimdlq.ReplayResult, claimdlq.Record, error) {
	if isRx(&r) {
		done, err := j.rx([]claimdlq.Record{r})
		if err != nil {
			return "", r, err
		}
		return done[0].result, *done[0].next, nil
	}
	// First what needs no look at the payload: would it be released if all were well?
	if result := r.GuardReplay(j.Policies.For(r.Stream), true); result != claimdlq.Replayed {
		return j.refuse(r, result)
	}
	found, err := j.look(r)
	defer func() { j.Guard.Free(found.held) }()
	if err != nil {
		return "", r, err
	}
	if found.doubt {
		return j.refuse(r, claimdlq.InDoubtFirst)
	}
	if found.duplicate {
		return j.refuse(r, claimdlq.DuplicateSuppressed)
	}
	cleared := j.o.Unchanged || refusedByOlderRules(r, j.Rules.Version())
	if result := r.GuardReplay(j.Policies.For(r.Stream), cleared); result != claimdlq.Replayed || !found.clean {
		return j.refuse(r, cmp.Or(exceptReplayed(result), claimdlq.NotCorrected))
	}
	if j.o.DryRun {
		return claimdlq.Replayed, r, nil
	}
	return j.release(r, found)
}

// refusedByOlderRules reports that it was our rules, in another version, that
// refused the payload: it was never sent.
func refusedByOlderRules(r claimdlq.Record, current string) bool {
	return r.Submission == 0 && r.RuleVersion != current
}

func exceptReplayed(r claimdlq.ReplayResult) claimdlq.ReplayResult {
	if r == claimdlq.Replayed {
		return ""
	}
	return r
}

// release reserves numbers and commits the replay.
func (j *job) release(r claimdlq.Record, found look) (claimdlq.ReplayResult, claimdlq.Record, error) {
	received, _ := envelope.Number(r.InterchangeID) // even where it never went out
	n, err := envelope.Allocate(j.ctx, j.Store, found.envelope, found.group.Sender, found.group.Receiver, received)
	if err != nil {
		return "", r, err
	}
	now := j.Now().UTC()
	next, err := r.Replay(j.Rules.Version(), now)
	if err != nil {
		return "", r, err
	}
	env, group := found.envelope, found.group
	env.Date, env.Time, group.Number = now.Format("060102"), now.Format("1504"), n
	_, err = j.Store.Commit(j.ctx, store.Batch{
		Update: []claimdlq.Record{next},
		NewSubmissions: []claimdlq.Submission{{
			State: claimdlq.SubmissionReady, Replay: true, Partner: r.Partner, Stream: r.Stream, Envelope: env, ISA13: n,
			Groups: []claimdlq.GroupControl{group}, Members: []claimdlq.IDRange{{First: r.ID, Last: r.ID}}, CreatedAt: now,
		}},
		Entries:      []claimdlq.Entry{audited.Entry(j.by, claimdlq.ActReplay, r, next, now)},
		Fingerprints: found.register,
	})
	if err != nil {
		return "", r, err
	}
	next.Revision++
	j.say(&r, &next, claimdlq.Replayed)
	return claimdlq.Replayed, next, nil
}

// refuse makes a refusal durable in the audit log, and parks at the cap.
func (j *job) refuse(r claimdlq.Record, result claimdlq.ReplayResult) (claimdlq.ReplayResult, claimdlq.Record, error) {
	if j.o.DryRun {
		return result, r, nil
	}
	now, next, action := j.Now().UTC(), r, claimdlq.ActSuppress
	b := store.Batch{}
	if result == claimdlq.ParkedAtCap && r.State != claimdlq.StateParked {
		var err error
		if next, err = r.Park(claimdlq.ReasonNone, now); err != nil {
			return "", r, err
		}
		action = claimdlq.ActPark
		b.Update = []claimdlq.Record{next}
	}
	e := audited.Entry(j.by, action, r, next, now)
	e.Detail = claimdlq.NewDetail("REPLAY:" + upper(result))
	b.Entries = []claimdlq.Entry{e}
	if _, err := j.Store.Commit(j.ctx, b); err != nil {
		return "", r, err
	}
	j.say(&r, &next, result)
	if len(b.Update) > 0 {
		next.Revision++
	}
	return result, next, nil
}
