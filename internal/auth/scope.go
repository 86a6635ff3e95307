package auth

import (
	"slices"
	"strings"
)

// AllPartners is the pattern that stands for every partner, and for what belongs to
// none, such as a file that cannot be read.
const AllPartners = "*"

// maxPattern bounds a pattern, maxPatterns a list of them.
const (
	maxPattern  = 40
	maxPatterns = 100
)

// checkPatterns says what is wrong with a list of partner patterns. A pattern is a
// partner as records have it (BIN:PCN, ISA07:ISA08), the part before the colon alone
// for all that begin with it, or the beginning of a partner and a star.
func checkPatterns(ps []string) string {
	if len(ps) > maxPatterns {
		return "too many partners"
	}
	for _, p := range ps {
		if p == "" || len(p) > maxPattern || strings.Contains(strings.TrimSuffix(p, "*"), "*") {
			return "a partner is BIN:PCN or ISA07:ISA08, the part before the colon, or a beginning and a star"
		}
		if strings.ContainsFunc(p, func(r rune) bool { return r < ' ' || r > '~' || r == '|' }) {
			return "a partner is printable ASCII without a bar"
		}
	}
	return ""
}

// covers reports whether one of the patterns matches. Partner "" stands for all of
// them, which only AllPartners covers.
func covers(patterns []string, partner string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		switch beginning, open := strings.CutSuffix(p, "*"); {
		case p == AllPartners:
			return true
		case partner == "" || p == "":
			return false
		case open:
			return strings.HasPrefix(partner, beginning)
		case strings.Contains(p, ":"):
			return partner == p
		default:
			return partner == p || strings.HasPrefix(partner, p+":")
		}
	})
}
