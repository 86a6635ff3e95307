package filevault

import (
	"os"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault"
)

// writer stages a unit that arrives in pieces. Up to one frame it only gathers;
// beyond that the unit gets a file of its own, whose frames follow each other.
type writer struct {
	v     *Vault
	u     unit
	plain []byte // the frame being gathered
	attrs []byte
	n     int64 // frames sealed so far
	began bool  // has a slot, a file number and a key
	seal  *sealer
	f     *file // nil as long as one frame is enough
	err   error // sticky
	done  bool
}

// Create implements vault.Vault. It cannot fail; writing can.
func (v *Vault) Create() (vault.Writer, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.usable(); err != nil {
		return nil, err
	}
	return &writer{v: v}, nil
}

// Write implements io.Writer. Errors: Unavailable; the unit is lost then and the
// caller aborts it.
func (w *writer) Write(p []byte) (n int, err error) {
	if w.done && w.err == nil {
		w.err = &claimdlq.Error{Code: claimdlq.Unavailable, Op: "write payload", Err: os.ErrClosed}
	}
	for len(p) > 0 && w.err == nil {
		if len(w.plain) == frameSize {
			if w.err = w.flush(false); w.err != nil {
				break
			}
		}
		k := min(frameSize-len(w.plain), len(p))
		w.plain = append(w.plain, p[:k]...)
		p, n = p[k:], n+k
	}
	return n, w.err
}

// Describe implements vault.Writer.
func (w *writer) Describe(attributes phi.Bytes) error {
	if attributes.Len() > vault.MaxAttributes {
		return vault.TooMany()
	}
	clear(w.attrs)
	w.attrs = append(w.attrs[:0], attributes.Reveal()...)
	return nil
}

// flush seals the gathered frame into the unit's file.
func (w *writer) flush(last bool) error {
	if w.f == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	buf, _ := frameBufs.Get().(*[]byte)
	defer frameBufs.Put(buf)
	sealed := w.seal.seal((*buf)[:0], w.plain, w.n, last)
	at := w.u.offset + w.n*(frameSize+sealOverhead)
	if err := w.v.disk.writeAt(w.f.File, sealed, at); err != nil {
		return full(err)
	}
	w.u.size += int64(len(w.plain))
	w.n++
	clear(w.plain)
	w.plain = w.plain[:0]
	return nil
}

// begin gives the unit its slot, name, key and file.
func (w *writer) begin() (err error) {
	w.u.draw()
	if err := w.v.reserveFile(&w.u); err != nil {
		return err
	}
	w.began = true
	if w.f, err = w.v.create(w.v.dir, w.u.file, unitExt); err != nil {
		return err
	}
	w.seal, err = newSealer(&w.u)
	return err
}

// reserveFile takes a file number and a slot for the unit.
func (v *Vault) reserveFile(u *unit) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.usable(); err != nil {
		return err
	}
	v.cut()
	if err := v.place(0); err != nil {
		return err
	}
	v.lastNo++
	u.place = place{single: true, file: v.lastNo, offset: headerSize}
	v.writing[u.file] = struct{}{}
	v.takeSlot(u)
	return nil
}

// Close implements vault.Writer. Errors: Unavailable; the unit is lost then.
func (w *writer) Close() (claimdlq.PayloadRef, error) {
	if w.err == nil && w.done {
		return claimdlq.PayloadRef{}, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "end payload", Err: os.ErrClosed}
	}
	defer w.Abort() // releases what is left: everything, after an error
	if w.err != nil {
		return claimdlq.PayloadRef{}, w.err
	}
	if w.f == nil {
		return w.v.StageWith(phi.Wrap(w.plain), phi.Wrap(w.attrs))
	}
	if err := w.flush(true); err != nil {
		return claimdlq.PayloadRef{}, err
	}
	w.u.attrs = uint32(len(w.attrs))
	if err := w.v.writeAttributes(w.f, w.seal, w.attrs, w.u.offset+w.u.payloadSize()); err != nil {
		return claimdlq.PayloadRef{}, err
	}
	if err := w.v.putSlot(&w.u); err != nil {
		return claimdlq.PayloadRef{}, err
	}
	w.v.mu.Lock()
	defer w.v.mu.Unlock()
	w.f.dirty, w.v.newFile = true, true
	w.v.retire(w.f)
	w.f = nil
	return w.u.ref(), nil
}

// Abort implements vault.Writer.
func (w *writer) Abort() {
	w.done = true
	clear(w.plain[:cap(w.plain)])
	clear(w.attrs)
	clear(w.u.key[:])
	w.plain, w.attrs = nil, nil
	if w.f != nil {
		_ = w.f.Close()
		_ = os.Remove(w.f.Name()) // if it stays, Reclaim removes it: no slot points at it
		w.f = nil
	}
	if !w.began {
		return
	}
	w.began = false
	w.v.mu.Lock()
	defer w.v.mu.Unlock()
	delete(w.v.writing, w.u.file)
	w.v.loose--
}
