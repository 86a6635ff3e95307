package flow_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"claimdlq/classify"
	"claimdlq/wire/x12"
	"claimdlq/wire/x12ack"
)

// ledger is the payer of a walk over 837 claims, and what it knows: the truth that our
// books are compared with. It decides each claim as chance says, the same one again too:
// nothing but what is sent to it keeps it from accepting a claim twice.
type ledger struct {
	t        *testing.T
	rng      *rand.Rand
	accepted map[string][]string // by what is billed for whom: the interchanges that it came in
	arrivals []*arrival
	mail     [][]byte // answers on their way
	said     [][]byte // answers that came, and may come again
	number   uint32
	lines    []string
}

// arrival is one interchange that came.
type arrival struct {
	start  x12.InterchangeStart
	end    x12.InterchangeEnd
	groups []*cameGroup
	taken  bool // it was looked at: no number seen before, and not refused as a whole
}

type cameGroup struct {
	start x12.GroupStart
	end   x12.GroupEnd
	sets  []*cameSet
}

type cameSet struct {
	x12.Set
	claims []cameClaim
}

type cameClaim struct {
	billed, clm01, stc string
	cents              int64
}

// claimsOf reads every claim of a file.
func claimsOf(t *testing.T, raw []byte) (out []string) {
	t.Helper()
	for _, a := range (&ledger{t: t}).read(raw) {
		for _, g := range a.groups {
			for _, s := range g.sets {
				for _, c := range s.claims {
					out = append(out, c.billed)
				}
			}
		}
	}
	return out
}

func (l *ledger) read(raw []byte) (all []*arrival) {
	var claims []cameClaim
	sc := x12.NewScanner(bytes.NewReader(raw), x12.Options{OnClaim: func(c *x12.Claim) {
		claims = append(claims, cameClaim{billed: billed(c), clm01: string(c.CLM01), cents: c.AmountCents})
	}})
	var a *arrival
	var g *cameGroup
	for {
		ev, err := sc.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			l.t.Fatal(err)
		}
		switch e := ev.(type) {
		case *x12.InterchangeStart:
			a = &arrival{start: *e}
			a.start.Raw = nil
			all = append(all, a)
		case *x12.GroupStart:
			g = &cameGroup{start: *e}
			g.start.Raw = nil
			a.groups = append(a.groups, g)
		case *x12.Set:
			s := &cameSet{Set: *e, claims: claims}
			s.Raw, s.BHT03, s.IK502 = nil, bytes.Clone(e.BHT03), slices.Clone(e.IK502)
			for _, bad := range e.BadClaims {
				s.claims[bad.Ordinal-1].stc = "A7:562:85"
			}
			claims, g.sets = nil, append(g.sets, s)
		case *x12.GroupEnd:
			g.end = *e
			g.end.Raw, g.end.AK905 = nil, slices.Clone(e.AK905)
		case *x12.InterchangeEnd:
			a.end = *e
			a.end.Raw = nil
		default:
			l.t.Fatalf("%T came", e)
		}
	}
}

// billed is what identifies a claim: what is billed for whom.
func billed(c *x12.Claim) string { return string(bytes.Join(c.Fingerprint, []byte{0})) }

func (a *arrival) lane() string { return a.start.Envelope.Lane() }

// carries reports whether the claim came in it.
func (a *arrival) carries(claim string) bool {
	for _, g := range a.groups {
		for _, s := range g.sets {
			if slices.ContainsFunc(s.claims, func(c cameClaim) bool { return c.billed == claim }) {
				return true
			}
		}
	}
	return false
}

// take decides about every claim of a file and puts the answers into the mail. Claims that
// refuse says are rejected, whatever chance would have.
func (l *ledger) take(raw []byte, who string, refuse func(claim string) bool) {
	for _, a := range l.read(raw) {
		l.decide(a, refuse)
		l.arrivals = append(l.arrivals, a)
		l.lines = append(l.lines, fmt.Sprintf("%s sent %d: %s %s%s", who, a.start.Number, a.end.TA1, a.end.Note, l.verdicts(a)))
		l.mail = append(l.mail, l.answers(a)...)
	}
}

func (l *ledger) decide(a *arrival, refuse func(string) bool) {
	for _, was := range l.arrivals {
		if was.start.Number != a.start.Number || was.lane() != a.lane() {
			continue
		}
		// What it has refused as a whole it refuses again: nothing would tell the answers to
		// two sendings under one number apart.
		if a.end.TA1, a.end.Note = "R", was.end.Note; was.taken {
			a.end.Note = "025"
		}
		return
	}
	if n := l.rng.IntN(20); n < 2 && a.end.TA1 != "R" {
		a.end.TA1, a.end.Note = "R", []string{"022", "023"}[n]
	}
	if a.end.TA1 == "R" {
		return
	}
	a.taken = true
	for _, g := range a.groups {
		for _, s := range g.sets {
			if l.rng.IntN(12) == 0 {
				s.IK5, s.IK502 = "R", []string{"5"}
			}
			if s.IK5 == "R" {
				g.end.Accepted--
				continue
			}
			for i := range s.claims {
				c := &s.claims[i]
				if c.stc == "" {
					c.stc = []string{"A2:20:PR", "A2:20:PR", "A2:20:PR", "A7:562:85", "E2:0"}[l.rng.IntN(5)]
				}
				if refuse(c.billed) {
					c.stc = "A7:562:85"
				}
				if c.stc == "A2:20:PR" {
					l.accepted[c.billed] = append(l.accepted[c.billed], fmt.Sprint(a.start.Number))
				}
			}
		}
		switch {
		case g.end.Accepted <= 0:
			g.end.AK9, g.end.AK905 = "R", nil
		case g.end.Accepted < len(g.sets):
			g.end.AK9 = "P"
		}
	}
}

func (l *ledger) verdicts(a *arrival) string {
	var s strings.Builder
	for _, g := range a.groups {
		for _, set := range g.sets {
			fmt.Fprintf(&s, " | %s %s", set.ST02, set.IK5)
			for _, c := range set.claims {
				fmt.Fprintf(&s, " %s=%s", c.clm01, c.stc)
			}
		}
	}
	return s.String()
}

// answers are what it says about an interchange, in one file or in several: the claims of a
// set may be told in two.
func (l *ledger) answers(a *arrival) (files [][]byte) {
	put := func(write func(w *bytes.Buffer, n x12.Numbers) error) {
		l.number++
		var b bytes.Buffer
		if err := write(&b, x12.Numbers{ISA13: l.number, GS06: l.number, Date: "20260718", Time: "1000"}); err != nil {
			l.t.Fatal(err)
		}
		files = append(files, b.Bytes())
	}
	if a.end.TA1 == "R" || l.rng.IntN(2) == 0 {
		put(func(w *bytes.Buffer, n x12.Numbers) error { return x12ack.WriteTA1(w, &a.start, &a.end, n) })
	}
	if a.taken {
		put(func(w *bytes.Buffer, n x12.Numbers) error { return l.functional(w, a, n) })
		for _, g := range a.groups {
			for _, s := range g.sets {
				if s.IK5 == "R" {
					continue
				}
				cut := len(s.claims)
				if l.rng.IntN(3) == 0 {
					cut = l.rng.IntN(cut) + 1
				}
				if l.rng.IntN(8) == 0 { // first it only has them
					put(func(w *bytes.Buffer, n x12.Numbers) error {
						return x12ack.Write277CA(w, batchOf837(a, g, s, s.claims, true, n), n)
					})
				}
				for _, claims := range [][]cameClaim{s.claims[:cut], s.claims[cut:]} {
					if len(claims) > 0 {
						put(func(w *bytes.Buffer, n x12.Numbers) error {
							return x12ack.Write277CA(w, batchOf837(a, g, s, claims, false, n), n)
						})
					}
				}
			}
		}
	}
	if l.rng.IntN(2) == 0 {
		files = [][]byte{bytes.Join(files, nil)}
	}
	return files
}

func (l *ledger) functional(w io.Writer, a *arrival, n x12.Numbers) error {
	x, err := x12ack.NewWriter999(w, &a.start, n)
	if err != nil {
		return err
	}
	for _, g := range a.groups {
		x.Event(&g.start)
		for _, s := range g.sets {
			x.Event(&s.Set)
		}
		x.Event(&g.end)
	}
	_, err = x.Close()
	return err
}

func batchOf837(a *arrival, g *cameGroup, s *cameSet, claims []cameClaim, pending bool, n x12.Numbers) x12ack.Batch {
	b := x12ack.Batch{
		Submitted: x12ack.SubmittedOf(&a.start), GroupSender: g.start.Sender, GroupReceiver: g.start.Receiver,
		Payer: "TEST PAYER", PayerID: "TESTPAYER", Submitter: "TEST SUBMITTER", SubmitterID: "TESTSENDER", Provider: "TEST CLINIC", ProviderNPI: "1234567893",
		Reference: fmt.Sprintf("PAY%09d", n.ISA13), BHT03: s.BHT03, Status: classify.Status{Category: "A1", Code: "19", Entity: "PR"},
	}
	for _, c := range claims {
		st := strings.Split(c.stc+"::", ":")
		if pending {
			st = []string{"A1", "19", "PR"}
		}
		b.AmountCents += c.cents
		b.Claims = append(b.Claims, x12ack.Claim{
			CLM01: []byte(c.clm01), AmountCents: c.cents, Status: classify.Status{Category: st[0], Code: st[1], Entity: st[2]},
			Last: []byte("TEST"), First: []byte("TEST"), MemberID: []byte("TEST"), ServiceDate: []byte("20260701"),
		})
	}
	return b
}
