package payersim

import (
	"hash/fnv"
	"slices"
	"strconv"
	"strings"
)

// selector picks places by their number, from 1.
type selector struct {
	from, to int // both included
	every    int
	percent  int
}

func (s *selector) parse(w string) bool {
	if w == "all" {
		s.every = 1
		return true
	}
	if n, ok := strings.CutPrefix(w, "*/"); ok {
		every, err := strconv.Atoi(n)
		s.every = every
		return err == nil && every > 0
	}
	if n, ok := strings.CutSuffix(w, "%"); ok {
		percent, err := strconv.Atoi(n)
		s.percent = percent
		return err == nil && percent > 0 && percent <= 100
	}
	a, b, isRange := strings.Cut(w, "-")
	from, errA := strconv.Atoi(a)
	s.from, s.to = from, from
	if isRange {
		to, errB := strconv.Atoi(b)
		s.to = to
		return errA == nil && errB == nil && from > 0 && from <= to
	}
	return errA == nil && from > 0
}

// picks reports whether the nth place of a subject is selected. A percentage
// picks the same places in each run of the same seed.
func (s *selector) picks(seed uint64, subject string, n int) bool {
	switch {
	case s.every > 0:
		return n%s.every == 0
	case s.percent > 0:
		h := fnv.New64a()
		_, _ = h.Write([]byte(subject + "/" + strconv.FormatUint(seed, 10) + "/" + strconv.Itoa(n)))
		x := h.Sum64()
		x ^= x >> 31 // the low bits of FNV follow the last characters
		return x*0x9e3779b97f4a7c15>>32%100 < uint64(s.percent)
	}
	return n >= s.from && n <= s.to
}

// first returns the action of the first rule about the nth place of a subject
// that has one of the verbs.
func (s *Script) first(subject string, n int, verbs ...string) (action, bool) {
	for i := range s.rules {
		r := &s.rules[i]
		if r.subject != subject || r.field != "" || !r.which.picks(s.seed, subject, n) {
			continue
		}
		if slices.Contains(verbs, r.act.verb) {
			return r.act, true
		}
	}
	return action{}, false
}

// claim returns the status that a rule gives the nth claim, or "".
func (s *Script) claim(n int, c *claim) string {
	for i := range s.rules {
		r := &s.rules[i]
		if r.subject != "claim" || r.act.verb != "stc" {
			continue
		}
		if r.field == "" && r.which.picks(s.seed, "claim", n) || r.field != "" && c.has(r.field, r.value) {
			return r.act.code
		}
	}
	return ""
}
