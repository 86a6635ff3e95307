package filevault_test

import (
	"path/filepath"
	"sync"
	"testing"

	"claimdlq"
	"claimdlq/vault"
	"claimdlq/vault/filevault"
	"claimdlq/vault/keyring"
	"claimdlq/vault/vaulttest"
)

// bundle is a vault in a directory of its own.
type bundle struct {
	*filevault.Vault
	dir, keys string
	kr        *keyring.Keyring
	o         filevault.Options
}

func setup(t testing.TB, o filevault.Options) *bundle {
	t.Helper()
	root := t.TempDir()
	b := &bundle{dir: filepath.Join(root, "vault"), keys: filepath.Join(root, "keys"), o: o}
	b.open(t)
	t.Cleanup(func() { _ = b.Close() })
	return b
}

// open opens keyring and vault anew, as a process does at its start.
func (b *bundle) open(t testing.TB) {
	t.Helper()
	var err error
	if b.kr, err = keyring.Open(b.keys); err != nil {
		t.Fatal(err)
	}
	if b.Vault, err = filevault.OpenWith(b.dir, b.keys, b.kr, b.o); err != nil {
		t.Fatal(err)
	}
}

func TestVault_Conforms(t *testing.T) {
	t.Parallel()
	vaulttest.Run(t, func(t *testing.T) vault.Vault { return setup(t, filevault.Options{}) })
}

func TestVault_ConformsWithManySmallFiles(t *testing.T) {
	t.Parallel()
	vaulttest.Run(t, func(t *testing.T) vault.Vault { return setup(t, filevault.Options{ChunkBytes: 4096}) })
}

// Zeros are written ahead of what is staged: none may fall on a unit, whatever
// sizes are staged at the same time, before and after a start.
func TestStage_ZerosAheadFallOnNothing(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{ChunkBytes: 16 << 20})
	var mu sync.Mutex
	want := map[claimdlq.PayloadRef][]byte{}
	for round := range 3 {
		var wg sync.WaitGroup
		for g := range 6 {
			wg.Go(func() {
				for i, size := range []int{100, 1<<20 + 5, 2500, 300_000, 40, 3<<20 + 1, 9000} {
					p := vaulttest.Payload(round*1000+g*100+i, size)
					ref := stage(t, b, p)
					if i%2 == 0 {
						flush(t, b)
					}
					mu.Lock()
					want[ref] = p
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		flush(t, b)
		b.reopen(t)
		for ref, p := range want {
			intact(t, b, ref, p)
		}
	}
}
