package e2e_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"claimdlq/internal/testclaims"
)

// ingested is one line of `ingest --json`.
type ingested struct {
	File                                                 string
	Interchanges                                         int
	TransactionSets                                      int `json:"transaction_sets"`
	Claims, Accepted, Quarantined, Duplicates, Conflicts int
	Error                                                string
}

func (w *world) ingest(path string, flags ...string) (r ingested) {
	w.t.Helper()
	w.into(&r, append([]string{"ingest", path}, flags...)...)
	return r
}

func want(t *testing.T, what string, got, want int) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %d, want %d", what, got, want)
	}
}

// TestAccept_FiveThousandClaimsThreeBad: one set of 5,000 claims with three bad:
// 4,997 go out, three are held, nothing goes out twice.
func TestAccept_FiveThousandClaimsThreeBad(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "answer box")
	r := w.ingest(w.claims("big.x12", testclaims.Options{Seed: 1, Claims: 5000, ClaimsPerSet: 5000, Faults: []testclaims.Fault{{Name: "missing-hi", At: []int{1, 2500, 5000}}}}))
	want(t, "claims", r.Claims, 5000)
	want(t, "accepted", r.Accepted, 4997)
	want(t, "quarantined", r.Quarantined, 3)
	want(t, "at the payer", len(w.payer.Accepted()), 4997)
	w.do(0, "acks", w.box())
	f := w.figures()
	want(t, "settled", int(f.Claims["settled"]), 4997)
	want(t, "held", int(f.Claims["quarantined"]), 3)
	w.once("5,000 claims")
	w.sound("5,000 claims")
}

// TestAccept_RedeliveryAndConflict: the same file again changes nothing; another
// file under the same numbers is kept, parked, and not sent.
func TestAccept_RedeliveryAndConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "answer box")
	path := w.claims("a.x12", testclaims.Options{Seed: 1, Claims: 6, ClaimsPerSet: 3})
	want(t, "accepted", w.ingest(path).Accepted, 6)
	again := w.ingest(path)
	want(t, "duplicates", again.Duplicates, 6)
	want(t, "accepted again", again.Accepted, 0)
	changed := w.ingest(w.claims("b.x12", testclaims.Options{Seed: 2, Claims: 6, ClaimsPerSet: 3, FirstClaim: 50}))
	want(t, "conflicts", changed.Conflicts, 6)
	want(t, "parked", int(w.figures().Claims["parked"]), 6)
	want(t, "conflicts again", w.ingest(filepath.Join(w.dir, "b.x12")).Duplicates, 6)
	want(t, "at the payer", len(w.payer.Accepted()), 6)
	w.once("redelivery")
	w.sound("redelivery")
}

// TestAccept_SameNumbersOfTwoSenders: ISA13 and ST02 alone identify nothing.
func TestAccept_SameNumbersOfTwoSenders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "answer box")
	want(t, "first", w.ingest(w.claims("a.x12", testclaims.Options{Seed: 1, Claims: 2, Sender: "TESTSENDERA"})).Accepted, 2)
	want(t, "second", w.ingest(w.claims("b.x12", testclaims.Options{Seed: 2, Claims: 2, Sender: "TESTSENDERB", FirstClaim: 10})).Accepted, 2)
	want(t, "at the payer", len(w.payer.Accepted()), 4)
	if r := w.run(nil, "show", "000000001:0001"); r.code != 2 || !strings.Contains(r.stdout+r.stderr, "TESTSENDERB") {
		t.Errorf("a display key of two records must list both: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
}

// TestAccept_TwoGroupsSameST02: ST02 is unique only inside its group.
func TestAccept_TwoGroupsSameST02(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "answer box")
	r := w.ingest(w.claims("a.x12", testclaims.Options{Seed: 1, Claims: 4, ClaimsPerSet: 2, SetsPerGroup: 1, GroupsPerInterchange: 2}))
	want(t, "accepted", r.Accepted, 4)
	w.do(0, "acks", w.box())
	want(t, "settled", int(w.figures().Claims["settled"]), 4)
}

// TestAccept_CorrectedWronglyThreeTimesParks: the cap counts over corrections;
// after un-parking, a right correction settles it.
func TestAccept_CorrectedWronglyThreeTimesParks(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "answer box\nclaim cpt=99999 stc A7:507")
	w.ingest(w.claims("a.x12", testclaims.Options{Seed: 1, Claims: 3, ClaimsPerSet: 3, Faults: []testclaims.Fault{{Name: "missing-hi", At: []int{2}}}}))
	w.do(0, "acks", w.box())
	id := w.held()
	w.do(0, "correct", id, "--insert", "REF[2]=HI*ABK:J069*ABF:E119*ABF:I10", "--set", "SV1[1]-01=HC:99999", "--reason", "wrong on purpose")
	for n := range 3 {
		if n > 0 {
			w.do(0, "correct", id, "--set", "HI01-2=J06"+strconv.Itoa(n), "--reason", "wrong on purpose")
		}
		w.do(0, "replay", id, "--reason", "corrected")
		w.do(0, "acks", w.box())
	}
	w.do(0, "correct", id, "--set", "HI01-2=J069", "--set", "SV1[1]-01=HC:99213", "--reason", "right")
	if r := w.run(nil, "replay", id, "--reason", "a fourth time"); r.code != 6 || !strings.Contains(r.stdout+r.stderr, "parked") {
		t.Fatalf("a fourth replay must park: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	w.do(0, "unpark", id, "--reason", "looked at by a person")
	w.do(0, "replay", id, "--reason", "right now")
	w.do(0, "acks", w.box())
	want(t, "settled", int(w.figures().Claims["settled"]), 3)
	w.once("cap")
	w.sound("cap")
}

// TestAccept_BadInputStopsNothing: whatever is not a claim file gives a clear
// error or is kept, and the files after it are taken in.
func TestAccept_BadInputStopsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "answer box")
	write := func(name string, b []byte) string {
		p := filepath.Join(w.dir, name)
		if err := os.WriteFile(p, b, 0o600); err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := w.claims("good.x12", testclaims.Options{Seed: 1, Claims: 2})
	full, err := os.ReadFile(w.claims("other.x12", testclaims.Options{Seed: 3, Claims: 2, ISA13: 77, GS06: 77, FirstClaim: 70}))
	if err != nil {
		t.Fatal(err)
	}
	utf16 := []byte{0xff, 0xfe}
	for _, c := range full {
		utf16 = append(utf16, c, 0)
	}
	more, err := os.ReadFile(w.claims("more.x12", testclaims.Options{Seed: 4, Claims: 2, ISA13: 78, GS06: 78, FirstClaim: 80}))
	if err != nil {
		t.Fatal(err)
	}
	bad := []string{
		write("empty.x12", nil),
		write("garbage.x12", bytes.Repeat([]byte{0, 1, 2, 0xfe, 0xff}, 1000)),
		write("hl7.x12", []byte("MSH|^~\\&|TEST|TEST|TEST|TEST|202603010930||ADT^A01|1|P|2.5\rPID|1||TEST\r")),
		write("cut.x12", full[:len(full)*2/3]),
		write("utf16.x12", utf16),
		write("huge.x12", bytes.Replace(more, []byte("HI*"), append([]byte("NTE*ADD*"), append(bytes.Repeat([]byte("X"), 3<<20), []byte("~HI*")...)...), 1)),
		w.dir,
		filepath.Join(w.dir, "missing.x12"),
	}
	r := w.run(nil, append(append([]string{"ingest", "--no-deliver"}, bad...), good)...)
	if r.code == 0 || r.code == 1 {
		t.Errorf("exit %d, want the code of the worst failure\n%s", r.code, r.stderr)
	}
	if !strings.Contains(r.stdout, "good.x12: 2 claims in 1 transaction set: 2 accepted") {
		t.Errorf("the good file after the bad ones was not taken in:\n%s%s", r.stdout, r.stderr)
	}
	for _, name := range []string{"missing.x12", filepath.Base(w.dir)} {
		if !strings.Contains(r.stderr, name) {
			t.Errorf("no error names %s:\n%s", name, r.stderr)
		}
	}
	for i, word := range []string{"panic", "goroutine "} {
		if strings.Contains(r.stderr, word) {
			t.Errorf("%d: the program panicked:\n%s", i, r.stderr)
		}
	}
	w.sound("bad input")
}
