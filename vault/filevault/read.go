package filevault

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault"
)

// Open implements vault.Vault. Errors: Refused (no proof), NotFound, Corrupt,
// Invalid (the range is not within the unit), Unavailable.
func (v *Vault) Open(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (phi.Bytes, error) {
	r, err := v.reader(ctx, ref, proof)
	if err != nil {
		return phi.Bytes{}, err
	}
	defer r.release()
	out := make([]byte, 0, ref.Length)
	for r.at < r.end {
		if out, err = r.next(out); err != nil {
			clear(out[:cap(out)])
			return phi.Bytes{}, err
		}
	}
	return phi.Wrap(out), nil
}

// OpenReader implements vault.Vault; errors as for Open, of which Corrupt may
// also come from Read. Nothing of a frame is handed out before its seal holds.
func (v *Vault) OpenReader(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (io.ReadCloser, error) {
	return v.reader(ctx, ref, proof)
}

// Verify implements vault.Vault. The ref's range does not matter: it checks every
// frame of the unit. Errors: NotFound, Corrupt, Unavailable.
func (v *Vault) Verify(ctx context.Context, ref claimdlq.PayloadRef) error {
	u, s, err := v.locate(ctx, ref.Unit)
	if err != nil {
		return err
	}
	r, err := v.frames(u, s)
	if err != nil {
		return err
	}
	defer r.release()
	r.end = r.u.size
	for n := range r.u.frames() {
		if err := ctx.Err(); err != nil {
			return unavailable("verify payload", err)
		}
		if err := r.load(n); err != nil {
			return err
		}
	}
	_, err = r.attributes()
	return err
}

// Attributes implements vault.Vault. Errors: Refused (no proof), NotFound, Corrupt,
// Unavailable.
func (v *Vault) Attributes(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (phi.Bytes, error) {
	if !proof.Valid() {
		return phi.Bytes{}, &claimdlq.Error{Code: claimdlq.Refused, Op: "open attributes", On: ref.Unit, Hint: "commit the audit entry first"}
	}
	u, s, err := v.locate(ctx, ref.Unit)
	if err != nil || s.place.attrs == 0 {
		return phi.Bytes{}, err
	}
	r, err := v.frames(u, s)
	if err != nil {
		return phi.Bytes{}, err
	}
	defer r.release()
	plain, err := r.attributes()
	return phi.Wrap(plain), err
}

// attributes reads what is behind the frames.
func (r *reader) attributes() ([]byte, error) {
	if r.u.attrs == 0 {
		return nil, nil
	}
	sealed := make([]byte, int64(r.u.attrs)+sealOverhead)
	if err := r.v.handles.readAt(r.path, sealed, r.u.offset+r.u.payloadSize()); err != nil {
		return nil, r.unread(err)
	}
	return r.seal.openAttributes(nil, sealed)
}

// reader returns the reader of the ref's range.
func (v *Vault) reader(ctx context.Context, ref claimdlq.PayloadRef, proof claimdlq.Proof) (*reader, error) {
	if !proof.Valid() {
		return nil, &claimdlq.Error{Code: claimdlq.Refused, Op: "open payload", On: ref.Unit, Hint: "commit the audit entry first"}
	}
	u, s, err := v.locate(ctx, ref.Unit)
	if err != nil {
		return nil, err
	}
	r, err := v.frames(u, s)
	if err != nil {
		return nil, err
	}
	if ref.Offset < 0 || ref.Length < 0 || ref.Offset > r.u.size-ref.Length {
		r.release()
		return nil, &claimdlq.Error{Code: claimdlq.Invalid, Op: "open payload", On: ref.Unit}
	}
	r.at, r.end = ref.Offset, ref.Offset+ref.Length
	if ref.Length == 0 { // nothing would be read, and a broken seal not be seen
		if err := r.load(min(ref.Offset, max(0, r.u.size-1)) / r.u.frame()); err != nil {
			r.release()
			return nil, err
		}
	}
	return r, nil
}

// locate reads the unit's slot. Errors: NotFound, Corrupt, Unavailable.
func (v *Vault) locate(ctx context.Context, name string) (unit, slot, error) {
	u, ok := parseName(v.names, name)
	if !ok {
		return u, slot{}, notFound(name)
	}
	held, err := v.holds(u.slot)
	if held {
		err = v.Sync(ctx)
	}
	if err != nil {
		return u, slot{}, err
	}
	var b [slotSize]byte
	path := numbered(v.keysDir, uint32(u.slot/slotsPerFile), slotExt)
	err = v.handles.readAt(path, b[:], int64(u.slot%slotsPerFile)*slotSize)
	if errors.Is(err, os.ErrNotExist) && v.reclaimed(u.slot) {
		return u, slot{}, shredded(name)
	}
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, io.EOF) {
		return u, slot{}, notFound(name)
	}
	if err != nil {
		return u, slot{}, unavailable("open payload", err)
	}
	s := decodeSlot(b[:])
	switch {
	case s.state == slotDamaged:
		return u, s, &claimdlq.Error{Code: claimdlq.Corrupt, Op: "open payload", On: name, Hint: "its key slot is damaged: restore the key directory from its backup"}
	case s.random != u.random || s.state == slotEmpty:
		return u, slot{}, notFound(name)
	case s.state == slotShredded:
		return u, s, shredded(name)
	}
	return u, s, nil
}

func notFound(name string) error {
	return &claimdlq.Error{Code: claimdlq.NotFound, Op: "open payload", On: name}
}

const hintShredded = "its key was destroyed, by retention or by a person: nothing of it can be shown, corrected or sent; withdraw the record, and ask the submitter for the claim if it is needed"

func shredded(name string) error {
	return &claimdlq.Error{Code: claimdlq.NotFound, Op: "open payload", On: name, Err: vault.ErrShredded, Hint: hintShredded}
}

// frames returns a reader of the unit's frames.
func (v *Vault) frames(u unit, s slot) (*reader, error) {
	if err := u.unwrap(v.kr, &s); err != nil {
		return nil, err
	}
	defer clear(u.key[:])
	r := &reader{v: v, path: u.path(v.dir), u: u, frame: -1, size: u.frame(), last: u.frames() - 1}
	clear(r.u.key[:])
	var err error
	if r.seal, err = newSealer(&u); err != nil {
		return nil, err
	}
	r.room, _ = rooms.Get().(*readRoom)
	return r, nil
}

// reader reads a range of one unit, frame by frame.
type reader struct {
	v          *Vault
	path       string
	closed     bool
	u          unit
	size, last int64 // of a frame; the number of the last
	seal       *sealer
	at, end    int64  // of the plaintext
	frame      int64  // the one in plain; -1 for none
	plain      []byte // of room
	have       []byte // ciphertext of room, from frame from on
	from       int64
	room       *readRoom
}

// readRoom is the memory that readers use one after the other. Between two readers it
// holds no plaintext.
type readRoom struct{ sealed, plain []byte }

var rooms = sync.Pool{New: func() any { return new(readRoom) }}

// maxRoom bounds the memory that is kept for the next reader.
const maxRoom = 256 << 10

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.closed {
		return 0, os.ErrClosed
	}
	if r.at >= r.end {
		return 0, io.EOF
	}
	if err := r.load(r.at / r.size); err != nil {
		return 0, err
	}
	off := r.at % r.size
	n := copy(p[:min(int64(len(p)), r.end-r.at)], r.plain[off:])
	r.at += int64(n)
	return n, nil
}

// next appends the rest of the current frame's part of the range to out.
func (r *reader) next(out []byte) ([]byte, error) {
	n := r.at / r.size
	off, size := r.at%r.size, r.frameLen(n)
	end := min(size, r.end-n*r.size)
	if off == 0 && end == size { // the whole frame: straight to where it goes
		sealed, err := r.read(n)
		if err != nil {
			return out, err
		}
		whole, err := r.seal.open(out, sealed, n, n == r.last)
		if err != nil {
			return out, err
		}
		r.at += size
		return whole, nil
	}
	if err := r.load(n); err != nil {
		return out, err
	}
	r.at += end - off
	return append(out, r.plain[off:end]...), nil
}

// load opens frame n into plain.
func (r *reader) load(n int64) error {
	if r.frame == n {
		return nil
	}
	sealed, err := r.read(n)
	if err != nil {
		return err
	}
	if most := int(min(r.size, r.u.size)); cap(r.room.plain) < most {
		r.room.plain = make([]byte, 0, most)
	}
	plain, err := r.seal.open(r.room.plain[:0], sealed, n, n == r.last)
	if err != nil {
		return err
	}
	r.room.plain = r.room.plain[:max(len(r.room.plain), len(plain))] // to be wiped
	r.plain, r.frame = plain, n
	return nil
}

// frameLen returns the plaintext length of frame n.
func (r *reader) frameLen(n int64) int64 { return min(r.size, r.u.size-n*r.size) }

// read reads the ciphertext of frame n, and with it that of the frames behind it that
// will be asked for, up to frameSize.
func (r *reader) read(n int64) ([]byte, error) {
	step, size := r.size+sealOverhead, r.frameLen(n)+sealOverhead
	if at := (n - r.from) * step; len(r.have) > 0 && n >= r.from && at+size <= int64(len(r.have)) {
		return r.have[at : at+size], nil
	}
	to := n
	if r.end > r.at {
		to = max(n, min((r.end-1)/r.size, n+frameSize/r.size-1))
	}
	whole := int((to-n)*step + r.frameLen(to) + sealOverhead)
	if cap(r.room.sealed) < whole {
		r.room.sealed = make([]byte, whole)
	}
	r.have, r.from = r.room.sealed[:whole], n
	err := r.v.handles.readAt(r.path, r.have, r.u.offset+n*step)
	if err == nil {
		return r.have[:size], nil
	}
	r.have = nil
	return nil, r.unread(err)
}

// unread says what it means that the unit's file could not be read.
func (r *reader) unread(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, os.ErrNotExist) {
		return &claimdlq.Error{
			Code: claimdlq.Corrupt, Op: "open payload", On: string(r.u.name[:]),
			Hint: "its file is cut short or missing: restore the vault directory from its backup",
		}
	}
	return unavailable("open payload", err)
}

// Close implements io.Closer.
func (r *reader) Close() error {
	r.release()
	return nil
}

// release wipes the plaintext that is left, and gives the memory to the next reader.
func (r *reader) release() {
	if r.closed {
		return
	}
	r.closed, r.frame, r.plain, r.have = true, -1, nil, nil
	room := r.room
	r.room = nil
	clear(room.plain)
	room.plain = room.plain[:0]
	if cap(room.plain)+cap(room.sealed) <= maxRoom {
		rooms.Put(room)
	}
}
