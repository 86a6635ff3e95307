package filestore_test

import (
	"context"
	"testing"

	"claimdlq/store"
	"claimdlq/store/filestore"
	"claimdlq/store/storetest"
)

// small makes every limit easy to reach.
func small() filestore.Options {
	return filestore.Options{
		SegmentBytes: 64 << 10, PreallocBytes: 16 << 10, KeepSettled: -1, KeepFingerprints: -1, GarbageBytes: -1, Manual: true,
	}
}

func openStore(t testing.TB, dir string, o filestore.Options) *filestore.Store {
	t.Helper()
	s, err := filestore.Open(dir, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func TestStore_KeepsTheContract(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { return openStore(t, t.TempDir(), small()) })
}

func TestStore_AgreesWithTheModel(t *testing.T) {
	t.Parallel()
	storetest.RunModel(t, func(t *testing.T) store.Store { return openStore(t, t.TempDir(), small()) })
}

func TestStore_KeepsTheContractAcrossStops(t *testing.T) {
	t.Parallel()
	storetest.RunReopen(t, storetest.Durable{
		Open:     func(dir string) (store.Store, error) { return filestore.Open(dir, small()) },
		Maintain: func(s store.Store) error { return s.(*filestore.Store).Compact(context.Background()) },
	})
}
