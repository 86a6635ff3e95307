package ncpdp_test

import (
	"testing"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/wire/ncpdp"
)

// judgeOne is the work on one claim on its way through: the request is cut and
// keyed, its answer cut, correlated and classified.
func judgeOne(id *claimdlq.Identity, req, res *ncpdp.Message, request, response []byte, reply *ncpdp.Reply) (claimdlq.Key, classify.NCPDPResult) {
	req.Reset(request)
	c, fault := req.Claim(1)
	if fault != nil {
		return claimdlq.Key{}, classify.NCPDPResult{}
	}
	key := c.Key(id, 0)
	res.Reset(response)
	*reply = res.Reply(1, reply)
	return key, classify.NCPDP(classify.NCPDPAnswer{
		Code: c.Code, Header: reply.Header, Found: reply.Found, Status: reply.Status,
		Rejects: reply.Rejects, Texts: reply.Texts, BIN: c.BIN, PCN: c.PCN,
		Mismatch: string(ncpdp.Correlate(req, res, 1)),
	})
}

func TestOneClaim_AtMostTwoAllocations(t *testing.T) {
	req, res, reply := ncpdp.Parse(nil), ncpdp.Parse(nil), ncpdp.Reply{}
	id := claimdlq.NewIdentity(1, make([]byte, 32))
	for name, response := range map[string][]byte{"paid": paidAnswer, "rejected": rejectedAnswer} {
		judgeOne(id, req, res, basicB1, response, &reply)
		if n := testing.AllocsPerRun(100, func() { judgeOne(id, req, res, basicB1, response, &reply) }); n > 2 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkOneClaim(b *testing.B) {
	for name, response := range map[string][]byte{"paid": paidAnswer, "rejected": rejectedAnswer} {
		b.Run(name, func(b *testing.B) {
			req, res, reply := ncpdp.Parse(nil), ncpdp.Parse(nil), ncpdp.Reply{}
			id := claimdlq.NewIdentity(1, make([]byte, 32))
			b.SetBytes(int64(len(basicB1)))
			b.ReportAllocs()
			for b.Loop() {
				if _, r := judgeOne(id, req, res, basicB1, response, &reply); r.Class == classify.NCPDPNone {
					b.Fatal("not judged")
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	m := ncpdp.Parse(nil)
	b.SetBytes(int64(len(basicB1)))
	b.ReportAllocs()
	for b.Loop() {
		m.Reset(basicB1)
	}
}

func TestValidate_AGoodMessageAllocatesNothing(t *testing.T) {
	faults := make([]ncpdp.Fault, 0, 4)
	for name, b := range map[string][]byte{"request": basicB1, "answer": paidAnswer} {
		m := ncpdp.Parse(b)
		if n := testing.AllocsPerRun(100, func() { faults = m.ValidateInto(faults[:0]) }); n > 0 || !ncpdp.OK(faults) {
			t.Errorf("%s: %v allocations, %v", name, n, faults)
		}
	}
}

func TestValidateInto_AddsToWhatIsThere(t *testing.T) {
	t.Parallel()
	first := ncpdp.Fault{Code: ncpdp.CodeEmpty}
	for _, b := range [][]byte{basicB1, nil, basicB1[:70]} {
		m := ncpdp.Parse(b)
		got := m.ValidateInto([]ncpdp.Fault{first})
		if want := m.Validate(); len(got) != len(want)+1 || got[0] != first {
			t.Errorf("%d faults, want %d more than one", len(got), len(want))
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	m := ncpdp.Parse(basicB1)
	var faults []ncpdp.Fault
	b.ReportAllocs()
	for b.Loop() {
		faults = m.ValidateInto(faults[:0])
	}
}
