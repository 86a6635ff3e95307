package filestore

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore/sortedrun"
)

// A pharmacy claim has a submission of its own, so that finished ones leave memory
// and the journal as records do, when there are more of them than
// Options.KeepSettled: the oldest first, to a sorted run. Submissions that are found
// by numbers stay: there is one for a whole interchange.

// mayLeave reports whether a submission is finished and not found by numbers.
func (x *subIndex) mayLeave(r *subRow) bool {
	return finished(r.state) && r.queue != noQueue && x.queues.list[r.queue].Stream == claimdlq.StreamNCPDP
}

func finished(s claimdlq.SubmissionState) bool {
	return s == claimdlq.SubmissionAnswered || s == claimdlq.SubmissionDead
}

// subEviction is submissions that a sorted run holds durably and memory can let go,
// where they have not changed since.
type subEviction struct{ list []evictedSub }

type evictedSub struct {
	id, rev uint32
	gone    bool // the writer let it go
}

func (e *subEviction) size() int { return frameHeader + itemHeader + 64 + 8*len(e.list) }

func (e *subEviction) append(b []byte) []byte {
	for _, s := range e.list {
		if s.gone {
			b = put32(put32(b, s.id), s.rev)
		}
	}
	return b
}

func decodeEvictedSubs(b []byte) (*subEviction, error) {
	if len(b)%8 != 0 {
		return nil, errCodec
	}
	e := &subEviction{}
	for ; len(b) > 0; b = b[8:] {
		e.list = append(e.list, evictedSub{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:]), true})
	}
	return e, nil
}

func (w *writer) acceptEvictSubs(e *subEviction) {
	some := false
	for i := range e.list {
		s := &e.list[i]
		row, ok := w.s.index.subs.at(s.id)
		s.gone = ok && row.rev == s.rev && !w.subs[s.id]
		some = some || s.gone
	}
	if some {
		w.openFrame()
		w.put(itemEvictedSubs, e.append)
	}
}

// applyEvictSubs lets the submissions go. One that is newer has come back.
func (x *index) applyEvictSubs(e *subEviction) {
	for _, s := range e.list {
		if row, ok := x.subs.at(s.id); s.gone && ok && row.rev <= s.rev {
			x.dropSub(s.id, &row)
		}
	}
}

func (x *index) dropSub(id uint32, r *subRow) {
	n := int(id / subRows)
	x.subs.set(r.state, r.queue).remove(id)
	x.owns(r.loc, -1)
	x.subs.count(n, r, -1)
	if x.subs.blocks[n].rev[id%subRows] = 0; x.subs.rows[n] == 0 && n+1 < len(x.subs.blocks) {
		x.subs.blocks[n] = nil
	}
}

// count counts a row of block n.
func (x *subIndex) count(n int, r *subRow, by int64) {
	x.rows[n] += int32(by)
	x.live += by
	if x.mayLeave(r) {
		x.finished += by
	}
}

// leaving returns the oldest submissions that may leave, if there are at least so
// many more than are kept.
func (x *index) leaving(keep, least int) (ids []uint32) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	n := int(x.subs.finished) - max(0, keep)
	if n < max(least, 1) {
		return nil
	}
	n = min(n, evictMost)
	for block := uint32(0); int(block)<<blockBits/subRows < len(x.subs.blocks) && len(ids) < n; block++ {
		for state := range x.subs.sets {
			if list := x.subs.sets[state]; finished(claimdlq.SubmissionState(state)) && len(list) > 0 && list[noQueue] != nil {
				ids = x.subs.leavingOf(list[noQueue], block, ids, n)
			}
		}
	}
	return ids
}

func (x *subIndex) leavingOf(b *bitmap, block uint32, ids []uint32, most int) []uint32 {
	c := b.set(block)
	if c == nil {
		return ids
	}
	c.ascend(0, func(off uint16) bool {
		id := block<<blockBits | uint32(off)
		if r, _ := x.at(id); x.mayLeave(&r) {
			ids = append(ids, id)
		}
		return len(ids) < most
	})
	return ids
}

// evictSubs lets go what is too many, if it is at least the given number.
func (s *Store) evictSubs(ctx context.Context, least int) error {
	for {
		ids := s.index.leaving(s.o.KeepSettled, least)
		if len(ids) == 0 {
			return nil
		}
		work := &subEviction{}
		var entries []runEntry
		w, places := s.openWindow(), s.places(ids, s.index.subPlace)
		for i, id := range ids {
			sub, err := w.submission(places[i:])
			if errors.Is(err, errMoved) {
				continue // it has moved on
			}
			if err != nil {
				return err
			}
			content := appendSubmission(nil, &sub, nil)
			if !finished(sub.State) || len(content) > sortedrun.MaxValue || store.SubmissionRefs(sub) != nil {
				continue
			}
			entries = append(entries, runEntry{pair(0, uint64(id)), content})
			work.list = append(work.list, evictedSub{id: id, rev: sub.Revision})
		}
		w.close()
		if len(work.list) == 0 {
			return nil
		}
		if err := s.dropSubs(ctx, work, entries); err != nil {
			return err
		}
		least = 1
	}
}

func (s *Store) dropSubs(ctx context.Context, work *subEviction, entries []runEntry) error {
	runs, err := s.needRuns()
	if err != nil {
		return err
	}
	if err := s.addRun(runs.subs, entries); err != nil {
		return err
	}
	r := newRequest()
	defer r.release()
	r.evictSubs = work
	return s.do(ctx, r)
}

// submission returns the submission with the id, if a run holds it.
func (r *runs) submission(id claimdlq.SubmissionID) (sub claimdlq.Submission, ok bool, err error) {
	v, ok, err := r.subs.Get(pair(0, uint64(id)))
	if err != nil || !ok {
		return sub, false, err
	}
	if sub, err = decodeSubmission(v); err != nil || sub.ID != id {
		return sub, false, failure(claimdlq.Corrupt, "read run of submissions", decimal(uint64(id)))
	}
	return sub, true, nil
}

// readSubRun returns a submission that has left memory.
func (s *Store) readSubRun(id claimdlq.SubmissionID) (sub claimdlq.Submission, err error) {
	ok := false
	if runs := s.runs.Load(); runs != nil {
		sub, ok, err = runs.submission(id)
	}
	if err == nil && !ok {
		err = failure(claimdlq.NotFound, "get submission", decimal(uint64(id)))
	}
	return sub, s.answer(err)
}

// dueRuns adds submissions that have left memory to those that are due in it, where
// they belong.
func (s *Store) dueRuns(q *store.DueQuery, page []claimdlq.Submission) ([]claimdlq.Submission, error) {
	runs := s.runs.Load()
	if runs == nil || !finished(q.State) {
		return page, nil
	}
	n := len(page)
	var wrong error
	err := runs.subs.Ascend(pair(0, uint64(q.After)+1), func(k sortedrun.Key, v []byte) bool {
		id := claimdlq.SubmissionID(binary.BigEndian.Uint64(k[8:]))
		if len(page)-n >= q.Limit || (n >= q.Limit && id > page[n-1].ID) {
			return false
		}
		s.index.mu.RLock()
		_, ram := s.index.subs.at(uint32(id))
		s.index.mu.RUnlock()
		sub, err := decodeSubmission(v)
		if err != nil {
			wrong = failure(claimdlq.Corrupt, "read run of submissions", decimal(uint64(id)))
			return false
		}
		if !ram && sub.State == q.State && dueOf(&sub) <= q.Now.UnixMilli() && (q.Skip == nil || !q.Skip(sub.Queue())) {
			page = append(page, sub)
		}
		return true
	})
	if err == nil {
		err = wrong
	}
	slices.SortFunc(page, func(a, b claimdlq.Submission) int { return cmp.Compare(a.ID, b.ID) })
	return page[:min(q.Limit, len(page))], err
}
