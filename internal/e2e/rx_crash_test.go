package e2e_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
)

// rxDeliveries is how many claims go through the killed process: those of
// CLAIMDLQ_RX_DELIVERIES, 100,000 where crash points are run, and a few otherwise.
func rxDeliveries(t *testing.T) int {
	s := os.Getenv("CLAIMDLQ_RX_DELIVERIES")
	switch {
	case s != "":
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			t.Fatalf("CLAIMDLQ_RX_DELIVERIES: %q", s)
		}
		return n
	case os.Getenv("CLAIMDLQ_CRASH_POINTS") != "":
		return 100_000
	case testing.Short():
		return 1000
	}
	return 5000
}

// steady is a breaker that does not take a payer that refuses or loses much for dead.
const steady = "breaker: {consecutive: 1000000, failure_percent: 100, window: 1024, min_samples: 1024, slow_after: 0s, open: 1ms, max_open: 1ms}"

// quick is a budget that no claim spends by being cut off, lost and put off in turn.
const quick = "policy: {max_receive: 20, base: 10ms, cap: 50ms}\n" + steady

// rxWorkers is how many deliveries are under way at a time in these tests.
const rxWorkers = 64

// TestCrashRx_AnswersLostAndTheProcessKilledNothingIsLostOrPaidTwice: pharmacy claims
// come in over HTTP while others go out to a payer that takes each and loses one
// answer in twenty; the process is killed again and again. The payer pays every claim
// once, and every claim that was acknowledged is settled (DESIGN promises 1, 2, 9).
func TestCrashRx_AnswersLostAndTheProcessKilledNothingIsLostOrPaidTwice(t *testing.T) {
	t.Parallel()
	n := rxDeliveries(t)
	rxLost(t, n, 3+n/20_000, "request 5% drop\nseed 20", testclaims.RxOptions{Seed: 5, Claims: n, Pharmacies: 40})
}

// TestCrashRx_TransmissionsOfFourPartAndNothingIsLostOrPaidTwice: the same with four
// claims in each transmission, of which some are put off by the payer the first time:
// they go on alone, with what was settled left where it is.
func TestCrashRx_TransmissionsOfFourPartAndNothingIsLostOrPaidTwice(t *testing.T) {
	t.Parallel()
	n := max(400, rxDeliveries(t)/10/4*4)
	rxLost(t, n, 3, "request 5% drop\nclaim 10% reject 92\nseed 22", testclaims.RxOptions{Seed: 8, Claims: n, TransactionsPer: 4})
}

func rxLost(t *testing.T, n, kills int, script string, o testclaims.RxOptions) {
	t.Helper()
	w := newRxWorld(t, script, quick, rxWorkers)
	messages := rxClaims(t, o)
	s := w.feed(messages, kills)
	f := w.rest(n)
	w.sound("at the end") // by the serving process: it knows the budget
	s.stop()
	st := w.payer.Stats()
	t.Logf("%d claims, %d kills: %d requests at the payer, %d answers lost, %d claims put off, %d sent again to a payer that had paid",
		n, kills, st.Requests, st.Unanswered, st.Pharmacy.Rejected, st.Pharmacy.Duplicates)
	if d := w.payer.DoubleFills(); len(d) != 0 {
		t.Errorf("%d claims were paid twice", len(d))
	}
	if got := len(w.payer.Fills()); got != n {
		t.Errorf("the payer has %d claims, want %d", got, n)
	}
	if f.Received != int64(n) || f.Claims["settled"] != int64(n) || f.Difference != 0 {
		t.Errorf("%d claims went in, want all settled: %+v", n, f)
	}
	if st.Unanswered < len(messages)/40 {
		t.Errorf("only %d answers were lost: the test does not test", st.Unanswered)
	}
}

// feed hands the messages in, in files of some hundred, over two connections, and
// kills the process so many times, at even distances of what the payer has seen. A
// file that was not acknowledged is handed in again, as a pharmacy does. It returns
// the process that is left, when everything was acknowledged.
func (w *rxWorld) feed(messages [][]byte, kills int) *served {
	w.t.Helper()
	const perFile = 250
	var (
		mu   sync.Mutex // guards s: a post holds it for reading its address only
		s    = w.serve()
		next atomic.Int64
		wg   sync.WaitGroup
		fail = make(chan error, 2)
	)
	address := func() *served {
		mu.Lock()
		defer mu.Unlock()
		return s
	}
	for range 2 {
		wg.Go(func() {
			for {
				from := int(next.Add(perFile)) - perFile
				if from >= len(messages) {
					return
				}
				file := bytes.Join(messages[from:min(from+perFile, len(messages))], nil)
				if err := w.handIn(address, file); err != nil {
					fail <- err
					return
				}
			}
		})
	}
	for k := range kills {
		at := len(messages) * (k + 1) / (kills + 1)
		w.until("kill "+strconv.Itoa(k+1), func() bool { return w.payer.Stats().Requests >= at || len(fail) > 0 })
		s.kill()
		again := w.serve()
		mu.Lock()
		s = again
		mu.Unlock()
	}
	wg.Wait()
	if len(fail) > 0 {
		w.t.Fatal(<-fail)
	}
	return s
}

// handIn posts a file until it is acknowledged. What ends a connection is the kill;
// 503 is a process that takes no more for now.
func (w *rxWorld) handIn(address func() *served, file []byte) error {
	for {
		s := address()
		code, _, err := s.post(w.t.Context(), "/batch", file)
		switch {
		case w.t.Context().Err() != nil:
			return w.t.Context().Err()
		case err != nil, code == http.StatusServiceUnavailable:
			<-pauseFor(again)
		case code/100 == 2:
			return nil
		default:
			return errors.New("a file was refused with status " + strconv.Itoa(code))
		}
	}
}

// TestCrashRx_TheWorklistOfDoubtsIsThePayersBooks: with a budget of one delivery each
// lost answer, and each delivery that a kill cut off, is a doubt that a person sees.
// The list is exactly what the payer paid and we do not know, and what was cut off;
// asking the payer empties it (DESIGN promise 2).
func TestCrashRx_TheWorklistOfDoubtsIsThePayersBooks(t *testing.T) {
	t.Parallel()
	n := max(500, rxDeliveries(t)/10)
	const kills, workers = 3, 16
	w := newRxWorld(t, "request 5% drop\nseed 21", "policy: {max_receive: 1, max_receive_low: 1}\n"+steady, workers)
	messages := rxClaims(t, testclaims.RxOptions{Seed: 6, Claims: n, Pharmacies: 40})
	s := w.feed(messages, kills)
	f := w.rest(n)
	s.stop()
	lost := w.payer.Stats().Unanswered

	rx := w.keys(messages)
	fills := map[string]payersim.Fill{}
	for _, fill := range w.payer.Fills() {
		fills[fill.Rx] = fill
	}
	doubted := w.allRecords("--state", "in_doubt")
	notThere := 0
	for _, r := range doubted {
		number, ours := rx[r.Key]
		if !ours {
			t.Fatalf("record %d is none of the claims", r.ID)
		}
		if _, there := fills[number]; !there {
			notThere++
		}
		delete(fills, number)
	}
	// What the payer has beside is settled, by its own answer.
	for _, r := range w.allRecords("--state", "settled") {
		if _, there := fills[rx[r.Key]]; !there {
			t.Errorf("record %d is settled, and the payer has it not", r.ID)
		}
		delete(fills, rx[r.Key])
	}
	if len(fills) != 0 {
		t.Errorf("the payer has paid %d claims that are neither settled nor in doubt", len(fills))
	}
	// A kill cuts off what is on its way, of which the payer may not know, and what it
	// has answered and is not durable: a few times as many.
	const cut, forgotten = kills * workers, 9 * kills * workers
	if len(doubted) < lost || len(doubted) > lost+forgotten || notThere > cut {
		t.Errorf("%d in doubt, %d of them unknown to the payer; %d answers were lost, at most %d deliveries cut off and %d answers forgotten",
			len(doubted), notThere, lost, cut, forgotten)
	}
	if int(f.Claims["in_doubt"]) != len(doubted) || f.Claims["settled"]+f.Claims["in_doubt"] != int64(n) {
		t.Errorf("figures %+v, want %d claims settled or in doubt", f, n)
	}
	t.Logf("%d claims, %d answers lost: %d in doubt, %d of them never arrived", n, lost, len(doubted), notThere)

	clean, err := payersim.ParseScript("")
	if err != nil {
		t.Fatal(err)
	}
	w.payer.SetScript(clean)
	w.inquireAll()
	f = w.figures()
	if f.Claims["settled"] != int64(n) || f.Claims["in_doubt"] != 0 || f.Difference != 0 {
		t.Errorf("after asking: %+v", f)
	}
	if d := w.payer.DoubleFills(); len(d) != 0 || len(w.payer.Fills()) != n {
		t.Errorf("the payer has %d claims, %d of them paid twice", len(w.payer.Fills()), len(d))
	}
	w.sound("at the end")
}

// inquireAll asks the payer about everything in doubt.
func (w *rxWorld) inquireAll() {
	w.t.Helper()
	for range 5 {
		doubted := w.allRecords("--state", "in_doubt")
		if len(doubted) == 0 {
			return
		}
		for len(doubted) > 0 {
			args := []string{"inquire", "--reason", "the answer was lost"}
			part := doubted[:min(500, len(doubted))]
			doubted = doubted[len(part):]
			for _, r := range part {
				args = append(args, strconv.FormatUint(r.ID, 10))
			}
			if r := w.rx(args...); r.code != 0 {
				w.t.Fatalf("inquire: exit %d\n%.2000s%.2000s", r.code, r.stdout, r.stderr)
			}
		}
	}
}
