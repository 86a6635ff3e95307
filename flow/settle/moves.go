package settle

import (
	"log/slog"

	"claimdlq"
	"claimdlq/flow/audited"
	"claimdlq/flow/dlqlog"
	"claimdlq/store"
)

// moves are steps that become durable together. Figures and log lines follow only
// when they are.
type moves struct {
	j     *job
	batch store.Batch
	dead  []claimdlq.Record // and pharmacy claims that the payer rejected for good
	// orphans are the codes of answers about nothing that can be named.
	orphans []string

	accepted, rejected, requeued int64
	pending                      int
}

// entry returns an audit entry by whoever gave the answer.
func (j *job) entry(a claimdlq.Action, from, to claimdlq.Record) claimdlq.Entry {
	return audited.Entry(j.by, a, from, to, j.now())
}

// update moves a record.
func (m *moves) update(a claimdlq.Action, from, to claimdlq.Record) {
	m.batch.Update = append(m.batch.Update, to)
	m.batch.Entries = append(m.batch.Entries, m.j.entry(a, from, to))
	m.count(to)
}

// insert adds the record of a claim that parts.
func (m *moves) insert(from, child claimdlq.Record) (index int) {
	index = len(m.batch.Insert)
	e := m.j.entry(claimdlq.ActAcknowledge, from, child)
	e.Record = store.ParentIndex(index)
	m.batch.Insert = append(m.batch.Insert, child)
	m.batch.Entries = append(m.batch.Entries, e)
	m.count(child)
	return index
}

func (m *moves) count(r claimdlq.Record) {
	switch {
	case r.State == claimdlq.StateQuarantined:
		m.dead = append(m.dead, r)
		m.rejected += int64(r.Claims)
	case r.State == claimdlq.StateQueued:
		m.requeued += int64(r.Claims)
	case r.State == claimdlq.StateSettled && r.Disposition == claimdlq.Rejected:
		m.rejected += int64(r.Claims)
		if r.Format == claimdlq.FormatNCPDP {
			m.dead = append(m.dead, r)
		}
	case r.State == claimdlq.StateSettled:
		m.accepted += int64(r.Claims)
	}
}

func (m *moves) empty() bool {
	return len(m.batch.Update)+len(m.batch.Insert)+len(m.batch.Submissions)+len(m.batch.NewSubmissions)+len(m.batch.Entries) == 0
}

// commit makes the moves durable.
func (m *moves) commit() error {
	if !m.empty() {
		if _, err := m.j.Store.Commit(m.j.ctx, m.batch); err != nil {
			return err
		}
	}
	m.j.result.Pending += m.pending
	m.j.result.Accepted += m.accepted
	m.j.result.Rejected += m.rejected
	m.j.result.Requeued += m.requeued
	for _, r := range m.dead {
		m.say(r)
	}
	return nil
}

// logFor returns the logger of the record's stream.
func (j *job) logFor(r claimdlq.Record) *slog.Logger {
	if r.Stream == claimdlq.StreamNCPDP {
		return j.RxLog
	}
	return j.Log
}

// say logs how a claim ended.
func (m *moves) say(r claimdlq.Record) {
	switch {
	case r.Format != claimdlq.FormatNCPDP:
		dlqlog.Enqueued(m.j.ctx, m.j.Log, r)
	case r.State == claimdlq.StateSettled:
		dlqlog.RxTerminal(m.j.ctx, m.j.RxLog, r)
	default:
		dlqlog.RxPoison(m.j.ctx, m.j.RxLog, r)
	}
}
