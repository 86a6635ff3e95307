package classify

import (
	_ "embed"
	"strings"
	"sync"

	"claimdlq"
)

//go:embed words.tsv
var wordsTSV string

type wordKey struct{ kind, code string }

var wordTable = sync.OnceValue(func() map[wordKey]string {
	m := make(map[wordKey]string)
	for line := range strings.Lines(wordsTSV) {
		f := strings.Split(strings.TrimRight(line, "\n"), "\t")
		if len(f) == 3 && !strings.HasPrefix(line, "#") {
			m[wordKey{f[0], f[1]}] = f[2]
		}
	}
	return m
})

func word(kind, code string) string { return wordTable()[wordKey{kind, code}] }

// Words says in plain words what a detail means, such as "required segment HI
// (diagnoses and other codes) is missing" for IK3:HI:3. It is "" for a detail it
// has no words for. It is made from the tables of this package and the detail
// alone, so that it holds no more of the claim than the detail does: nothing.
func Words(d claimdlq.Detail) string {
	kind, rest, _ := strings.Cut(d.String(), ":")
	code, more, _ := strings.Cut(rest, ":")
	switch kind {
	case "IK3":
		return segmentWords(code, more)
	case "IK4":
		return elementWords(code, more)
	case "IK5":
		return verdictWords("transaction set", "IK501", "IK502", code, more)
	case "AK9":
		return verdictWords("functional group", "AK901", "AK905", code, more)
	case "STC":
		return statusWords(code, more)
	case "NCPDP":
		return pharmacyWords(code, more)
	case "TA1":
		if r, ok := Lookup("TA1", code); ok {
			return "interchange: " + r.Label
		}
	}
	switch status, http := strings.CutPrefix(kind, "HTTP_"); {
	case rest != "":
		if w := word(kind, rest); w != "" || !strings.HasPrefix(rest, "ACK_") {
			return w
		}
		return "a part of the acknowledgment cannot be read"
	case http && len(status) == 3:
		return httpWords(status)
	}
	if w := word("OWN", kind); w != "" {
		return w
	}
	return answerWords(kind)
}

// pharmacyWords reads NCPDP:SEGMENT-FIELD:FAULT, whose place may be missing.
func pharmacyWords(place, fault string) string {
	if fault == "" {
		return word("NCPDP", place)
	}
	if w := word("NCPDP", fault); w != "" {
		return place + ": " + w
	}
	return ""
}

// answerWords reads what decided of a pharmacy's answer: FB_ and a reject code, or
// AN_ and a status.
func answerWords(kind string) string {
	if status, ok := strings.CutPrefix(kind, "AN_"); ok {
		return word("AN", status)
	}
	code, ok := strings.CutPrefix(kind, "FB_")
	if !ok {
		return ""
	}
	reject, ok := NormalReject([]byte(code))
	if !ok || reject.String() != code {
		return ""
	}
	if rule, known := LookupReject(reject); known && rule.Label != "" {
		return "payer: reject " + code + ", " + rule.Label
	}
	return "payer: reject " + code
}

// segmentWords reads IK3:SEGMENT:IK304.
func segmentWords(segment, ik304 string) string {
	switch does := word("IK304", ik304); {
	case segment == "" || does == "":
		return ""
	case ik304 == "3":
		return "required segment " + named(segment) + " is missing"
	default:
		return "segment " + named(segment) + " " + does
	}
}

// elementWords reads IK4:ELEMENT:IK403, the element being a segment's id, two
// digits, and a component.
func elementWords(element, ik403 string) string {
	does := word("IK403", ik403)
	if does == "" {
		return ""
	}
	whole, _, _ := strings.Cut(element, "-")
	if name := word("SEG", whole[:max(0, len(whole)-2)]); name != "" {
		element += " (" + name + ")"
	}
	return element + " " + does
}

// named returns a segment's id and what it holds.
func named(segment string) string {
	if w := word("SEG", segment); w != "" {
		return segment + " (" + w + ")"
	}
	return segment
}

// verdictWords reads IK5:IK501:IK502 and AK9:AK901:AK905.
func verdictWords(what, head, tail, code, why string) string {
	r, ok := Lookup(head, code)
	if !ok {
		return ""
	}
	what += " " + r.Label
	if w, ok := Lookup(tail, why); ok {
		what += ": " + w.Label
	}
	return what
}

// statusWords reads STC:CATEGORY:STATUS:ENTITY.
func statusWords(category, rest string) string {
	r, ok := Lookup("STC", category)
	if !ok {
		return ""
	}
	out := "payer: " + r.Label
	status, entity, _ := strings.Cut(rest, ":")
	if w := word("STATUS", status); w != "" {
		out += ": " + w
	}
	if w := word("ENTITY", entity); w != "" {
		out += " (" + w + ")"
	}
	return out
}

func httpWords(status string) string {
	if w := word("HTTP", status); w != "" {
		return "the target " + w + " (HTTP " + status + ")"
	}
	return "the target answered with HTTP status " + status
}
