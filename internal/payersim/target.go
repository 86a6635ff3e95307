package payersim

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/phi"
	"claimdlq/target"
	"claimdlq/wire/ncpdp"
)

// Target returns a target that hands pharmacy transmissions, or batches of them,
// to the payer without a network between: for tests and benchmarks. It says what a
// target over HTTP would say, and the script's rules about time and requests hold.
func (p *Payer) Target() target.Target { return inProcess{p} }

type inProcess struct{ p *Payer }

// Name implements target.Target.
func (inProcess) Name() string { return "payersim" }

// Inquire implements target.Target: it knows nothing. Pharmacy claims are asked
// about by sending them again.
func (inProcess) Inquire(context.Context, target.Parcel) (claimdlq.Outcome, bool) {
	return claimdlq.Outcome{}, false
}

// Deliver implements target.Target.
func (t inProcess) Deliver(ctx context.Context, parcel target.Parcel) target.Delivery {
	p := t.p
	n, s := int(p.requests.Add(1)), p.currentScript()
	if a, ok := s.outage(p.elapsed(), n); ok {
		d := newDesk()
		defer d.leave()
		if err := d.receive(parcel, p.o.MaxBody); err == nil && a.verb == "status" {
			p.countRefused(d.body)
		}
		return target.Delivery{Outcome: outOfService(a)}
	}
	if a, ok := s.first("request", n, "latency"); ok && !pause(ctx, a.wait) {
		return broken(ctx.Err())
	}
	desk := newDesk()
	defer desk.leave()
	if err := desk.receive(parcel, p.o.MaxBody); err != nil {
		return target.Delivery{Outcome: claimdlq.Outcome{Kind: claimdlq.OutcomeTransient, Code: claimdlq.NewDetail("CONTENT")}}
	}
	answer, err := p.answerAt(desk)
	if err != nil {
		return target.Delivery{Outcome: classify.HTTP(statusOf(err), "", time.Time{})}
	}
	if a, ok := s.first("request", n, "drop", "hang", "late"); ok {
		if err := silence(ctx, a); err != nil {
			p.unheard.Add(1)
			return broken(err)
		}
	}
	d := target.Delivery{Outcome: classify.HTTP(http.StatusOK, "", time.Time{})}
	if len(answer) > 0 {
		d.Answer = phi.Wrap(answer)
	}
	return d
}

// silence keeps the answer back as the rule says, and returns why it does not come.
func silence(ctx context.Context, a action) error {
	switch {
	case a.verb == "drop":
		return syscall.ECONNRESET
	case a.verb == "hang":
		<-ctx.Done()
		return ctx.Err()
	case !pause(ctx, a.wait):
		return ctx.Err()
	}
	return nil
}

// answerAt answers what was received.
func (p *Payer) answerAt(d *desk) ([]byte, error) {
	if ncpdp.IsBatch(d.body) {
		return p.AdjudicateBatch(d.body)
	}
	return p.adjudicateAt(d, d.body)
}

// receive reads the parcel into the desk's body.
func (d *desk) receive(parcel target.Parcel, limit int64) error {
	r, err := parcel.Content()
	if err != nil {
		return err
	}
	body := bytes.NewBuffer(slices.Grow(d.body[:0], int(min(parcel.Size, limit))+bytes.MinRead))
	d.content = io.LimitedReader{R: r, N: limit}
	_, err = body.ReadFrom(&d.content)
	d.body = body.Bytes()
	return errors.Join(err, r.Close())
}

// broken is a connection that ended after the claim had left.
func broken(err error) target.Delivery {
	return target.Delivery{Outcome: classify.Transport(err, true)}
}

// outOfService is what a sender sees of a payer that takes nothing.
func outOfService(a action) claimdlq.Outcome {
	switch a.verb {
	case "status":
		return classify.HTTP(a.count, strconv.Itoa(int(a.wait/time.Second)), time.Time{})
	case "down":
		return classify.Transport(syscall.ECONNREFUSED, false)
	}
	return classify.Transport(syscall.ECONNRESET, true)
}
