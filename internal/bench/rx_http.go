package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"claimdlq"
	"claimdlq/internal/serve"
)

// rxHTTP times intake over loopback HTTP with the handler of a serving process: one
// claim a request, and files of 256. The senders are in this process too, so that the
// machine does both sides' work.
func rxHTTP(ctx context.Context, o Options, emit func(Result)) error {
	const name, senders = "rx-http", 4
	r, err := openRx(o, name, "", claimdlq.DefaultPolicy())
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }()
	if err := probe(o, name, emit); err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	srv := &http.Server{
		Handler: serve.New(serve.Options{
			Now:  time.Now,
			Flow: r.flow, Store: r.store, AtOnce: max(96, o.Producers),
		}),
		ReadHeaderTimeout: 10 * time.Second,
	}
	done := make(chan struct{})
	go func() {
		_ = srv.Serve(l) // that it was closed
		close(done)
	}()
	defer func() {
		_ = srv.Close()
		<-done
	}()
	all, err := rxSupplies(max(senders, o.Producers))
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.Producers}}
	defer client.CloseIdleConnections()
	post := func(path string, k int) error {
		s := <-all
		defer func() { all <- s }()
		var body bytes.Buffer
		for range k {
			body.Write(s.next().Reveal())
		}
		return hand(ctx, client, "http://"+l.Addr().String()+path, &body)
	}
	d, err := drive(o.Producers, o.For, func(*rand.Rand) error { return post("/v1/claims", 1) })
	if err != nil {
		return err
	}
	emit(Result{name, fmt.Sprintf("one claim a request, %d senders", o.Producers), d.rate, "claims per second"})
	emit(Result{name, "one claim a request, p50", ms(d.p50), "ms"})
	emit(Result{name, "one claim a request, p99", ms(d.p99), "ms"})
	emit(Result{name, "one claim a request, cpu", float64(d.cpu.Nanoseconds()) / 1000, "us per claim"})
	if d, err = drive(senders, o.For, func(*rand.Rand) error { return post("/v1/claims/batch", together) }); err != nil {
		return err
	}
	emit(Result{name, "files of 256, 4 senders", d.rate * together, "claims per second"})
	emit(Result{name, "files of 256, cpu", float64(d.cpu.Nanoseconds()) / 1000 / together, "us per claim"})
	return nil
}

// hand posts and wants it acknowledged.
func hand(ctx context.Context, client *http.Client, url string, body io.Reader) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-ncpdp")
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	_, cerr := io.Copy(io.Discard, res.Body)
	if err := errors.Join(cerr, res.Body.Close()); err != nil {
		return err
	}
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("answered with status %d", res.StatusCode)
	}
	return nil
}
