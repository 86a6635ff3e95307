package envelope

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"claimdlq"
	"claimdlq/target"
	"claimdlq/vault"
)

// ParcelName names a submission for its target: unique, and free of PHI.
func ParcelName(s claimdlq.Submission) string {
	if s.Stream == claimdlq.StreamNCPDP {
		var room [32]byte
		return string(append(strconv.AppendUint(append(room[:0], "ncpdp-"...), uint64(s.ID), 10), ".d0"...))
	}
	return fmt.Sprintf("%s-%09d-%d.x12", s.Stream, s.ISA13, s.ID)
}

// Parcel returns the submission as a target takes it. held is its content where
// that is in memory; otherwise it is composed anew each time, as it is read.
func Parcel(ctx context.Context, v vault.Vault, proof claimdlq.Proof, s claimdlq.Submission, parts []Part, held []byte) target.Parcel {
	p := target.Parcel{Name: ParcelName(s), Size: s.Bytes, ISA13: s.ISA13, Env: s.Envelope}
	p.Content = func() (io.ReadCloser, error) {
		if held != nil {
			return io.NopCloser(bytes.NewReader(held)), nil
		}
		return stream(ctx, v, proof, s, parts), nil
	}
	return p
}

// composed is a submission being composed while it is read. Close ends and joins
// the composer.
type composed struct {
	*io.PipeReader
	done chan struct{}
}

func (c *composed) Close() error {
	err := c.PipeReader.Close()
	<-c.done
	return err
}

func stream(ctx context.Context, v vault.Vault, proof claimdlq.Proof, s claimdlq.Submission, parts []Part) io.ReadCloser {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, err := Write(ctx, w, v, proof, s, parts)
		_ = w.CloseWithError(err)
	}()
	return &composed{r, done}
}
