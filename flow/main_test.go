package flow_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain keeps the random walk short; -rapid.checks=1000 makes it long.
func TestMain(m *testing.M) {
	_ = flag.Set("rapid.checks", "40")
	flag.Parse()
	os.Exit(m.Run())
}
