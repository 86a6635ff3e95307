package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"

	"claimdlq"
)

// Argon are the parameters of argon2id (RFC 9106).
type Argon struct {
	MemoryKiB uint32 // Default: 65536
	Passes    uint32 // Default: 3
	Threads   uint8  // Default: 1
}

var defaultArgon = Argon{MemoryKiB: 64 << 10, Passes: 3, Threads: 1}

const (
	saltBytes = 16
	hashBytes = 32
	// The bounds of a password, in bytes: the work must not depend on its length.
	minPassword = 12
	maxPassword = 256
	// The bounds of what a stored hash may ask of us.
	maxMemoryKiB = 1 << 20
	maxPasses    = 20
)

func (a Argon) valid() bool {
	return a.Passes >= 1 && a.Passes <= maxPasses && a.Threads >= 1 && a.MemoryKiB >= 8*uint32(a.Threads) && a.MemoryKiB <= maxMemoryKiB
}

// weaker reports whether a hash made with a is to be made again with b.
func (a Argon) weaker(b Argon) bool {
	return a.MemoryKiB < b.MemoryKiB || a.Passes < b.Passes || a.Threads < b.Threads
}

// stored is a password's hash as it is kept, in the PHC string format.
type stored struct {
	argon      Argon
	salt, hash []byte
}

var phcText = base64.RawStdEncoding.Strict()

func (s stored) String() string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, s.argon.MemoryKiB, s.argon.Passes, s.argon.Threads,
		phcText.EncodeToString(s.salt), phcText.EncodeToString(s.hash))
}

// parseStored reads what String wrote, and nothing else.
func parseStored(text string) (s stored, ok bool) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return s, false
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &s.argon.MemoryKiB, &s.argon.Passes, &s.argon.Threads); err != nil {
		return s, false
	}
	var err1, err2 error
	s.salt, err1 = phcText.DecodeString(parts[4])
	s.hash, err2 = phcText.DecodeString(parts[5])
	if err1 != nil || err2 != nil || len(s.salt) != saltBytes || len(s.hash) != hashBytes || !s.argon.valid() {
		return s, false
	}
	return s, s.String() == text
}

// hasher derives keys from passwords, a few at a time: each takes Argon.MemoryKiB.
type hasher struct {
	argon  Argon
	slots  chan struct{}
	derive func(password string, salt []byte, a Argon) []byte // argon2id
	dummy  stored                                             // of a password that nobody knows
}

func newHasher(a Argon, parallel int) *hasher {
	h := &hasher{argon: a, slots: make(chan struct{}, parallel), derive: deriveArgon}
	h.dummy = stored{argon: a, salt: make([]byte, saltBytes), hash: make([]byte, hashBytes)}
	_, _ = rand.Read(h.dummy.salt)
	_, _ = rand.Read(h.dummy.hash)
	return h
}

func deriveArgon(password string, salt []byte, a Argon) []byte {
	return argon2.IDKey([]byte(password), salt, a.Passes, a.MemoryKiB, a.Threads, hashBytes)
}

// run waits for its turn and derives. Errors: Unavailable (the caller went away).
func (h *hasher) run(ctx context.Context, password string, salt []byte, a Argon) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, &claimdlq.Error{Code: claimdlq.Unavailable, Op: "check password", Err: ctx.Err()}
	}
	defer func() { <-h.slots }()
	return h.derive(password, salt, a), nil
}

// make returns the hash of a new password.
func (h *hasher) make(ctx context.Context, password string) (string, error) {
	s := stored{argon: h.argon, salt: make([]byte, saltBytes)}
	_, _ = rand.Read(s.salt)
	var err error
	if s.hash, err = h.run(ctx, password, s.salt, s.argon); err != nil {
		return "", err
	}
	return s.String(), nil
}

// check does the same work whether there is a hash to compare with or not: text ""
// is an account that is not there or has no password, and is never right. Stale says
// that the hash is weaker than it would be made now.
func (h *hasher) check(ctx context.Context, text, password string) (right, stale bool, err error) {
	s, real := parseStored(text)
	if !real {
		s = h.dummy
	}
	if len(password) > maxPassword {
		password, real = "", false
	}
	got, err := h.run(ctx, password, s.salt, s.argon)
	if err != nil {
		return false, false, err
	}
	same := subtle.ConstantTimeCompare(got, s.hash) == 1
	return same && real, s.argon.weaker(h.argon), nil
}

// checkPassword says what is wrong with a new password.
func checkPassword(login, password string) string {
	distinct := map[byte]bool{}
	for i := range len(password) {
		distinct[password[i]] = true
	}
	switch {
	case len(password) < minPassword || len(password) > maxPassword:
		return fmt.Sprintf("a password has %d to %d bytes", minPassword, maxPassword)
	case strings.Contains(strings.ToLower(password), login):
		return "a password must not have the login in it"
	case len(distinct) < 5:
		return "a password has at least five different characters"
	}
	return ""
}
