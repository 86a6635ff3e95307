package loopback_test

import (
	"testing"

	"claimdlq/internal/loopback"
)

func TestHost_IsThisMachineAndNothingThatLooksLikeIt(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"localhost": true, "LocalHost": true, "127.0.0.1": true, "127.8.9.1": true, "::1": true,
		"": false, "0.0.0.0": false, "::": false, "localhost.example": false, "127.0.0.1.example": false, "10.0.0.1": false, "localhost:80": false,
	} {
		if loopback.Host(host) != want {
			t.Errorf("Host(%q) is %t", host, !want)
		}
	}
	for at, want := range map[string]bool{"127.0.0.1:0": true, "[::1]:8837": true, "localhost:80": true, ":8837": false, "0.0.0.0:1": false, "127.0.0.1": false} {
		if loopback.Address(at) != want {
			t.Errorf("Address(%q) is %t", at, !want)
		}
	}
}
