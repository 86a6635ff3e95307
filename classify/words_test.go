package classify_test

import (
	"slices"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/classify"
)

func TestWords_SaysWhatACodeMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ detail, want string }{
		{"IK3:HI:3", "required segment HI (diagnoses and other codes) is missing"},
		{"IK3:ZZZ:1", "segment ZZZ is not a segment that the standard knows"},
		{"IK3:UNREADABLE:1", "segment UNREADABLE is not a segment that the standard knows"},
		{"IK4:DTP03:8", "DTP03 (date) is not a valid date"},
		{"IK4:CLM05-3:5", "CLM05-3 (claim) is too long"},
		{"IK4:N301:1", "N301 (street address) is required and missing"},
		{"IK4:ZZ01:1", "ZZ01 is required and missing"},
		{"IK5:R:5", "transaction set rejected: one or more segments in error"},
		{"IK5:R", "transaction set rejected"},
		{"AK9:R:3", "functional group rejected: group trailer missing"},
		{"TA1:023", "interchange: premature end of file"},
		{"TA1:ORPHAN", "an acknowledgment of an interchange that was not sent from here"},
		{"STC:A7:562:85", "payer: rejected for invalid information: NPI (billing provider)"},
		{"STC:A7:99999", "payer: rejected for invalid information"},
		{"STC:A2:20:PR", "payer: accepted into the adjudication system: accepted for processing (payer)"},
		{"RULE:DUPLICATE_CLAIM", "this claim was sent before under other numbers"},
		{"RULE:ACK_JUNK", "bytes that are no acknowledgment"},
		{"RULE:ACK_STC_PLACE", "a part of the acknowledgment cannot be read"},
		{"KEY_CONFLICT", "these control numbers came before with other content"},
		{"FB_92", "payer: reject 92, " + label(t, "92")},
		{"FB_ZZZ", "payer: reject ZZZ"},
		{"FB_UNREADABLE", "payer: rejected with a code that cannot be read"},
		{"AN_D", "payer: paid before, this is a duplicate"},
		{"CUT_23", "the answer says paid but not how much: it was cut off"},
		{"ECHO_D2", "the answer is to another prescription"},
		{"NCPDP:11-D9:MONEY", "11-D9: not an amount with its sign in the last digit"},
		{"NCPDP:NO_SEPARATORS", "no separators after the header"},
		{"HTTP_503", "the target is not available (HTTP 503)"},
		{"HTTP_418", "the target answered with HTTP status 418"},
		{"HTTP_ANSWER_CUT", "the answer broke off"},
		{"PAYLOAD:NOT_FOUND", "the sealed payload or its key is missing: restore vault/ and keys/, then replay with --unchanged"},
	} {
		if got := classify.Words(claimdlq.NewDetail(c.detail)); got != c.want {
			t.Errorf("%s: got %q, want %q", c.detail, got, c.want)
		}
	}
}

// label returns the table's words for a reject code.
func label(t *testing.T, code string) string {
	t.Helper()
	reject, _ := classify.NormalReject([]byte(code))
	rule, ok := classify.LookupReject(reject)
	if !ok || rule.Label == "" {
		t.Fatalf("%s is not in the table", code)
	}
	return rule.Label
}

// Few tries (Policy.MaxReceiveLow) are for what seldom passes: a list that grows by
// an edit of the table spends other budgets than its author thinks.
func TestRejectRules_FewTriesAreForTheseAlone(t *testing.T) {
	t.Parallel()
	var low []string
	for _, r := range classify.RejectRules() {
		if r.Budget == classify.BudgetLow {
			low = append(low, r.Code.String())
		}
	}
	slices.Sort(low)
	if got := strings.Join(low, " "); got != "841 85 87 99 M3 M6 M7 M8" {
		t.Error(got)
	}
}

func TestWords_HasNoneForWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, detail := range []string{
		"", ":", "IK3::", "IK3:HI:99", "IK4::", "IK4:A:99", "IK4:A", "IK5:Q", "AK9::", "STC:ZZ:1", "TA1:999", "FB_", "FB_1234", "AN_", "AN_Z", "NCPDP:", "NCPDP:11-D9:NOSUCH", "RULE:NOSUCH", "NOSUCH", "DETAIL_INVALID",
	} {
		if got := classify.Words(claimdlq.NewDetail(detail)); got != "" {
			t.Errorf("%q: got %q, want none", detail, got)
		}
	}
}

// FuzzWords: whatever the detail, the words hold no more than it does.
func FuzzWords(f *testing.F) {
	f.Add("IK4:CLM05-3:5")
	f.Add("STC:A7:562:85")
	f.Fuzz(func(t *testing.T, s string) {
		if w := classify.Words(claimdlq.NewDetail(s)); len(w) > 300 || strings.ContainsAny(w, "\n\t") {
			t.Errorf("%q: got %q", s, w)
		}
	})
}
