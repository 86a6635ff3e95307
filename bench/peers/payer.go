package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
)

// filler is text that does not compress.
var filler = func() string {
	const most = 1 << 20
	var b strings.Builder
	for i := 0; b.Len() < most; i++ {
		h := sha256.Sum256([]byte(strconv.Itoa(i)))
		b.WriteString(base64.RawURLEncoding.EncodeToString(h[:]))
	}
	return b.String()[:most]
}()

// reference is what a message carries instead of the claim: who it is and where its
// sealed payload lies. The first 16 characters are the claim's number in hexadecimal;
// it is size bytes in all, and takes no time worth mentioning to make.
func reference(n, size int) string {
	return fmt.Sprintf("%016x", n) + filler[:size-16]
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
	if err != nil {
		return errors.New("a reference came back that is none")
	}
	return p.count(n)
}

// count is one attempt for claim n.
func (p *payer) count(n uint64) error {
	if n >= uint64(len(p.asked)) {
		return errors.New("a claim that nobody sent came back")
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
