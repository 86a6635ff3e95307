package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/testclaims"
	"claimdlq/phi"
	"claimdlq/target"
	"claimdlq/wire/ncpdp"
)

// perPartner is how many claims go to one partner. Each failing claim is delivered five
// times, and a partner's breaker looks at 1,024 deliveries: it stays closed, as the peers
// have none.
const perPartner = 200

// pharmacyClaims makes n transmissions of one claim each. Claim i has the prescription
// number i+1: there are no partial fills, of which two have the same.
func pharmacyClaims(n int) ([]phi.Bytes, error) {
	claims := make([]phi.Bytes, 0, n)
	for len(claims) < n {
		g, err := testclaims.NewRx(testclaims.RxOptions{
			Claims: perPartner, FirstClaim: len(claims) + 1, Pharmacies: 20, PartialEvery: -1, PCN: fmt.Sprintf("TEST%06d", len(claims)/perPartner),
		})
		if err != nil {
			return nil, err
		}
		for i := range min(perPartner, n-len(claims)) {
			claims = append(claims, phi.Wrap(g.Append(nil, i+1)))
		}
	}
	return claims, nil
}

// pharmacyPayer is a payer in the worker's own process. It reads the request, for it has
// to answer it in the standard's form, and judges nothing.
type pharmacyPayer struct {
	payer atomic.Pointer[payer]
	down  atomic.Bool // refuses every delivery with 503
	bad   atomic.Pointer[error]
}

var requests = sync.Pool{New: func() any { return ncpdp.Parse(nil) }}

// Name implements target.Target.
func (*pharmacyPayer) Name() string { return "bench" }

// Inquire implements target.Target.
func (*pharmacyPayer) Inquire(context.Context, target.Parcel) (claimdlq.Outcome, bool) {
	return claimdlq.Outcome{}, false
}

// Deliver implements target.Target.
func (t *pharmacyPayer) Deliver(_ context.Context, p target.Parcel) target.Delivery {
	answer, err := t.answer(p)
	if err != nil {
		t.bad.CompareAndSwap(nil, &err)
	}
	if err != nil || t.down.Load() {
		return target.Delivery{Outcome: classify.HTTP(http.StatusServiceUnavailable, "", time.Time{})}
	}
	return target.Delivery{Outcome: classify.HTTP(http.StatusOK, "", time.Time{}), Answer: phi.Wrap(answer)}
}

func (t *pharmacyPayer) answer(p target.Parcel) ([]byte, error) {
	r, err := p.Content()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	raw := make([]byte, p.Size)
	if _, err := io.ReadFull(r, raw); err != nil {
		return nil, err
	}
	m, _ := requests.Get().(*ncpdp.Message)
	defer requests.Put(m)
	m.Reset(raw)
	rx, err := strconv.ParseUint(string(bytes.TrimSpace(m.RxOf(1))), 10, 63)
	if err != nil {
		return nil, fmt.Errorf("a request without a number")
	}
	if err := t.payer.Load().count(rx - 1); err != nil || t.down.Load() {
		return nil, err
	}
	return ncpdp.BuildResponse(m, 'A', "", []ncpdp.Verdict{{
		Status: "P", Auth: "BENCH", Amounts: []ncpdp.FieldAmount{{ID: "F5", Units: 0}, {ID: "F6", Units: 1000}, {ID: "F9", Units: 1000}},
	}})
}
