package ncpdp_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// msg writes a message as people can read it: | is the field separator and AM of
// a new segment is begun by /, a transaction by #.
func msg(s string) []byte {
	return []byte(strings.NewReplacer("|", "\x1c", "/", "\x1e\x1cAM", "#", "\x1d", "<STX>", "\x02", "<ETX>", "\x03").Replace(s))
}

const (
	requestHead  = "999999D0B1TESTPCN   1011234567893     20260115SYNTHCERT1"
	responseHead = "D0B11A011234567893     20260115"
)

var basicB1 = msg(requestHead + "/04|C2SYN000001|C1TESTGRP|C3001|C61/01|C419700101|C51|CATEST|CBPATIENT|CM1 EXAMPLE ST|CNANYTOWN|COZZ|CP00000" +
	"#/07|EM1|D2000000100001|E103|D799999000101|E70000030000|D300|D5030|D61|D80|DE20260114|DF05|DJ3" +
	"/11|D90000123D|DC0000015{|DQ0000150{|DU0000138D|DN01/03|EZ01|DB1234567893|DRPRESCRIBER")

var (
	paidAnswer     = msg(responseHead + "/20|F4SYNTHETIC#/21|ANP|F3AUTH00000000000001/22|EM1|D2000000100001/23|F50000010{|F60000123D|F70000015{|F90000128D|FM1")
	rejectedAnswer = msg(responseHead + "#/21|ANR|FA02|FB99|FB70/22|EM1|D2000000100001")
)

// replace returns basicB1 with one piece of it, as msg spells it, replaced.
func replace(t testing.TB, old, with string) []byte {
	t.Helper()
	if !bytes.Contains(basicB1, msg(old)) {
		t.Fatalf("the sample has no such piece: %q", old)
	}
	return bytes.Replace(basicB1, msg(old), msg(with), 1)
}

// fixtures returns the folder of the shared pharmacy cases, or skips the test.
func fixtures(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		p := filepath.Join(dir, "shared", "fixtures", "ncpdp")
		if _, err := os.Stat(filepath.Join(p, "index.json")); err == nil {
			return p
		}
		if dir == filepath.Dir(dir) {
			t.Skip("the shared fixtures are not next to this repository")
		}
		dir = filepath.Dir(dir)
	}
}

// fixtureFiles returns every case by name.
func fixtureFiles(t testing.TB) map[string][]byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(fixtures(t), "files", "*.ncpdp"))
	if err != nil || len(names) < 61 {
		t.Fatalf("%d cases, %v", len(names), err)
	}
	all := make(map[string][]byte)
	for _, n := range names {
		b, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(n)] = b
	}
	return all
}
