package filevault_test

import (
	"errors"
	"os"
	"testing"

	"claimdlq"
	"claimdlq/vault"
	"claimdlq/vault/filevault"
	"claimdlq/vault/vaulttest"
)

// A unit that was shredded is told from one whose key is missing, for as long as the
// directory lives: when its slot file is reclaimed too.
func TestReclaim_AShreddedUnitIsStillToldFromAMissingOne(t *testing.T) {
	t.Parallel()
	b := setup(t, filevault.Options{})
	gone := stage(t, b, vaulttest.Payload(1, 50))
	rotate(t, b) // the next unit has its slot in another file
	lost := stage(t, b, vaulttest.Payload(2, 50))
	rotate(t, b)
	stage(t, b, vaulttest.Payload(3, 50))
	if err := b.Shred(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := b.Reclaim(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := b.Verify(t.Context(), gone); !errors.Is(err, claimdlq.NotFound) || !errors.Is(err, vault.ErrShredded) {
			t.Fatalf("shredded and reclaimed: %v", err)
		}
		b.reopen(t)
	}
	slots := files(t, b.keys, ".slots")
	if len(slots) != 2 {
		t.Fatalf("%d slot files", len(slots))
	}
	if err := os.Remove(slots[0]); err != nil {
		t.Fatal(err)
	}
	b.reopen(t)
	if err := b.Verify(t.Context(), lost); !errors.Is(err, claimdlq.NotFound) || errors.Is(err, vault.ErrShredded) {
		t.Fatalf("missing: %v", err)
	}
}
