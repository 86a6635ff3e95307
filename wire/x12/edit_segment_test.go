package x12_test

import (
	"errors"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/wire/x12"
)

const editISA = "ISA|00|          |00|          |ZZ|TESTSENDER     |ZZ|TESTPAYER      |260301|0930|^|00501|000000001|1|T|>'\n"

func editDoc(segs ...string) []byte { return []byte(editISA + strings.Join(segs, "'\n") + "'\n") }

func TestInsert_WritesTheSegmentInTheDocumentsOwnDelimiters(t *testing.T) {
	t.Parallel()
	in, err := x12.ParseInsertion("clm=HI*ABK:J069*ABF:I10~")
	if err != nil {
		t.Fatal(err)
	}
	got, err := x12.Insert(editDoc("ST|837|0001", "CLM|TEST1|125", "LX|1"), in)
	if err != nil {
		t.Fatal(err)
	}
	if want := string(editDoc("ST|837|0001", "CLM|TEST1|125", "HI|ABK>J069|ABF>I10", "LX|1")); string(got) != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
	back, err := x12.Delete(got, x12.Place{Segment: "HI"})
	if err != nil {
		t.Fatal(err)
	}
	if want := string(editDoc("ST|837|0001", "CLM|TEST1|125", "LX|1")); string(back) != want {
		t.Fatalf("deleted:\n%s\nwant\n%s", back, want)
	}
}

func TestInsertAndDelete_NameTheOccurrenceWhereThereAreSeveral(t *testing.T) {
	t.Parallel()
	doc := editDoc("ST|837|0001", "CLM|TEST1|125", "CLM|TEST2|125", "LX|1")
	if _, err := x12.Delete(doc, x12.Place{Segment: "CLM"}); !errors.Is(err, claimdlq.Invalid) || !strings.Contains(err.Error(), "CLM[1] to CLM[2]") {
		t.Fatalf("an ambiguous place must say how to name one: %v", err)
	}
	if _, err := x12.Delete(doc, x12.Place{Segment: "CLM", Occurrence: 3}); !errors.Is(err, claimdlq.Invalid) {
		t.Fatalf("the third of two: %v", err)
	}
	got, err := x12.Delete(doc, x12.Place{Segment: "CLM", Occurrence: 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := string(editDoc("ST|837|0001", "CLM|TEST1|125", "LX|1")); string(got) != want {
		t.Fatalf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInsertAndDelete_RefuseWithoutSayingTheValue(t *testing.T) {
	t.Parallel()
	doc := editDoc("ST|837|0001", "CLM|TEST1|125", "LX|1")
	for _, text := range []string{"CLM=NTE*ADD*CANARY|X", "CLM=NTE*ADD*CANARY'X", "CLM=NTE*ADD*CANARY\x01X", "CLM=SE*9*CANARY", "CLM=NTE*ADD*CANARY~X", "HI=NTE*ADD*CANARY"} {
		in, err := x12.ParseInsertion(text)
		if err != nil {
			t.Fatalf("%v", err)
		}
		if _, err = x12.Insert(doc, in); !errors.Is(err, claimdlq.Invalid) || strings.Contains(err.Error(), "CANARY") {
			t.Errorf("%s: %v", in.After, err)
		}
	}
	for _, text := range []string{"", "CLM", "CLM=", "CLM=canary*X", "=HI*X", "CLM[0]=HI*X", "CLM[1=HI*X", "CLM[1]x=HI*X"} {
		if _, err := x12.ParseInsertion(text); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := x12.Delete(doc, x12.Place{Segment: "ST"}); !errors.Is(err, claimdlq.Invalid) {
		t.Errorf("the envelope is locked: %v", err)
	}
}

func TestEdit_AWholeElementMayBeAComposite(t *testing.T) {
	t.Parallel()
	a, err := x12.ParseAssignment("HI01=ABK>J069")
	if err != nil {
		t.Fatal(err)
	}
	got, err := x12.Edit(editDoc("ST|837|0001", "HI|ABK>X"), []x12.Assignment{a})
	if err != nil {
		t.Fatal(err)
	}
	if want := string(editDoc("ST|837|0001", "HI|ABK>J069")); string(got) != want {
		t.Fatalf("got %s want %s", got, want)
	}
}
