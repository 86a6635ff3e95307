package filestore

import (
	"context"
)

// maintain does what is due whenever the writer says that something may be, until
// stop is closed. What fails is tried again later: nothing depends on it but the
// time that opening takes, and space.
func (s *Store) maintain(ctx context.Context) {
	skip := 0
	for {
		select {
		case <-s.stop:
			return
		case <-s.due:
		}
		if skip > 0 {
			skip--
			continue
		}
		s.maintenance.Lock()
		err := s.doDue(ctx)
		s.maintenance.Unlock()
		if err != nil {
			skip = 1000 // a full disk stays full for a while
		}
	}
}

func (s *Store) doDue(ctx context.Context) error {
	if err := s.evictAll(ctx, s.evictLeast()); err != nil {
		return err
	}
	if err := s.evictSubs(ctx, s.evictLeast()); err != nil {
		return err
	}
	if err := s.printsToRun(s.o.KeepFingerprints); err != nil {
		return err
	}
	if err := s.mergeRuns(ctx); err != nil {
		return err
	}
	if !s.snapshotDue(s.snapshotEvery()) {
		return nil
	}
	if err := s.snapshot(ctx); err != nil {
		return err
	}
	return s.compactAll(ctx)
}

// evictLeast is how many records must be too many before they are let go: so runs
// are not small.
func (s *Store) evictLeast() int { return max(1000, s.o.KeepSettled/10) }

// snapshotEvery is how many changes may pass between two snapshots: more where the
// index is larger, so that writing it stays a fraction of all that is written.
func (s *Store) snapshotEvery() int64 {
	if s.o.SnapshotEvery < 0 {
		return -1
	}
	return max(int64(s.o.SnapshotEvery), s.live.Load()/5)
}

// journalEvery is how many bytes of journal may pass between two snapshots.
const journalEvery = 1 << 30

func (s *Store) snapshotDue(every int64) bool {
	return every >= 0 && (s.changes.Load() >= every || s.journal.Load() >= journalEvery)
}

// wakeIfDue asks maintain to look.
func (s *Store) wakeIfDue() {
	if !s.snapshotDue(s.snapshotEvery()) && s.excess.Load() < int64(s.evictLeast()) && s.prints.Load() <= int64(max(0, s.o.KeepFingerprints)) {
		return
	}
	select {
	case s.due <- struct{}{}:
	default:
	}
}

// snapshotAtClose writes a snapshot where replaying what came since the last one
// would take longer than a moment.
func (s *Store) snapshotAtClose() error {
	if s.o.Manual || s.broken.Load() {
		return nil
	}
	every := s.snapshotEvery()
	if every > 0 {
		every = min(int64(s.o.SnapshotEvery), max(1000, min(s.live.Load()/20, 50_000)))
	}
	if !s.snapshotDue(every) && s.journal.Load() < 32<<20 {
		return nil
	}
	s.maintenance.Lock()
	defer s.maintenance.Unlock()
	return s.snapshot(context.Background())
}
