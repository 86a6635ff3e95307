package envelope

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"claimdlq"
	"claimdlq/store"
)

// Allocate returns a control number that is free both as ISA13 of the lane and as
// GS06 between the given application codes: it was never given before, and
// nothing was sent under it with numbers of its submitter, nor will be with those
// in except. The allocation is durable on return. Errors: those of the store, and Unavailable where no free
// number was found.
//
// A submitter may have used thousands of numbers of the lane himself, so what is
// asked for grows: numbers may be lost, never given twice.
func Allocate(ctx context.Context, s store.Store, e claimdlq.Envelope, gsSender, gsReceiver string, except ...uint32) (uint32, error) {
	for n := 1; n <= 1<<16; n *= 8 {
		first, err := s.NextControl(ctx, e.Lane(), n)
		if err != nil {
			return 0, err
		}
		for i := range uint32(n) {
			free, err := unused(ctx, s, e, gsSender, gsReceiver, first+i)
			if err != nil {
				return 0, err
			}
			if free && !slices.Contains(except, first+i) {
				return first + i, nil
			}
		}
	}
	return 0, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "allocate control number", Hint: "the submitter has used the numbers of this lane; try again"}
}

func unused(ctx context.Context, s store.Store, e claimdlq.Envelope, gsSender, gsReceiver string, n uint32) (bool, error) {
	for _, ref := range []claimdlq.Ref{store.InterchangeRef(e, n), store.GroupRef(gsSender, gsReceiver, n)} {
		found, err := s.FindSubmissions(ctx, ref, 1)
		if err != nil || len(found) > 0 {
			return false, err
		}
	}
	return true, nil
}

// ReplayBatch returns the BHT03 under which a replay goes out, by which its 277CA
// is told from that of the original: R and its ISA13 in nine digits.
func ReplayBatch(isa13 uint32) string {
	n := strconv.FormatUint(uint64(isa13), 10)
	return "R" + strings.Repeat("0", max(0, 9-len(n))) + n
}

// ParseReplayBatch returns the ISA13 of a BHT03 that ReplayBatch made.
func ParseReplayBatch(bht03 []byte) (uint32, bool) {
	if len(bht03) != 10 || bht03[0] != 'R' {
		return 0, false
	}
	return Number(string(bht03[1:]))
}

// Number returns a control number of up to nine digits as a number; ok is false
// where it is none, or zero.
func Number(s string) (n uint32, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" || len(s) > 9 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + uint32(s[i]-'0')
	}
	return n, n > 0
}
