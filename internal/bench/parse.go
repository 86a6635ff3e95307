package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"claimdlq/internal/testclaims"
	"claimdlq/wire/x12"
)

// scan times the envelope checks with the split into claims, and the whole
// guide, over a file in memory.
func scan(_ context.Context, o Options, emit func(Result)) error {
	var b bytes.Buffer
	st, err := testclaims.Generate(&b, fileOptions(o))
	if err != nil {
		return err
	}
	emit(Result{"scan", "file", float64(st.Bytes) / 1e6, "MB"})
	emit(Result{"scan", "claims", float64(st.Claims), "claims"})
	for _, c := range []struct {
		name     string
		envelope bool
	}{{"envelope and claim split", true}, {"whole guide", false}} {
		var best time.Duration
		for range 3 {
			claims := 0
			t := time.Now()
			s := x12.NewScanner(bytes.NewReader(b.Bytes()), x12.Options{EnvelopeOnly: c.envelope, OnClaim: func(*x12.Claim) { claims++ }})
			for err == nil {
				_, err = s.Next()
			}
			if !errors.Is(err, io.EOF) {
				return err
			}
			err = nil
			if d := time.Since(t); best == 0 || d < best {
				best = d
			}
		}
		emit(Result{"scan", c.name, float64(st.Bytes) / 1e6 / best.Seconds(), "MB/s"})
	}
	return nil
}

func fileOptions(o Options) testclaims.Options {
	return testclaims.Options{Seed: 837, Bytes: o.Bytes, Delims: x12.Delims{Element: '*', Component: ':', Segment: '~', Repetition: '^', Suffix: "\n"}}
}
