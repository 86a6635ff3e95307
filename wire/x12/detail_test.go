package x12_test

import (
	"testing"

	"claimdlq/wire/x12"
)

func TestFaultDetail_NamesTheCauseAndNeverAnEmptyOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault x12.Fault
		want  string
	}{
		{x12.Fault{Segment: "HI", IK304: "3", Rule: "SEGMENT_MISSING", Severity: x12.Error}, "IK3:HI:3"},
		{x12.Fault{Segment: "CLM", Element: "05-3", IK304: "8", IK403: "5", Rule: "TOO_LONG", Severity: x12.Error}, "IK4:CLM05-3:5"},
		{x12.Fault{Segment: "NM1", Element: "09", STC: "A7:562", Rule: "NPI_CHECK_DIGIT", Severity: x12.Business}, "RULE:NPI_CHECK_DIGIT"},
		// Of an acknowledgment nobody writes a 999: its faults have no code of one.
		{x12.Fault{Rule: "ACK_JUNK", Severity: x12.Error}, "RULE:ACK_JUNK"},
		{x12.Fault{Segment: "STC", Rule: "ACK_STC_PLACE", Severity: x12.Error}, "RULE:ACK_STC_PLACE"},
	} {
		if got := c.fault.Detail().String(); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
