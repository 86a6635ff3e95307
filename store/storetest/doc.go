// Package storetest holds what every store must do, as tests: Run has a subtest
// for each sentence of the contract in package store, RunModel compares a store
// with memstore under random operations, and RunReopen does so while the store
// is closed, or killed, and opened again in between.
//
// The suite opens a store for each subtest and closes it. Nothing here is
// imported by the product.
package storetest
