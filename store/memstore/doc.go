// Package memstore is the model of a store: the contract of package store as
// plainly as it can be said, in maps and slices under one mutex. Tests of the
// flow run on it, and storetest compares every other store with it. It is clear
// rather than fast (Stats and List scan), and nothing survives the process.
package memstore
