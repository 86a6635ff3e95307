//go:build !race

package filestore_test

// under is how much less the long tests do; see race_on_test.go.
const under = 1
