package job

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/replay"
	"claimdlq/flow/retain"
	"claimdlq/internal/atomicfile"
	"claimdlq/internal/background"
	"claimdlq/store"
)

// The files of a job.
const (
	extPlan    = ".plan"
	extJournal = ".journal"
	extDry     = ".dry"
	extDone    = ".done"
)

// actJob is the action of a job's own audit entries; those of its records are replay's.
const actJob claimdlq.Action = "job"

// Jobs are the jobs of a data directory, which belongs to one process. They are
// safe for concurrent use.
type Jobs struct {
	c      Config
	store  store.Store
	replay *replay.Replay
	retain *retain.Retain

	mu     sync.Mutex // taken before a job's, never while one is held
	jobs   map[ID]*job
	broken map[ID]error
	ctx    context.Context // of the loops; nil before Start
	cancel context.CancelFunc
	closed bool
	loops  sync.WaitGroup
}

// Open reads what there is. Nothing runs before Start. A job whose files are damaged
// does not keep the others from running: asking for it gives the error.
func Open(c Config) (*Jobs, error) {
	c.complete()
	s := &Jobs{c: c, store: c.Replay.Store, jobs: map[ID]*job{}, broken: map[ID]error{}}
	rc := c.Replay
	rc.Store = fence{rc.Store}
	s.replay = replay.New(rc)
	s.retain = retain.New(retain.Options{Store: rc.Store, Vault: rc.Vault, Policies: rc.Policies, Log: rc.Log, Now: rc.Now})
	names, err := background.IDs(c.Dir, extPlan)
	if err != nil {
		return nil, ioError("open replay jobs", err)
	}
	for _, name := range names {
		if err := s.adopt(ID(name)); err != nil {
			s.c.Replay.Log.Error("a job cannot be read", slog.String("job", name), slog.Any("error", err))
			s.broken[ID(name)] = err
		}
	}
	return s, nil
}

func (s *Jobs) path(id ID, ext string) string { return filepath.Join(s.c.Dir, string(id)+ext) }

func (s *Jobs) now() time.Time { return s.c.Replay.Now().UTC() }

// at is a place where a test may end the process.
func (s *Jobs) at(step string) error {
	if s.c.step == nil {
		return nil
	}
	return s.c.step(step)
}

// fatal ends the process where err is of a flush, and returns as.
func (s *Jobs) fatal(as, err error) error {
	if errors.Is(err, atomicfile.ErrSync) {
		s.c.Fatal(err)
	}
	return as
}

// room says no where too many jobs are unfinished.
func (s *Jobs) room() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, j := range s.jobs {
		if j.snap.Load().Watching {
			n++
		}
	}
	switch {
	case s.closed:
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: opPlan, On: "the process is ending"}
	case n >= maxOpen:
		return &claimdlq.Error{Code: claimdlq.Refused, Op: opPlan, On: "too many jobs are not finished", Hint: "cancel those that are not needed"}
	}
	return nil
}

// adopt reads a job's files and takes it in.
func (s *Jobs) adopt(id ID) error {
	j := newJob(s, id)
	b, err := os.ReadFile(s.path(id, extDone))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = j.open()
	case err == nil:
		err = j.finished(b)
	default:
		err = ioError("read job", err)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.jobs[id] = j
	return nil
}

// finished takes in what the end of a job was.
func (j *job) finished(b []byte) error {
	f, err := openPlan(j.s.path(j.id, extPlan), false)
	if err != nil {
		return err
	}
	f.close()
	var p Progress
	if json.Unmarshal(b, &p) != nil || p.Job != j.id {
		return &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read job", On: string(j.id), Hint: "remove its " + extDone + " file: it is made again from the journal"}
	}
	j.plan, p.Watching = f.plan, false
	j.snap.Store(&p)
	return nil
}

// audit writes an entry about a job. What digest names is bound to it.
func (s *Jobs) audit(ctx context.Context, by claimdlq.By, what string, p *Plan, digest *Hash) error {
	note, kind := by.Reason, "JOB"
	if p.Act != Replay {
		kind = strings.ToUpper(string(p.Act))
	}
	if digest != nil {
		note = strings.TrimSpace("sha256:" + digest.String() + " " + note)
	}
	_, err := s.store.Commit(ctx, store.Batch{Entries: []claimdlq.Entry{{
		At: s.now(), Actor: by.Actor, Action: actJob, Detail: claimdlq.NewDetail(kind + ":" + what + ":" + string(p.ID)), Note: audited.Note(note),
	}}})
	return err
}

// Start lets the jobs run that were running, and those that will be. It returns at
// once; Close ends them. A second call does nothing.
func (s *Jobs) Start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx != nil || s.closed {
		return
	}
	s.ctx, s.cancel = context.WithCancel(ctx)
	for _, j := range s.jobs {
		s.loop(j)
	}
}

// loop starts a job's loop unless it has one or needs none. The caller holds s.mu.
func (s *Jobs) loop(j *job) {
	if s.ctx == nil || s.closed || !j.begin() {
		return
	}
	s.loops.Go(func() { j.loop(s.ctx) })
}

// Close ends the loops, waits for them, and closes the files. What runs goes on with
// the next Start of another process.
func (s *Jobs) Close() error {
	s.mu.Lock()
	s.closed = true
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	s.loops.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, j := range s.jobs {
		errs = append(errs, j.close())
	}
	return errors.Join(errs...)
}

// find returns a job. Errors: NotFound, Corrupt.
func (s *Jobs) find(id ID) (*job, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := s.jobs[id]; j != nil {
		return j, nil
	}
	if err := s.broken[id]; err != nil {
		return nil, err
	}
	return nil, &claimdlq.Error{Code: claimdlq.NotFound, Op: "find job"}
}

// Get returns a job's plan and where it stands. Errors: NotFound, Corrupt.
func (s *Jobs) Get(id ID) (Plan, Progress, error) {
	j, err := s.find(id)
	if err != nil {
		return Plan{}, Progress{}, err
	}
	return j.plan, *j.snap.Load(), nil
}

// List returns where all jobs stand, the newest first.
func (s *Jobs) List() []Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Progress, 0, len(s.jobs))
	for _, j := range s.jobs {
		out = append(out, *j.snap.Load())
	}
	slices.SortFunc(out, func(a, b Progress) int { return strings.Compare(string(b.Job), string(a.Job)) })
	return out
}

// Broken returns the jobs whose files are damaged, and how.
func (s *Jobs) Broken() map[ID]error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.broken)
}
