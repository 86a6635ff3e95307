package bench

import (
	"context"
	"errors"
	"runtime"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/ncpdp"
)

// rxPool is how many different transmissions a timed loop goes round: more than the
// caches of the processor hold.
const rxPool = 20_000

// rxMessages makes n transmissions of one claim each, from number first on.
func rxMessages(first, n int) ([][]byte, error) {
	g, err := testclaims.NewRx(testclaims.RxOptions{Seed: 511, FirstClaim: first, Claims: n})
	if err != nil {
		return nil, err
	}
	all := make([][]byte, 0, n)
	var room []byte
	for i := range n {
		if cap(room)-len(room) < 1<<10 {
			room = make([]byte, 0, 1<<20)
		}
		from := len(room)
		room = g.Append(room, i+1)
		all = append(all, room[from:len(room):len(room)])
	}
	return all, nil
}

// rxCodec times on one core what one claim costs before anything is sealed or sent:
// its request cut, judged and keyed, its answer cut, correlated and classified.
func rxCodec(_ context.Context, o Options, emit func(Result)) error {
	const name = "rx-codec"
	requests, err := rxMessages(1, min(rxPool, o.Records))
	if err != nil {
		return err
	}
	payer, err := payersim.New(payersim.Options{Now: time.Now})
	if err != nil {
		return err
	}
	defer func() { _ = payer.Close() }()
	answers := make([][]byte, len(requests))
	for i, b := range requests {
		answers[i] = payer.Adjudicate(b)
	}
	if err := probe(o, name, emit); err != nil {
		return err
	}
	id := claimdlq.NewIdentity(1, make([]byte, 32))
	req, res, reply := ncpdp.Parse(nil), ncpdp.Parse(nil), ncpdp.Reply{}
	var faults []ncpdp.Fault
	for _, part := range []struct {
		name string
		do   func(i int) bool
	}{
		{"tokenise, key, classify", func(i int) bool { return rxOne(id, req, res, &reply, requests[i], answers[i]) }},
		{"judge", func(i int) bool {
			req.Reset(requests[i])
			faults = req.ValidateInto(faults[:0])
			return ncpdp.OK(faults)
		}},
	} {
		n, good := 0, true
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start, used := time.Now(), cpuTime()
		for good && (time.Since(start) < o.For/2 || n == 0) {
			for i := range requests {
				good = good && part.do(i)
			}
			n += len(requests)
		}
		el, cpu := time.Since(start), cpuTime()-used
		runtime.ReadMemStats(&after)
		if !good {
			return errors.New("a good claim was not taken for one")
		}
		emit(Result{name, part.name, float64(n) / el.Seconds(), "per second"})
		emit(Result{name, part.name + ", cpu", float64(cpu.Nanoseconds()) / float64(n) / 1000, "us per claim"})
		emit(Result{name, part.name + ", allocations", float64(after.Mallocs-before.Mallocs) / float64(n), "per claim"})
	}
	return nil
}

// rxOne is the work on one claim and its answer; it reports whether it was paid.
func rxOne(id *claimdlq.Identity, req, res *ncpdp.Message, reply *ncpdp.Reply, request, answer []byte) bool {
	req.Reset(request)
	c, fault := req.Claim(1)
	if fault != nil {
		return false
	}
	if k := c.Key(id, 0); k == (claimdlq.Key{}) {
		return false
	}
	res.Reset(answer)
	*reply = res.Reply(1, reply)
	return classify.NCPDP(classify.NCPDPAnswer{
		Code: c.Code, Header: reply.Header, Found: reply.Found, Status: reply.Status,
		Rejects: reply.Rejects, Texts: reply.Texts, BIN: c.BIN, PCN: c.PCN,
		Mismatch: string(ncpdp.Correlate(req, res, 1)),
	}).Class == classify.NCPDPSettled
}
