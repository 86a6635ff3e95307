package filevault_test

import (
	"path/filepath"
	"testing"

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
