package cli_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"claimdlq/internal/payersim"
)

// payerKey finds the payer of a running script.
type payerKey struct{}

// payerCmd plays the payer in scripts:
//
//	payer start [rule...]      over HTTP; it becomes the target of the script
//	payer script [rule...]     it behaves otherwise from now on
//	payer poll IN ACKS         takes what is in a folder
//	payer box DIR              puts the acknowledgments that wait into a folder
//	payer accepted N           has accepted so many claims, none of them twice
func payerCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: payer start|script|poll|box|accepted")
	}
	p, _ := ts.Value(payerKey{}).(*payersim.Payer)
	switch verb, args := args[0], args[1:]; verb {
	case "start":
		srv := httptest.NewServer(p)
		ts.Defer(srv.Close)
		ts.Setenv("CLAIMDLQ_TARGET", srv.URL+"/v1/interchanges")
		ts.Setenv("CLAIMDLQ_STATUS", srv.URL+"/v1/interchanges/{isa13}?sender={sender}&receiver={receiver}")
		setRules(ts, p, args)
	case "script":
		setRules(ts, p, args)
	case "poll":
		_, err := p.Poll(context.Background(), ts.MkAbs(args[0]), ts.MkAbs(args[1]))
		ts.Check(err)
	case "box":
		ts.Check(os.MkdirAll(ts.MkAbs(args[0]), 0o700))
		var names []string
		ts.Check(json.Unmarshal(ask(p, http.MethodGet, "/v1/acks"), &names))
		for _, n := range names {
			ts.Check(os.WriteFile(filepath.Join(ts.MkAbs(args[0]), n), ask(p, http.MethodGet, "/v1/acks/"+n), 0o600))
			ask(p, http.MethodDelete, "/v1/acks/"+n)
		}
	case "accepted":
		st := p.Stats()
		if strconv.Itoa(st.Accepted) != args[0] || st.DoubleAccepted != 0 || st.RepeatedCLM01 != 0 {
			ts.Fatalf("the payer has accepted %d claims, %d twice, want %s and none", st.Accepted, st.DoubleAccepted+st.RepeatedCLM01, args[0])
		}
	default:
		ts.Fatalf("payer does not know %s", verb)
	}
}

func setRules(ts *testscript.TestScript, p *payersim.Payer, rules []string) {
	s, err := payersim.ParseScript(strings.Join(rules, "\n"))
	ts.Check(err)
	p.SetScript(s)
}

func newPayer() (*payersim.Payer, error) {
	return payersim.New(payersim.Options{Now: time.Now})
}

func ask(p *payersim.Payer, method, path string) []byte {
	w := httptest.NewRecorder()
	p.ServeHTTP(w, httptest.NewRequest(method, path, nil))
	return w.Body.Bytes()
}
