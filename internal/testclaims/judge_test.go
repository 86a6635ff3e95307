package testclaims_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// counts is what an independent reading of a clean file found.
type counts struct {
	interchanges, groups, sets, claims, segments int
	cents                                        int64
	clm01                                        []string
}

// judge reads a clean file with nothing but string splitting and fails the test
// for every rule it breaks.
func judge(t *testing.T, file string) (c counts) {
	t.Helper()
	must := func(ok bool, what string) {
		t.Helper()
		if !ok {
			t.Fatalf("segment %d: %s", c.segments, what)
		}
	}
	var (
		el, comp, term                  = file[3:4], file[104:105], file[105:106]
		isa13, gs06, gs08, st02         string
		st, hl, lx, sets, groups        int
		want, sum                       int64
		child                           map[string]string // HL04 by HL01
		children                        map[string]int
		seenSets, refs, clms, traceNums = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	)
	closeClaim := func() {
		t.Helper()
		must(want == sum, "CLM02 is not the sum of the lines")
		want, sum, lx = 0, 0, 0
		clear(refs)
	}
	for raw := range strings.SplitSeq(file, term) {
		raw = strings.TrimLeft(raw, "\r\n")
		if raw == "" {
			continue
		}
		c.segments++
		st++
		e := strings.Split(raw, el)
		must(e[len(e)-1] != "", "trailing element separator")
		switch e[0] {
		case "ISA":
			must(len(raw) == 105, "ISA length")
			isa13, groups = e[13], 0
			c.interchanges++
		case "GS":
			must(len(e) == 9 && e[1] == "HC", "GS")
			gs06, gs08, sets = e[6], e[8], 0
			groups++
			c.groups++
			clear(seenSets)
		case "ST":
			st, hl, st02 = 1, 0, e[2]
			must(e[3] == gs08 && len(st02) >= 4 && !seenSets[st02], "ST")
			seenSets[st02] = true
			child, children = map[string]string{}, map[string]int{}
			sets++
			c.sets++
		case "BHT":
			must(st == 2 && !traceNums[e[3]] && len(e[3]) <= 30, "BHT")
			traceNums[e[3]] = true
		case "HL":
			closeClaim()
			hl++
			must(e[1] == strconv.Itoa(hl), "HL01")
			if e[3] != "20" {
				must(child[e[2]] == "1", "HL02 names no parent that has children")
				children[e[2]]++
			}
			child[e[1]] = e[4]
		case "NM1":
			if len(e) > 9 && e[8] == "XX" {
				must(luhn("80840"+e[9]) && (e[9][0] == '1' || e[9][0] == '2') && len(e[9]) == 10, "NPI")
			}
		case "CLM":
			closeClaim()
			c.claims++
			want = cents(e[2])
			c.cents += want
			must(!clms[e[1]] && len(e[1]) <= 20, "CLM01")
			clms[e[1]] = true
			c.clm01 = append(c.clm01, e[1])
			must(strings.Count(e[5], comp) == 2, "CLM05")
		case "LX":
			lx++
			must(e[1] == strconv.Itoa(lx), "LX01")
		case "SV1", "SV3":
			sum += cents(e[2])
		case "SV2":
			sum += cents(e[3])
		case "REF":
			if e[1] == "6R" {
				must(!refs[e[2]], "REF*6R is not unique in its claim")
				refs[e[2]] = true
			}
		case "SE":
			closeClaim()
			for id, flag := range child {
				must((flag == "1") == (children[id] > 0), "HL04 of "+id)
			}
			must(e[1] == strconv.Itoa(st) && e[2] == st02, "SE")
		case "GE":
			must(e[1] == strconv.Itoa(sets) && e[2] == gs06, "GE")
		case "IEA":
			must(e[1] == strconv.Itoa(groups) && e[2] == isa13, "IEA")
		}
	}
	return c
}

func cents(s string) int64 {
	f, _ := strconv.ParseFloat(s, 64)
	return int64(math.Round(f * 100))
}

func luhn(s string) bool {
	sum := 0
	for i := range len(s) {
		d := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}
