package flow_test

import (
	"bytes"
	"errors"
	"testing"

	"pgregory.net/rapid"

	"claimdlq"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/ncpdp"
)

// Answers that were cut, doubled or damaged on the way move a record only to where its
// answer would have moved it, and are kept.
func TestRxAcks_DamagedAnswersMoveNothingElsewhere(t *testing.T) {
	t.Parallel()
	raw := transmission(t, testclaims.RxOptions{TransactionsPer: 2, Claims: 2, PartialEvery: -1}, 1)
	whole := answerTo(t, raw, ncpdp.Verdict{Status: "P", Auth: "T1"}, ncpdp.Verdict{Status: "R", Rejects: []string{"70"}})
	rapid.Check(t, func(rt *rapid.T) {
		l := lateSetup(t, "")
		rs := l.take(raw)
		other := l.take(transmission(t, testclaims.RxOptions{Claims: 9, PartialEvery: -1}, 9))[0]
		l.captured(rs[0].ID)
		l.captured(other.ID)
		b := bytes.Clone(whole)
		for range rapid.IntRange(0, 3).Draw(rt, "damages") {
			at := rapid.IntRange(0, len(b)-1).Draw(rt, "at")
			switch rapid.IntRange(0, 3).Draw(rt, "damage") {
			case 0:
				b = b[:at+1]
			case 1:
				b[at] = rapid.Byte().Draw(rt, "byte")
			case 2:
				b = append(b, b[at:]...)
			case 3:
				b = append([]byte{2}, append(b, 3)...)
			}
		}
		res, err := l.f.Settle.Acks(t.Context(), source, "", bytes.NewReader(b))
		if errors.Is(err, claimdlq.Refused) {
			return // it reads as a request
		}
		if err != nil {
			rt.Fatal(err)
		}
		if kept := l.record(res.Record); kept.State != claimdlq.StateSettled && kept.State != claimdlq.StateQuarantined || res.Orphans > 0 && kept.State != claimdlq.StateQuarantined {
			rt.Fatalf("kept as %s: %+v", kept.State, res)
		}
		if r := l.record(other.ID); r.State != claimdlq.StateSubmitted {
			rt.Fatalf("another's record is %s", r.State)
		}
		l.conserved()
	})
}
