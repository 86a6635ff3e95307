// Package answer reads what a payer answered to a pharmacy transmission: one meaning
// for each transaction, by one rule for the answer that came with the delivery, for
// the late one, and for that of an inquiry. It decides nothing about records.
package answer

import (
	"bytes"

	"claimdlq/classify"
	"claimdlq/wire/ncpdp"
)

// Reader reads answers, one after the other, without new memory for each. The zero
// Reader is usable. It is not safe for concurrent use, and holds what it was given
// last: claims and answers are PHI.
type Reader struct {
	request, response ncpdp.Message
	reply             ncpdp.Reply
	unreadable        bool
	transport         classify.NCPDPResult
}

// Request returns the request as it was read last, to be read into by Reset or by the
// caller; then Answer reads what answers it.
func (r *Reader) Request() *ncpdp.Message { return &r.request }

// Reset reads the exact bytes that were sent and the answer to them, which must not
// change while the Reader is used.
func (r *Reader) Reset(request, answer []byte) {
	r.request.Reset(request)
	r.Answer(answer)
}

// Answer reads another answer to the same request.
func (r *Reader) Answer(answer []byte) {
	r.response.Reset(answer)
	r.unreadable = r.response.Kind() != ncpdp.KindResponse
	if r.unreadable {
		page := ncpdp.IsHTML(answer)
		r.transport = classify.NCPDPTransport(page, page && namesGateway(answer))
	}
}

// Result returns what the answer says of one transaction of the request, from 1.
// afterAmbiguous says that an earlier delivery of it may have arrived. An answer that
// is none says the same of each: a request that came back, or another's answer, is
// suspect.
func (r *Reader) Result(transaction int, rules *classify.NCPDPRules, afterAmbiguous bool) classify.NCPDPResult {
	if r.unreadable && r.response.Kind() != ncpdp.KindRequest {
		return r.transport
	}
	r.reply = r.response.Reply(transaction, &r.reply)
	a := classify.NCPDPAnswer{
		Header: r.reply.Header, Found: r.reply.Found, Status: r.reply.Status,
		Rejects: r.reply.Rejects, Texts: r.reply.Texts,
		BIN: r.request.BIN(), PCN: r.request.PCN(),
		Mismatch:       string(ncpdp.Correlate(&r.request, &r.response, transaction)),
		AfterAmbiguous: afterAmbiguous,
	}
	copy(a.Code[:], r.request.TransactionCode())
	return rules.Classify(a)
}

// Read is Reset and Result of a Reader that is used once.
func Read(request, answer []byte, transaction int, rules *classify.NCPDPRules, afterAmbiguous bool) classify.NCPDPResult {
	var r Reader
	r.Reset(request, answer)
	return r.Result(transaction, rules, afterAmbiguous)
}

// head is how much of a page is looked at.
const head = 512

// namesGateway sees the pages by which a gateway says that it sent the request on and
// got no good answer.
func namesGateway(page []byte) bool {
	page = bytes.ToLower(page[:min(len(page), head)])
	for _, s := range []string{"502", "504", "bad gateway", "gateway time"} {
		if bytes.Contains(page, []byte(s)) {
			return true
		}
	}
	return false
}
