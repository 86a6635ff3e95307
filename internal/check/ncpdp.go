package check

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"claimdlq/classify"
	"claimdlq/wire/ncpdp"
)

// NCPDP is what check says of a file in the NCPDP Telecommunication or Batch
// standard. Its JSON is a contract. A null is something that the file does not
// have or that could not be read.
type NCPDP struct {
	File            string  `json:"file"`
	Format          string  `json:"format"` // ncpdp
	Kind            string  `json:"kind"`   // request, response, batch or unknown
	Version         *string `json:"version"`
	TransactionCode *string `json:"transaction_code"`
	// Count is 109-A9; in a batch, the number of details.
	Count *int `json:"count"`
	// Verdict is OK for a request that can be sent, ROUTE_F6 for one that is not
	// decoded, and for an answer the class of its transactions, or PER_TRANSACTION
	// where they differ.
	Verdict      string             `json:"verdict"`
	Transactions []NCPDPTransaction `json:"transactions"` // empty where they are not decoded
	// Error is the code of the first fault.
	Error  *string      `json:"error"`
	Faults []NCPDPFault `json:"faults,omitempty"`
	// Hint says how the message probably came to be broken.
	Hint string `json:"hint,omitempty"`
	// Omitted counts transactions of a batch beyond the first 100,000.
	Omitted int `json:"omitted_transactions,omitempty"`
}

// NCPDPTransaction is one transaction. What identifies it is [phi] unless it was
// asked for, and null where the transaction has none.
type NCPDPTransaction struct {
	Rx       *string `json:"rx"`       // 402-D2
	Fill     *string `json:"fill"`     // 403-D3
	NDC      *string `json:"ndc"`      // 407-D7
	Quantity *string `json:"quantity"` // 442-E7, with its decimals
	Class    string  `json:"class"`
	// Ambiguous: the payer may have acted although it did not say so.
	Ambiguous bool     `json:"ambiguous"`
	Rejects   []string `json:"rejects"` // 511-FB in normal form
}

// NCPDPFault is one finding, without any value. Severity is error or note.
type NCPDPFault struct {
	Code        string `json:"code"`
	Detail      int    `json:"detail,omitempty"` // of a batch, from 1
	Offset      int    `json:"offset"`           // in the message
	Transaction int    `json:"transaction,omitempty"`
	Segment     string `json:"segment,omitempty"`
	Field       string `json:"field,omitempty"`
	Severity    string `json:"severity"`
}

// masked stands in the place of what identifies a claim.
const masked = "[phi]"

// Verdicts that are no class of an answer.
const (
	verdictOK      = "OK"
	verdictPoison  = "POISON"
	verdictMixed   = "PER_TRANSACTION"
	verdictRouteF6 = "ROUTE_F6"
)

// isPharmacy reports whether a file is for this part of check: by its first bytes,
// or by its name where they say nothing.
func isPharmacy(path string, head []byte) bool {
	if ncpdp.IsBatch(head) || bytes.Contains(head, []byte("\x1e\x1cAM")) || bytes.Contains(head, []byte("\x1e\x1cam")) {
		return true
	}
	if ncpdp.Begins(head) {
		return true
	}
	return strings.EqualFold(filepath.Ext(path), ".ncpdp")
}

// isAnswer reports whether a file is an answer to something that was sent: the
// caller says so, or its name does.
func isAnswer(path string, o Options) bool {
	name := strings.ToLower(filepath.Base(path))
	return o.Answer || strings.HasPrefix(name, "res_") || strings.HasPrefix(name, "response") ||
		strings.HasSuffix(name, ".rsp") || strings.HasSuffix(name, ".res")
}

// pharmacy judges the file if it is one for it; nil, with nothing read, if it is
// not.
func pharmacy(ctx context.Context, path string, in *bufio.Reader, o Options) (*NCPDP, error) {
	head, err := in.Peek(headSize)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, unavailable(err)
	}
	if !isPharmacy(path, head) {
		return nil, nil //nolint:nilnil // no pharmacy file is neither a report nor an error
	}
	r := &NCPDP{File: path, Format: "ncpdp", Transactions: []NCPDPTransaction{}}
	j := &pharmacist{o: o, answer: isAnswer(path, o), r: r}
	if ncpdp.IsBatch(head) {
		return r, j.batch(ctx, in)
	}
	b, err := io.ReadAll(io.LimitReader(in, ncpdp.MaxMessage+1))
	if err != nil {
		return nil, unavailable(err)
	}
	if o.Progress != nil {
		o.Progress(int64(len(b)))
	}
	m := ncpdp.Parse(b)
	if m.Kind() == ncpdp.KindResponse {
		if j.sent, err = sentRequest(o.Sent, m); err != nil {
			return nil, err
		}
	}
	j.head(m)
	r.Verdict = j.message(m, 0)
	return r, nil
}

// sentRequest returns the pharmacy request among the named files that the response
// answers; if none does by its header, the last request, so that the contradiction
// is seen; nil if there is no request among them.
func sentRequest(paths []string, response *ncpdp.Message) (last *ncpdp.Message, err error) {
	for _, path := range paths {
		b, err := readSmall(path)
		if err != nil {
			return nil, err
		}
		m := ncpdp.Parse(b)
		if m.Kind() != ncpdp.KindRequest || m.Err() != nil {
			continue
		}
		last = m
		if ncpdp.Correlate(m, response, 1) == "" {
			return m, nil
		}
	}
	return last, nil
}

// readSmall reads a file that may be a message; nothing of a folder.
func readSmall(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, unavailable(err)
	}
	if st.IsDir() {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, unavailable(err)
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, ncpdp.MaxMessage+1))
	if err != nil {
		return nil, unavailable(err)
	}
	return b, nil
}

// OK reports whether the file can be sent as it is, or is an answer that settles
// what it answers or waits for another.
func (r *NCPDP) OK() bool {
	if r.Verdict == verdictMixed {
		for _, t := range r.Transactions {
			if !good(t.Class) {
				return false
			}
		}
		return true
	}
	return good(r.Verdict)
}

func good(class string) bool {
	switch class {
	case verdictOK, verdictRouteF6, classify.NCPDPSettled.String(), classify.NCPDPAlreadyPaid.String(),
		classify.NCPDPAlreadyReversed.String(), classify.NCPDPNothingToReverse.String(),
		classify.NCPDPCaptured.String(), classify.NCPDPDeferred.String():
		return true
	}
	return false
}
