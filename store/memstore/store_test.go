package memstore_test

import (
	"testing"

	"claimdlq/store"
	"claimdlq/store/memstore"
	"claimdlq/store/storetest"
)

func TestStore_KeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) store.Store { return memstore.New() })
}

func TestStore_AgreesWithItself(t *testing.T) {
	t.Parallel()
	storetest.RunModel(t, func(*testing.T) store.Store { return memstore.New() })
}
