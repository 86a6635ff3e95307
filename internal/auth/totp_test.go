package auth_test

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"hash"
	"net/url"
	"strings"
	"testing"
	"time"

	"claimdlq/internal/auth"
)

const digits20 = "12345678901234567890"

// RFC 6238 appendix B.
func TestHOTP_HasTheValuesOfRFC6238(t *testing.T) {
	t.Parallel()
	secrets := []struct {
		h      func() hash.Hash
		secret string
	}{
		{sha1.New, digits20},
		{sha256.New, digits20 + "123456789012"},
		{sha512.New, digits20 + digits20 + digits20 + "1234"},
	}
	for at, want := range map[int64][3]string{
		59:          {"94287082", "46119246", "90693936"},
		1111111109:  {"07081804", "68084774", "25091201"},
		1111111111:  {"14050471", "67062674", "99943326"},
		1234567890:  {"89005924", "91819424", "93441116"},
		2000000000:  {"69279037", "90698825", "38618901"},
		20000000000: {"65353130", "77737706", "47863826"},
	} {
		for i, s := range secrets {
			if got := auth.HOTP(s.h, []byte(s.secret), uint64(at/30), 8); got != want[i] {
				t.Errorf("at %d, %d: %s, want %s", at, i, got, want[i])
			}
		}
	}
}

// RFC 4226 appendix D.
func TestHOTP_HasTheValuesOfRFC4226(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871", "520489"} {
		if got := auth.HOTP(sha1.New, []byte(digits20), uint64(n), 6); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestCheckCode_TakesOneStepEitherWayAndNoneTwice(t *testing.T) {
	t.Parallel()
	secret := []byte(digits20)
	now := time.Unix(1_000_000_019, 0) // in the middle of a step
	step := uint64(now.Unix() / 30)
	for off, want := range map[int]bool{-2: false, -1: true, 0: true, 1: true, 2: false} {
		n := uint64(int(step) + off)
		given := auth.HOTP(sha1.New, secret, n, 6)
		got, ok := auth.CheckCode(secret, 0, now, given)
		if ok != want || ok && got != n {
			t.Errorf("step %+d: %v", off, ok)
		}
		if _, ok := auth.CheckCode(secret, n, now, given); ok {
			t.Errorf("step %+d is taken twice", off)
		}
		if _, ok := auth.CheckCode(secret, step+1, now, given); ok {
			t.Errorf("step %+d is taken after a later one", off)
		}
	}
	for _, bad := range []string{"", "0", "00000", "0000000", " " + auth.HOTP(sha1.New, secret, step, 6)} {
		if _, ok := auth.CheckCode(secret, 0, now, bad); ok {
			t.Errorf("%q is a code", bad)
		}
	}
	if _, ok := auth.CheckCode(secret, 0, time.Unix(-100, 0), auth.HOTP(sha1.New, secret, 1, 6)); !ok {
		t.Error("a clock before 1970 is one at 1970")
	}
}

func TestCodeURL_IsWhatAnAuthenticatorReads(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(auth.CodeURL("claimdlq demo", "ana", []byte(digits20)))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(u.String(), "+") {
		t.Error("an authenticator would show a plus")
	}
	q := u.Query()
	if u.Scheme != "otpauth" || u.Host != "totp" || u.Path != "/claimdlq demo:ana" || q.Get("issuer") != "claimdlq demo" ||
		q.Get("secret") != "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ" || q.Get("algorithm") != "SHA1" || q.Get("digits") != "6" || q.Get("period") != "30" {
		t.Error(u)
	}
}
