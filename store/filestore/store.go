// Package filestore keeps records in an append-only journal on local disk.
package filestore

import (
	"claimdlq"
	"claimdlq/store"
)

// Store is a store.Store on a directory.
type Store struct{ store.Store }

// Open opens the store in dir, and creates it if there is none.
func Open(dir string, o Options) (*Store, error) {
	return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "open store"}
}
