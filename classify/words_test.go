package classify_test

import (
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

func TestWords_HasNoneForWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for _, detail := range []string{
		"", ":", "IK3::", "IK3:HI:99", "IK4::", "IK4:A:99", "IK4:A", "IK5:Q", "AK9::", "STC:ZZ:1", "TA1:999", "RULE:NOSUCH", "NOSUCH", "DETAIL_INVALID",
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
