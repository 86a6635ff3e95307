package api

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"claimdlq"
	"claimdlq/internal/auth"
)

// recordDigest stands for doing something to a record at one revision: what a second
// person approves, and nothing else.
func recordDigest(perm auth.Permission, r claimdlq.Record) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "claimdlq approval\n%s\n%d\n%d\n", perm, r.ID, r.Revision))
	return hex.EncodeToString(sum[:])
}
