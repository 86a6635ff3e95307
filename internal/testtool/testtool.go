// Package testtool finds the programs that some tests need besides Go. `make services`
// installs them.
package testtool

import (
	"os"
	"os/exec"
	"testing"
)

// Missing ends a test that lacks something: it is skipped, or fails where
// CLAIMDLQ_REQUIRE_SERVICES is 1, as in CI. The message says what is missing.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CLAIMDLQ_REQUIRE_SERVICES") == "1" {
		t.Fatalf(format+": make services installs it", args...)
	}
	t.Skipf(format+"; make services installs it", args...)
}

// Path returns the path of the first of the names that is there, or ends the test as
// Missing does.
func Path(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "%s is missing", names[0])
	return ""
}
