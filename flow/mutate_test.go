package flow_test

import (
	"bytes"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"claimdlq/internal/testclaims"
	"claimdlq/store"
)

// TestIntake_WhateverIsInAFileItIsTakenInOnceAndAddsUp gives broken files: what
// came of them adds up, is conserved, and giving them again changes nothing.
func TestIntake_WhateverIsInAFileItIsTakenInOnceAndAddsUp(t *testing.T) { // promises 1, 9
	t.Parallel()
	whole := generate(t, testclaims.Options{Claims: 12, ClaimsPerSet: 2, SetsPerGroup: 2, GroupsPerInterchange: 2})
	rapid.Check(t, func(rt *rapid.T) {
		b := setup(t, "")
		file := mutate(rt, whole)
		first := b.ingest(file)
		records := len(b.list(store.Filter{}))
		again := b.ingest(file)
		if again.Accepted+again.Quarantined+again.Conflicts != 0 || again.Claims != first.Claims || len(b.list(store.Filter{})) != records {
			rt.Fatalf("first %+v\nagain %+v\n%s", first, again, b.dump())
		}
		b.drain()
		b.acks()
		if s := b.payer.Stats(); s.DoubleAccepted+s.DuplicateInterchanges > 0 || int64(s.Accepted) != first.Accepted {
			rt.Fatalf("accepted %d of %+v: %+v\n%s", s.Accepted, first, s, b.dump())
		}
	})
}

// mutate damages a file in up to three places.
func mutate(rt *rapid.T, file []byte) []byte {
	file = bytes.Clone(file)
	for range rapid.IntRange(1, 3).Draw(rt, "damages") {
		at := rapid.IntRange(0, len(file)-1).Draw(rt, "at")
		end := min(len(file), at+rapid.IntRange(0, 400).Draw(rt, "length"))
		switch rapid.IntRange(0, 4).Draw(rt, "damage") {
		case 0:
			file[at] = rapid.Byte().Draw(rt, "byte")
		case 1:
			file = append(file[:at], file[end:]...)
		case 2:
			file = slices.Insert(file, at, bytes.Clone(file[at:end])...)
		case 3: // a whole segment again
			from := bytes.LastIndexByte(file[:at], '~') + 1
			if to := bytes.IndexByte(file[at:], '~'); to >= 0 {
				file = slices.Insert(file, at+to+1, bytes.Clone(file[from:at+to+1])...)
			}
		case 4:
			file = file[:end]
		}
		if len(file) == 0 {
			return file
		}
	}
	return file
}
