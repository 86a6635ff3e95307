package httptarget

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"claimdlq"
	"claimdlq/classify"
	"claimdlq/target"
)

// Inquire implements target.Target: it asks StatusURL for a JSON object with a
// field status. With a 200, "received" and "accepted" mean that the parcel
// arrived and "rejected" that it was refused; with a 200 or 404, "not_found"
// means that it did not arrive, a transient failure that is not ambiguous.
// Anything else, a 404 of another shape too, tells nothing. Where the other side could
// not be reached, broke off, or has no time, the outcome's code says so, as it does of a
// delivery: nothing was sent, so that it is never ambiguous.
//
// The other side must say not_found only when it also holds nothing half received.
func (t *Target) Inquire(ctx context.Context, p target.Parcel) (claimdlq.Outcome, bool) {
	if t.status == "" {
		return claimdlq.Outcome{}, false
	}
	u, err := url.Parse(fill(t.status, p))
	if err != nil {
		return claimdlq.Outcome{}, false
	}
	ctx, cancel := context.WithTimeout(ctx, t.o.Timeout)
	defer cancel()
	req := t.request(ctx, http.MethodGet, u)
	req.Header.Set("Accept", "application/json")
	resp, err := t.client.RoundTrip(req)
	if err != nil {
		return classify.Transport(ended(ctx, err), false), false
	}
	defer func() { _ = resp.Body.Close() }()
	if o := classify.HTTP(resp.StatusCode, resp.Header.Get("Retry-After"), t.now(resp)); o.Kind == claimdlq.OutcomeTransient {
		o.Ambiguous = false
		return o, false
	}
	var answer struct {
		Status string `json:"status"`
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxStatusAnswer))
	if err != nil {
		return classify.Transport(ended(ctx, err), false), false
	}
	if json.Unmarshal(b, &answer) != nil {
		return claimdlq.Outcome{}, false
	}
	return verdict(resp.StatusCode, answer.Status)
}

func verdict(status int, word string) (claimdlq.Outcome, bool) {
	o := claimdlq.Outcome{Code: claimdlq.NewDetail("STATUS_" + strings.ToUpper(word))}
	switch {
	case status == http.StatusOK && (word == "received" || word == "accepted"):
		o.Kind = claimdlq.OutcomeSubmitted
	case status == http.StatusOK && word == "rejected":
		o.Kind = claimdlq.OutcomeRejected
	case (status == http.StatusOK || status == http.StatusNotFound) && word == "not_found":
		o.Kind = claimdlq.OutcomeTransient
	default:
		return claimdlq.Outcome{}, false
	}
	return o, true
}

// fill puts the parcel into a template of an address.
func fill(template string, p target.Parcel) string {
	return strings.NewReplacer(
		"{isa13}", fmt.Sprintf("%09d", p.ISA13),
		"{sender}", url.QueryEscape(p.Env.SenderQualifier+":"+p.Env.Sender),
		"{receiver}", url.QueryEscape(p.Env.ReceiverQualifier+":"+p.Env.Receiver),
		"{name}", url.QueryEscape(p.Name),
	).Replace(template)
}
