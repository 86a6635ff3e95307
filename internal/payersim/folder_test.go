package payersim_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/internal/payersim"
	"claimdlq/internal/testclaims"
	"claimdlq/target"
	"claimdlq/target/foldertarget"
	"claimdlq/target/httptarget"
	"claimdlq/wire/x12ack"
)

func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	es, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range es {
		names = append(names, e.Name())
	}
	return names
}

func parcel(name, content string) target.Parcel {
	return target.Parcel{
		Name: name, Size: int64(len(content)), ISA13: 1,
		Env:     claimdlq.Envelope{SenderQualifier: "ZZ", Sender: "TESTSENDER", ReceiverQualifier: "ZZ", Receiver: "TESTPAYER"},
		Content: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(content)), nil },
	}
}

func TestPoll_TakesFilesAndAnswersIntoTheFolder(t *testing.T) {
	t.Parallel()
	in, acks := t.TempDir(), t.TempDir()
	archive := filepath.Join(in, payersim.Taken)
	if err := os.Mkdir(archive, 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := foldertarget.New(in, foldertarget.Options{Archive: archive})
	if err != nil {
		t.Fatal(err)
	}
	sent := parcel("837-000000001.x12", claims(t, testclaims.Options{Claims: 2}))
	f.Deliver(t.Context(), sent)
	for name, content := range map[string]string{"junk.txt": "no X12", ".837-000000002.x12.tmp-x": "half"} {
		if err := os.WriteFile(filepath.Join(in, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := newPayer(t, "")
	if n, err := p.Poll(t.Context(), in, acks); n != 2 || err != nil {
		t.Fatalf("took %d, %v", n, err)
	}
	if n := files(t, in); !slices.Equal(n, []string{".837-000000002.x12.tmp-x", "taken", "unreadable"}) {
		t.Fatalf("folder holds %v", n)
	}
	if o, known := f.Inquire(t.Context(), sent); !known || o.Kind != claimdlq.OutcomeSubmitted {
		t.Fatalf("inquiry: %+v, %v", o, known)
	}
	var all []x12ack.Answer
	for _, n := range files(t, acks) {
		b, err := os.ReadFile(filepath.Join(acks, n))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, answers(t, b)...)
	}
	want(t, all, x12ack.KindTA1, classify.Accepted)
	want(t, all, x12ack.KindSet, classify.Accepted)
	want(t, all, x12ack.KindClaim, classify.Accepted, classify.Accepted)
}

func TestPoll_AnOutageLeavesTheFileAndADropAnswersLater(t *testing.T) {
	t.Parallel()
	in, acks := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(in, "a.x12"), []byte(claims(t, testclaims.Options{})), 0o600); err != nil {
		t.Fatal(err)
	}
	p := newPayer(t, "request 1 status 503\nrequest 2 drop")
	for i, want := range []struct{ taken, accepted, acks int }{{0, 0, 0}, {1, 1, 0}, {0, 1, 3}} {
		n, err := p.Poll(t.Context(), in, acks)
		if err != nil || n != want.taken || p.Stats().Accepted != want.accepted || len(files(t, acks)) != want.acks {
			t.Fatalf("poll %d: took %d, %v; %+v; %v", i+1, n, err, p.Stats(), files(t, acks))
		}
	}
}

func TestPoll_AMissingFolderIsUnavailable(t *testing.T) {
	t.Parallel()
	p := newPayer(t, "")
	in := t.TempDir()
	gone := filepath.Join(in, "SECRETPATH")
	if _, err := p.Poll(t.Context(), gone, in); !errors.Is(err, claimdlq.Unavailable) || strings.Contains(err.Error(), "SECRETPATH") {
		t.Fatalf("got %v", err)
	}
	if err := os.WriteFile(filepath.Join(in, "a.x12"), []byte(claims(t, testclaims.Options{})), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := p.Watch(t.Context(), in, gone, time.Hour); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("got %v", err)
	}
}

func TestWatch_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := newPayer(t, "").Watch(ctx, t.TempDir(), t.TempDir(), time.Hour); err != nil {
		t.Fatal(err)
	}
}

func TestServe_DeliversOverHTTPAndListensNowhereWhileDown(t *testing.T) {
	t.Parallel()
	p := open(t, payersim.Options{Now: newClock().now, AckDir: t.TempDir()})
	ctx, cancel := context.WithCancel(t.Context())
	address, served := make(chan string, 1), make(chan error, 1)
	go func() { served <- p.Serve(ctx, "127.0.0.1:0", func(a net.Addr) { address <- a.String() }) }()
	base := "http://" + <-address + "/v1/interchanges"
	h, err := httptarget.New(base, httptarget.Options{StatusURL: base + "/{isa13}?sender={sender}&receiver={receiver}"})
	if err != nil {
		t.Fatal(err)
	}
	sent := parcel("a", claims(t, testclaims.Options{}))
	if d := h.Deliver(t.Context(), sent); d.Outcome.Kind != claimdlq.OutcomeSubmitted {
		t.Fatalf("got %+v", d.Outcome)
	}
	if o, known := h.Inquire(t.Context(), sent); !known || o.Kind != claimdlq.OutcomeSubmitted {
		t.Fatalf("inquiry: %+v, %v", o, known)
	}
	p.SetScript(script(t, "request 2 drop"))
	if d := h.Deliver(t.Context(), parcel("b", claims(t, testclaims.Options{ISA13: 2, FirstClaim: 2}))); !d.Outcome.Ambiguous {
		t.Fatalf("a drop: %+v", d.Outcome)
	}
	p.SetScript(script(t, "time 0s-1h down"))
	refused := claimdlq.NewDetail("CONNECT_REFUSED")
	for { // until the listener is gone
		d := h.Deliver(t.Context(), sent)
		if d.Outcome.Code == refused {
			break
		}
	}
	p.SetScript(script(t, ""))
	for h.Deliver(t.Context(), sent).Outcome.Code == refused { // until it is back
		if t.Context().Err() != nil {
			t.Fatal("never back")
		}
	}
	cancel()
	if err := <-served; err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.Accepted != 2 || s.DoubleAccepted != 0 {
		t.Fatalf("stats %+v", s)
	}
}

func TestServe_AnAddressInUseIsUnavailable(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if err := newPayer(t, "").Serve(t.Context(), l.Addr().String(), nil); !errors.Is(err, claimdlq.Unavailable) {
		t.Fatalf("got %v", err)
	}
}
