package x12_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"claimdlq/wire/x12"
)

// professional returns about size bytes of clean synthetic 837P: 50 claims a set,
// one to four lines a claim, a line break after each terminator.
func professional(size int) []byte {
	r := rand.New(rand.NewPCG(837, 1))
	var b bytes.Buffer
	segs, sets := 0, 0
	seg := func(format string, a ...any) {
		fmt.Fprintf(&b, format, a...)
		b.WriteString("~\n")
		segs++
	}
	for isa := 1; b.Len() < size; isa++ {
		seg("ISA*00*          *00*          *ZZ*TESTSENDER     *ZZ*TESTRECEIVER   *260717*1200*^*00501*%09d*0*T*:", isa)
		seg("GS*HC*TESTSENDER*TESTRECEIVER*20260717*1200*%d*X*005010X222A1", isa)
		n := 0
		for ; n < 200 && b.Len() < size; n++ {
			sets++
			segs = 0
			seg("ST*837*%09d*005010X222A1", sets)
			seg("BHT*0019*00*BATCH%d*20260717*1200*CH", sets)
			seg("NM1*41*2*TEST BILLING SERVICE*****46*TGJ%06d", sets)
			seg("PER*IC*TEST CONTACT*TE*5555550100*EX*231")
			seg("NM1*40*2*TEST PAYER*****46*66783JJT")
			seg("HL*1**20*1")
			seg("PRV*BI*PXC*203BF0100Y")
			seg("NM1*85*2*TEST CLINIC*****XX*1234567893")
			seg("N3*234 TEST WAY")
			seg("N4*TESTVILLE*FL*33111")
			seg("REF*EI*999999999")
			for c := range 50 {
				professionalClaim(seg, r, sets*50+c, c+2)
			}
			seg("SE*%d*%09d", segs+1, sets)
		}
		seg("GE*%d*%d", n, isa)
		seg("IEA*1*%09d", isa)
	}
	return b.Bytes()
}

func professionalClaim(seg func(string, ...any), r *rand.Rand, number, hl int) {
	seg("HL*%d*1*22*0", hl)
	seg("SBR*P*18*GRP%d******CI", r.IntN(99999))
	seg("NM1*IL*1*TESTLAST%d*TESTFIRST****MI*SYN%09d", r.IntN(100), r.IntN(999999999))
	seg("N3*%d TEST STREET APT %d", r.IntN(9999), r.IntN(99))
	seg("N4*TESTVILLE*FL*33%03d", r.IntN(999))
	seg("DMG*D8*19%02d%02d%02d*F", 30+r.IntN(70), 1+r.IntN(12), 1+r.IntN(28))
	seg("NM1*PR*2*TEST PAYER*****PI*999996666")
	lines := make([]int, 1+r.IntN(4))
	total := 0
	for i := range lines {
		lines[i] = 10 + r.IntN(300)
		total += lines[i]
	}
	seg("CLM*CLM%010d*%d***11:B:1*Y*A*Y*I", number, total)
	seg("REF*D9*%015d", r.Int64N(999999999999999))
	seg("HI*ABK:J%02d%d*ABF:E11%d*ABF:I10", r.IntN(99), r.IntN(9), r.IntN(9))
	seg("NM1*82*1*TESTDOC*TESTFIRST****XX*1234567893")
	seg("PRV*PE*PXC*203BF0100Y")
	for i, v := range lines {
		seg("LX*%d", i+1)
		seg("SV1*HC:99213*%d*UN*1***1:2", v)
		seg("DTP*472*D8*202607%02d", 1+r.IntN(16))
		seg("REF*6R*%d", 100000+r.IntN(899999))
	}
}

func benchmarkScan(b *testing.B, o x12.Options) {
	in := professional(20 << 20)
	claims := 0
	o.OnClaim = func(c *x12.Claim) {
		claims++
		if c.Bad {
			b.Fatal("the generated claims must be clean")
		}
	}
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		s := x12.NewScanner(bytes.NewReader(in), o)
		for {
			_, err := s.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(claims)/b.Elapsed().Seconds(), "claims/s")
}

// BenchmarkScanner_Envelope reads envelopes and splits claims.
func BenchmarkScanner_Envelope(b *testing.B) { benchmarkScan(b, x12.Options{EnvelopeOnly: true}) }

// BenchmarkScanner_Judged judges every element by the guide, and makes fingerprints.
func BenchmarkScanner_Judged(b *testing.B) { benchmarkScan(b, x12.Options{}) }
