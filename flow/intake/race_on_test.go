//go:build race

package intake_test

// racing says that the race detector, which allocates, is on.
const racing = true
