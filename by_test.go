package claimdlq_test

import (
	"testing"

	"claimdlq"
)

// An actor of the command line is never an account, a provider's name or a stage,
// whatever he says that he is: logins of accounts have no colon.
func TestBy_SaysHowSomebodyIsKnown(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"ana", "oidc:ana", "system:attempt", "cli:ana", ""} {
		want := claimdlq.By{Actor: "cli:" + name, Reason: "TEST"}
		if got := claimdlq.CommandLine(name, "TEST"); got != want {
			t.Errorf("%+v", got)
		}
	}
	if got := claimdlq.System("attempt"); got != (claimdlq.By{Actor: "system:attempt"}) {
		t.Errorf("%+v", got)
	}
}
