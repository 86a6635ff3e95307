package e2e_test

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"claimdlq/internal/testclaims"
)

// TestCanaryRx_NoPHILeavesTheVault marks every PHI field of pharmacy claims of each
// kind and every text and number of the payer's answers, walks them through every
// command and every door of a serving process, with every fault there is, and searches
// everything that was printed, answered or written (DESIGN promise 7).
func TestCanaryRx_NoPHILeavesTheVault(t *testing.T) {
	t.Parallel()
	w := newRxWorld(t, `canary on
claim 2 reject 70 text ZZCANARYFQ TEXT
claim 3 reject R8
claim 4 reject 92
claim 5 capture
claim 6 clash
claim 7 status Z
transmission 8 reject text ZZCANARYF4 TEXT
transmission 9 html
transmission 10 other D2
request 12 drop`, "policy: {max_receive: 2, max_receive_low: 1, base: 1ms, cap: 2ms}\nidempotent_resend: false", 4)
	marks := map[string]bool{"TESTAUTH": true} // 503-F3 where the payer marks nothing
	w.commands(marks)
	w.doors(marks)
	w.searchAll(marks)
}

// rxFile writes a generated file and returns its path.
func (w *rxWorld) rxFile(name string, o testclaims.RxOptions, marks map[string]bool) string {
	w.t.Helper()
	for _, m := range testclaims.RxMarks(o) {
		marks[m] = true
	}
	var b bytes.Buffer
	if _, err := testclaims.GenerateRx(&b, o); err != nil {
		w.t.Fatal(err)
	}
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// commands takes marked claims through every command.
func (w *rxWorld) commands(marks map[string]bool) {
	w.t.Helper()
	first := 1
	file := func(name string, o testclaims.RxOptions) string {
		o.Canary, o.FirstClaim, o.Seed = true, first, uint64(first)
		first += 100
		return w.rxFile(name, o, marks)
	}
	for _, o := range []testclaims.RxOptions{
		{Claims: 12}, {Claims: 8, TransactionsPer: 4}, {Code: "B2", Claims: 3}, {Code: "B3", Claims: 3}, {Code: "E1", Claims: 2}, {Claims: 1},
	} {
		path := file("ZZCANARYNAME-"+o.Code+strconv.Itoa(first)+".ncpdp", o)
		w.rx("check", path)
		w.rx("check", path, "--json")
		if r := w.rx("ingest", path); r.code > 3 {
			w.t.Fatalf("ingest: exit %d\n%s", r.code, r.stderr)
		}
		w.rx("ingest", path, "--json") // again: duplicates
	}
	batch := file("ZZCANARYNAME-batch.ncpdp", testclaims.RxOptions{Claims: 6, Batch: true})
	w.rx("ingest", batch)
	ingest := []string{"ingest", "--no-deliver", "--json"}
	for i, k := range testclaims.RxCatalog() {
		for _, o := range []testclaims.RxOptions{{Claims: 4}, {Claims: 4, Batch: true}} {
			o.Faults = []testclaims.Fault{{Name: k.Name, At: []int{1}}}
			if !k.AppliesTo(o) {
				continue
			}
			path := file("fault-"+strconv.Itoa(i)+strconv.FormatBool(o.Batch)+".ncpdp", o)
			w.rx("check", path, "--json")
			if i%4 == 0 {
				w.rx("check", path)
			}
			ingest = append(ingest, path)
		}
	}
	if r := w.rx(ingest...); r.code > 3 {
		w.t.Fatalf("ingest of faults: exit %d\n%s", r.code, r.stderr)
	}
	w.rx("deliver")
	w.answers()
	w.people()
}

// answers gives a file of the payer's own answers to acks: late, unasked for, broken.
func (w *rxWorld) answers() {
	w.t.Helper()
	var all []byte
	for i, b := range rxClaims(w.t, testclaims.RxOptions{Canary: true, Claims: 8, FirstClaim: 1, Seed: 1}) {
		answer := w.payer.Adjudicate(b)
		if i == 3 && len(answer) > 60 {
			answer = answer[:60]
		}
		all = append(append(append(all, 2), answer...), 3)
		path := filepath.Join(w.dir, "answer-"+strconv.Itoa(i)+".ncpdp")
		if err := os.WriteFile(path, answer, 0o600); err != nil {
			w.t.Fatal(err)
		}
		w.rx("acks", path)
		w.rx("acks", path, "--json")
		w.rx("check", path, "--json")
		w.rx("ingest", path) // an answer is no claim
	}
	path := filepath.Join(w.dir, "answers.ncpdp")
	if err := os.WriteFile(path, all, 0o600); err != nil {
		w.t.Fatal(err)
	}
	w.rx("acks", path)
}

// people does what analysts and operators do with what was held.
func (w *rxWorld) people() {
	w.t.Helper()
	held := w.allRecords("--state", "quarantined")
	if len(held) < 10 {
		w.t.Fatalf("only %d records are held: the test does not test", len(held))
	}
	seen := map[string]bool{}
	for _, r := range held {
		id := strconv.FormatUint(r.ID, 10)
		if seen[r.Detail] {
			continue
		}
		seen[r.Detail] = true
		w.rx("show", id)
		if len(seen) <= 4 {
			w.rx("show", id, "--json")
			for _, set := range []string{"07-D7=99887700112", "07-D2=7391750", "04-C2=ZZCANARYSET", "A4=TESTPCN2", "07-ZZ=ZZCANARYSET", "D2", "07-E7=98765432X"} {
				w.rx("correct", id, "--set", set, "--reason", "test")
			}
			w.rx("replay", id, "--reason", "test", "--dry-run")
		}
		w.rx("correct", id, "--set", "07-D8=1", "--reason", "test", "--json")
		w.rx("replay", id, "--reason", "test")
	}
	w.rx("deliver")
	for _, r := range w.allRecords("--state", "in_doubt") {
		id := strconv.FormatUint(r.ID, 10)
		w.rx("show", id)
		w.rx("inquire", id, "--reason", "test")
		w.rx("resolve", id, "arrived", "--reason", "test")
	}
	for _, cmd := range [][]string{
		{"list"},
		{"list", "--json"},
		{"groups"},
		{"groups", "--json"},
		{"metrics"},
		{"metrics", "--json"},
		{"fsck"},
		{"replay", "--state", "quarantined", "--reason", "test", "--dry-run"},
		{"park", strconv.FormatUint(held[0].ID, 10), "--reason", "test"},
		{"unpark", strconv.FormatUint(held[0].ID, 10), "--reason", "test"},
		{"withdraw", strconv.FormatUint(held[1].ID, 10), "--reason", "test"},
		{"audit", "verify"},
		{"audit", "export"},
		{"keys", "list"},
		{"keys", "rotate"},
		{"show", "1"},
		{"show", "ZZCANARYNOSUCH"},
		{"ingest", filepath.Join(w.dir, "ZZCANARYMISSING")},
	} {
		w.rx(cmd...)
	}
	w.sound("with canaries")
}

// doors gives marked claims, faults and nonsense to every address of a serving
// process, and keeps what it answers.
func (w *rxWorld) doors(marks map[string]bool) {
	w.t.Helper()
	s := w.serve()
	base := strings.TrimSuffix(s.url, "/v1/claims")
	w.rx("users", "add", "watcher", "--machine", "--role", "viewer", "--reason", "test")
	token := strings.TrimSpace(w.rx("users", "token", "watcher", "--permission", "records.read,metrics.read", "--reason", "test").stdout)
	if !strings.HasPrefix(token, "cdlq_") {
		w.t.Fatal("no token")
	}
	one := rxClaims(w.t, testclaims.RxOptions{Canary: true, Claims: 12, FirstClaim: 90_001, Seed: 9})
	for _, m := range testclaims.RxMarks(testclaims.RxOptions{}) {
		marks[m] = true
	}
	bad := bytes.Replace(one[0], []byte("\x1e\x1cAM07"), []byte("\x1c\x1cAM07"), 1)
	for _, p := range []struct {
		method, path string
		body         []byte
	}{
		{"POST", "/v1/claims", one[0]},
		{"POST", "/v1/claims", one[0]},
		{"POST", "/v1/claims", bad},
		{"POST", "/v1/claims", []byte("ZZCANARYNONSENSE")},
		{"POST", "/v1/claims/batch", bytes.Join(one[1:6], nil)},
		{"POST", "/v1/claims/batch", append(bytes.Clone(one[6]), "ZZCANARYTAIL"...)},
		{"POST", "/v1/claims/stream", bytes.Join(one[7:9], nil)},
		{"POST", "/v1/claims/stream", append(bytes.Clone(one[9]), "ZZCANARYTAIL"...)},
		{"POST", "/v1/dead-letters?detail=HTTP_503&attempts=5", one[10]},
		{"POST", "/v1/dead-letters?detail=ZZcanary", one[11]},
		{"POST", "/v1/acknowledgments", w.payer.Adjudicate(one[0])},
		{"POST", "/v1/acknowledgments", one[0]},
		{"GET", "/v1/records/1", nil},
		{"GET", "/v1/records", nil},
		{"GET", "/v1/groups", nil},
		{"GET", "/v1/overview", nil},
		{"GET", "/v1/records/ZZCANARYNOSUCH", nil},
		{"GET", "/v1/switches", nil},
		{"GET", "/v1/alarms", nil},
		{"GET", "/", nil},
		{"GET", "/records/1", nil},
		{"GET", "/metrics", nil},
		{"GET", "/healthz", nil},
		{"GET", "/readyz", nil},
		{"GET", "/v1/nothing", nil},
	} {
		w.spoken.WriteString(do(w.t, p.method, base+p.path, token, p.body))
	}
	w.rx("list", "--json") // run by the serving process
	w.rx("show", "1")
	s.stop()
}

// do makes a request and returns everything that was answered.
func do(t *testing.T, method, url, token string, body []byte) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	if err := res.Header.Write(&b); err != nil {
		t.Fatal(err)
	}
	if _, err := b.ReadFrom(res.Body); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// searchAll searches what was said and what was written.
func (w *rxWorld) searchAll(marks map[string]bool) {
	w.t.Helper()
	if w.spoken.Len() < 10_000 {
		w.t.Fatal("the program said next to nothing: the test does not test")
	}
	// What the program prints may name a file or a record that a person named.
	said := w.spoken.String()
	for _, named := range []string{"ZZCANARYNAME-", "ZZCANARYMISSING", "ZZCANARYNOSUCH"} {
		said = strings.ReplaceAll(said, named, "")
	}
	search(w.t, "what was printed", []byte(said), marks)
	files := 0
	err := filepath.WalkDir(w.data, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !d.Type().IsRegular() {
			return err
		}
		files++
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(w.data, path)
		search(w.t, rel, append(b, rel...), marks)
		return err
	})
	if err != nil || files < 5 {
		w.t.Fatalf("%d files, %v", files, err)
	}
	if left, _ := filepath.Glob(filepath.Join(os.TempDir(), "*ZZCANARY*")); len(left) > 0 {
		w.t.Fatalf("temporary files named after PHI: %v", left)
	}
}
