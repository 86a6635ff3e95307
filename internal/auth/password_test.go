package auth_test

import (
	"strings"
	"testing"

	"claimdlq/internal/auth"
)

func TestStoredHash_HasOneSpellingAndBounds(t *testing.T) {
	t.Parallel()
	salt, hash := strings.Repeat("A", 22), strings.Repeat("A", 43)
	good := "$argon2id$v=19$m=65536,t=3,p=1$" + salt + "$" + hash
	if !auth.ParseStored(good) {
		t.Fatal("a good one")
	}
	for name, bad := range map[string]string{
		"empty":          "",
		"argon2i":        strings.Replace(good, "argon2id", "argon2i", 1),
		"version":        strings.Replace(good, "v=19", "v=16", 1),
		"a zero before":  strings.Replace(good, "t=3", "t=03", 1),
		"no pass":        strings.Replace(good, "t=3", "t=0", 1),
		"many passes":    strings.Replace(good, "t=3", "t=21", 1),
		"no thread":      strings.Replace(good, "p=1", "p=0", 1),
		"many threads":   strings.Replace(good, "p=1", "p=256", 1),
		"little memory":  strings.Replace(good, "m=65536", "m=7", 1),
		"much memory":    strings.Replace(good, "m=65536", "m=1048577", 1),
		"more memory":    strings.Replace(good, "m=65536", "m=4295032832", 1), // 2^32 more
		"short salt":     strings.Replace(good, salt, salt[:11], 1),
		"short hash":     strings.Replace(good, hash, hash[:22], 1),
		"another end":    good[:len(good)-1] + "B",
		"a line":         good + "\n",
		"something more": good + "$",
	} {
		if auth.ParseStored(bad) {
			t.Errorf("%s: %q", name, bad)
		}
	}
}
