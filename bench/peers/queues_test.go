package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestReference_NamesItsClaimInTheSizeAskedFor(t *testing.T) {
	t.Parallel()
	for _, size := range []int{16, 17, 100, 4096} {
		if r := reference(77, size); len(r) != size || !strings.HasPrefix(r, "000000000000004d") {
			t.Errorf("reference(77, %d) = %q, %d bytes", size, r, len(r))
		}
	}
}

func TestPayer_RefusesWhatNobodySent(t *testing.T) {
	t.Parallel()
	p := newPayer(2, 1)
	for _, ref := range []string{"", "short", strings.Repeat("z", 16), reference(2, 16)} {
		if p.ask(ref) == nil {
			t.Errorf("%q was answered", ref)
		}
	}
	if p.left.Load() != 2 {
		t.Errorf("%d answers left, want 2", p.left.Load())
	}
}

// model is a queue in memory; drop and twice make it lose a claim or deliver it again.
type model struct {
	drop, twice bool
	live, dead  int
}

func (m *model) deliver(p *payer, n, times int) error {
	for i := range n {
		count := times
		if i == n-1 && m.drop {
			count--
		}
		if i == 0 && m.twice {
			count++
		}
		for range count {
			if err := p.ask(reference(i, 100)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *model) EndToEnd(_ context.Context, p *payer) (spent, error) {
	return spent{wall: time.Second, cpu: 2 * time.Second}, m.deliver(p, len(p.asked), 1)
}

func (m *model) Fill(_ context.Context, n int) error { m.live = n; return nil }

func (m *model) Fail(_ context.Context, p *payer) (spent, error) {
	n := m.live
	m.live, m.dead = 0, n
	return spent{wall: 2 * time.Second, cpu: 2 * 2 * time.Second}, m.deliver(p, n, deliveries)
}

func (m *model) Replay(_ context.Context, n int) (spent, error) {
	if m.dead != n {
		return spent{}, errors.New("not all are dead letters")
	}
	m.live, m.dead = n, 0
	return spent{wall: 4 * time.Second, cpu: 2 * 4 * time.Second}, nil
}

func (m *model) Reset(context.Context) error { m.live, m.dead = 0, 0; return nil }

func (m *model) Facts() facts { return facts{"model 1", "none"} }

func (m *model) Close() error { return nil }

func TestMeasure_GivesNoFigureToAQueueThatLosesOrRepeats(t *testing.T) {
	t.Parallel()
	o := queueOptions{claims: 10, failures: 4, limit: time.Minute}
	tests := []struct {
		name string
		m    model
		want string
	}{
		{"lost", model{drop: true}, "delivered 0 times, not 1"},
		{"twice", model{twice: true}, "delivered 2 times, not 1"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var tl tally
			err := tl.measure(t.Context(), running{contender{name: "m", scale: 1}, &tc.m}, o, 0)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("measure = %v, want %q", err, tc.want)
			}
			if got := tl.median("m", workEnd, rateOf); got != 0 {
				t.Errorf("it has a figure: %v", got)
			}
		})
	}
}

func TestTally_ComparesMediansOfTheSameWork(t *testing.T) {
	t.Parallel()
	var tl tally
	open := []running{
		{contender{name: oursName, scale: 1, ours: true}, &model{}},
		{contender{name: "peer", scale: 1, goals: map[string]float64{workEnd: 2}}, &model{}},
	}
	for round := range 3 {
		for i, q := range open {
			o := queueOptions{claims: 100 * (round + 1) / (i + 1), failures: 8, limit: time.Minute}
			if err := tl.measure(t.Context(), q, o, round); err != nil {
				t.Fatal(err)
			}
		}
	}
	figures := tl.figures(open)
	if f := figures[0]; f.PerSecond != 200 || f.Least != 100 || f.Most != 300 || f.Ratio != 0 {
		t.Errorf("claimdlq end to end: %+v", f)
	}
	if f := figures[3]; f.PerSecond != 100 || f.Ratio != 2 || f.Goal != 2 || f.Micros != 20_000 {
		t.Errorf("peer end to end: %+v", f)
	}
	if f := figures[4]; f.PerSecond != 4 || f.Ratio != 1 || f.Goal != 0 {
		t.Errorf("peer fail: %+v", f)
	}
	var out strings.Builder
	tl.absent = []string{"other: not installed"}
	if err := tl.print(&out, open, false); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2.00x", "other: not installed", "peer: model 1; none"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
}

func TestFreePorts_Differ(t *testing.T) {
	t.Parallel()
	ports, err := freePorts(20)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, p := range ports {
		if seen[p] || p <= 0 {
			t.Errorf("port %d in %v", p, ports)
		}
		seen[p] = true
	}
}

func TestProgram_SaysWhatIsNotInstalled(t *testing.T) {
	t.Parallel()
	_, err := program("claimdlq-no-such-server")
	if !errors.Is(err, errNotInstalled) {
		t.Errorf("program = %v", err)
	}
}

func TestParallel_EndsAtTheFirstError(t *testing.T) {
	t.Parallel()
	bad := errors.New("bad")
	if err := parallel(8, 1000, func(i int) error {
		if i == 3 {
			return bad
		}
		return nil
	}); !errors.Is(err, bad) {
		t.Errorf("parallel = %v", err)
	}
	done := make([]bool, 1000)
	if err := parallel(8, len(done), func(i int) error { done[i] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	for i, d := range done {
		if !d {
			t.Fatalf("%d was left out", i)
		}
	}
}

func TestProcessorTime_OfThisProcessGrows(t *testing.T) {
	t.Parallel()
	if len(processes()) == 0 {
		t.Skip("no /proc")
	}
	m := startMeter()
	for n := 0; m.spent().cpu < 2*tick; n++ {
		if n > 1_000_000 {
			t.Fatal("no processor time was used")
		}
		_ = reference(n, 1<<16)
	}
}

func TestParseStat_ReadsPastAnyName(t *testing.T) {
	t.Parallel()
	line := "42 (a ) b (c) S 7 42 42 0 -1 4194560 1 2 3 4 100 20 3 4 20 0 1 0 5"
	pid, p, ok := parseStat([]byte(line))
	if !ok || pid != 42 || p.parent != 7 || p.ticks != 127 {
		t.Errorf("parseStat = %d %+v %t", pid, p, ok)
	}
	for _, bad := range []string{"", "42", "42 (x", "42 (x) S 7", "x (x) S 7 42 42 0 -1 4194560 1 2 3 4 100 20 3 4 20"} {
		if _, _, ok := parseStat([]byte(bad)); ok {
			t.Errorf("%q was read", bad)
		}
	}
}
