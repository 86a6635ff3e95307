package ncpdp_test

import (
	"fmt"
	"strings"
	"testing"

	"claimdlq/wire/ncpdp"
)

func TestDiff_WhereAndHowLongNeverWhat(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ old, with, want string }{
		{"", "", ""},
		{"D799999000101", "D799999000102", "1/07-D7[1] changed 11>11"},
		{"C2SYN000001", "C2CANARY", "0/04-C2[1] changed 9>6"},
		{"|DJ3", "", "1/07-DJ[1] removed 1>0"},
		{"|DJ3", "|DJ3|HDP", "1/07-HD[1] added 0>1"},
		{"TESTPCN   ", "OTHER     ", "0/-A4[1] changed 7>5"},
		{"|D300|D5030", "|D5030|D300", ""}, // moved
		{"/03|EZ01", "/12|PY1/03|EZ01", "1/12-[0] added 0>0; 1/12-PY[1] added 0>1"},
		{"|DJ3", "|DJ3|ZZCANARY", "1/07-??[1] added 0>6"},
	} {
		got, err := ncpdp.Diff(basicB1, replace(t, tt.old, tt.with))
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, c := range got {
			all = append(all, fmt.Sprintf("%d/%s-%s[%d] %s %d>%d", c.Transaction, c.Segment, c.Field, c.Occurrence, c.Kind, c.OldLen, c.NewLen))
		}
		if s := strings.Join(all, "; "); s != tt.want || strings.Contains(s, "CANARY") {
			t.Errorf("%s: %s, want %s", tt.with, s, tt.want)
		}
	}
	multi := fixtureFiles(t)["req_b1_multi4.ncpdp"]
	other, err := edit(multi, 3, "07-D7=1")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := ncpdp.Diff(multi, other); err != nil || len(got) != 1 || got[0].Transaction != 3 {
		t.Error(got, err)
	}
	if _, err := ncpdp.Diff(basicB1, nil); err == nil {
		t.Error("nothing was compared")
	}
}
