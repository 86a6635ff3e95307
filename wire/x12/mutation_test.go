package x12_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"claimdlq/wire/x12"
)

// A mutation is one change to a clean set of three claims: the first under a
// subscriber, the second and the third under a patient of another subscriber.
type mutation struct {
	name    string
	segs    []string // ST first, without the SE
	pos     int      // of the changed segment, ST is 1
	element string   // that was changed; empty for a change of segments
	want    byte     // see testdata/mutations
	region  string
}

// cell is what the table expects of one element: of emptying, overlong and unlisted
// text, or of filling where the element is empty.
type cell struct {
	want  string
	comps []string
}

// table reads the expectations of one kind of claim.
func table(t *testing.T, name string) (segs []string, drop, twice []byte, cells [][]cell) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "mutations", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		seg, wants, ok := strings.Cut(strings.TrimSuffix(line[3:], "\n"), "  ")
		if !ok {
			t.Fatalf("%s: %q", name, line)
		}
		segs, drop, twice = append(segs, seg), append(drop, line[0]), append(twice, line[1])
		var row []cell
		for _, w := range strings.Fields(wants) {
			c := cell{want: w}
			if head, in, has := strings.Cut(strings.TrimSuffix(w, ")"), "("); has {
				c = cell{head, strings.Split(in, ",")}
			}
			row = append(row, c)
		}
		if len(row) != strings.Count(seg, "*")+1 {
			t.Fatalf("%s: %q has %d columns", name, seg, len(row))
		}
		cells = append(cells, row)
	}
	return segs, drop, twice, cells
}

// unlisted is a value as long as v that is on no list, and no date.
func unlisted(v string) string {
	if len(v) == 8 && v[0] == '2' || len(v) == 8 && v[:2] == "19" || len(v) == 17 && v[8] == '-' {
		return v[:4] + "13" + v[6:]
	}
	return strings.Repeat("Q", len(v))
}

// mutations makes every single change that the table has an expectation of.
func mutations(t *testing.T, name, version string) (all []mutation) {
	t.Helper()
	segs, drop, twice, cells := table(t, name)
	segs = append([]string{"ST*837*0000*" + version}, segs...)
	region, claim := "header", 0
	with := func(i int, el, what string, want byte, in ...string) {
		out := append(slices.Clone(segs[:i]), in...)
		all = append(all, mutation{
			name: what + " " + segs[i] + " " + el, segs: append(out, segs[i+1:]...), pos: i + 1, element: el, want: want, region: region,
		})
	}
	for i := 1; i < len(segs); i++ {
		s := segs[i]
		switch {
		case strings.HasPrefix(s, "HL*1*"):
			region = "provider"
		case strings.HasPrefix(s, "HL*2*"):
			region = "subscriber"
		case strings.HasPrefix(s, "HL*3*"):
			region = "family"
		case strings.HasPrefix(s, "CLM*"):
			claim++
			region = fmt.Sprintf("claim %d", claim)
		}
		with(i, "", "without", drop[i-1])
		with(i, "", "twice", twice[i-1], s, s)
		el := strings.Split(s, "*")
		set := func(k int, v, name, what string, want byte) {
			e := append(slices.Clone(el), "")[:max(len(el), k+1)]
			e[k] = v
			with(i, name, what, want, strings.TrimRight(strings.Join(e, "*"), "*"))
		}
		for k, c := range cells[i-1] {
			k++
			name := fmt.Sprintf("%02d", k)
			switch {
			case k == len(el) || el[k] == "":
				set(k, "1", name, "filled", c.want[0])
			case c.comps == nil:
				set(k, "", name, "emptied", c.want[0])
				set(k, el[k]+strings.Repeat("9", 300), name, "overlong", c.want[1])
				set(k, unlisted(el[k]), name, "unlisted", c.want[2])
			default:
				set(k, "", name, "emptied", c.want[0])
				parts := strings.Split(el[k], ":")
				for p, w := range c.comps {
					if w == "-" {
						continue
					}
					for j, v := range []string{"", parts[p] + strings.Repeat("X", 90), unlisted(parts[p])} {
						q := slices.Clone(parts)
						q[p] = v
						set(k, strings.TrimRight(strings.Join(q, ":"), ":"), fmt.Sprintf("%s-%d", name, p+1), "component changed", w[j])
					}
				}
			}
		}
		if i+1 < len(segs) && segs[i+1] != s {
			with(i, "", "moved down", 'm', segs[i+1], s)
			all[len(all)-1].segs = append(slices.Clone(all[len(all)-1].segs[:i+2]), segs[i+2:]...)
		}
	}
	return all
}

// document puts every mutation into a set of its own.
func document(all []mutation, version string) string {
	var b strings.Builder
	b.WriteString(isa + "GS*HC*TESTSENDER*TESTRECEIVER*20260301*0930*201*X*" + version + "~")
	for n, m := range all {
		st := fmt.Sprintf("%04d", n+1)
		b.WriteString("ST*837*" + st + "*" + version + "~" + strings.Join(m.segs[1:], "~"))
		fmt.Fprintf(&b, "~SE*%d*%s~", len(m.segs)+1, st)
	}
	fmt.Fprintf(&b, "GE*%d*201~IEA*1*000000101~", len(all))
	return b.String()
}

// held says whose claims a fault in a region may hold back.
var held = map[string][]int{
	"subscriber": {1}, "family": {2, 3}, "claim 1": {1}, "claim 2": {2}, "claim 3": {3},
}

// TestMutations_EverySingleChangeIsFoundWhereItIs drops, doubles and moves every
// segment, and empties, fills, overfills and miscodes every element, of a clean set
// of each kind that has nearly every segment of its guide.
func TestMutations_EverySingleChangeIsFoundWhereItIs(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{
		"837p.txt": "005010X222A1", "837i.txt": "005010X223A2", "837d.txt": "005010X224A2",
	} {
		all := mutations(t, name, version)
		sets := scan(t, document(all, version), x12.Options{}).sets
		if len(sets) != len(all) || len(all) < 2000 {
			t.Fatalf("%s: %d sets for %d changes", name, len(sets), len(all))
		}
		for n, m := range all {
			m.check(t, name, sets[n])
		}
	}
}

func (m mutation) check(t *testing.T, name string, s x12.Set) {
	t.Helper()
	var list []x12.Fault
	for _, f := range s.Faults {
		if f.Severity != x12.Note {
			list = append(list, f)
		}
	}
	wrong := func(what string) {
		t.Helper()
		t.Errorf("%s: %s: %s: %v, bad %v, whole %v", name, m.name, what, list, s.BadClaims, s.Whole)
	}
	if (len(list) > 0) != (s.Whole || len(s.BadClaims) > 0) {
		wrong("a fault holds something, and nothing else does")
	}
	id := m.segs[min(m.pos, len(m.segs))-1]
	id, _, _ = strings.Cut(id, "*")
	switch {
	case m.want == 'm':
		if strings.HasPrefix(m.name, "without CLM") || strings.Contains(m.name, " HL*") || strings.HasPrefix(m.name, "moved") {
			return // what it belonged to is another claim's now
		}
	case m.want == '.':
		if len(list) > 0 {
			wrong("nothing is wrong with it")
		}
	case len(list) == 0:
		wrong("not found")
	case m.element == "" && m.want != '4' && m.want != '5':
		id, _, _ = strings.Cut(strings.Fields(m.name)[1], "*")
		want := map[byte]string{'3': "3", 'i': "I6"}[m.want]
		if len(list) > 1 && m.want == 'i' || list[0].Segment != id || list[0].IK304 != want || list[0].Position < m.pos {
			wrong("want IK304 " + want)
		}
	case m.element == "":
		if !slices.ContainsFunc(list, func(f x12.Fault) bool {
			return f.Segment == id && f.Position == m.pos+1 && f.IK304 == string(m.want)
		}) {
			wrong("want IK304 " + string(m.want))
		}
	default:
		want, ok := map[byte]string{'x': "I10", 'i': "I9", 'b': ""}[m.want]
		if !ok {
			want = string(m.want)
		}
		if f := list[0]; f.Segment != id || f.Position != m.pos || !strings.HasPrefix(f.Element, m.element) || f.IK403 != want {
			wrong("want IK403 " + want)
		}
	}
	if m.region == "header" && len(list) > 0 && !s.Whole {
		wrong("the header is everybody's")
	}
	moves := strings.HasPrefix(m.name, "twice HL") || strings.HasPrefix(m.name, "without HL") || strings.HasPrefix(m.name, "twice CLM")
	if may := held[m.region]; may != nil && !moves {
		if s.Whole {
			wrong("it is not the set's")
		}
		for _, b := range s.BadClaims {
			if !slices.Contains(may, b.Ordinal) {
				wrong(fmt.Sprintf("claim %d has nothing to do with it", b.Ordinal))
			}
		}
	}
}

// TestMutations_WhatIsLeftWithoutTheBadClaimsIsClean cuts the claims out that a
// change has spoilt, as a delivery does: the others must be as good as ever.
func TestMutations_WhatIsLeftWithoutTheBadClaimsIsClean(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]string{
		"837p.txt": "005010X222A1", "837i.txt": "005010X223A2", "837d.txt": "005010X224A2",
	} {
		all := mutations(t, name, version)
		sets := scan(t, document(all, version), x12.Options{}).sets
		cut := 0
		for n, m := range all {
			s := sets[n]
			if s.Whole || len(s.BadClaims) == 0 || len(s.BadClaims) == s.Claims || m.element != "" && n%8 > 0 {
				continue // one element is much like another to the cut
			}
			cut++
			var out bytes.Buffer
			c := x12.NewComposer(&out)
			if _, err := c.Add(strings.NewReader(document([]mutation{m}, version)), x12.AddOptions{Drop: func(o int) bool {
				return slices.ContainsFunc(s.BadClaims, func(b x12.BadClaim) bool { return b.Ordinal == o })
			}}); err != nil {
				t.Fatalf("%s: %s: %v", name, m.name, err)
			}
			if _, err := c.Close(); err != nil {
				t.Fatal(err)
			}
			left := scan(t, out.String(), x12.Options{}).sets[0]
			if left.Claims != s.Claims-len(s.BadClaims) || left.IK5 != "A" || left.Whole || len(left.BadClaims) > 0 {
				t.Errorf("%s: %s: of %d claims without %v: %d, %s %v", name, m.name, s.Claims, s.BadClaims, left.Claims, left.IK5, left.Faults)
			}
		}
		if cut < 300 {
			t.Errorf("%s: only %d sets were cut", name, cut)
		}
	}
}
