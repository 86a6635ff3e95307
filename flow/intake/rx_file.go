package intake

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"claimdlq"
	"claimdlq/wire/ncpdp"
)

// sensed is how much of a file is looked at to tell what it is: more than the longest
// transmission that is legal.
const sensed = 32 << 10

// any reads the file, whatever is in it.
func (f *file) any(r io.Reader) error {
	in := bufio.NewReaderSize(r, 64<<10)
	head, err := in.Peek(sensed)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return unreadable(err)
	case !isPharmacy(head):
		return f.read(in)
	}
	d := f.in.desk(f.ctx, f.by)
	defer f.in.leaveDesk(d)
	d.bulk, d.dead = true, f.dead
	x := &rxFile{f: f, d: d}
	defer x.abort()
	switch {
	case ncpdp.IsBatch(head):
		return x.batch(in)
	case bytes.TrimLeft(head, ncpdp.Filling)[0] == stx, ncpdp.Several(head):
		return x.framed(in)
	}
	return x.single(in)
}

func unreadable(err error) error {
	return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "read file", Hint: "give the file again; nothing is taken in twice", Err: err}
}

// isPharmacy reports whether the first bytes are those of pharmacy messages.
func isPharmacy(head []byte) bool {
	switch {
	case bytes.HasPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("ISA")):
		return false
	case ncpdp.IsBatch(head), bytes.Contains(head, []byte("\x1e\x1cAM")), bytes.Contains(head, []byte("\x1e\x1cam")):
		return true
	}
	return ncpdp.Begins(head)
}

// rxFile is one file of pharmacy messages being taken in.
type rxFile struct {
	f     *file
	d     *desk
	arena []byte // what the messages of the chunk point into
	junk  *kept  // being read, or nil
	b     *rxBatch
}

func (x *rxFile) abort() {
	clear(x.arena[:cap(x.arena)])
	x.junk.abort()
	if x.b != nil {
		x.b.leave()
	}
}

// held copies b to where it stays until the chunk is durable.
func (x *rxFile) held(b []byte) []byte {
	at := len(x.arena)
	x.arena = append(x.arena, b...)
	return x.arena[at:len(x.arena):len(x.arena)]
}

// single takes in a file of one message.
func (x *rxFile) single(in *bufio.Reader) error {
	b, err := io.ReadAll(io.LimitReader(in, ncpdp.MaxMessage+1))
	if err != nil {
		return unreadable(err)
	}
	if len(b) > ncpdp.MaxMessage {
		x.addJunk(0, ncpdp.CodeTooLarge)
		if err := x.junk.add(x.f, b); err != nil {
			return err
		}
		return x.rest(in)
	}
	x.d.add(b, nil)
	x.f.result.Transmissions++
	if x.d.messages[0].response {
		return responseGiven()
	}
	return x.flush()
}

// rest keeps what is left of a file that is no message.
func (x *rxFile) rest(in io.Reader) error {
	buf := make([]byte, 32<<10)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if err := x.junk.add(x.f, buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return x.endJunk()
		}
		if err != nil {
			return unreadable(err)
		}
	}
}

// framed takes in messages, each between STX and ETX. What is whole is taken; a
// frame that never ends, and what stands outside of any, is kept as junk.
func (x *rxFile) framed(in *bufio.Reader) error {
	var at int64
	buf := make([]byte, 0, 4096)
	for {
		if err := x.f.ctx.Err(); err != nil {
			return unreadable(err)
		}
		b, whole, err := frame(in, buf[:0])
		buf = b
		if err != nil && !errors.Is(err, io.EOF) {
			return unreadable(err)
		}
		if len(b) == 0 {
			break
		}
		if err := x.piece(b, whole, at); err != nil {
			return err
		}
		at += int64(len(b))
	}
	if err := x.endJunk(); err != nil {
		return err
	}
	return x.flush()
}

// piece takes in one frame, or keeps what is none.
func (x *rxFile) piece(b []byte, whole bool, at int64) error {
	if !whole {
		if x.junk == nil && harmless(b) {
			return nil
		}
		if x.junk == nil {
			x.addJunk(at, ncpdp.CodeBatchFraming)
		}
		return x.junk.add(x.f, b)
	}
	if err := x.endJunk(); err != nil {
		return err
	}
	x.f.result.Transmissions++
	x.d.add(x.held(b), nil)
	if m := &x.d.messages[len(x.d.messages)-1]; m.response {
		if x.f.result.Transmissions == 1 {
			return responseGiven()
		}
		m.response = false
		x.d.one(len(x.d.messages)-1, claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Terminal, Detail: detailAnswer})
	}
	if x.d.full() {
		return x.flush()
	}
	return nil
}

// harmless reports whether the bytes between frames are only line breaks and filling.
func harmless(b []byte) bool { return len(bytes.Trim(b, ncpdp.Filling)) == 0 }

// frame reads up to and including the next ETX, or what stands before the next STX.
// whole is false where the frame never ends, is too long, or there is none.
func frame(in *bufio.Reader, buf []byte) (b []byte, whole bool, err error) {
	framed := false
	for len(buf) < ncpdp.MaxMessage {
		c, err := in.ReadByte()
		if err != nil {
			return buf, false, err
		}
		switch {
		case len(buf) == 0:
			framed = c == stx
		case c == stx && (!framed || len(bytes.TrimLeft(buf, "\x02")) > 0): // the next begins, whether or not this one ended
			return buf, false, in.UnreadByte()
		}
		buf = append(buf, c)
		if framed && c == etx {
			return buf, true, nil
		}
	}
	return buf, false, nil
}

// flush makes the chunk durable and counts what became of it.
func (x *rxFile) flush() error {
	err := x.d.flush()
	if err == nil {
		x.count()
	}
	x.d.clear()
	x.arena = x.arena[:0]
	return err
}

// count adds what became of the chunk's items to the result. What a batch holds is
// counted when it is released.
func (x *rxFile) count() {
	r := &x.f.result
	for i := range x.d.items {
		it := &x.d.items[i]
		n := int64(it.claims)
		r.Claims += n
		switch it.status {
		case TakenIn:
			if !x.d.held {
				r.Accepted += n
			}
		case Quarantined:
			r.hold(x.d.outcome(it), it.status)
			if x.d.done[it.insert].State == claimdlq.StateInDoubt {
				r.InDoubt += n
			} else {
				r.Quarantined += n
			}
		case Duplicate:
			r.Duplicates += n
			r.repeat(x.d.outcome(it))
		case Conflict:
			r.Conflicts += n
			r.hold(x.d.outcome(it), it.status)
		}
	}
}

// addJunk begins a run of bytes that are no message.
func (x *rxFile) addJunk(at int64, code ncpdp.Code) {
	x.junk = &kept{digests: newDigests(x.f.ids), offset: at, detail: ncpdp.Fault{Code: code}.Detail()}
}

// endJunk keeps the run that has ended: what came before it is durable first.
func (x *rxFile) endJunk() error {
	k := x.junk
	if k == nil {
		return nil
	}
	x.junk = nil
	x.f.fault("no readable message at byte %d: %s", k.offset, k.detail)
	sums := k.digests.sums()
	id := identity{digests: sums}
	for n, i := range x.f.ids {
		id.keys = append(id.keys, i.Key("ncpdp/bytes", sums[n][:]))
	}
	r := x.f.blank(claimdlq.ScopeFile, claimdlq.FormatNCPDP)
	r.Stream, r.RuleVersion, r.Claims, r.InterchangeID, r.Usage = claimdlq.StreamNCPDP, rules, 1, x.d.number, x.d.usage
	return x.f.keep(&k.unit, r, id, claimdlq.Fault{Reason: claimdlq.FatalSyntax, Class: claimdlq.Poison, Detail: k.detail})
}
