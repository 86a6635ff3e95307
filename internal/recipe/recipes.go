package recipe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/correct"
	"claimdlq/internal/background"
	"claimdlq/store"
)

// Config joins Recipes to what they work with. Dir, Store, Correct, Keys and Now are
// required.
type Config struct {
	// Dir is where the files are. Nobody else writes there; it is made where it is not.
	Dir     string
	Store   store.Store
	Correct *correct.Correct
	Keys    Sealer
	Now     func() time.Time
	Log     *slog.Logger
	// Workers is how many records of one recipe are worked on at a time. Default: 8.
	Workers int
	// MaxItems is how many records a recipe may have. Default, and most: 10,000.
	MaxItems int
	// Fatal is called when a flush of a journal failed: nobody knows what is on the disk,
	// and the process must end. Default: it ends with status 70.
	Fatal func(error)

	// step, in tests, may end the work before the named step.
	step func(string) error
}

// Sealer seals what is small; a keyring.Keyring is one.
type Sealer interface {
	WrapKey(dst, dek, aad []byte) (term uint32, wrapped []byte)
	UnwrapKey(dst []byte, term uint32, wrapped, aad []byte) ([]byte, error)
}

const (
	extPlan    = ".recipe"
	extJournal = ".journal"

	// actRecipe is the action of a recipe's own audit entries; those of its records are
	// package correct's.
	actRecipe claimdlq.Action = "recipe"

	// The oldest goes for a new one.
	maxPreviews = 64  // that nobody has applied
	maxOver     = 256 // done or cancelled

	maxOpen = 16 // that run
)

// Recipes are those of a data directory, which belongs to one process. They are safe for
// concurrent use.
type Recipes struct {
	c Config

	mu     sync.Mutex
	all    map[ID]*recipe
	ctx    context.Context // of the runs; nil before Start
	cancel context.CancelFunc
	closed bool
	runs   sync.WaitGroup
}

// recipe is one of them. mu guards what follows it; plan's items change under it only.
type recipe struct {
	s    *Recipes
	mu   sync.Mutex
	plan Plan

	state     State
	seq       uint64
	runner    string
	started   time.Time
	ended     time.Time
	running   bool           // it has a goroutine
	intents   map[int]string // items of which nobody knows, with the unit they were about to have
	outcomes  map[string]int
	cancelled bool
}

// Open reads what there is. Nothing runs before Start. A recipe whose files are damaged
// is left out, and said in the log.
func Open(c Config) (*Recipes, error) {
	if c.Workers <= 0 {
		c.Workers = 8
	}
	if c.MaxItems <= 0 || c.MaxItems > maxItems {
		c.MaxItems = maxItems
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Fatal == nil {
		c.Fatal = func(err error) {
			fmt.Fprintln(os.Stderr, "claimdlq: a recipe stops:", err)
			os.Exit(70)
		}
	}
	s := &Recipes{c: c, all: map[ID]*recipe{}}
	names, err := background.IDs(c.Dir, extPlan)
	if err != nil {
		return nil, ioError("open recipes", err)
	}
	for _, name := range names {
		r, err := s.read(ID(name))
		if err != nil {
			c.Log.Error("A recipe cannot be read", slog.String("recipe", name), slog.Any("error", err))
			continue
		}
		s.all[ID(name)] = r
	}
	return s, nil
}

func (s *Recipes) path(id ID, ext string) string { return filepath.Join(s.c.Dir, string(id)+ext) }

// read takes in a recipe's files.
func (s *Recipes) read(id ID) (*recipe, error) {
	b, err := os.ReadFile(s.path(id, extPlan))
	if err != nil {
		return nil, ioError("read recipe", err)
	}
	r := s.newRecipe(Plan{})
	if json.Unmarshal(b, &r.plan) != nil || r.plan.ID != id {
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read recipe", On: string(id)}
	}
	if sum, err := r.plan.digest(); len(r.plan.Sealed) > 0 && (err != nil || sum != r.plan.Digest) {
		return nil, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read recipe", On: string(id), Hint: "its digest is another"}
	}
	for i := range r.plan.Items {
		r.plan.Items[i].Index = i
	}
	if err := readJournal(s.path(id, extJournal), r.take); err != nil {
		return nil, err
	}
	if r.final() && len(r.plan.Sealed) > 0 { // a crash came before its values were removed
		r.plan.Sealed, r.plan.KeyTerm = nil, 0
		return r, s.write(&r.plan)
	}
	return r, nil
}

func (s *Recipes) newRecipe(p Plan) *recipe {
	return &recipe{s: s, plan: p, state: Previewed, intents: map[int]string{}, outcomes: map[string]int{}}
}

// take takes in a line of the journal.
func (r *recipe) take(l *line) {
	r.seq++
	switch l.What {
	case lineApply:
		r.state, r.runner = Running, l.By
		if r.started.IsZero() {
			r.started = l.At
		}
	case lineIntent:
		for k, i := range l.Items {
			r.intents[i] = l.Units[k]
		}
	case lineOutcome:
		for k, i := range l.Items {
			delete(r.intents, i)
			if i < 0 || i >= len(r.plan.Items) || r.plan.Items[i].Outcome != "" {
				continue
			}
			r.plan.Items[i].Outcome, r.plan.Items[i].OutcomeCode = l.Outcomes[k], l.Codes[k]
			r.outcomes[string(l.Outcomes[k])]++
		}
	case lineAsked:
		r.cancelled = true
	case lineCancel:
		r.state, r.ended = Cancelled, l.At
	case lineDone:
		r.state, r.ended = Done, l.At
	}
}

func (r *recipe) final() bool { return r.state == Done || r.state == Cancelled }

// progress says where the recipe stands. The caller holds r.mu.
func (r *recipe) progress() Progress {
	p := Progress{
		Recipe: r.plan.ID, Seq: r.seq, State: r.state, Author: r.plan.Author, At: r.plan.At, Items: len(r.plan.Items), Counts: r.plan.Counts,
		Outcomes: map[string]int{}, Runner: r.runner, StartedAt: r.started, EndedAt: r.ended, Left: r.plan.Counts[string(correct.Clean)],
	}
	for k, n := range r.outcomes {
		p.Outcomes[k] = n
		p.Left -= n
	}
	return p
}

// Start lets the recipes go on that were running, and those that will be. It returns at
// once; Close ends them. A second call does nothing.
func (s *Recipes) Start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil || s.closed {
		return
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	for _, r := range s.all {
		s.run(r)
	}
}

// run gives a recipe its goroutine unless it has one or needs none. The caller holds
// s.mu.
func (s *Recipes) run(r *recipe) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.ctx == nil || s.closed || r.running || r.state != Running {
		return
	}
	r.running = true
	s.runs.Go(func() { r.work(s.ctx) })
}

// Close ends the runs and waits for them. What runs goes on with the next Start of
// another process.
func (s *Recipes) Close() error {
	s.mu.Lock()
	s.closed = true
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	s.runs.Wait()
	return nil
}

func (s *Recipes) find(id ID) (*recipe, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.all[id]; r != nil {
		return r, nil
	}
	return nil, notFound()
}

// Get returns a recipe's plan, without its items, and where it stands. Errors: NotFound.
func (s *Recipes) Get(id ID) (Plan, Progress, error) {
	r, err := s.find(id)
	if err != nil {
		return Plan{}, Progress{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	p := r.plan
	p.Items, p.Sealed = nil, nil
	return p, r.progress(), nil
}

// Partners lists whose records a recipe is about. Errors: NotFound.
func (s *Recipes) Partners(id ID) ([]string, error) {
	r, err := s.find(id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.plan.Partners(), nil
}

// List returns where all recipes stand, the newest first.
func (s *Recipes) List() []Progress {
	s.mu.Lock()
	all := make([]*recipe, 0, len(s.all))
	for _, r := range s.all {
		all = append(all, r)
	}
	s.mu.Unlock()
	out := make([]Progress, 0, len(all))
	for _, r := range all {
		r.mu.Lock()
		out = append(out, r.progress())
		r.mu.Unlock()
	}
	slices.SortFunc(out, func(a, b Progress) int { return strings.Compare(string(b.Recipe), string(a.Recipe)) })
	return out
}

// ItemQuery selects a page of items, which are in the order of the plan.
type ItemQuery struct {
	From, Limit      int
	Verdict, Outcome correct.Verdict // empty: any
}

// Items returns a page of items, and where the next one begins, -1 at the end. Errors:
// NotFound.
func (s *Recipes) Items(id ID, q ItemQuery) (items []Item, next int, err error) {
	r, err := s.find(id)
	if err != nil {
		return nil, -1, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := max(0, q.From); i < len(r.plan.Items); i++ {
		it := &r.plan.Items[i]
		if q.Verdict != "" && it.Verdict != q.Verdict || q.Outcome != "" && it.Outcome != q.Outcome {
			continue
		}
		if len(items) == q.Limit {
			return items, i, nil
		}
		items = append(items, *it)
	}
	return items, -1, nil
}

// Corrected returns the records that have the recipe's revision: what a replay after it
// is about. Errors: NotFound; Refused while it is neither done nor cancelled.
func (s *Recipes) Corrected(id ID) ([]claimdlq.ID, error) {
	r, err := s.find(id)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.final() {
		return nil, &claimdlq.Error{Code: claimdlq.Refused, Op: "select by recipe", On: string(id), Hint: "it is " + string(r.state) + ": wait until it is done"}
	}
	var out []claimdlq.ID
	for i := range r.plan.Items {
		if r.plan.Items[i].Outcome == Applied {
			out = append(out, r.plan.Items[i].Record)
		}
	}
	return out, nil
}

// audit writes an entry about a recipe. What digest names is bound to it.
func (s *Recipes) audit(ctx context.Context, by claimdlq.By, what string, id ID, digest string) error {
	note := by.Reason
	if digest != "" {
		note = strings.TrimSpace("sha256:" + digest + " " + note)
	}
	_, err := s.c.Store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{{
		At: s.c.Now(), Actor: by.Actor, Action: actRecipe, Detail: claimdlq.NewDetail("RECIPE:" + what + ":" + string(id)), Note: audited.Note(note),
	}}})
	return err
}

// remove takes a recipe's files away.
func (s *Recipes) remove(id ID) {
	for _, ext := range []string{extPlan, extJournal} {
		if err := os.Remove(s.path(id, ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.c.Log.Warn("A recipe's file cannot be removed", slog.String("recipe", string(id)), slog.Any("error", err))
		}
	}
}

func (s *Recipes) at(step string) error {
	if s.c.step == nil {
		return nil
	}
	return s.c.step(step)
}
