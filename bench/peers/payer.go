package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// reference is what a message carries instead of the claim: who it is and where its
// sealed payload lies. The first 16 characters are the claim's number in hexadecimal,
// the rest is text that does not compress, size bytes in all.
func reference(n, size int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%016x.", n)
	for i := 0; b.Len() < size; i++ {
		h := sha256.Sum256(fmt.Appendf(nil, "%d/%d", n, i))
		b.WriteString(hex.EncodeToString(h[:]))
	}
	return b.String()[:size]
}

// payer answers in the worker's own process and takes no time. It counts what it was
// asked, so that a queue that loses a claim or delivers one twice has no figure.
type payer struct {
	asked []atomic.Int32
	left  atomic.Int64
	done  chan struct{} // closed at the last answer that is wanted
}

// newPayer expects each of n claims times over.
func newPayer(n, times int) *payer {
	p := &payer{asked: make([]atomic.Int32, n), done: make(chan struct{})}
	p.left.Store(int64(n) * int64(times))
	return p
}

// ask is one attempt for the claim that ref names.
func (p *payer) ask(ref string) error {
	if len(ref) < 16 {
		return fmt.Errorf("a reference of %d bytes came back", len(ref))
	}
	n, err := strconv.ParseUint(ref[:16], 16, 63)
	if err != nil || n >= uint64(len(p.asked)) {
		return fmt.Errorf("a reference that nobody sent came back")
	}
	p.asked[n].Add(1)
	if p.left.Add(-1) == 0 {
		close(p.done)
	}
	return nil
}

// wait returns when every answer was given.
func (p *payer) wait(ctx context.Context) error {
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%d answers were never asked for: %w", p.left.Load(), ctx.Err())
	}
}

// exactly reports a claim that was not asked for this many times.
func (p *payer) exactly(times int) error {
	for i := range p.asked {
		if n := int(p.asked[i].Load()); n != times {
			return fmt.Errorf("claim %d was delivered %d times, not %d", i, n, times)
		}
	}
	return nil
}
