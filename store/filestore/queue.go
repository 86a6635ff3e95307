package filestore

import (
	"context"
	"runtime"
	"sync"

	"claimdlq"
	"claimdlq/store"
)

// A request is something for the writer to do. Everything that changes the store
// is one, so that there is one order of events.
type request struct {
	batch   store.Batch
	plan    *plan // of a commit
	own     plan  // its memory, used again
	enc     encoded
	lane    string // of an allocation, with n
	n       int
	audited uint64     // of a mark
	move    *moveWork  // of a compaction
	evict   *evictWork // of an eviction of records
	// evictSubs is of an eviction of submissions.
	evictSubs *subEviction
	look      func(*writer) // called between two groups

	done chan struct{} // has room for one

	pos     int64 // where the frame is
	receipt store.Receipt
	first   uint32
	err     error
}

var requests = sync.Pool{New: func() any { return &request{done: make(chan struct{}, 1)} }}

func newRequest() *request { return requests.Get().(*request) }

// release gives r back for another use; its answer must have been taken.
func (r *request) release() {
	r.own.reset()
	*r = request{done: r.done, enc: r.enc, own: r.own}
	if cap(r.enc.frame) > 1<<20 {
		r.enc = encoded{}
	}
	requests.Put(r)
}

// queue is where requests wait for the writer.
type queue struct {
	mu     sync.Mutex
	list   []*request
	closed bool
	wake   chan struct{} // has room for one
}

// The most that one flush carries.
const (
	groupRequests = 1024
	groupBytes    = 4 << 20
)

// do queues r and waits until the writer has answered. A context that ends while r
// waits does not take it back: nobody could tell then whether it was done.
func (s *Store) do(ctx context.Context, r *request) error {
	if err := ctx.Err(); err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "commit", Err: err}
	}
	q := &s.queue
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return failure(claimdlq.Unavailable, "commit", "store is closed")
	}
	q.list = append(q.list, r)
	first := len(q.list) == 1
	q.mu.Unlock()
	if first {
		select {
		case q.wake <- struct{}{}:
		default:
		}
	}
	<-r.done
	return r.err
}

// take moves up to a group of requests to buf; it waits for the first. more is
// false when the queue is closed and empty.
func (q *queue) take(buf []*request) (_ []*request, more bool) {
	for {
		q.mu.Lock()
		if n := min(len(q.list), groupRequests); n > 0 {
			size, k := 0, 0
			for k < n && (k == 0 || size+len(q.list[k].enc.frame) <= groupBytes) {
				size += len(q.list[k].enc.frame)
				k++
			}
			buf = append(buf, q.list[:k]...)
			rest := copy(q.list, q.list[k:])
			clear(q.list[rest:])
			q.list = q.list[:rest]
			q.mu.Unlock()
			return buf, true
		}
		closed := q.closed
		q.mu.Unlock()
		if closed {
			return buf, false
		}
		<-q.wake
		runtime.Gosched() // who is about to queue as well shares the flush
	}
}

// close makes the queue refuse what comes after.
func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	select {
	case q.wake <- struct{}{}:
	default:
	}
}
