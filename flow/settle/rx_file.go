package settle

import (
	"bytes"
	"errors"
	"io"

	"claimdlq"
	"claimdlq/flow/envelope"
	"claimdlq/wire/ncpdp"
)

const (
	stx = 0x02
	etx = 0x03
)

// rxRange is where a response stands in its file.
type rxRange struct{ from, to int }

// isRx reports whether a file is one of the pharmacy's.
func isRx(raw []byte) bool {
	if ncpdp.IsBatch(raw) {
		return true
	}
	kind, _ := ncpdp.Sense(raw)
	return kind != ncpdp.KindUnknown
}

// readRx cuts a file into responses.
func (j *job) readRx(raw []byte) (*answers, error) {
	a := &answers{version: envelope.RxRules}
	var found []rxRange
	var err error
	if ncpdp.IsBatch(raw) {
		found, err = j.rxBatch(a, raw)
	} else {
		found, err = j.rxFrames(a, raw)
	}
	if err != nil {
		return nil, err
	}
	j.result.Interchanges = len(found)
	a.process = func(ref claimdlq.PayloadRef) error { return j.processRx(a, raw, ref, found) }
	return a, nil
}

// rxFrames finds the responses of a file that is no batch.
func (j *job) rxFrames(a *answers, raw []byte) ([]rxRange, error) {
	if kind, _ := ncpdp.Sense(raw); kind == ncpdp.KindRequest {
		return nil, claimsGiven()
	}
	m := ncpdp.Parse(nil)
	var found []rxRange
	for at := 0; at < len(raw); {
		end := len(raw)
		if raw[at] == stx {
			if n := bytes.IndexByte(raw[at:], etx); n >= 0 {
				end = at + n + 1
			}
		}
		one := raw[at:end]
		if blank := len(bytes.TrimSpace(one)) == 0; !blank {
			m.Reset(one)
			found = append(found, rxRange{at, end})
			j.result.Answers += answersIn(m)
			if a.code == "" {
				a.code = plain(string(m.TransactionCode()), 2)
			}
		}
		for at = end; at < len(raw) && (raw[at] == '\r' || raw[at] == '\n' || raw[at] == ' '); {
			at++
		}
	}
	return found, nil
}

// rxBatch finds the responses of a batch.
func (j *job) rxBatch(a *answers, raw []byte) ([]rxRange, error) {
	in := ncpdp.NewBatchReader(bytes.NewReader(raw), ncpdp.BatchOptions{})
	var found []rxRange
	fault := func(fs []ncpdp.Fault) {
		if f, bad := ncpdp.Worst(fs); bad && a.fault.IsZero() {
			a.fault = f.Detail()
		}
	}
	for {
		rec, err := in.Next()
		if errors.Is(err, io.EOF) {
			return found, nil
		}
		if err != nil {
			return nil, err
		}
		switch e := rec.(type) {
		case *ncpdp.BatchStart:
			if err := j.rxHeader(e); err != nil {
				return nil, err
			}
			a.number, a.sender = plain(e.Header.Number, 9), plain(e.Header.Sender, 24)
			fault(e.Faults)
		case *ncpdp.BatchDetail:
			if !readable(e) {
				fault(e.Faults)
				continue
			}
			at := int(e.Offset) + bytes.Index(e.Raw, e.Message.Raw())
			found = append(found, rxRange{at, at + len(e.Message.Raw())})
			j.result.Answers += answersIn(e.Message)
		case *ncpdp.BatchEnd:
			fault(e.Faults)
		case *ncpdp.BatchJunk:
			if !e.Harmless {
				fault(e.Faults)
			}
		}
	}
}

// rxHeader refuses a batch of claims. A batch of type E refuses one of ours whole: the
// payer has looked at nothing in it.
func (j *job) rxHeader(e *ncpdp.BatchStart) error {
	switch e.Header.Type {
	case 'T':
		return claimsGiven()
	case 'E':
		j.miss(1, "BATCH:REFUSED")
	}
	return nil
}

// readable reports whether the message in a record can be used. Its reference is not
// needed.
func readable(e *ncpdp.BatchDetail) bool {
	return len(e.Faults) == 0 || len(e.Faults) == 1 && e.Faults[0].Code == ncpdp.CodeReference
}

// answersIn returns how many transactions a response answers; 0 where it is none that
// can be read.
func answersIn(m *ncpdp.Message) int {
	if m.Kind() != ncpdp.KindResponse || m.Err() != nil {
		return 0
	}
	return max(1, m.Transactions())
}
