package payersim_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"sync/atomic"
	"testing"

	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
)

func TestDeliveries_CountsWhateverTheClaimWasTold(t *testing.T) {
	t.Parallel()
	p := open(t, payersim.Options{
		Now: newClock().now, CountDeliveries: true,
		Script: script(t, "claim rx=2 reject 92\nrequest 4 status 503\ntransmission 3 reject 99"),
	})
	one, two := oneRx(t, "B1", 1), oneRx(t, "B1", 2)
	four := rx(t, testclaims.RxOptions{Claims: 4, TransactionsPer: 4})[0]
	for _, b := range [][]byte{one, two, two, one, four} { // the third is refused whole, the fourth by a 503
		postRx(t, p, b)
	}
	p.Adjudicate(one)
	want := map[string]int{"1": 4, "2": 3, "3": 1, "4": 1}
	got := map[string]int{}
	for _, d := range p.Deliveries() {
		if d.Code != "B1" || d.Pharmacy == "" || d.Fill == "" {
			t.Errorf("%+v", d)
		}
		got[d.Rx] = d.Count
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	var shown []payersim.Delivered
	err := json.Unmarshal(do(t, p, http.MethodGet, "/v1/deliveries", "").Body.Bytes(), &shown)
	if err != nil || !reflect.DeepEqual(shown, p.Deliveries()) {
		t.Errorf("over HTTP: %v, %v", shown, err)
	}
}

func TestDeliveries_AreKeptOnlyIfTheyAreWanted(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	p.Adjudicate(oneRx(t, "B1", 1))
	if got := p.Deliveries(); len(got) != 0 {
		t.Errorf("%v", got)
	}
}

// One in twenty is taken and its answer lost, the same ones for a seed; sent again,
// each says that it was paid before.
func TestHTTP_DropsAShareOfWhatItTookBySeed(t *testing.T) {
	t.Parallel()
	const n = 2000
	lost := func(seed string) (out []int) {
		p := open(t, payersim.Options{Now: newClock().now, Script: script(t, "request 5% drop\nseed "+seed)})
		for i, b := range rx(t, testclaims.RxOptions{Claims: n}) {
			if dropped(t, p, b) {
				out = append(out, i)
			}
		}
		if s := p.Stats(); s.Pharmacy.Paid != n || s.Pharmacy.DoublePaid != 0 || s.Unanswered != len(out) {
			t.Errorf("stats %+v", s)
		}
		return out
	}
	first := lost("7")
	if len(first) < n*3/100 || len(first) > n*7/100 {
		t.Errorf("%d of %d were dropped", len(first), n)
	}
	if again := lost("7"); !reflect.DeepEqual(first, again) {
		t.Error("the same seed drops others")
	}
	if other := lost("8"); reflect.DeepEqual(first, other) {
		t.Error("another seed drops the same")
	}
}

// dropped posts and reports whether the connection broke instead of an answer.
func dropped(t *testing.T, p http.Handler, b []byte) (broke bool) {
	t.Helper()
	defer func() {
		if err, ok := recover().(error); ok {
			broke = errors.Is(err, http.ErrAbortHandler)
		}
	}()
	postRx(t, p, b)
	return false
}

// BenchmarkHTTP is the payer and its sender on one machine: what the sender costs is
// in the figure.
func BenchmarkHTTP(b *testing.B) {
	p, err := payersim.New(payersim.Options{Now: newClock().now})
	if err != nil {
		b.Fatal(err)
	}
	srv := httptest.NewServer(p)
	defer srv.Close()
	g, err := testclaims.NewRx(testclaims.RxOptions{Claims: 1 << 40})
	if err != nil {
		b.Fatal(err)
	}
	all := make([][]byte, 10_000)
	for n := range all {
		all[n] = g.Append(nil, n+1)
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	var next atomic.Int64
	b.SetParallelism(16)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			body := bytes.NewReader(all[int(next.Add(1))%len(all)])
			res, err := client.Post(srv.URL+"/v1/ncpdp", payersim.MediaType, body)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, res.Body)
			_ = res.Body.Close()
		}
	})
}
