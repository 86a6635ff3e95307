package attempt

import (
	"slices"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/target"
)

// queues are what a dispatcher has read of what is due: a little of each queue, so that
// memory does not grow with what waits. They are for one goroutine.
type queues struct {
	known    map[claimdlq.Queue]*queue
	rings    [2]ring // urgent, bulk
	round    uint64
	turns    uint64
	now      *queue // whose turn it is, for so many more
	left     int
	buffered int
	// look says that the store may have something due that no queue knows of.
	look bool
	// seq is raised when the store may have more of every queue.
	seq    uint64
	chosen []pick                  // used again for each choice
	rooms  [][]claimdlq.Submission // of queues that were dropped, to be used again
	// until is when the first of the queues that are held back may go on.
	until time.Time
}

// queue is the head of one queue: what is due of it, oldest first, or why it is held
// back. Then it holds nothing: what waits sits unread in the store.
type queue struct {
	id    claimdlq.Queue
	items []claimdlq.Submission
	room  []claimdlq.Submission // what items began in; empty
	more  bool                  // the store had more of it
	seq   uint64                // when it was filled
	busy  uint64                // the round in which its lane was found busy
	no    *refusal
}

const (
	page        = 512     // submissions that one look takes
	maxBuffered = 8 << 10 // submissions in memory, about
	maxKnown    = 1 << 16 // queues, those held back among them
	maxRooms    = 64      // of dropped queues, whose memory is kept
	quantum     = 16      // submissions of one turn: neighbours often lie in one unit
	bulkTurn    = 8       // each so manieth turn is one of bulk, if there is any
	bulkQuantum = 8       // submissions of such a turn
)

func newQueues() queues { return queues{known: map[claimdlq.Queue]*queue{}} }

// ring gives queues their turns.
type ring struct {
	list []*queue
	at   int
}

// next returns the next queue whose lane was not found busy in this round.
func (r *ring) next(round uint64) *queue {
	for range len(r.list) {
		if r.at >= len(r.list) {
			r.at = 0
		}
		q := r.list[r.at]
		r.at++
		if q.busy != round {
			return q
		}
	}
	return nil
}

func (r *ring) remove(q *queue) {
	i := slices.Index(r.list, q)
	if i < 0 {
		return
	}
	r.list = slices.Delete(r.list, i, i+1)
	if i < r.at {
		r.at--
	}
}

func (qs *queues) ring(q *queue) *ring {
	if q.id.Bulk {
		return &qs.rings[1]
	}
	return &qs.rings[0]
}

// nextQueue returns whose turn it is: urgent ones before bulk, but for one in a while.
func (qs *queues) nextQueue() *queue {
	if qs.now != nil && qs.left > 0 && qs.now.busy != qs.round {
		qs.left--
		return qs.now
	}
	first, second := &qs.rings[0], &qs.rings[1]
	qs.left = quantum - 1
	if qs.turns++; qs.turns%bulkTurn == 0 && len(first.list) > 0 {
		first, second = second, first
		qs.left = bulkQuantum - 1
	}
	if qs.now = first.next(qs.round); qs.now == nil {
		qs.now = second.next(qs.round)
	}
	return qs.now
}

// renew says that the store may have more of every queue than was read.
func (qs *queues) renew() { qs.seq++ }

// add puts what is due into its queue.
func (qs *queues) add(sub *claimdlq.Submission, more bool) {
	id := sub.Queue()
	q := qs.known[id]
	if q == nil {
		room := qs.newRoom()
		q = &queue{id: id, seq: qs.seq, items: room, room: room}
		qs.known[id] = q
		r := qs.ring(q)
		r.list = append(r.list, q)
	}
	q.more = q.more || more
	if len(q.items) == cap(q.items) { // it moves
		q.items = append(q.items, *sub)
		q.room = q.items[:0]
	} else {
		q.items = append(q.items, *sub)
	}
	qs.buffered++
}

// pop takes the oldest, or for a probe the one that was delivered least: probes of a
// dead target rotate, so that no claim that kills its target is asked for ever.
func (qs *queues) pop(q *queue, probe bool) claimdlq.Submission {
	i := 0
	if probe {
		for k := range q.items {
			if q.items[k].Receives < q.items[i].Receives {
				i = k
			}
		}
	}
	sub := q.items[i]
	if i == 0 {
		q.items[0] = claimdlq.Submission{}
		q.items = q.items[1:]
	} else {
		q.items = slices.Delete(q.items, i, i+1)
	}
	qs.buffered--
	if len(q.items) == 0 {
		qs.drop(q)
	}
	return sub
}

// drop forgets the queue: what the store has of it is found by the next look.
func (qs *queues) drop(q *queue) {
	qs.look = qs.look || q.more || q.seq != qs.seq
	qs.leave(q)
	delete(qs.known, q.id)
	if len(qs.rooms) < maxRooms {
		qs.rooms = append(qs.rooms, q.room)
	}
}

// newRoom returns memory for what is due of a queue, or nil.
func (qs *queues) newRoom() (room []claimdlq.Submission) {
	if k := len(qs.rooms) - 1; k >= 0 {
		room, qs.rooms = qs.rooms[k], qs.rooms[:k]
	}
	return room
}

// leave takes the queue out of the turns.
func (qs *queues) leave(q *queue) {
	qs.buffered -= len(q.items)
	qs.ring(q).remove(q)
	if qs.now == q {
		qs.now = nil
	}
}

// held is what was in memory of a queue when it was held back.
type held struct {
	items []claimdlq.Submission
	no    *refusal
}

// block holds the queue back.
func (qs *queues) block(q *queue, no *refusal) held {
	h := held{q.items, no}
	qs.leave(q)
	q.items, q.no = nil, no
	qs.untilAt(no)
	return h
}

func (qs *queues) untilAt(no *refusal) {
	if !no.until.IsZero() && (qs.until.IsZero() || no.until.Before(qs.until)) {
		qs.until = no.until
	}
}

func (qs *queues) blockedUntil(now time.Time) bool {
	return !qs.until.IsZero() && !now.Before(qs.until)
}

// unblock lets every queue go on that is not held back any more.
func (s *session) unblock(now time.Time) {
	s.until = time.Time{}
	for id, q := range s.known {
		if q.no == nil {
			continue
		}
		if q.no = s.a.gate(id, now); q.no == nil {
			delete(s.known, id)
			s.look = true
			continue
		}
		s.untilAt(q.no)
	}
}

// fill reads what is due of the queues that nothing is known of.
func (s *session) fill(now time.Time) error {
	q := store.DueQuery{State: claimdlq.SubmissionReady, Now: now, Limit: page}
	q.Skip = func(id claimdlq.Queue) bool {
		_, known := s.known[id]
		return known
	}
	for s.buffered < maxBuffered && len(s.known) < maxKnown {
		due, err := s.a.o.Store.Due(s.ctx, q)
		if err != nil {
			return err
		}
		before := s.buffered
		s.take(due)
		if len(due) < page {
			s.look = false
			return nil
		}
		if s.buffered == before { // all of them are being leased by another
			q.After = due[len(due)-1].ID
		}
	}
	return nil
}

// take puts what was read into its queues, but for what is under way already.
func (s *session) take(due []claimdlq.Submission) {
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	for i := range due {
		if _, flies := s.a.flying[due[i].ID]; !flies {
			s.add(&due[i], len(due) == page)
		}
	}
}

// earliest returns when the next of those that wait is due, which may have been before
// now where it became due since the last look; full says that there are more than were
// looked at.
func (s *session) earliest(now time.Time) (next time.Time, full bool, err error) {
	due, err := s.a.o.Store.Due(s.ctx, store.DueQuery{
		State: claimdlq.SubmissionReady, Now: now.Add(farAhead), Limit: glance,
		Skip: func(id claimdlq.Queue) bool { q := s.known[id]; return q != nil && q.no != nil },
	})
	for i := range due {
		if t := due[i].NotBefore; next.IsZero() || t.Before(next) {
			next = t
		}
	}
	return next, len(due) == glance, err
}

// pick is a submission that may be delivered, and the leave to do so.
type pick struct {
	sub    claimdlq.Submission
	route  target.Route
	permit permit
}

// choose takes what may be delivered now, for as many workers, in turns; and what of
// the queues that are held back was in memory.
func (s *session) choose(free int, now time.Time) (picks []pick, back []held) {
	s.round++
	clear(s.chosen)
	picks = s.chosen[:0]
	defer func() { s.chosen = picks }()
	for len(picks) < free {
		q := s.nextQueue()
		if q == nil {
			break
		}
		route, p, no := s.a.admit(q.id, now)
		switch {
		case no == nil:
			picks = append(picks, pick{s.pop(q, p.probe), route, p})
		case no.hold == claimdlq.HoldNone:
			q.busy = s.round
		default:
			back = append(back, s.block(q, no))
		}
	}
	return picks, back
}
