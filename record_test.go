package claimdlq_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"claimdlq"
)

const (
	displayRef123 = claimdlq.Ref(0xf38712a8f57bdf0)
	parentRef1    = claimdlq.Ref(0xe4d971771b652c20)
)

func TestRecord_DisplayKeyIsISA13AndST02(t *testing.T) {
	t.Parallel()
	k := identity().Key("k", parts("a")...)
	for want, r := range map[string]claimdlq.Record{
		"000000123:0001":                {InterchangeID: "000000123", TransactionID: "0001"},
		"000000123:-":                   {InterchangeID: "000000123"},
		"unreadable:" + k.String()[:24]: {Key: k},
	} {
		if got := r.DisplayKey(); got != want {
			t.Errorf("display key is %q, want %q", got, want)
		}
	}
}

func TestRecord_RefsAreDisplayKeyBatchAndParent(t *testing.T) {
	t.Parallel()
	r := claimdlq.Record{InterchangeID: "000000123", TransactionID: "0001"}
	d := claimdlq.DisplayRef("000000123:0001")
	if got := r.Refs(); !slices.Equal(got, []claimdlq.Ref{d}) {
		t.Errorf("refs are %v", got)
	}
	r.Batch, r.Parent = 7, 9
	if got := r.Refs(); !slices.Equal(got, []claimdlq.Ref{d, 7, claimdlq.ParentRef(9)}) {
		t.Errorf("refs are %v", got)
	}
}

func TestRecord_AgeCountsFromTheFirstFailureAndIsNeverNegative(t *testing.T) {
	t.Parallel()
	r := claimdlq.Record{CreatedAt: t0}
	if got := r.Age(t0.Add(time.Hour)); got != 0 {
		t.Errorf("a record that never failed is %v old", got)
	}
	r.FirstFailedAt = t0
	for now, want := range map[time.Time]time.Duration{t0: 0, t0.Add(time.Hour): time.Hour, t0.Add(-time.Hour): 0} {
		if got := r.Age(now); got != want {
			t.Errorf("age is %v, want %v", got, want)
		}
	}
}

// The record holds identifiers of envelopes, codes, counts and amounts only.
func TestRecord_JSONHasTheSeedsFieldsAndNoKeyNorPayload(t *testing.T) {
	t.Parallel()
	r := quarantined(t)
	r.Payload.Unit, r.Answered = "secretunit", claimdlq.Bits("").With(1)
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"interchange_id", "transaction_id", "reason_code", "rule_version", "error_detail",
		"attempt_count", "created_at", "replay_count", "first_failed_at", "state",
	} {
		if _, ok := m[name]; !ok {
			t.Errorf("no field %s", name)
		}
	}
	for _, secret := range []string{"secretunit", r.Key.String(), r.Digest.String()} {
		if strings.Contains(string(b), secret) {
			t.Errorf("the record shows %s", secret)
		}
	}
}

func TestBits_IsASetOfOrdinals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		ns := rapid.SliceOf(rapid.Uint32Range(0, 40)).Draw(rt, "ordinals")
		b := claimdlq.Bits("").With(ns...)
		want := map[uint32]bool{}
		for _, n := range ns {
			if n > 0 {
				want[n] = true
			}
		}
		for n := range uint32(60) {
			if b.Has(n) != want[n] {
				rt.Fatalf("%v: has %d is %t", ns, n, b.Has(n))
			}
		}
		if b.Len() != len(want) {
			rt.Fatalf("%v: length %d", ns, b.Len())
		}
	})
}

func TestBits_WithLeavesTheOriginalAlone(t *testing.T) {
	t.Parallel()
	a := claimdlq.Bits("").With(1)
	b := a.With(2)
	if a.Has(2) || !b.Has(1) || !b.Has(2) || a.Len() != 1 || b.Len() != 2 {
		t.Errorf("bits are %v and %v", a, b)
	}
	if b.Has(5000) {
		t.Error("has what lies far beyond")
	}
	const most = 1 << 24
	if far := b.With(most, most+1, math.MaxUint32); far.Len() != 3 || !far.Has(most) || len(far) != most/8 {
		t.Errorf("%d bits in %d bytes", far.Len(), len(far))
	}
}

func TestEnvelope_LaneIsTheFourAddressElements(t *testing.T) {
	t.Parallel()
	e := claimdlq.Envelope{SenderQualifier: "ZZ", Sender: "TESTA", ReceiverQualifier: "30", Receiver: "TESTB", Date: "260701", Usage: "T"}
	if got := e.Lane(); got != "ZZ:TESTA>30:TESTB" {
		t.Errorf("lane is %q", got)
	}
}

func TestError_IsItsCodeAndItsCauseAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("ingest: %w", &claimdlq.Error{
		Code: claimdlq.Unavailable, Op: "open vault", On: "unit 7", Hint: "free some disk", Err: fs.ErrPermission,
	})
	if !errors.Is(err, claimdlq.Unavailable) || !errors.Is(err, fs.ErrPermission) || errors.Is(err, claimdlq.NotFound) {
		t.Error("code or cause is lost")
	}
	if got, want := err.Error(), "ingest: open vault unit 7: unavailable: permission denied (free some disk)"; got != want {
		t.Errorf("error is %q, want %q", got, want)
	}
	if got := (&claimdlq.Error{Code: claimdlq.NotFound, Op: "get"}).Error(); got != "get: not_found" {
		t.Errorf("error is %q", got)
	}
}

func TestProof_IsValidOnlyForARange(t *testing.T) {
	t.Parallel()
	for p, want := range map[claimdlq.Proof]bool{
		{}: false, claimdlq.NewProof(0, 5): false, claimdlq.NewProof(5, 4): false, claimdlq.NewProof(5, 5): true, claimdlq.NewProof(1, 9): true,
	} {
		if p.Valid() != want {
			t.Errorf("%v is valid: %t", p, p.Valid())
		}
	}
	if first, last := claimdlq.NewProof(3, 4).Range(); first != 3 || last != 4 {
		t.Errorf("range is %d to %d", first, last)
	}
}
