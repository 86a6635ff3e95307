package settle

import (
	"bytes"
	"context"
	"errors"
	"io"

	"claimdlq"
	"claimdlq/flow/dlqlog"
	"claimdlq/flow/envelope"
	"claimdlq/phi"
	"claimdlq/store"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// MaxFile bounds an acknowledgment file: 256 MiB.
const MaxFile = 256 << 20

// Acks reads one file of acknowledgments and does what it says: TA1, 999 and 277CA,
// or pharmacy responses, one, several each between STX and ETX, or a batch of them.
// When it returns without an error, all of that is durable and the source may be
// acknowledged. A file that was read before is a no-op, unless some of its answers
// were orphans: those are tried again. name is for the result only and is not kept.
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

// answers is an acknowledgment file that was read.
type answers struct {
	version        string // of the rules that say what its answers mean
	number, sender string // of its envelope, for the record
	code           string // 103-A3 of a pharmacy response
	fault          claimdlq.Detail
	process        func(raw claimdlq.PayloadRef) error
}

func (j *job) file(r io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(r, MaxFile+1))
	if err != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read acknowledgments", Hint: "give the file again", Err: err}
	}
	if len(raw) > MaxFile {
		return &claimdlq.Error{Code: claimdlq.Refused, Op: "read acknowledgments", On: "more than 256 MiB", Hint: "split the file by interchange"}
	}
	var a *answers
	if isRx(raw) {
		a, err = j.readRx(raw)
	} else {
		a, err = j.readX12(raw)
	}
	if err != nil {
		return err
	}
	old, known, err := j.known(raw)
	if err != nil {
		return err
	}
	if known && old.State != claimdlq.StateQuarantined {
		j.result.Record, j.result.Duplicate = old.ID, true
		_, err := j.Store.Commit(j.ctx, store.Batch{Entries: []claimdlq.Entry{j.entry(claimdlq.ActDuplicate, old, old)}})
		return err
	}
	ref, err := j.seal(raw, old, known)
	if err != nil {
		return err
	}
	if err := a.process(ref); err != nil {
		return err
	}
	if known {
		return j.again(old, a)
	}
	return j.record(raw, ref, a)
}

func (j *job) readX12(raw []byte) (*answers, error) {
	acks, err := x12ack.Read(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	if holdsClaims(raw) {
		return nil, claimsGiven()
	}
	j.result.Interchanges, j.result.Answers = len(acks.Interchanges), len(acks.Answers())
	a := &answers{version: j.Rules.Version(), process: func(claimdlq.PayloadRef) error { return j.process(acks) }}
	if len(acks.Faults) > 0 {
		a.fault = acks.Faults[0].Detail()
	}
	if len(acks.Interchanges) > 0 {
		first := acks.Interchanges[0]
		a.number = plain(first.ISA13, 9)
		a.sender = plain(first.Envelope.SenderQualifier+":"+first.Envelope.Sender, 18)
	}
	return a, nil
}

func claimsGiven() error {
	return &claimdlq.Error{Code: claimdlq.Refused, Op: "read acknowledgments", On: "the file holds claims", Hint: "give it to: claimdlq ingest FILE"}
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

// seal seals the file before anything follows from it, or returns where it is.
func (j *job) seal(raw []byte, old claimdlq.Record, known bool) (claimdlq.PayloadRef, error) {
	if known {
		return old.Payload, nil
	}
	ref, err := j.Vault.Stage(phi.Wrap(raw))
	if err != nil {
		return ref, err
	}
	return ref, j.Vault.Sync(j.ctx)
}

// record keeps the file: settled when every answer was matched, else quarantined.
// It comes last, so that a file whose processing was cut short is read again.
func (j *job) record(raw []byte, ref claimdlq.PayloadRef, a *answers) error {
	id, now := j.ids[0], j.now()
	r := claimdlq.Record{
		Key: ackKey(id, raw), Digest: id.Digest(raw), KeyTerm: id.Term, Format: claimdlq.FormatAck, Scope: claimdlq.ScopeInterchange,
		Stream: claimdlq.StreamAcks, RuleVersion: a.version, Payload: ref, PayloadRevision: 1, CreatedAt: now, UpdatedAt: now,
		InterchangeID: a.number, TransactionID: a.code, Sender: a.sender, Partner: a.sender, // who must act
	}
	if a.code != "" { // a pharmacy response has no number
		r.InterchangeID = r.Key.String()[:9]
	}
	action := claimdlq.ActAcknowledge
	if why, bad := j.trouble(a); bad {
		action = claimdlq.ActOrphan
		r.State, r.Reason, r.Class, r.Detail = claimdlq.StateQuarantined, why.Reason, why.Class, why.Detail
		r.FirstFailedAt, r.RefusedRevision = now, 1
		l := j.Log
		if a.version == envelope.RxRules {
			l = j.RxLog
		}
		dlqlog.Alarm(j.ctx, l, dlqlog.AlarmOrphan, r)
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
func (j *job) again(old claimdlq.Record, a *answers) error {
	j.result.Record = old.ID
	if _, bad := j.trouble(a); bad {
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
func (j *job) trouble(a *answers) (claimdlq.Fault, bool) {
	switch {
	case !a.fault.IsZero():
		j.result.Error = "not all of it could be read: " + a.fault.String()
		return claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: a.fault}, true
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
