package filevault

import (
	"context"
	"crypto/cipher"
	"fmt"
	"os"
	"sync"

	"claimdlq"
	"claimdlq/internal/atomicfile"
	"claimdlq/vault"
	"claimdlq/vault/keyring"
)

// Options say how a vault is opened.
type Options struct {
	// ChunkBytes is the size at which the next ciphertext file is begun. It is also
	// the unit of Reclaim. Default: 256 MiB.
	ChunkBytes int64
	// Fatal is called when an fsync has failed and must not return: what the
	// kernel still holds is unknown from then on. Default: a line on standard
	// error and exit status 70.
	Fatal func(error)
}

// Vault implements vault.Vault in files. One process may have it open; the data
// directory's lock sees to that. It is safe for concurrent use.
type Vault struct {
	dir, keysDir string
	kr           *keyring.Keyring
	names        cipher.Block
	o            Options
	disk         disk
	handles      handles

	mu      sync.Mutex
	chunk   *file  // being appended to; nil until the first unit
	slots   *file  // likewise
	lastNo  uint32 // highest number of a ciphertext file
	slotNo  uint32 // highest number of a slot file
	batch   *batch // being filled; nil if empty
	pending []*batch
	retired []*file             // nothing more is appended; closed after their last flush
	touched map[uint32]struct{} // other slot files that were written to
	newFile bool                // a file was created since the last flush
	writing map[uint32]struct{} // single-unit files that have no slot yet
	loose   int                 // slots that were given and are not written yet, outside of batches
	free    []buffers
	next    *round // the flush that callers of Sync wait for
	running bool
	closed  bool
	dead    error // an fsync failed

	// slotMu keeps single slot writes (shared) and the replacement of a whole slot
	// file (exclusive) apart. It is taken before mu, where both are.
	slotMu sync.RWMutex
	// holding is held, shared, while the files are copied: none is removed.
	holding sync.RWMutex
	wg      sync.WaitGroup
}

var _ vault.Vault = (*Vault)(nil)

// Open opens the vault with ciphertext under dir and wrapped keys under keysDir,
// making both directories on first use.
func Open(dir, keysDir string, kr *keyring.Keyring) (*Vault, error) {
	return OpenWith(dir, keysDir, kr, Options{})
}

// OpenWith is Open with options. Errors: Unavailable.
func OpenWith(dir, keysDir string, kr *keyring.Keyring, o Options) (*Vault, error) {
	if o.ChunkBytes <= 0 {
		o.ChunkBytes = 256 << 20
	}
	if o.Fatal == nil {
		o.Fatal = die
	}
	v := &Vault{
		dir: dir, keysDir: keysDir, kr: kr, o: o, disk: realDisk,
		touched: map[uint32]struct{}{}, writing: map[uint32]struct{}{},
		handles: handles{open: map[string]*os.File{}},
	}
	var err error
	if v.names, err = kr.NameCipher(); err != nil {
		return nil, err
	}
	for _, d := range []string{dir, keysDir} {
		if err := atomicfile.MkdirAll(d, dirPerm); err != nil {
			return nil, unavailable("open vault", err)
		}
		if err := atomicfile.Sweep(d); err != nil {
			return nil, unavailable("open vault", err)
		}
	}
	if err := v.resume(); err != nil {
		return nil, err
	}
	return v, nil
}

// resume finds the files to go on appending to.
func (v *Vault) resume() error {
	chunks, err := list(v.dir, chunkExt)
	if err != nil {
		return err
	}
	units, err := list(v.dir, unitExt)
	if err != nil {
		return err
	}
	slots, err := list(v.keysDir, slotExt)
	if err != nil {
		return err
	}
	if n := len(units); n > 0 {
		v.lastNo = units[n-1]
	}
	if n := len(chunks); n > 0 {
		v.lastNo = max(v.lastNo, chunks[n-1])
		if v.chunk, err = reopen(v.dir, chunks[n-1], chunkExt, 1); err != nil {
			return err
		}
	}
	if n := len(slots); n > 0 {
		v.slotNo = slots[n-1]
		if v.slots, err = reopen(v.keysDir, v.slotNo, slotExt, slotSize); err != nil {
			return err
		}
	}
	return nil
}

// Close makes everything staged durable and releases the files.
func (v *Vault) Close() error {
	err := v.Sync(context.Background())
	v.mu.Lock()
	v.closed = true
	v.mu.Unlock()
	v.wg.Wait()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, f := range append(v.retired, v.chunk, v.slots) {
		if f != nil {
			f.end()
		}
	}
	v.retired, v.chunk, v.slots = nil, nil, nil
	v.handles.forget("")
	return err
}

// usable refuses work after Close or a failed fsync. The caller holds mu.
func (v *Vault) usable() error {
	if v.dead != nil {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "use vault", Err: v.dead, Hint: "restart: an fsync failed"}
	}
	if v.closed {
		return &claimdlq.Error{Code: claimdlq.Unavailable, Op: "use vault", Err: os.ErrClosed}
	}
	return nil
}

// die is the default Fatal.
func die(err error) {
	fmt.Fprintln(os.Stderr, "claimdlq: vault stops:", err)
	os.Exit(70)
}
