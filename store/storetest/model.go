package storetest

import (
	"testing"

	"pgregory.net/rapid"

	"claimdlq/store"
	"claimdlq/store/memstore"
)

// RunModel makes the same random batches on a store from open, which must be
// empty, and on memstore, and compares all that can be read after each.
func RunModel(t *testing.T, open func(t *testing.T) store.Store) {
	t.Run("random operations", func(t *testing.T) {
		t.Parallel()
		rapid.Check(t, func(rt *rapid.T) {
			m := &machine{model: memstore.New(), tested: open(t)}
			defer func() {
				if err := m.tested.Close(); err != nil {
					rt.Fatalf("close: %v", err)
				}
			}()
			rt.Repeat(m.actions())
		})
	})
}
