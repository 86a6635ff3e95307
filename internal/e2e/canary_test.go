package e2e_test

import (
	"bytes"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/testclaims"
)

// TestCanary_NoPHILeavesTheVault puts a marker into every PHI field of professional,
// institutional and dental claims, walks them through every command, with every
// fault there is, and searches everything the program printed or wrote (DESIGN
// promise 7). File names given by people hold a marker too.
func TestCanary_NoPHILeavesTheVault(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "answer box\nclaim 3 stc A7:562:85\nclaim 5 stc A3:21")
	var o testclaims.Options
	marks := map[string]bool{}
	for i, f := range []claimdlq.Format{claimdlq.Format837P, claimdlq.Format837I, claimdlq.Format837D} {
		o = testclaims.Options{Seed: uint64(i), Format: f, Claims: 12, ClaimsPerSet: 4, Canary: true, ISA13: uint32(1 + 1000*i), GS06: uint32(1 + 1000*i), FirstClaim: 1 + 100*i}
		for _, m := range testclaims.Marks(o) {
			marks[m] = true
		}
		o.Faults = []testclaims.Fault{{Name: "missing-hi", At: []int{2}}}
		if f == claimdlq.Format837D {
			o.Faults = []testclaims.Fault{{Name: "clm01-missing", At: []int{2}}}
		}
		w.do(0, "ingest", w.claims("ZZCANARYNAME-"+f.String()+".x12", o))
	}
	// Every fault of the catalogue, one file each.
	for i, k := range testclaims.Catalog() {
		o := testclaims.Options{Seed: 99, Claims: 4, ClaimsPerSet: 2, Canary: true, ISA13: uint32(500000 + 10*i), GS06: uint32(500000 + 10*i), FirstClaim: 100000 + 10*i, Faults: []testclaims.Fault{{Name: k.Name, At: []int{1}}}}
		path := w.claims("fault-"+strconv.Itoa(i)+".x12", o)
		w.run(nil, "check", path, "--json", "--ack-out", filepath.Join(w.dir, "our-acks"))
		w.run(nil, "check", path)
		if r := w.run(nil, "ingest", path, "--no-deliver"); r.code > 3 {
			t.Fatalf("ingest of fault %s: exit %d\n%s", k.Name, r.code, r.stderr)
		}
	}
	w.do(0, "acks", w.box())
	for _, r := range w.records("--state", "quarantined") {
		id := strconv.FormatUint(r.ID, 10)
		w.run(nil, "show", id)
		w.run(nil, "show", id, "--json")
		w.run(nil, "correct", id, "--set", "HI01=ABK:J069", "--reason", "test")
		w.run(nil, "correct", id, "--insert", "REF[2]=HI*ABK:J069*ABF:E119*ABF:I10", "--reason", "test")
		w.run(nil, "correct", id, "--insert", "CLM=NTE*ADD*ZZCANARYSET", "--delete", "NTE[9]", "--reason", "test")
		w.run(nil, "correct", id, "--set", "CLM01=ZZCANARYSET", "--reason", "test")
		w.run(nil, "correct", id, "--set", "NOSUCH99=ZZCANARYSET", "--reason", "test")
		w.run(nil, "replay", id, "--reason", "test")
	}
	w.do(0, "acks", w.box())
	for _, cmd := range [][]string{
		{"list"},
		{"list", "--json"},
		{"groups"},
		{"groups", "--json"},
		{"metrics"},
		{"metrics", "--json"},
		{"fsck"},
		{"audit", "verify"},
		{"audit", "export"},
		{"keys", "list"},
		{"keys", "rotate"},
		{"show", "1"},
		{"show", "ZZCANARYNOSUCH"},
		{"ingest", filepath.Join(w.dir, "ZZCANARYMISSING")},
	} {
		w.run(nil, cmd...)
	}
	w.sound("with canaries")

	// What the program prints may name a file that the person named; nothing else.
	said := strings.ReplaceAll(w.spoken.String(), "ZZCANARYNAME-", "")
	said = strings.ReplaceAll(strings.ReplaceAll(said, "ZZCANARYMISSING", ""), "ZZCANARYNOSUCH", "")
	search(t, "what was printed", []byte(said), marks)
	err := filepath.WalkDir(w.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(w.data, path)
		search(t, rel, append(b, rel...), marks)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	acks, _ := filepath.Glob(filepath.Join(w.dir, "our-acks", "*"))
	if len(acks) == 0 {
		t.Fatal("check --ack-out wrote nothing")
	}
	for _, p := range acks {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		search(t, "our own "+filepath.Base(p), b, marks)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*ZZCANARY*")); len(left) > 0 {
		t.Fatalf("temporary files named after PHI: %v", left)
	}
}

// search fails the test where b holds a mark, as text, in hexadecimal, or base64
// at any of the three alignments.
func search(t *testing.T, where string, b []byte, marks map[string]bool) {
	t.Helper()
	lower := bytes.ToLower(b)
	for m := range marks {
		if i := bytes.Index(b, []byte(m)); i >= 0 {
			t.Errorf("%s holds the mark %s at byte %d", where, m, i)
		}
		if bytes.Contains(lower, []byte(hex.EncodeToString([]byte(m)))) {
			t.Errorf("%s holds the mark %s in hexadecimal", where, m)
		}
	}
}
