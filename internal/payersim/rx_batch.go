package payersim

import (
	"bytes"
	"errors"
	"io"

	"claimdlq/wire/ncpdp"
)

// AdjudicateBatch answers a batch file with one of responses, under the batch's
// own number and each detail's own reference. A file whose integrity fails, or
// whose number came before, is answered with an error file, and nothing of it is
// looked at. A detail that is no request has no answer. The error is that of a
// full or broken memory; what was taken before it stays.
func (p *Payer) AdjudicateBatch(b []byte) ([]byte, error) {
	header, problem := inspect(b)
	if header == nil {
		return nil, errNoRequest
	}
	problem, err := p.newBatch(header, problem)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	h := ncpdp.BatchHeader{
		Type: 'R', Sender: header.Receiver, Receiver: header.Sender, Number: header.Number,
		FileType: header.FileType, Version: "12",
	}
	now := p.o.Now().UTC()
	h.Date, h.Time = now.Format("20060102"), now.Format("1504")
	if problem != "" {
		h.Type = 'E'
	}
	w, err := ncpdp.NewBatchWriter(&out, h)
	if err != nil {
		return nil, errNoRequest
	}
	if problem == "" {
		if err := p.details(b, w); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.Close(), p.durable()); err != nil {
		return nil, err
	}
	if problem != "" { // 504-F4 of the trailer is the last thing before its ETX
		copy(out.Bytes()[out.Len()-36:], problem)
	}
	return out.Bytes(), nil
}

// inspect reads a batch through and returns its header, if it has a readable one,
// and what is wrong with the file.
func inspect(b []byte) (header *ncpdp.BatchHeader, problem string) {
	r := ncpdp.NewBatchReader(bytes.NewReader(b), ncpdp.BatchOptions{})
	for {
		rec, err := r.Next()
		if err != nil {
			return header, problem
		}
		var faults []ncpdp.Fault
		switch rec := rec.(type) {
		case *ncpdp.BatchStart:
			faults = rec.Faults
			if len(faults) == 0 && rec.Header.Type == 'T' {
				h := rec.Header
				header = &h
			}
		case *ncpdp.BatchDetail:
			faults = rec.Faults
		case *ncpdp.BatchEnd:
			faults = rec.Faults
		case *ncpdp.BatchJunk:
			faults = rec.Faults
		}
		if len(faults) > 0 && problem == "" {
			problem = "FILE INTEGRITY"
		}
	}
}

// newBatch counts a batch and remembers its number. It returns what is wrong with the
// file: that which was found, or that the number came before and the script wants
// that checked.
func (p *Payer) newBatch(h *ncpdp.BatchHeader, problem string) (string, error) {
	m, check := p.pharmacy, !p.currentScript().anyBatch
	id := h.Sender + separator + h.Number
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stats.Batches++
	if problem == "" && m.batches[id] && check {
		problem = "BATCH NUMBER SENT BEFORE"
	}
	if problem != "" {
		m.stats.RejectedBatches++
		return problem, m.broken
	}
	if len(m.batches) >= p.o.MaxClaims {
		return "", errFull
	}
	if m.broken == nil && !m.batches[id] {
		m.batches[id] = true
		m.end, m.broken = p.journal.add(rxLine{Batch: id})
	}
	return "", m.broken
}

// details answers every detail.
func (p *Payer) details(b []byte, w *ncpdp.BatchWriter) error {
	desk := newDesk()
	defer desk.leave()
	r := ncpdp.NewBatchReader(bytes.NewReader(b), ncpdp.BatchOptions{})
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		d, ok := rec.(*ncpdp.BatchDetail)
		if !ok {
			continue
		}
		answer, err := p.transmission(desk, d.Message)
		switch {
		case errors.Is(err, errNoRequest):
		case err != nil:
			return err
		default:
			if err := w.Add(string(d.Ref), answer); err != nil {
				return err
			}
		}
	}
}
