package audit

import (
	"context"
	"errors"
	"sync"
	"time"

	"claimdlq"
)

// Source is the part of a store that the follower reads.
type Source interface {
	// Entries calls f for the entries from the given sequence number on, in order,
	// until f returns false.
	Entries(ctx context.Context, from uint64, f func(claimdlq.Entry) bool) error
	// AuditedTo says that the audit log holds the entries up to seq durably.
	AuditedTo(ctx context.Context, seq uint64) error
}

// batch is how many entries are appended with one fsync.
const batch = 4096

// rooms hold the entries of a batch while they are copied: a busy store has several
// batches a second.
var rooms = sync.Pool{New: func() any { return new([]claimdlq.Entry) }}

// Drain copies the entries that the log does not hold yet from the source to the
// log, and tells the source after each durable batch. It returns how many there
// were; none is the moment to sign, and it does. Errors are those of Append and of
// the source; what was copied before stays copied.
func Drain(ctx context.Context, s Source, l *Log) (int, error) {
	total := 0
	for {
		n, err := drainBatch(ctx, s, l)
		total += n
		if err != nil {
			return total, err
		}
		if n < batch {
			break
		}
	}
	if total == 0 {
		_, err := l.Checkpoint()
		return 0, err
	}
	return total, nil
}

func drainBatch(ctx context.Context, s Source, l *Log) (int, error) {
	size := l.Size()
	room, _ := rooms.Get().(*[]claimdlq.Entry)
	entries := (*room)[:0]
	defer func() {
		clear(entries)
		*room = entries
		rooms.Put(room)
	}()
	err := s.Entries(ctx, size+1, func(e claimdlq.Entry) bool {
		entries = append(entries, e)
		return len(entries) < batch
	})
	if err != nil {
		return 0, err
	}
	if err := l.Append(entries); err != nil {
		return 0, err
	}
	// Also when nothing is new: a crash may have come between Append and this.
	if size = l.Size(); size > 0 {
		if err := s.AuditedTo(ctx, size); err != nil {
			return 0, err
		}
	}
	return len(entries), nil
}

// Follow drains the source at every tick until ctx ends, and then once more, so
// that a clean stop leaves nothing behind. What cannot be written now, on a full disk
// for instance, waits in the source for the next tick. It returns the first other
// error, or that of the last drain; nil when it ended with ctx.
func Follow(ctx context.Context, s Source, l *Log, tick <-chan time.Time) error {
	for {
		if _, err := Drain(ctx, s, l); err != nil && ctx.Err() == nil && !errors.Is(err, claimdlq.Unavailable) {
			return err
		}
		select {
		case <-tick:
		case <-ctx.Done():
			_, err := Drain(context.WithoutCancel(ctx), s, l)
			return err
		}
	}
}
