package retain

import (
	"log/slog"
	"time"

	"claimdlq"
	"claimdlq/store"
	"claimdlq/vault"
)

// Options join a Retain to what it works with. All but Log are required.
type Options struct {
	Store  store.Store
	Vault  vault.Vault
	Policy claimdlq.Policy
	Log    *slog.Logger
	Now    func() time.Time
}
