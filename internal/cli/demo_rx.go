package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"claimdlq"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/ncpdp"
)

// demoConfig is a configuration as a newcomer writes it, with waits that suit a
// demonstration. The breaker opens before any claim alone can have spent its budget,
// however slowly the claims come in.
const demoConfig = `data: %s
listen: 127.0.0.1:0
streams:
  ncpdp:
    target: %s/v1/ncpdp
    policy: {base: 100ms, cap: 1s}
    breaker: {consecutive: 3, open: 500ms, max_open: 1s}
`

// server is `claimdlq serve`, running beside the story.
type server struct {
	address string
	cancel  context.CancelFunc
	done    chan int
}

// ready waits in what serve says for the address that it listens at.
type ready struct {
	mu      sync.Mutex
	all     bytes.Buffer
	address chan string
}

var listening = regexp.MustCompile(`claims in at (https?://[^/ ]+)`)

func (r *ready) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all.Len() > 1<<20 { // it is searched for marks later; a bound for a story that goes wrong
		return len(b), nil
	}
	_, _ = r.all.Write(b)
	if m := listening.FindSubmatch(r.all.Bytes()); m != nil && r.address != nil {
		r.address <- string(m[1])
		r.address = nil
	}
	return len(b), nil
}

// pharmacy tells the pharmacy part of the story.
func (d *stage) pharmacy(payer *payersim.Payer) {
	d.script(payer, "")
	srv, said := d.serve()
	if srv == nil {
		return
	}
	d.counter(srv, payer)
	d.breaker(srv, payer)
	d.refused(srv, payer)
	d.unread(srv, payer)
	d.lost(srv, payer)
	srv.cancel()
	d.expect(<-srv.done == exitOK, "serve stops in an orderly way")
	said.mu.Lock()
	defer said.mu.Unlock()
	_, _ = d.said.Write(said.all.Bytes())
}

// serve starts serving the data directory, for pharmacy claims.
func (d *stage) serve() (*server, *ready) {
	d.begin("Pharmacy claims, one by one", "claimdlq serve takes NCPDP claims in over HTTP and hands each to the adjudicator while the patient waits.")
	return d.start("claimdlq.yaml", fmt.Appendf(nil, demoConfig, d.dir, d.payer))
}

// rx returns claims of a day, as they come over the wire.
func (d *stage) rx(first, n int) [][]byte {
	var out [][]byte
	_, err := testclaims.EachRx(d.rxOptions(first, n), func(_ int, b []byte) error {
		out = append(out, bytes.Clone(b))
		return nil
	})
	if err != nil {
		d.expect(false, "pharmacy claims can be generated")
	}
	return out
}

func (d *stage) rxOptions(first, n int) testclaims.RxOptions {
	return testclaims.RxOptions{Seed: uint64(first), Claims: n, FirstClaim: first, Canary: true, Date: d.s.env.Now().UTC().Truncate(24 * time.Hour)}
}

// took is what serve answers for one claim.
type took struct {
	ID     uint64 `json:"id"`
	Key    string `json:"key"`
	Status string `json:"status"`
	State  string `json:"state"`
	Detail string `json:"detail"`
}

// post hands claims in, one request each.
func (d *stage) post(srv *server, claims [][]byte) (out []took) {
	line := fmt.Sprintf("curl --data-binary @claim.ncpdp %s/v1/claims   (%d times)", srv.address, len(claims))
	d.scene.Commands = append(d.scene.Commands, line)
	d.printf("   %s\n", d.paint.dim("$ "+line))
	for _, b := range claims {
		req, err := http.NewRequestWithContext(d.ctx, http.MethodPost, srv.address+"/v1/claims", bytes.NewReader(b))
		if err != nil {
			d.expect(false, "a claim can be posted")
			return out
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			d.expect(false, "a claim is answered")
			return out
		}
		body, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		_, _ = d.said.Write(body)
		var got struct {
			Records []took `json:"records"`
		}
		if json.Unmarshal(body, &got) != nil || resp.StatusCode != http.StatusAccepted {
			d.expect(false, "a claim is taken in: HTTP %d", resp.StatusCode)
			return out
		}
		out = append(out, got.Records...)
	}
	return out
}

// within is how long the story waits for what must come.
const within = 15 * time.Second

// until waits for something to become so.
func (d *stage) until(is func() bool) bool {
	end := d.s.env.Now().Add(within)
	for !is() {
		if d.s.env.Now().After(end) || pause(d.ctx, 20*time.Millisecond) != nil {
			return false
		}
	}
	return true
}

// pause waits for so long, or for ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// settled returns how many claims are settled, without making a show of it.
func (d *stage) settled() (n int64) {
	d.quietly(func() { n = d.figures().Claims[claimdlq.StateSettled.String()] })
	return n
}

// rxIn returns the pharmacy records in a state.
func (d *stage) rxIn(state claimdlq.State) []rec {
	var out struct {
		Records []rec `json:"records"`
	}
	d.quietly(func() { d.run(&out, "list", "--state", state.String(), "--stream", "ncpdp", "--limit", "1000") })
	return out.Records
}

func (d *stage) counter(srv *server, payer *payersim.Payer) {
	before := d.settled()
	d.post(srv, d.rx(1, 20))
	d.expect(d.until(func() bool { return d.settled() == before+20 }), "20 claims are paid")
	again := d.post(srv, d.rx(1, 1))
	d.expect(len(again) == 1 && again[0].Status == "duplicate" && payer.Stats().Pharmacy.Paid == 20, "one of them sent again is recognised: nothing is sent")
}

func (d *stage) breaker(srv *server, payer *payersim.Payer) {
	d.begin("An outage, and the breaker", "The adjudicator answers 503 for longer than any claim's budget lasts. The breaker holds the claims: none is dead-lettered.")
	before := d.settled()
	d.script(payer, "request all status 503")
	d.post(srv, d.rx(101, 40))
	d.expect(d.until(func() bool { return d.breakerOpen(srv) }), "after three failures in a row the breaker is open: an alarm rings on that, not on full queues")
	_ = pause(d.ctx, 3*time.Second) // the whole horizon of a budget: 0.2 + 0.4 + 0.8 + 1 s
	waiting := d.rxIn(claimdlq.StateQueued)
	spent := 0
	for _, r := range waiting {
		spent += r.AttemptCount
	}
	d.expect(len(waiting) == 40 && len(d.rxIn(claimdlq.StateQuarantined)) == 0, "three seconds on, all 40 wait; %d of 200 deliveries are spent, no claim is dead-lettered", spent)
	d.script(payer, "")
	d.expect(d.until(func() bool { return d.settled() == before+40 }), "the adjudicator is back: all 40 are paid")
}

// breakerOpen reads the figure that the alarm looks at.
func (d *stage) breakerOpen(srv *server) bool {
	req, err := http.NewRequestWithContext(d.ctx, http.MethodGet, srv.address+"/metrics", nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return err == nil && strings.Contains(string(b), `claimdlq_breaker_open{partner="999999:TESTPCN",stream="ncpdp"} 1`)
}

func (d *stage) refused(srv *server, payer *payersim.Payer) {
	d.begin("A reject that is final", "Reject 70, not covered. Trying again cannot help: it is settled, with its answer sealed, and neither retried nor dead-lettered.")
	d.script(payer, "claim all reject 70")
	got := d.post(srv, d.rx(201, 1))
	d.expect(len(got) == 1 && d.until(func() bool { return d.record(got[0].ID).State == "settled" }), "it is settled at once")
	if len(got) != 1 {
		return
	}
	r := d.record(got[0].ID)
	d.expect(r.Disposition == "REJECTED" && r.Detail == "FB_70" && r.AttemptCount == 1, "%s by %s, after one delivery", r.Disposition, r.Detail)
	d.script(payer, "")
}

func (d *stage) unread(srv *server, payer *payersim.Payer) {
	d.begin("A claim nobody could read", "A quantity that is none. It is held at first sight, corrected, and paid.")
	claim := d.rx(301, 1)[0]
	broken, err := ncpdp.Edit(claim, 1, []ncpdp.Assignment{{Segment: "07", Field: "E7", Occurrence: 1, Value: []byte("THIRTY")}})
	if err != nil {
		d.expect(false, "a claim can be broken")
		return
	}
	paid := payer.Stats().Pharmacy.Paid
	got := d.post(srv, [][]byte{broken})
	d.expect(len(got) == 1 && got[0].Status == "quarantined" && payer.Stats().Pharmacy.Paid == paid, "it is held, and not sent")
	if len(got) != 1 {
		return
	}
	held := d.record(got[0].ID)
	d.expect(held.Reason == "FATAL_SYNTAX", "the reason: %s %s", held.Reason, held.Detail)
	d.replay(held.Key, claimdlq.NotCorrected)
	d.expect(d.correct(held.Key, "07-E7=30000", "quantity asked at the pharmacy") == exitOK, "the correction is accepted by the rules")
	d.replay(held.Key, claimdlq.Replayed)
	d.expect(d.until(func() bool { return d.record(held.ID).Disposition == "PAID" }), "it is paid")
	d.replay(held.Key, claimdlq.DuplicateSuppressed)
}

func (d *stage) lost(srv *server, payer *payersim.Payer) {
	d.begin("Paid, and nobody heard", "The adjudicator pays five claims and the connection breaks. The identical claim is the inquiry: it answers that it was paid.")
	before, paid := d.settled(), payer.Stats().Pharmacy.Paid
	d.script(payer, "request all drop")
	got := d.post(srv, d.rx(401, 5))
	d.expect(d.until(func() bool { return payer.Stats().Pharmacy.Paid == paid+5 }), "the adjudicator has paid them")
	d.script(payer, "")
	d.expect(d.until(func() bool { return d.settled() == before+5 }), "they are settled")
	recovered := 0
	for _, g := range got {
		if d.record(g.ID).Disposition == "DUPLICATE_OF_PAID" {
			recovered++
		}
	}
	d.expect(recovered == 5 && payer.Stats().Pharmacy.DoublePaid == 0, "five recovered payments, none paid twice")
}
