package storetest

import (
	"context"
	"testing"

	"claimdlq"
	"claimdlq/store"
)

var controlRules = []rule{
	{"numbers start at 1 and follow each other, in each lane", func(t *testing.T, s store.Store) {
		control(t, s, "a", 1, 1)
		control(t, s, "a", 1, 2)
		control(t, s, "b", 5, 1)
		control(t, s, "a", 10, 3)
		control(t, s, "a", 1, 13)
		control(t, s, "b", 1, 6)
	}},
	{"the last number is 999999999, then 1 follows", func(t *testing.T, s store.Store) {
		control(t, s, "a", 999_999_998, 1)
		control(t, s, "a", 1, 999_999_999)
		control(t, s, "a", 1, 1)
		control(t, s, "a", 2, 2)
	}},
	{"a run of numbers never spans the wrap", func(t *testing.T, s store.Store) {
		control(t, s, "a", 999_999_990, 1)
		control(t, s, "a", 10, 1)
		control(t, s, "a", 1, 11)
		control(t, s, "b", 999_999_999, 1)
		control(t, s, "b", 999_999_999, 1)
	}},
	{"a count outside 1 to 999999999 is invalid", func(t *testing.T, s store.Store) {
		for _, n := range []int{-1, 0, 1_000_000_000} {
			_, err := s.NextControl(context.Background(), "a", n)
			wantCode(t, err, claimdlq.Invalid)
		}
		control(t, s, "a", 1, 1)
	}},
}

func control(t tb, s store.Store, lane string, n int, want uint32) {
	t.Helper()
	got, err := s.NextControl(context.Background(), lane, n)
	equal(t, "error", err, nil)
	equal(t, "first number", got, want)
}
