package targettest_test

import (
	"io"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/target"
	"claimdlq/target/targettest"
)

func TestFake_AnswersAsScriptedThenSubmits(t *testing.T) {
	t.Parallel()
	doubt := claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Ambiguous: true}
	f := targettest.Outcomes(doubt)
	f.Knows("a", claimdlq.Outcome{Kind: claimdlq.OutcomeSubmitted})
	p := target.Parcel{Name: "a", Content: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("TEST")), nil }}
	if d := f.Deliver(t.Context(), p); d.Outcome != doubt {
		t.Fatalf("first: %+v", d)
	}
	if d := f.Deliver(t.Context(), p); d.Outcome.Kind != claimdlq.OutcomeSubmitted {
		t.Fatalf("second: %+v", d)
	}
	if got := f.Delivered(); len(got) != 2 || string(got[0].Bytes) != "TEST" || got[0].Outcome != doubt {
		t.Fatalf("kept %+v", got)
	}
	if _, known := f.Inquire(t.Context(), p); !known {
		t.Fatal("an inquiry it knows is not known")
	}
	p.Name = "b"
	if _, known := f.Inquire(t.Context(), p); known || len(f.Asked()) != 2 {
		t.Fatal("an inquiry it does not know is known")
	}
}
