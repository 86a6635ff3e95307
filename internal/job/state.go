package job

import (
	"encoding/binary"
	"encoding/json"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"claimdlq"
)

// job is one job. Its loop, where it has one, releases and looks for ends; commands of
// people change its state. All of it that is not final in a file is one byte for the
// result and one for the end of each item.
type job struct {
	s    *Jobs
	id   ID
	plan Plan
	snap atomic.Pointer[Progress]
	halt atomic.Bool   // nothing more may be released
	wake chan struct{} // holds one

	// mu guards what follows, and is held while a change is written to the journal: what
	// readers want is in snap.
	mu      sync.Mutex
	file    *planFile
	log     *journal
	state   State
	stop    *Stop
	approve string // by whom
	runner  string
	because string // the runner's reason, of an act that is no replay
	rules   map[string]string
	maxRate float64
	started time.Time
	ended   time.Time
	dry     map[string]int
	dryAt   time.Time
	drying  bool
	results []Result // nil until it runs
	ends    []End
	nRes    [results]int
	nEnd    [ends]int
	next    int      // items below it may have been released
	redo    []uint32 // of these, the ones of which nobody knows
	passed  bool     // the canaries
	canary  []uint32
	epoch   int // items below it were released before the job was last stopped
	recent  window
	ramp    ramp
	causes  causes
	busy    chan struct{} // closed when what is being released is released; nil if nothing is
	looping bool
	shut    bool // the process is ending
	seq     uint64
	asked   asked
	subs    map[chan Progress]struct{}

	// For the loop alone.
	out     []uint32  // released, with no end or in doubt
	lookAt  int       // where in out the next look begins
	looks   int       // that brought nothing, in a row
	lookDue time.Time // when the next look is due
	moved   time.Time // when something was released last, as far as this process knows
}

func newJob(s *Jobs, id ID) *job {
	j := &job{s: s, id: id, wake: make(chan struct{}, 1), state: Planned, subs: map[chan Progress]struct{}{}}
	j.halt.Store(true)
	return j
}

// open reads plan and journal of a job that is not finished.
func (j *job) open() (err error) {
	if j.file, err = openPlan(j.s.path(j.id, extPlan), true); err != nil {
		return err
	}
	j.plan = j.file.plan
	j.rules, j.maxRate, j.causes = j.plan.Rules, j.plan.Policy.MaxRate, causesOf(&j.plan)
	if j.log, err = openJournal(j.s.path(j.id, extJournal), j.frame); err != nil {
		j.file.close()
		return err
	}
	j.log.step = j.s.c.step
	for i := range j.next {
		switch r := j.results[i]; {
		case r == NotYet:
			j.redo = append(j.redo, uint32(i))
		case r == Replayed && (j.ends[i] == UnderWay || j.ends[i] == InDoubt):
			j.out = append(j.out, uint32(i))
		}
	}
	j.halt.Store(j.state != Running)
	j.publish()
	return nil
}

// frame takes in one frame of the journal.
func (j *job) frame(kind byte, b []byte) error {
	bad := &claimdlq.Error{Code: claimdlq.Corrupt, Op: "read replay journal", On: string(j.id), Hint: "plan anew: what the job has released it will not release again"}
	switch kind {
	case kindEvent:
		var e event
		if json.Unmarshal(b, &e) != nil {
			return bad
		}
		j.apply(e)
		return nil
	case kindTaken:
		if len(b) != 4 || j.results == nil || int(binary.LittleEndian.Uint32(b)) > j.plan.Items {
			return bad
		}
		j.next = int(binary.LittleEndian.Uint32(b))
		return nil
	case kindMarks:
		ok := true
		if decodeMarks(b, func(m mark) { ok = ok && j.mark(m) }) && ok {
			return nil
		}
	}
	return bad
}

// apply changes the state by an event that is durable.
func (j *job) apply(e event) {
	switch e.What {
	case evApprove:
		j.approve = e.By
	case evRun:
		j.results, j.ends = make([]Result, j.plan.Items), make([]End, j.plan.Items)
		j.started = e.At
		j.again(e)
	case evResume:
		if j.state == Stopped {
			j.again(e)
		}
		j.state, j.stop, j.runner, j.because = Running, nil, e.By, e.Why
		if e.Rules != nil {
			j.rules = e.Rules
		}
	case evPause:
		j.state = Paused
	case evStop:
		j.state, j.stop = Stopped, &Stop{Code: e.Code, At: e.At, Partner: e.Of}
	case evCancel:
		j.state, j.ended = Cancelled, e.At
	case evDone:
		j.state, j.ended = Done, e.At
	case evMaxRate:
		j.maxRate = e.Rate
	case evCanary:
		j.passed = true
	case evDry:
		j.dry, j.dryAt = e.Counts, e.At
	}
}

// again begins with canaries.
func (j *job) again(e event) {
	j.state, j.stop, j.runner, j.because = Running, nil, e.By, e.Why
	j.passed, j.canary, j.epoch, j.recent = j.plan.Policy.Canary < 0, nil, j.next, window{}
}

// mark takes in what became of an item, and reports whether that can be.
func (j *job) mark(m mark) bool {
	if int(m.index) >= len(j.results) || m.result >= results || m.end >= ends {
		return false
	}
	r, e := &j.results[m.index], &j.ends[m.index]
	if m.result != NotYet && *r == NotYet {
		*r = m.result
		j.nRes[m.result]++
		if m.result == Replayed && !j.passed {
			j.canary = append(j.canary, m.index)
		}
	}
	if m.end != UnderWay && *e != m.end {
		if *e != UnderWay {
			j.nEnd[*e]--
		}
		*e = m.end
		j.nEnd[m.end]++
	}
	return true
}

// rest returns how many items have not had their turn.
func (j *job) rest() int { return j.plan.Items - j.next + len(j.redo) }

// underWay returns how many items are released and have no end.
func (j *job) underWay() int {
	n := j.nRes[Replayed]
	for e := UnderWay + 1; e < ends; e++ {
		n -= j.nEnd[e]
	}
	return n
}

func (j *job) phase() Phase {
	switch {
	case j.plan.Act != Replay, j.state != Running && j.state != Paused && j.state != Stopped:
		return ""
	case j.rest() == 0:
		return PhaseWatch
	case !j.passed:
		return PhaseCanary
	}
	return PhaseRamp
}

// over reports that nothing more is expected of a job.
func (j *job) over() bool {
	return (j.state == Done || j.state == Cancelled || j.state != Planned && j.rest() == 0) && j.underWay() == 0
}

// write makes an event durable and takes it in.
func (j *job) write(e event) error {
	if err := j.log.event(e); err != nil {
		return j.s.fatal(err, err)
	}
	j.apply(e)
	j.halt.Store(j.state != Running)
	j.publish()
	j.poke()
	return nil
}

func (j *job) poke() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

// progress makes the snapshot.
func (j *job) progress() *Progress {
	p := &Progress{
		Job: j.id, Act: j.plan.Act, Seq: j.seq, State: j.state, Phase: j.phase(), Stop: j.stop, Items: j.plan.Items,
		Results: map[string]int{}, Ends: map[string]int{}, UnderWay: j.underWay(),
		DryRun: maps.Clone(j.dry), DryRunAt: j.dryAt, MaxRate: j.maxRate,
		NeedsApproval: j.s.c.needsApproval(&j.plan), ApprovedBy: j.approve, Runner: j.runner, Reason: j.because,
		StartedAt: j.started, EndedAt: j.ended, Watching: true,
	}
	if j.state == Planned && !j.dryAt.IsZero() {
		p.Unreachable = j.unreachable()
	}
	if j.state == Running && j.passed {
		p.Rate = j.ramp.rate
	}
	for r := NotYet + 1; r < results; r++ {
		if j.nRes[r] > 0 {
			p.Results[r.String()] = j.nRes[r]
		}
	}
	for e := UnderWay + 1; e < ends; e++ {
		if j.nEnd[e] > 0 {
			p.Ends[e.String()] = j.nEnd[e]
		}
	}
	return p
}

// close closes the files.
func (j *job) close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.shut = true
	for ch := range j.subs {
		delete(j.subs, ch)
		close(ch)
	}
	return j.closeFiles()
}

func (j *job) closeFiles() error {
	if j.log == nil {
		return nil
	}
	err := j.log.close()
	j.file.close()
	j.log, j.file = nil, nil
	return err
}
