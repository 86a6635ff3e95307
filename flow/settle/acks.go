package settle

import (
	"bytes"
	"context"
	"errors"
	"io"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// MaxFile bounds an acknowledgment file: 256 MiB.
const MaxFile = 256 << 20

// Acks reads one file of acknowledgments and does what it says. When it returns
// without an error, all of that is durable and the source may be acknowledged. A
// file that was read before is a no-op, unless some of its answers were orphans:
// those are tried again. name is for the result only and is not kept.
//
// Errors: Refused (the file holds claims, or is too large: nothing was kept), and
// those of reader, store and vault; then the file must be given again, which does
// nothing twice.
func (t *Settle) Acks(ctx context.Context, by claimdlq.By, name string, r io.Reader) (Result, error) {
	j := t.job(ctx, by)
	j.result.File = name
	err := j.file(r)
	return j.result, err
}

func (j *job) file(r io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read acknowledgments", Hint: "give the file again", Err: err}
	}
	if len(raw) > MaxFile {
		return &claimdlq.Error{Code: claimdlq.Refused, Op: "read acknowledgments", On: "more than 256 MiB", Hint: "split the file by interchange"}
	}
	acks, err := x12ack.Read(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if holdsClaims(raw) {
		return &claimdlq.Error{Code: claimdlq.Refused, Op: "read acknowledgments", On: "the file holds claims", Hint: "give it to: claimdlq ingest FILE"}
	}
	old, known, err := j.known(raw)
	if err != nil {
		return err
	}
	j.result.Interchanges, j.result.Answers = len(acks.Interchanges), len(acks.Answers())
	if known && old.State != claimdlq.StateQuarantined {
		j.result.Record, j.result.Duplicate = old.ID, true
		_, err := j.Store.Commit(j.ctx, store.Batch{Entries: []claimdlq.Entry{j.entry(claimdlq.ActDuplicate, old, old)}})
		return err
	}
	ref, err := j.seal(raw, known)
	if err != nil {
		return err
	}
	if err := j.process(acks); err != nil {
		return err
	}
	if known {
		return j.again(old, acks)
	}
	return j.record(raw, ref, acks)
}

// holdsClaims reports whether a file of claims was given by mistake.
func holdsClaims(raw []byte) bool {
	sc := x12.NewScanner(bytes.NewReader(raw), x12.Options{EnvelopeOnly: true})
	for {
		ev, err := sc.Next()
		if err != nil {
			return false
		}
		if g, ok := ev.(*x12.GroupStart); ok && g.GS01 == "HC" {
			return true
		}
	}
}

// known finds the record of a file that was read before, under every term.
func (j *job) known(raw []byte) (claimdlq.Record, bool, error) {
	for _, id := range j.ids {
		r, err := j.Store.Find(j.ctx, ackKey(id, raw))
		if err == nil {
			return r, true, nil
		}
		if !errors.Is(err, claimdlq.NotFound) {
			return r, false, err
		}
	}
	return claimdlq.Record{}, false, nil
}

func ackKey(id *claimdlq.Identity, raw []byte) claimdlq.Key {
	d := id.Digest(raw)
	return id.Key("x12/acks", d[:])
}

func (j *job) seal(raw []byte, known bool) (claimdlq.PayloadRef, error) {
	if known {
		return claimdlq.PayloadRef{}, nil
	}
	ref, err := j.Vault.Stage(phi.Wrap(raw))
	if err != nil {
		return ref, err
	}
	return ref, j.Vault.Sync(j.ctx)
}

// record keeps the file: settled when every answer was matched, else quarantined.
// It comes last, so that a file whose processing was cut short is read again.
func (j *job) record(raw []byte, ref claimdlq.PayloadRef, acks *x12ack.Acks) error {
	id, now := j.ids[0], j.now()
	r := claimdlq.Record{
		Key: ackKey(id, raw), Digest: id.Digest(raw), KeyTerm: id.Term, Format: claimdlq.FormatAck, Scope: claimdlq.ScopeInterchange,
		Stream: "acks", RuleVersion: j.Rules.Version(), Payload: ref, PayloadRevision: 1, CreatedAt: now, UpdatedAt: now,
	}
	if len(acks.Interchanges) > 0 {
		first := acks.Interchanges[0]
		r.InterchangeID = plain(first.ISA13, 9)
		r.Sender = plain(first.Envelope.SenderQualifier+":"+first.Envelope.Sender, 18)
		r.Partner = r.Sender // who must act
	}
	action := claimdlq.ActAcknowledge
	if why, bad := j.trouble(acks); bad {
		action = claimdlq.ActOrphan
		r.State, r.Reason, r.Class, r.Detail = claimdlq.StateQuarantined, why.Reason, why.Class, why.Detail
		r.FirstFailedAt, r.RefusedRevision = now, 1
		dlqlog.Alarm(j.ctx, j.Log, dlqlog.AlarmOrphan, r)
	} else {
		r.State, r.Disposition = claimdlq.StateSettled, claimdlq.Processed
	}
	e := j.entry(action, claimdlq.Record{}, r)
	e.Record = store.ParentIndex(0)
	receipt, err := j.Store.Commit(j.ctx, store.Batch{Insert: []claimdlq.Record{r}, Entries: []claimdlq.Entry{e}})
	if err == nil {
		j.result.Record = receipt.Inserted[0].ID
	}
	return err
}

// again closes the record of a file whose orphans have all been matched since.
func (j *job) again(old claimdlq.Record, acks *x12ack.Acks) error {
	j.result.Record = old.ID
	if _, bad := j.trouble(acks); bad {
		j.result.Duplicate = true
		return nil
	}
	return retried(func() error {
		r, err := j.Store.Get(j.ctx, old.ID)
		if err != nil || r.State == claimdlq.StateSettled {
			return err
		}
		n, err := r.Settle(claimdlq.Processed, claimdlq.Detail{}, j.now())
		if err != nil {
			return err
		}
		_, err = j.Store.Commit(j.ctx, store.Batch{
			Update: []claimdlq.Record{n}, Entries: []claimdlq.Entry{j.entry(claimdlq.ActAcknowledge, r, n)},
		})
		return err
	})
}

// trouble says why the file cannot be put away as processed.
func (j *job) trouble(acks *x12ack.Acks) (claimdlq.Fault, bool) {
	switch {
	case len(acks.Faults) > 0:
		j.result.Error = "not all of it could be read: " + acks.Faults[0].Detail().String()
		return claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: acks.Faults[0].Detail()}, true
	case j.result.Orphans > 0:
		return claimdlq.Fault{Reason: claimdlq.SemanticReject, Class: claimdlq.Terminal, Detail: j.orphan}, true
	case j.result.Answers == 0:
		j.result.Error = "it holds no acknowledgment"
		return claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: claimdlq.NewDetail("NO_ANSWER")}, true
	}
	return claimdlq.Fault{}, false
}

// plain returns an envelope's text as it may stand in a record.
func plain(s string, limit int) string {
	if len(s) > limit {
		return "INVALID"
	}
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || c == '|' {
			return "INVALID"
		}
	}
	return s
}
