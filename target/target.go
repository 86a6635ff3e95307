// Package target is the port to where claims are delivered: a folder that SFTP
// or AS2 picks up, or an HTTP endpoint.
package target

import (
	"context"
	"io"

	"claimdlq"
	"claimdlq/phi"
)

// Parcel is one interchange to deliver. Name is unique per submission and free
// of PHI; a second delivery of the same submission has the same name and bytes.
type Parcel struct {
	Name  string // such as "837-000000042.x12", [a-z0-9.-]{1,80}
	Size  int64
	ISA13 uint32
	Env   claimdlq.Envelope
	// Content returns the bytes from the start; a target may call it again.
	Content func() (io.ReadCloser, error)
}

// Delivery is what a target says about one parcel.
type Delivery struct {
	Outcome claimdlq.Outcome
	// Answer holds acknowledgments that came back with the delivery, if any.
	Answer phi.Bytes
}

// Target delivers parcels. It never retries: the flow decides. It must return an
// outcome for everything that can happen, and mark as ambiguous whatever may have
// reached the payer: the zero outcome is "unknown".
type Target interface {
	Deliver(ctx context.Context, p Parcel) Delivery
	// Inquire asks whether a parcel that was sent arrived. Known is false where the
	// target cannot tell; then the outcome, unless it is zero, says why it was not asked
	// or did not answer.
	Inquire(ctx context.Context, p Parcel) (outcome claimdlq.Outcome, known bool)
	// Name is for people and metrics: "folder" or "http", no address.
	Name() string
}

// Route is where the claims of one partner go.
type Route struct {
	Target Target
	// Fallback takes what has never been sent while Target's breaker is open; nil
	// where such claims wait.
	Fallback Target
	// IdempotentResend: the partner may be sent the identical bytes again and answers
	// as it did the first time, as a pharmacy payer does with status D. Without it
	// nothing is ever sent again that may have arrived.
	IdempotentResend bool
	// Workers is how many deliveries may be under way at the same time. Default: 1
	// for 837, as many as there are for others.
	Workers int
}

// For returns the target that has the submission, or will have it.
func (r Route) For(s claimdlq.Submission) Target {
	if s.Fallback && r.Fallback != nil {
		return r.Fallback
	}
	return r.Target
}

// Routes returns where claims of a stream for a partner go; false where nothing is
// configured for it.
type Routes func(stream, partner string) (Route, bool)
