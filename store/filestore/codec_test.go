package filestore_test

import (
	"encoding/hex"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/store/filestore"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fullRecord has every field set.
func fullRecord() claimdlq.Record {
	r := quarantined(7)
	r.ID, r.Revision, r.Parent, r.Ordinal, r.Scope = 42, 3, 41, 9, claimdlq.ScopeClaim
	r.Hold, r.FateUnknown, r.Disposition = claimdlq.HoldLineage, true, claimdlq.Rejected
	r.Response = claimdlq.PayloadRef{Unit: "testanswer7", Offset: 700, Length: 301}
	r.Payload.Offset, r.PayloadRevision, r.RefusedRevision = 5, 300, 299
	r.Parted, r.AmountCents = 2, -1<<40
	r.AttemptCount, r.ReceiveCount, r.ReplayCount, r.Unparked = 70_000, 5, 3, 1
	r.Answered = claimdlq.Bits("").With(1, 9, 4000)
	r.NotBefore, r.Submission = at(9), 1<<40
	return r
}

func fullSubmission() claimdlq.Submission {
	return claimdlq.Submission{
		ID: 7, Revision: 2, State: claimdlq.SubmissionSending, Replay: true, Bulk: true, Fallback: true, Partner: "ZZ:TESTPAYER", Stream: "837",
		Envelope: claimdlq.Envelope{
			SenderQualifier: "ZZ", Sender: "TESTSENDER", ReceiverQualifier: "30", Receiver: "TESTPAYER", Date: "260701", Time: "1200", Usage: "T",
		},
		ISA13: 999_999_999, Groups: []claimdlq.GroupControl{{Sender: "A", Receiver: "B", Number: 1}, {Sender: "C", Receiver: "D", Number: 2}},
		Members: []claimdlq.IDRange{{First: 1, Last: 3}, {First: 9, Last: 1 << 31}}, Digest: claimdlq.Digest{1, 2, 3},
		Bytes: 1 << 33, Receives: 4, NotBefore: at(1), LeaseUntil: at(2), CreatedAt: at(3), SentAt: at(4), Last: claimdlq.NewDetail("HTTP_503"),
	}
}

func fullEntry() claimdlq.Entry {
	return claimdlq.Entry{
		At: at(1), Actor: "test.person", Action: claimdlq.ActReplay, Record: 42, Submission: 7, PayloadRevision: 3,
		Detail: claimdlq.NewDetail("IK4:SV102"), From: claimdlq.StateQuarantined, To: claimdlq.StateQueued, Note: "payer fixed its edit",
	}
}

// entryOfMany is about several records.
func entryOfMany() claimdlq.Entry {
	e := fullEntry()
	e.Record, e.Records = 0, "42-900,1000"
	return e
}

func fullRelease() store.Release {
	return store.Release{
		At: at(1), RuleVersion: "v2026.09", Partner: "610000:TESTPCN", Stream: claimdlq.StreamNCPDP, Bulk: true,
		Records: []store.Released{
			{ID: 42, Revision: 3, Bytes: 400, Digest: claimdlq.Digest{1, 2}, NotBefore: at(9)}, {ID: 1000, Revision: 1 << 31, Bytes: 1 << 31},
		},
	}
}

// TestCodec_AnOldJournalStaysReadable pins the encoding byte by byte: what is in
// testdata is what stores on disk have.
func TestCodec_AnOldJournalStaysReadable(t *testing.T) {
	t.Parallel()
	record := func(b []byte) (any, error) { return filestore.DecodeRecord(b) }
	submission := func(b []byte) (any, error) { return filestore.DecodeSubmission(b) }
	release := func(b []byte) (any, error) { return filestore.DecodeRelease(b) }
	recordV1, submissionV1 := fullRecord(), fullSubmission()
	recordV1.Response = claimdlq.PayloadRef{}
	submissionV1.Bulk, submissionV1.Fallback = false, false
	for _, c := range []struct {
		name    string
		value   any
		encoded []byte // nil where no longer written
		decode  func([]byte) (any, error)
	}{
		{"record.v1", recordV1, nil, record},
		{"record.v2", fullRecord(), filestore.EncodeRecord(fullRecord()), record},
		{"submission.v1", submissionV1, nil, submission},
		{"submission.v2", fullSubmission(), filestore.EncodeSubmission(fullSubmission()), submission},
		{"release.v1", filestore.Released{Release: fullRelease(), First: 7}, filestore.EncodeRelease(new(fullRelease())), release},
		{"entry.v2", entryOfMany(), filestore.EncodeEntry(entryOfMany()), func(b []byte) (any, error) { return filestore.DecodeEntry(b) }},
		{"entry.v1", fullEntry(), filestore.EncodeEntry(fullEntry()), func(b []byte) (any, error) { return filestore.DecodeEntry(b) }},
	} {
		name := filepath.Join("testdata", c.name+".hex")
		if *update && c.encoded != nil {
			if err := os.WriteFile(name, []byte(wrap(hex.EncodeToString(c.encoded))), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		golden := readHex(t, name)
		if c.encoded != nil && string(golden) != string(c.encoded) {
			t.Errorf("%s is encoded otherwise than in %s: a new encoding needs a new version", c.name, name)
		}
		got, err := c.decode(golden)
		if err != nil || !reflect.DeepEqual(got, c.value) {
			t.Errorf("%s reads back as\n%+v, %v, want\n%+v", c.name, got, err, c.value)
		}
		for n := range golden { // no prefix is taken for the whole
			if _, err := c.decode(golden[:n]); err == nil {
				t.Errorf("the first %d bytes of %s were taken for all", n, c.name)
			}
		}
		golden[0] = 9
		if _, err := c.decode(golden); err == nil {
			t.Errorf("%s of a version to come was read", c.name)
		}
	}
}

func readHex(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestCodec_NoResponseIsOneByte pins that records of streams that keep no answers
// stay as small as they were.
func TestCodec_NoResponseIsOneByte(t *testing.T) {
	t.Parallel()
	r := fullRecord()
	r.Response = claimdlq.PayloadRef{}
	b := filestore.EncodeRecord(r)
	if v1 := readHex(t, filepath.Join("testdata", "record.v1.hex")); len(b) != len(v1)+1 {
		t.Fatalf("%d bytes, want one more than version 1 has, which is %d", len(b), len(v1))
	}
	if got, err := filestore.DecodeRecord(b); err != nil || got != r {
		t.Fatalf("reads back as %+v, %v", got, err)
	}
}

// TestCodec_FlagsAreApart pins that no flag of a submission stands for another.
func TestCodec_FlagsAreApart(t *testing.T) {
	t.Parallel()
	for flags := range 8 {
		s := fullSubmission()
		s.Replay, s.Bulk, s.Fallback = flags&1 != 0, flags&2 != 0, flags&4 != 0
		if got, err := filestore.DecodeSubmission(filestore.EncodeSubmission(s)); err != nil || !reflect.DeepEqual(got, s) {
			t.Errorf("flags %d read back as %+v, %v", flags, got, err)
		}
	}
}

func wrap(s string) string {
	var b strings.Builder
	for len(s) > 64 {
		b.WriteString(s[:64] + "\n")
		s = s[64:]
	}
	return b.String() + s + "\n"
}

// TestCodec_EveryFieldIsKept sets each field of a record alone, so that one that
// the codec forgets is noticed when it is added.
func TestCodec_EveryFieldIsKept(t *testing.T) {
	t.Parallel()
	full := reflect.ValueOf(fullRecord())
	for i := range full.NumField() {
		if full.Field(i).IsZero() {
			t.Errorf("field %s is not set in the test's record", full.Type().Field(i).Name)
		}
	}
	for _, when := range []time.Time{{}, time.UnixMilli(0).UTC(), time.UnixMilli(-1).UTC(), time.UnixMilli(1).UTC(), at(3)} {
		r := fullRecord()
		r.NotBefore = when
		got, err := filestore.DecodeRecord(filestore.EncodeRecord(r))
		if err != nil || !got.NotBefore.Equal(when) || got.NotBefore.IsZero() != when.IsZero() {
			t.Errorf("time %v reads back as %v, %v", when, got.NotBefore, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(filestore.EncodeRecord(fullRecord()))
	f.Add(filestore.EncodeSubmission(fullSubmission()))
	alone := fullSubmission()
	alone.Groups, alone.Members = nil, []claimdlq.IDRange{{First: 9, Last: 9}}
	f.Add(filestore.EncodeSubmission(alone))
	f.Add(filestore.EncodeEntry(fullEntry()))
	f.Add(filestore.EncodeEntry(entryOfMany()))
	f.Add(filestore.EncodeRelease(new(fullRelease())))
	f.Fuzz(func(t *testing.T, b []byte) {
		if r, err := filestore.DecodeRecord(b); err == nil {
			if again, err := filestore.DecodeRecord(filestore.EncodeRecord(r)); err != nil || again != r {
				t.Fatalf("record %+v reads back as %+v, %v", r, again, err)
			}
		}
		if s, err := filestore.DecodeSubmission(b); err == nil {
			if again, err := filestore.DecodeSubmission(filestore.EncodeSubmission(s)); err != nil || !reflect.DeepEqual(again, s) {
				t.Fatalf("submission %+v reads back as %+v, %v", s, again, err)
			}
			if o, err := filestore.DecodeSending(b, s.ID); err != nil || o != store.SendingOf(&s) {
				t.Fatalf("submission %+v sends %+v, %v", s, o, err)
			}
		}
		if r, err := filestore.DecodeRelease(b); err == nil {
			if again, err := filestore.DecodeRelease(filestore.EncodeRelease(&r.Release)); err != nil || !reflect.DeepEqual(again.Release, r.Release) {
				t.Fatalf("release %+v reads back as %+v, %v", r, again, err)
			}
		}
		if e, err := filestore.DecodeEntry(b); err == nil {
			if again, err := filestore.DecodeEntry(filestore.EncodeEntry(e)); err != nil || again != e {
				t.Fatalf("entry %+v reads back as %+v, %v", e, again, err)
			}
		}
	})
}

// FuzzOpen opens whatever is in the place of a journal and its snapshot: no panic,
// no endless loop, and what opens holds together. Goroutines make its coverage vary:
// run it with -fuzzminimizetime 10x.
func FuzzOpen(f *testing.F) {
	fs := newMemFS()
	s, err := filestore.Open("/store", tiny(fs))
	if err != nil {
		f.Fatal(err)
	}
	for n := range 6 {
		insert(f, s, n)
	}
	release(f, s, 1, 4)
	if err := s.Snapshot(f.Context()); err != nil {
		f.Fatal(err)
	}
	insert(f, s, 9)
	release(f, s, 2)
	fs = fs.copy()
	if err := s.Close(); err != nil {
		f.Fatal(err)
	}
	chunk := fs.names["/store/chunk-000000000001"].data
	chunk = chunk[:end(fs)]
	snapshot := fs.names["/store/snapshot"].data
	f.Add(chunk, snapshot, uint16(200), byte(1))
	f.Add(chunk, []byte(nil), uint16(9000), byte(1))
	f.Add(chunk[:300], snapshot, uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, chunk, snapshot []byte, at uint16, bit byte) {
		fs := newMemFS()
		b := append([]byte(nil), chunk...)
		if int(at) < len(b) {
			b[at] ^= bit
		}
		fs.put("/store/chunk-000000000001", b)
		if len(snapshot) > 0 {
			fs.put("/store/snapshot", append([]byte(nil), snapshot...))
		}
		s, err := filestore.Open("/store", tiny(fs))
		if err != nil {
			return
		}
		defer s.Close()
		if _, err := s.Verify(t.Context()); err != nil {
			t.Fatal(err)
		}
		insert(t, s, 100)
	})
}
