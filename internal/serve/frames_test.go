package serve

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

func read(t *testing.T, r io.Reader) (got []string, err error) {
	t.Helper()
	for f := newFrames(r); ; {
		b, err := f.next()
		if err != nil {
			return got, err
		}
		got = append(got, string(b))
	}
}

func TestFrames_EveryMessageFromSTXToETXAndNothingElse(t *testing.T) {
	t.Parallel()
	in := "\x02one\x03\x02two\x03\r\n\x03\x02three\x03\n"
	for name, r := range map[string]io.Reader{"whole": strings.NewReader(in), "byte by byte": iotest.OneByteReader(strings.NewReader(in))} {
		got, err := read(t, r)
		if !errors.Is(err, io.EOF) || strings.Join(got, "|") != "\x02one\x03|\x02two\x03|\x02three\x03" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

func TestFrames_WhatCannotBeFollowedNamesTheByteAndKeepsWhatCameBefore(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"no STX":    "\x02one\x03two\x03",
		"cut":       "\x02one\x03\x02two",
		"too long":  "\x02one\x03\x02" + strings.Repeat("x", ncpdp.MaxMessage+1) + "\x03",
		"PHI-ish":   "\x02one\x03SYNTHETIC MEMBER",
		"two zeros": "\x02one\x03\x00\x00",
	} {
		got, err := read(t, strings.NewReader(in))
		if !errors.Is(err, claimdlq.Invalid) || len(got) != 1 {
			t.Errorf("%s: %d messages, %v", name, len(got), err)
		}
		if err != nil && (!strings.Contains(err.Error(), "at byte ") || strings.Contains(err.Error(), "SYNTHETIC")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzFrames(f *testing.F) {
	f.Add([]byte("\x02one\x03\x02two\x03"))
	f.Add([]byte("\x02\x02\x03\x03\r\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n := 0
		for fr := newFrames(strings.NewReader(string(b))); ; {
			m, err := fr.next()
			if err != nil {
				break
			}
			if n += len(m); m[0] != stx || m[len(m)-1] != etx || n > len(b) {
				t.Fatalf("%d bytes are a message", len(m))
			}
		}
	})
}
