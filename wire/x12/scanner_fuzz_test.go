package x12_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"claimdlq/wire/x12"
)

const isa = "ISA*00*          *00*          *ZZ*TESTSENDER     *ZZ*TESTRECEIVER   *260301*0930*^*00501*000000101*1*T*:~"

// base is a clean interchange of two claims, one line.
const base = isa +
	"GS*HC*TESTSENDER*TESTRECEIVER*20260301*0930*201*X*005010X222A1~" +
	"ST*837*0001*005010X222A1~" +
	"BHT*0019*00*BATCH1*20260301*0930*CH~" +
	"NM1*41*2*TEST SUBMITTER*****46*SUB001~" +
	"PER*IC*TEST DESK*TE*5555550100~" +
	"NM1*40*2*TEST PAYER*****46*PAY001~" +
	"HL*1**20*1~" +
	"NM1*85*2*TEST CLINIC*****XX*1234567893~" +
	"N3*1 TEST WAY~" +
	"N4*TESTVILLE*OH*430010000~" +
	"REF*EI*999999999~" +
	"HL*2*1*22*0~" +
	"SBR*P*18*******CI~" +
	"NM1*IL*1*TESTLAST*TESTFIRST****MI*MBR0001~" +
	"N3*2 TEST WAY~" +
	"N4*TESTVILLE*OH*430010000~" +
	"DMG*D8*19700101*F~" +
	"NM1*PR*2*TEST PAYER*****PI*PAY001~" +
	"CLM*PCN0001*125***11:B:1*Y*A*Y*Y~" +
	"HI*ABK:J069~" +
	"LX*1~" +
	"SV1*HC:99213*125*UN*1***1~" +
	"DTP*472*D8*20260210~" +
	"REF*6R*LN1~" +
	"CLM*PCN0002*125***11:B:1*Y*A*Y*Y~" +
	"HI*ABK:J069~" +
	"LX*1~" +
	"SV1*HC:99213*125*UN*1***1~" +
	"DTP*472*D8*20260210~" +
	"REF*6R*LN2~" +
	"SE*30*0001~" +
	"GE*1*201~" +
	"IEA*1*000000101~"

// raw returns the bytes that an event stands for.
func raw(ev x12.Event) []byte {
	switch e := ev.(type) {
	case *x12.Junk:
		return e.Raw
	case *x12.InterchangeStart:
		return e.Raw
	case *x12.Loose:
		return e.Raw
	case *x12.GroupStart:
		return e.Raw
	case *x12.SetPart:
		return e.Raw
	case *x12.Set:
		return e.Raw
	case *x12.GroupEnd:
		return e.Raw
	case *x12.InterchangeEnd:
		return e.Raw
	}
	return nil
}

// scanAll reads everything, and returns the bytes of all events and their number.
func scanAll(t testing.TB, r io.Reader, o x12.Options) (all []byte, events int) {
	t.Helper()
	s := x12.NewScanner(r, o)
	for {
		ev, err := s.Next()
		if errors.Is(err, io.EOF) {
			return all, events
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw(ev)...)
		events++
	}
}

func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		"", "ISA", isa, base, "\xef\xbb\xbf" + base + "\r\n\x1a", strings.ReplaceAll(base, "~", "~\r\n"),
		strings.ReplaceAll(base, "~", "\r"), base[:500], base[:300] + base, "HELLO" + base + "WORLD" + base,
		strings.ReplaceAll(base, "*0001*MBR", "*00\r\n01*MBR"), strings.Replace(base, "IEA*1*000000101~", "", 1) + base,
		isa + "TA1*000000101*260301*0930*A*000~IEA*0*000000101~",
	} {
		f.Add([]byte(s), uint16(4096))
	}
	f.Fuzz(func(t *testing.T, in []byte, size uint16) {
		claims := 0
		o := x12.Options{OnClaim: func(c *x12.Claim) {
			claims++
			if c.Ordinal < 1 {
				t.Fatal("a claim without an ordinal")
			}
		}}
		want, events := scanAll(t, bytes.NewReader(in), o)
		if !bytes.Equal(want, in) {
			t.Fatalf("%d bytes in, %d out, or others", len(in), len(want))
		}
		if events > 2*len(in)+2 {
			t.Fatalf("%d events out of %d bytes", events, len(in))
		}
		judged := claims
		// However the file is cut into reads and parts, the bytes come out again and
		// the claims are the same.
		o.PartSize, o.MaxSegment = int(size)+1, int(size)/2+64
		if got, _ := scanAll(t, iotest.OneByteReader(bytes.NewReader(in)), o); !bytes.Equal(got, in) {
			t.Fatal("in small parts the bytes are others")
		}
		claims = 0
		o = x12.Options{EnvelopeOnly: true, OnClaim: o.OnClaim}
		if got, _ := scanAll(t, bytes.NewReader(in), o); !bytes.Equal(got, in) {
			t.Fatal("without guides the bytes are others")
		}
		if claims != judged && !bytes.ContainsAny(in, "\r\n") {
			t.Fatalf("%d claims by the guide, %d without", judged, claims)
		}
	})
}

func FuzzParseISA(f *testing.F) {
	f.Add([]byte(isa))
	f.Add([]byte(isa[:60]))
	f.Add([]byte("ISA*00**00**ZZ*A*ZZ*B*260301*0930*^*00501*000000101*1*T*:~GS*HC"))
	f.Add([]byte(strings.Replace(isa, "*0930", "\r\n*0930", 1)))
	f.Fuzz(func(t *testing.T, in []byte) {
		h, ta1 := x12.ParseISA(in)
		if ta1 != "" {
			if len(ta1) != 3 {
				t.Fatalf("TA105 %q", ta1)
			}
			return
		}
		if h.Len < 20 || h.Len > len(in) {
			t.Fatalf("an ISA of %d bytes in %d", h.Len, len(in))
		}
		if h.Delims.Element == h.Delims.Segment || h.Delims.Component == h.Delims.Segment {
			t.Fatal("delimiters that cannot be told apart")
		}
	})
}
