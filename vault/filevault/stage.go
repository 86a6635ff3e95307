package filevault

import (
	"sync"

	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault"
)

// Stage implements vault.Vault. Errors: Unavailable.
func (v *Vault) Stage(p phi.Bytes) (claimdlq.PayloadRef, error) {
	return v.StageWith(p, phi.Bytes{})
}

// StageWith implements vault.Vault. Errors: Invalid, Unavailable.
func (v *Vault) StageWith(p, attributes phi.Bytes) (claimdlq.PayloadRef, error) {
	if attributes.Len() > vault.MaxAttributes {
		return claimdlq.PayloadRef{}, vault.TooMany()
	}
	if p.Len() > frameSize {
		return v.stageLarge(p.Reveal(), attributes.Reveal())
	}
	var u unit
	u.draw()
	defer clear(u.key[:])
	u.size = int64(p.Len())
	u.small = u.size > minSmall
	u.attrs = uint32(attributes.Len())
	r, err := v.reserve(&u, u.sealedSize())
	if err != nil {
		return claimdlq.PayloadRef{}, err
	}
	err = u.fill(v, r, p, attributes.Reveal())
	r.batch.filling.Done()
	if r.cut != nil {
		_ = v.writeOne(r.cut) // it stays pending if this fails, and Sync reports it
	}
	if err != nil {
		return claimdlq.PayloadRef{}, err
	}
	return u.ref(), nil
}

// fill seals p, the attributes and their key into the room that was reserved for them.
// Were it to fail, the slot would stay empty and the bytes a gap.
func (u *unit) fill(v *Vault, r room, p phi.Bytes, attributes []byte) error {
	clear(r.slot)
	s, err := newSealer(u)
	if err != nil {
		return err
	}
	sealed, plain, last := r.data, p.Reveal(), u.frames()-1
	for n := range last {
		sealed = s.seal(sealed, plain[:smallFrame], n, false)
		plain = plain[smallFrame:]
	}
	sealed = s.seal(sealed, plain, last, true)
	if u.attrs > 0 {
		s.sealAttributes(sealed, attributes)
	}
	sl := u.wrap(v.kr)
	sl.encode(r.slot)
	return nil
}

// frameBufs hold one sealed frame each.
var frameBufs = sync.Pool{New: func() any { b := make([]byte, 0, frameSize+sealOverhead); return &b }}

// stageLarge writes a unit of several frames straight to the chunk file: it
// reserves its run of bytes and its slot between two batches.
func (v *Vault) stageLarge(p, attributes []byte) (claimdlq.PayloadRef, error) {
	var u unit
	u.draw()
	defer clear(u.key[:])
	u.size, u.attrs = int64(len(p)), uint32(len(attributes))
	f, err := v.reserveRun(&u, u.sealedSize())
	if err != nil {
		return claimdlq.PayloadRef{}, err
	}
	defer v.release(f)
	s, err := newSealer(&u)
	if err != nil {
		return claimdlq.PayloadRef{}, err
	}
	buf, _ := frameBufs.Get().(*[]byte)
	defer frameBufs.Put(buf)
	at := u.offset
	for n := int64(0); len(p) > 0; n++ {
		frame := p[:min(frameSize, len(p))]
		p = p[len(frame):]
		sealed := s.seal((*buf)[:0], frame, n, len(p) == 0)
		if err := v.disk.writeAt(f.File, sealed, at); err != nil {
			return claimdlq.PayloadRef{}, full(err)
		}
		at += int64(len(sealed))
	}
	if err := v.writeAttributes(f, s, attributes, at); err != nil {
		return claimdlq.PayloadRef{}, err
	}
	if err := v.putSlot(&u); err != nil {
		return claimdlq.PayloadRef{}, err
	}
	return u.ref(), nil
}

// writeAttributes seals the attributes, if there are any, into the file behind the
// frames of their unit.
func (v *Vault) writeAttributes(f *file, s *sealer, attributes []byte, at int64) error {
	if len(attributes) == 0 {
		return nil
	}
	if err := v.disk.writeAt(f.File, s.sealAttributes(nil, attributes), at); err != nil {
		return full(err)
	}
	return nil
}

// reserveRun takes n consecutive bytes of the chunk file, and a slot, outside of
// any batch. The caller releases the file.
func (v *Vault) reserveRun(u *unit, n int64) (*file, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.usable(); err != nil {
		return nil, err
	}
	v.cut()
	if err := v.place(n); err != nil {
		return nil, err
	}
	f := v.chunk
	f.users++
	u.file, u.offset = f.no, f.size
	f.size += n
	f.claim(f.size)
	v.takeSlot(u)
	return f, nil
}

// takeSlot gives the unit the next slot and so its name. The caller holds mu and
// has called cut and place.
func (v *Vault) takeSlot(u *unit) {
	u.slot = uint64(v.slots.no)*slotsPerFile + uint64(v.slots.size/slotSize)
	v.slots.size += slotSize
	v.slots.claim(v.slots.size)
	v.loose++
	u.setName(v.names)
}

// release ends what reserveRun began.
func (v *Vault) release(f *file) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f.users--
	f.dirty = true
	v.loose--
}
