package api_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/auth"
	"claimdlq/store"
)

// benchRows is how many records there are: set API_ROWS, such as to 1000000.
func benchRows() int {
	if n, err := strconv.Atoi(os.Getenv("API_ROWS")); err == nil && n > 0 {
		return n
	}
	return 20_000
}

// fill puts records into quarantine: 40 partners, 6 reasons, 153 details.
func (w *world) fill(n int) {
	w.t.Helper()
	epoch := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for i := 0; i < n; i += 2000 {
		var b store.Batch
		for j := i; j < min(n, i+2000); j++ {
			at := epoch.Add(time.Duration(j) * time.Millisecond)
			r := claimdlq.Record{
				KeyTerm: 1, Format: claimdlq.Format837P, InterchangeID: fmt.Sprintf("%09d", j), GroupID: "1", TransactionID: "0001",
				Sender: "ZZ:TESTSENDER", Partner: fmt.Sprintf("ZZ:TESTPAYER%02d", j%40), Stream: claimdlq.StreamX12, Usage: "T",
				State: claimdlq.StateQuarantined, Reason: claimdlq.Reasons[j%len(claimdlq.Reasons)], Class: claimdlq.Terminal,
				Detail: claimdlq.NewDetail(fmt.Sprintf("IK4:SV1%02d:%d", j%17, j%9)), RuleVersion: fmt.Sprintf("v%d", j%2),
				Payload: claimdlq.PayloadRef{Unit: fmt.Sprintf("testunit%024d", j), Length: 2500}, PayloadRevision: 1, RefusedRevision: 1,
				Claims: 1, AmountCents: int64(j % 100_000), CreatedAt: at, FirstFailedAt: at, UpdatedAt: at,
			}
			x := uint64(j+1) * 0x9e3779b97f4a7c15
			binary.LittleEndian.PutUint64(r.Key[:], x^x>>29)
			binary.LittleEndian.PutUint64(r.Key[8:], uint64(j))
			b.Insert = append(b.Insert, r)
			b.Entries = append(b.Entries, claimdlq.Entry{At: at, Actor: "system:intake", Action: claimdlq.ActEnqueue, Record: store.ParentIndex(len(b.Insert) - 1)})
		}
		if _, err := w.app.Store.Commit(w.t.Context(), b); err != nil {
			w.t.Fatal(err)
		}
	}
}

// BenchmarkHTTP measures what a console asks for most, over HTTP on this machine.
func BenchmarkHTTP(b *testing.B) {
	w := setup(b)
	w.user("vera", everyone, auth.Viewer)
	w.user("lara", []string{"ZZ:TESTPAYER07"}, auth.Viewer)
	w.user("ada", everyone, auth.Admin)
	w.fill(benchRows())
	for name, c := range map[string]call{
		"List":         {as: "vera", path: "/v1/records?state=quarantined"},
		"ListFiltered": {as: "vera", path: "/v1/records?state=quarantined&reason=SEMANTIC_REJECT&partner=ZZ:TESTPAYER07&older_than=1h"},
		"ListOfOne":    {as: "lara", path: "/v1/records?state=quarantined"},
		"ListScanned":  {as: "vera", path: "/v1/records?rule_version=NONE"},
		"ListByAmount": {as: "vera", path: "/v1/records?amount_min_cents=99990&amount_max_cents=99991"},
		"ListByKey":    {as: "vera", path: "/v1/records?key=000000017:0001"},
		"Partners":     {as: "vera", path: "/v1/partners"},
		"Faults":       {as: "vera", path: "/v1/records/1/faults"},
		"Groups":       {as: "vera", path: "/v1/groups"},
		"GroupsByRule": {as: "vera", path: "/v1/groups?rule_version=v1&partner=ZZ:TESTPAYER07"},
		"GroupsOlder":  {as: "vera", path: "/v1/groups?older_than=1h"},
		"Overview":     {as: "vera", path: "/v1/overview"},
		"Record":       {as: "vera", path: "/v1/records/" + strconv.Itoa(benchRows())},
		"RecordOldest": {as: "vera", path: "/v1/records/1"},
		"Audit":        {as: "ada", path: "/v1/audit"},
	} {
		b.Run(name, func(b *testing.B) {
			c.method = http.MethodGet
			var took []time.Duration
			for b.Loop() {
				req := w.request(c)
				at := time.Now()
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK {
					b.Fatal(resp.Status, err)
				}
				_ = resp.Body.Close()
				took = append(took, time.Since(at))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}
