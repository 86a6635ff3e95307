package payersim_test

import (
	"errors"
	"strings"
	"testing"

	"claimdlq"
	"claimdlq/internal/payersim"
)

func TestParseScript_ReadsEveryRuleOfTheHelp(t *testing.T) {
	t.Parallel()
	text := `
		# a payer with moods
		answer box
		acks ta1,277ca   # no 999
		dedupe on
		interchanges any
		guide off
		seed 7
		time 5s-15s down
		time 1m-2m status 503 retry 2
		request 1 reset
		request 2-4 cut
		request */5 drop
		request 10% status 429
		request all latency 5ms
		interchange 3 ta1 R 006
		interchange 4 acks none
		interchange 5 acks late 2
		interchange 6 acks late 3s
		interchange 7 acks twice
		interchange 8 acks unknown
		set 2 reject 5
		claim 7 stc A7:562:85
		claim cpt=99213 stc A6:21
		claim diag=J069 stc A3:33
		claim clm01=X stc A8:1
		claim member=M stc E2:0
		batches any
		rebills off
		canary on
		unmatched 31
		time 3m-4m reject 92,NN
		request 11 hang
		request 12 late 2s
		claim 1 pay
		claim 10% capture tries 2
		claim ndc=99999000101 defer
		claim rx=17 reject 75
		claim code=B2 reject 85,NN taken tries 3
		claim bin=999999 reject *95 text EV16 HOST DOWN
		claim pcn=A status Z
		claim pharmacy=1234567893 clash
		claim member=M reject 70 taken text NO
		transmission 1 reject
		transmission 2 reject R8,99 text SYNTAX
		transmission 3 reject text SYNTAX ERROR
		transmission 4 other D2
		transmission 5 echo
		transmission 6 html
		transmission 7 cut
		transmission 8 empty
		transmission 9 framed
	`
	if _, err := payersim.ParseScript(text); err != nil {
		t.Fatal(err)
	}
}

func TestParseScript_NamesTheLineThatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"answer fax", "acks", "acks 997", "dedupe maybe", "interchanges some", "guide", "seed x",
		"time 5s down", "time 9s-5s down", "time 1s-2s drop", "time -1s-2s down",
		"request 0 drop", "request 4-2 drop", "request */0 drop", "request 101% drop", "request x drop", "request 1 explode",
		"request 1 status", "request 1 status 99", "request 1 status 600", "request 1 status 503 retry soon", "request 1 latency fast",
		"interchange 1 ta1 X 000", "interchange 1 ta1 R 6", "interchange 1 acks", "interchange 1 acks late", "interchange 1 acks late 0",
		"set 1 reject", "set 1 reject bad", "claim 1 stc A7", "claim 1 stc a7:1", "claim 1 stc A7:x", "claim x=1 stc A7:1", "claim cpt= stc A7:1",
		"batches 1", "rebills maybe", "canary red", "unmatched", "unmatched 8444", "time 1s-2s reject", "time 1s-2s reject a",
		"claim 1 reject", "claim 1 reject 8a", "claim 1 reject 92,", "claim 1 reject 92 often", "claim 1 reject 92 text", "claim 1 reject 92 taken more",
		"claim 1 pay tries 0", "claim 1 pay tries x", "claim 1 pay more", "claim 1 status", "claim 1 status PP", "claim 1 status z", "claim 1 capture taken",
		"claim cpt=99213 reject 70", "claim ndc=1 stc A7:1", "claim 1 explode", "request 1 late", "request 1 late soon", "request 1 hang 3s",
		"transmission 1", "transmission 1 other", "transmission 1 other A1", "transmission 1 reject 92 taken", "transmission 1 html twice", "transmission 1 pay",
		"transmission 1 reject text", "transmission 0 html", "claim 1 reject 92 text caf\xc3\xa9",
		"weather 1 rain", "request 1",
	} {
		_, err := payersim.ParseScript("seed 1\n" + bad)
		if !errors.Is(err, claimdlq.Invalid) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}
