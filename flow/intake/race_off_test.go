//go:build !race

package intake_test

const racing = false
