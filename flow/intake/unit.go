package intake

import (
	"claimdlq"
	"claimdlq/phi"
	"claimdlq/vault"
)

// maxHeld is how much of a unit is held in memory before it streams to the vault.
const maxHeld = 1 << 20

// unit gathers the bytes of a unit that arrives in pieces: in memory first, in
// the vault when it grows.
type unit struct {
	held   []byte
	writer vault.Writer
	size   int64
}

func (u *unit) add(v vault.Vault, b []byte) error {
	u.size += int64(len(b))
	if u.writer == nil {
		u.held = append(u.held, b...)
		if len(u.held) < maxHeld {
			return nil
		}
		w, err := v.Create()
		if err != nil {
			return err
		}
		u.writer, b = w, u.held
		u.held = nil
	}
	_, err := u.writer.Write(b)
	return err
}

// stage ends the unit with its attributes and returns its ref. It is durable with the
// next Sync.
func (u *unit) stage(v vault.Vault, attributes phi.Bytes) (claimdlq.PayloadRef, error) {
	if u.writer == nil {
		return v.StageWith(phi.Wrap(u.held), attributes)
	}
	w := u.writer
	u.writer = nil
	if err := w.Describe(attributes); err != nil {
		w.Abort()
		return claimdlq.PayloadRef{}, err
	}
	return w.Close()
}

// abort gives the unit up; it may be used again.
func (u *unit) abort() {
	if u.writer != nil {
		u.writer.Abort()
	}
	*u = unit{held: u.held[:0]}
}
