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
	// target cannot tell.
	Inquire(ctx context.Context, p Parcel) (outcome claimdlq.Outcome, known bool)
	// Name is for people and metrics: "folder" or "http", no address.
	Name() string
}
