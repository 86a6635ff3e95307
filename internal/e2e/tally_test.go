package e2e_test

import (
	"os"
	"strings"
	"testing"
)

// tally counts the calls in a tracer's log, by the entries of syscalls.
func tally(t *testing.T, path string) map[string]int {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := map[string]int{}
	for l := range strings.Lines(string(b)) {
		_, rest, _ := strings.Cut(l, " ") // the process id
		name, _, found := strings.Cut(strings.TrimSpace(rest), "(")
		if !found {
			continue
		}
		for _, group := range syscalls {
			for _, c := range strings.Split(group, ",") {
				if c == name {
					n[group]++
				}
			}
		}
	}
	return n
}
