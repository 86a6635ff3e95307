package memvault_test

import (
	"testing"

	"claimdlq/vault"
	"claimdlq/vault/memvault"
	"claimdlq/vault/vaulttest"
)

func TestVault_Conforms(t *testing.T) {
	t.Parallel()
	vaulttest.Run(t, func(*testing.T) vault.Vault { return memvault.New() })
}
