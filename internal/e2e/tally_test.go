package e2e_test

import (
	"os"
	"strings"
	"testing"
)

// tally counts the calls in a tracer's log, by the entries of syscalls: those of the thread
// that makes the most, because the tracer counts each thread's until it kills.
func tally(t *testing.T, path string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n, of := map[string]int{}, map[string]int{}
	for l := range strings.Lines(string(b)) {
		thread, rest, _ := strings.Cut(l, " ")
		name, _, found := strings.Cut(strings.TrimSpace(rest), "(")
		if !found {
			continue
		}
		for _, group := range syscalls {
			for _, c := range strings.Split(group, ",") {
				if c == name {
					of[thread+group]++
					n[group] = max(n[group], of[thread+group])
				}
			}
		}
	}
	return n
}
