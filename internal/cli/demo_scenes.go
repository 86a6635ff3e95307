package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"claimdlq"
	"claimdlq/audit"
	"claimdlq/flow/intake"
	"claimdlq/internal/fsck"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/wire/x12"
)

// what the payer of the story finds wrong with a claim, and what it takes.
const (
	codeGenerated = "S72461R" // in every generated claim
	codeRight     = "J45909"
)

var codesWrong = []string{"M5450", "R519", "J00"}

// tell tells the story.
func (d *stage) tell(payer *payersim.Payer) {
	d.printf("%s\n", d.paint.bold("claimdlq: the life of claims"))
	d.printf("A simulated payer, and a simulated adjudicator, listen on this machine. All claims are generated.\n")
	d.clean(payer)
	d.held(payer)
	d.outage(payer)
	d.doubt(payer)
	d.rejected(payer)
	d.poison(payer)
	d.pharmacy(payer)
	d.accounts(payer)
	verdict := d.paint.green("\nEverything came out as told.")
	if !d.play.OK {
		verdict = d.paint.red("\nNot everything came out as told.")
	}
	d.printf("%s\n", verdict)
}

// generate writes a file of claims in one transaction set.
func (d *stage) generate(name string, isa13 uint32, claims int, faults ...testclaims.Fault) string {
	path := filepath.Join(d.files, name)
	var b bytes.Buffer
	_, err := testclaims.Generate(&b, d.options(isa13, claims, faults))
	if err == nil {
		err = os.WriteFile(path, b.Bytes(), 0o600)
	}
	if err != nil {
		d.expect(false, "a file of claims can be generated")
	}
	return path
}

func (d *stage) options(isa13 uint32, claims int, faults []testclaims.Fault) testclaims.Options {
	return testclaims.Options{
		Seed: uint64(isa13), Claims: claims, ClaimsPerSet: max(claims, 1), Canary: true, Faults: faults,
		ISA13: isa13, GS06: isa13, FirstClaim: int(isa13) * 1000, Date: d.s.env.Now().UTC().Truncate(24 * time.Hour),
	}
}

// script changes how the payer behaves.
func (d *stage) script(payer *payersim.Payer, text string) {
	sc, err := payersim.ParseScript(text)
	if err != nil {
		d.expect(false, "the payer understands its script")
		return
	}
	payer.SetScript(sc)
}

func (d *stage) clean(payer *payersim.Payer) {
	d.begin("Clean claims go through", "A file of 40 clean claims is taken in, delivered, and the payer acknowledges each claim.")
	file := d.generate("clean.x12", 1, 40)
	var r intake.Result
	d.run(&r, "ingest", file)
	d.expect(r.Claims == 40 && r.Accepted == 40 && r.Quarantined == 0, "40 claims taken in, none held")
	d.expect(payer.Stats().Accepted == 40, "the payer has accepted 40")
	d.expect(d.figures().Claims["settled"] == 40, "40 are settled")

	d.run(&r, "ingest", file)
	d.expect(r.Duplicates == 40 && payer.Stats().Accepted == 40, "the same file again is recognised: nothing is sent")
}

func (d *stage) held(payer *payersim.Payer) {
	d.begin("Three bad claims in one transaction set", "Fifty claims in one ST, three of them bad. The three are held; 47 go on.")
	var r intake.Result
	d.run(&r, "ingest", d.generate("friday.x12", 2, 50,
		testclaims.Fault{Name: "missing-hi", At: []int{7}},
		testclaims.Fault{Name: "bad-date", At: []int{23}},
		testclaims.Fault{Name: "frequency-bad", At: []int{41}}))
	d.expect(r.Accepted == 47 && r.Quarantined == 3, "47 accepted, 3 quarantined")
	f := d.figures()
	d.expect(f.Claims["settled"] == 87 && f.Claims["quarantined"] == 3, "47 more are settled, 3 wait in quarantine")
	d.run(nil, "groups", "--state", "quarantined")
	bad := d.list(claimdlq.StateQuarantined)
	for _, b := range bad {
		d.printf("      %s  %s  %s\n", b.Key, b.Reason, b.Detail)
	}
	d.expect(len(bad) == 3, "each of the three has a record of its own, with segment, element and code")
	d.fix(payer, "000000002:0001:41", "CLM05-3=1", 88)
}

// fix corrects one held claim, replays it and sees it settle.
func (d *stage) fix(payer *payersim.Payer, key, set string, settled int64) {
	d.expect(d.correct(key, set, "code corrected with the practice") == exitOK, "the correction is accepted by the rules")
	before := payer.Stats().Accepted
	d.replay(key, claimdlq.Replayed)
	d.expect(payer.Stats().Accepted == before+1, "the payer has accepted it")
	d.expect(d.figures().Claims["settled"] == settled, "it is settled")
	d.replay(key, claimdlq.DuplicateSuppressed)
	d.expect(payer.Stats().Accepted == before+1, "a second replay is suppressed: nothing is sent")
}

// correct corrects one record and shows the masked difference.
func (d *stage) correct(key, set, reason string) int {
	var out struct {
		Changes []x12.Change `json:"changes"`
	}
	code := d.run(&out, "correct", key, "--set", set, "--reason", reason)
	for _, c := range out.Changes {
		d.printf("      %s %s%s in loop %s: %d bytes, now %d\n", c.Kind, c.Segment, c.Element, dash(c.Loop), c.OldLen, c.NewLen)
	}
	return code
}

// replay replays one record and wants a result.
func (d *stage) replay(key string, want claimdlq.ReplayResult) {
	var out struct {
		Results []struct {
			Result claimdlq.ReplayResult `json:"result"`
		} `json:"results"`
	}
	d.run(&out, "replay", key, "--reason", "corrected")
	d.expect(len(out.Results) == 1 && out.Results[0].Result == want, "replay answers %s", want)
}

func (d *stage) outage(payer *payersim.Payer) {
	d.begin("An outage", "The payer answers 503. The delivery fails, waits four seconds, and is tried again within its budget of five.")
	d.script(payer, "request all status 503")
	var r intake.Result
	d.run(&r, "ingest", d.generate("monday.x12", 3, 10))
	queued := d.list(claimdlq.StateQueued)
	d.expect(len(queued) == 1 && queued[0].Detail == "HTTP_503" && queued[0].AttemptCount == 1, "ten claims wait for their second delivery, because of HTTP_503")
	d.script(payer, "")
	d.run(nil, "deliver", "--wait=20s")
	d.expect(d.figures().Claims["settled"] == 98, "the payer is back: they are settled")
	d.expect(len(queued) == 1 && d.record(queued[0].ID).AttemptCount == 2, "after two deliveries of five")
}

func (d *stage) doubt(payer *payersim.Payer) {
	d.begin("An answer that never came", "The payer takes the claims and the connection breaks. Nobody knows: sending again could bill twice.")
	d.script(payer, "request all drop")
	before := payer.Stats().Accepted
	var r intake.Result
	d.run(&r, "ingest", d.generate("tuesday.x12", 4, 5))
	lost := d.list(claimdlq.StateInDoubt)
	d.expect(len(lost) == 1 && lost[0].Claims == 5, "five claims are in doubt, and are not sent again")
	if len(lost) != 1 {
		return
	}
	d.replay(strconv.FormatUint(lost[0].ID, 10), claimdlq.InDoubtFirst)
	d.script(payer, "")
	d.run(nil, "inquire", strconv.FormatUint(lost[0].ID, 10))
	d.expect(d.record(lost[0].ID).State == claimdlq.StateSubmitted.String(), "asked, the payer says that it has them")
	d.collect()
	d.expect(d.record(lost[0].ID).State == claimdlq.StateSettled.String(), "its acknowledgment settles them")
	d.expect(payer.Stats().Accepted == before+5, "the payer has each of them once")
}

// collect fetches the acknowledgments that wait at the payer and takes them in.
func (d *stage) collect() {
	inbox := filepath.Join(d.files, "inbox")
	var names []string
	b, err := d.get("/v1/acks")
	if err == nil {
		err = errors.Join(json.Unmarshal(b, &names), os.MkdirAll(inbox, 0o700))
	}
	for _, name := range names {
		if b, err = d.get("/v1/acks/" + name); err == nil {
			err = os.WriteFile(filepath.Join(inbox, filepath.Base(name)), b, 0o600)
		}
	}
	d.expect(err == nil && len(names) > 0, "an acknowledgment waits at the payer")
	d.run(nil, "acks", "--dir", inbox)
}

func (d *stage) get(path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(d.ctx, http.MethodGet, d.payer+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return io.ReadAll(resp.Body)
}

// refuses is the payer's script for the claims it does not like.
func refuses() string {
	lines := []string{"claim diag=" + codeGenerated + " stc A7:255"}
	for _, c := range codesWrong {
		lines = append(lines, "claim diag="+c+" stc A7:255")
	}
	return strings.Join(lines, "\n")
}

func (d *stage) rejected(payer *payersim.Payer) {
	d.begin("A claim the payer rejects", "The form is right, but the payer's 277CA says A7:255, a diagnosis it does not take.")
	d.script(payer, refuses())
	var r intake.Result
	d.run(&r, "ingest", d.generate("wednesday.x12", 5, 1))
	rej := d.record(d.newest())
	d.expect(rej.State == "quarantined" && rej.Reason == "SEMANTIC_REJECT", "it comes back to quarantine: %s %s", rej.Reason, rej.Detail)
	d.replay(rej.Key, claimdlq.NotCorrected)
	d.fix(payer, rej.Key, "HI01-2="+codeRight, 104)
}

// newest returns the number of the newest claim record.
func (d *stage) newest() uint64 {
	var out struct {
		Records []rec `json:"records"`
	}
	d.quietly(func() { d.run(&out, "list", "--stream", "837", "--limit", "1") })
	if len(out.Records) == 0 {
		return 0
	}
	return out.Records[0].ID
}

func (d *stage) poison(payer *payersim.Payer) {
	d.begin("A claim that keeps failing", "Three corrections, three rejections. The cap of three replays counts across corrections: the claim is parked.")
	var r intake.Result
	d.run(&r, "ingest", d.generate("thursday.x12", 6, 1))
	id := d.newest()
	key := d.record(id).Key
	for _, code := range codesWrong {
		d.correct(key, "HI01-2="+code, "another guess")
		d.replay(key, claimdlq.Replayed)
	}
	now := d.record(id)
	d.expect(now.ReplayCount == 3 && payer.Stats().RejectedClaims >= 4, "four deliveries, three replays, no acceptance")
	if now.State == "quarantined" {
		d.replay(key, claimdlq.ParkedAtCap)
	}
	d.expect(d.record(id).State == "parked", "it is parked and needs a named person")
	d.run(nil, "unpark", key, "--reason", "asked the practice, supervisor agreed")
	d.expect(d.record(id).State == "quarantined", "un-parked, with one more replay")
	d.fix(payer, key, "HI01-2="+codeRight, 105)
}

func (d *stage) accounts(payer *payersim.Payer) {
	d.begin("The accounts", "Nothing was lost, nothing was sent twice, and nothing got out of the vault.")
	f := d.figures()
	var sum int64
	for _, s := range claimdlq.States {
		sum += f.Claims[s.String()]
	}
	d.printf("      received %d = settled %d + quarantined %d + everything else %d\n", f.Received, f.Claims["settled"], f.Claims["quarantined"],
		sum-f.Claims["settled"]-f.Claims["quarantined"])
	d.expect(f.Received == 174 && sum == f.Received && f.Difference == 0, "every claim taken in is accounted for")
	st := payer.Stats()
	settled := st.Accepted + st.Pharmacy.Paid + st.Pharmacy.Rejected
	d.expect(int64(settled) == f.Claims["settled"] && st.DoubleAccepted == 0 && st.RepeatedCLM01 == 0 && st.Pharmacy.DoublePaid == 0, "the payers have each settled claim, and each once")
	var log audit.Report
	d.expect(d.run(&log, "audit", "verify") == exitOK, "the audit log is whole: %d entries, chained and signed", log.Entries)
	var rep fsck.Report
	d.expect(d.run(&rep, "fsck") == exitOK, "%d records, %d sealed payloads and the audit log agree", rep.Records, rep.Units)
	n, err := d.leaks()
	d.expect(err == nil && n == 0, "no patient's data in any file, file name or output: only ciphertext")
}

// leaks counts the marks of generated PHI in the data directory, in file names,
// and in everything that the commands printed.
func (d *stage) leaks() (n int, err error) {
	marks := append(testclaims.Marks(d.options(1, 1, nil)), testclaims.RxMarks(d.rxOptions(1, 1))...)
	count := func(b []byte) {
		for _, m := range marks {
			n += bytes.Count(b, []byte(m))
		}
	}
	count(d.said.Bytes())
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return n, err
	}
	defer func() { _ = root.Close() }()
	err = fs.WalkDir(root.FS(), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		count([]byte(e.Name()))
		if !e.Type().IsRegular() {
			return nil
		}
		b, err := root.ReadFile(path)
		count(b)
		return err
	})
	return n, err
}
