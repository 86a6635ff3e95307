package payersim_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"claimdlq/classify"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/ncpdp"
)

// fixtures finds the folder of shared pharmacy cases above this one.
func fixtures(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		found := filepath.Join(dir, "shared", "fixtures", "ncpdp", "files")
		if _, err := os.Stat(found); err == nil {
			return found
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	t.Skip("the shared fixtures are not here")
	return ""
}

func TestAdjudicate_TakesTheGoodCasesAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := fixtures(t)
	names, err := filepath.Glob(filepath.Join(dir, "*.ncpdp"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d cases, %v", len(names), err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p := newPayer(t, "")
		answer, base := p.Adjudicate(b), filepath.Base(name)
		s := p.Stats().Pharmacy
		m := ncpdp.Parse(b)
		switch {
		case base == "res_request_echoed.ncpdp": // a request, and a good one
		case !strings.HasPrefix(base, "req_"), m.Version() == ncpdp.VersionF6:
			if s.Paid+s.Captured > 0 {
				t.Errorf("%s: it was paid", base)
			}
		case strings.HasPrefix(base, "req_b2"), strings.HasPrefix(base, "req_b3"):
			if s.Rejected != 1 { // there is nothing to take back
				t.Errorf("%s: stats %+v", base, s)
			}
		default:
			for i, r := range rxResults(t, b, answer, false) {
				if r.Class != classify.NCPDPSettled {
					t.Errorf("%s: transaction %d is %v (%v)", base, i+1, r.Class, r.Code)
				}
			}
		}
	}
}

// FuzzAdjudicate feeds the payer anything: it never panics, and what it answers is
// a response.
func FuzzAdjudicate(f *testing.F) {
	for _, k := range testclaims.RxCatalog() {
		var b bytes.Buffer
		o := testclaims.RxOptions{Claims: 2, TransactionsPer: 2, Batch: k.Scope == testclaims.InFile, Faults: []testclaims.Fault{{Name: k.Name, At: []int{1}}}}
		if !k.AppliesTo(o) {
			continue
		}
		if _, err := testclaims.GenerateRx(&b, o); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, rules := range []string{"", "guide off\ndedupe off\ntransmission all other D2\nclaim all reject 92 taken"} {
			p := newPayer(t, rules)
			if answer := p.Adjudicate(b); answer != nil && ncpdp.Parse(answer).Kind() != ncpdp.KindResponse {
				t.Fatal("the answer is no response")
			}
			if answer, err := p.AdjudicateBatch(b); err == nil && !ncpdp.IsBatch(answer) {
				t.Fatal("the answer is no batch")
			}
		}
	})
}
