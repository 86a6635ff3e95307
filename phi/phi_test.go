package phi_test

import (
	"bytes"
	"encoding/base64"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"

	"claimdlq/phi"
)

const secret = "NM1*IL*1*TESTDOE*CANARY****MI*CANARY0001~"

type (
	shown  struct{ P phi.Bytes }
	hidden struct{ p phi.Bytes }
	deep   struct{ h *hidden }
)

// shapes are the ways in which a Bytes gets into other values.
func shapes() map[string]any {
	p := phi.Wrap([]byte(secret))
	h := hidden{p}
	return map[string]any{
		"value": p, "pointer": &p, "field": shown{p}, "pointer to field": &shown{p},
		"unexported field": h, "pointer to unexported": &h, "deep": deep{&h}, "slice": []phi.Bytes{p}, "array": [1]phi.Bytes{p},
		"map": map[string]phi.Bytes{"a": p}, "map key": map[any]int{&p: 1}, "interface": any(p),
		"error":  fmt.Errorf("x %v %s %w", p, p, errors.Join(fmt.Errorf("%+v", h))),
		"reader": phi.NewReader(p), "reader in a field": struct{ r *phi.Reader }{phi.NewReader(p)}, "reader value": *phi.NewReader(p),
	}
}

// leaks reports whether out holds the secret in any spelling an encoder has.
func leaks(out string) bool {
	out = strings.ToLower(out)
	raw := []byte(secret)[:16]
	spaced := strings.ReplaceAll(fmt.Sprintf("% x", raw), " ", ", 0x")
	for _, s := range []string{
		"testdoe", "canary", hex.EncodeToString(raw), fmt.Sprintf("% x", raw), spaced,
		strings.Trim(fmt.Sprint(raw), "[]"), strings.ReplaceAll(strings.Trim(fmt.Sprint(raw), "[]"), " ", ","),
		base64.StdEncoding.EncodeToString([]byte(secret)[:15]),
	} {
		if strings.Contains(out, strings.ToLower(s)) {
			return true
		}
	}
	return false
}

func TestLeaks_KnowsALeak(t *testing.T) {
	t.Parallel()
	b := []byte(secret)
	j, _ := json.Marshal(b)
	for _, out := range []string{secret, fmt.Sprintf("%x", b), fmt.Sprintf("% X", b), fmt.Sprintf("%d", b), fmt.Sprintf("%#v", b), string(j), fmt.Sprint(struct{ b []byte }{b})} {
		if !leaks(out) {
			t.Errorf("not found in %.40s", out)
		}
	}
}

func TestBytes_NoVerbShowsContent(t *testing.T) {
	t.Parallel()
	for name, x := range shapes() {
		for _, verb := range "vTtbcdoOqxXUeEfFgGsp!" {
			for _, flag := range []string{"", "+", "#", " ", "-", "0", "10", ".3", "+#"} {
				format := "%" + flag + string(verb)
				if out := fmt.Sprintf(format, x); leaks(out) {
					t.Errorf("%s of a %s shows content", format, name)
				}
			}
		}
		if out := fmt.Sprintln(x, x); leaks(out) {
			t.Errorf("Println of a %s shows content", name)
		}
	}
}

func TestBytes_NoLogHandlerShowsContent(t *testing.T) {
	t.Parallel()
	for name, x := range shapes() {
		var buf bytes.Buffer
		slog.New(slog.NewJSONHandler(&buf, nil)).Info("m", "x", x, slog.Group("g", "x", x))
		slog.New(slog.NewTextHandler(&buf, nil)).Info("m", "x", x, slog.Group("g", "x", x))
		if leaks(buf.String()) {
			t.Errorf("a log line with a %s shows content", name)
		}
	}
}

func TestBytes_NoEncoderShowsContent(t *testing.T) {
	t.Parallel()
	for name, x := range shapes() {
		j, _ := json.Marshal(x)
		ji, _ := json.MarshalIndent(x, "", " ")
		m, _ := xml.Marshal(x)
		var g bytes.Buffer
		_ = gob.NewEncoder(&g).Encode(x)
		if leaks(string(j) + string(ji) + string(m) + g.String()) {
			t.Errorf("encoding a %s shows content", name)
		}
	}
	p := phi.Wrap([]byte(secret))
	_, err1 := json.Marshal(p)
	_, err2 := p.MarshalText()
	_, err3 := p.GobEncode()
	_, err4 := xml.Marshal(p)
	for i, err := range []error{err1, err2, err3, err4} {
		if !errors.Is(err, phi.ErrMarshal) {
			t.Errorf("encoder %d: %v; want ErrMarshal", i, err)
		}
	}
}

func TestBytes_StringTellsOnlyTheLength(t *testing.T) {
	t.Parallel()
	for want, p := range map[string]phi.Bytes{"[phi 0 bytes]": {}, "[phi 41 bytes]": phi.Wrap([]byte(secret))} {
		if got := fmt.Sprintf("%v", p); got != want {
			t.Errorf("got %s; want %s", got, want)
		}
	}
}

func TestBytes_RevealIsTheContent(t *testing.T) {
	t.Parallel()
	var zero phi.Bytes
	if zero.Reveal() != nil || zero.Len() != 0 {
		t.Error("the zero Bytes is not empty")
	}
	b := []byte(secret)
	p := phi.Wrap(b)
	if &p.Reveal()[0] != &b[0] || p.Len() != len(b) {
		t.Error("Wrap made a copy")
	}
}

func TestBytes_Equal(t *testing.T) {
	t.Parallel()
	a, b, c := phi.Wrap([]byte("TEST1")), phi.Wrap([]byte("TEST1")), phi.Wrap([]byte("TEST2"))
	if !a.Equal(b) || a.Equal(c) || a.Equal(phi.Bytes{}) || !(phi.Bytes{}).Equal(phi.Wrap(nil)) {
		t.Error("equal content is not equal, or other content is")
	}
}

func TestBytes_SliceStaysWithin(t *testing.T) {
	t.Parallel()
	const most = int(^uint(0) >> 1)
	p := phi.Wrap([]byte("0123456789"))
	for _, tc := range []struct {
		off, n int
		want   string
		ok     bool
	}{
		{0, 10, "0123456789", true},
		{0, 0, "", true},
		{10, 0, "", true},
		{3, 2, "34", true},
		{9, 1, "9", true},
		{9, 2, "", false},
		{11, 0, "", false},
		{-1, 1, "", false},
		{0, -1, "", false},
		{0, 11, "", false},
		{most, most, "", false},
		{1, most, "", false},
		{most, 0, "", false},
	} {
		got, ok := p.Slice(tc.off, tc.n)
		if ok != tc.ok || string(got.Reveal()) != tc.want {
			t.Errorf("Slice(%d, %d) = %d bytes, %v", tc.off, tc.n, got.Len(), ok)
		}
	}
	part, _ := p.Slice(0, 3)
	_ = append(part.Reveal(), 'x')
	if string(p.Reveal()) != "0123456789" {
		t.Error("appending to a slice changed what is behind it")
	}
}

func TestReader_ReadsTheContent(t *testing.T) {
	t.Parallel()
	if err := iotest.TestReader(phi.NewReader(phi.Wrap([]byte(secret))), []byte(secret)); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(phi.NewReader(phi.Bytes{})); err != nil || len(b) != 0 {
		t.Errorf("the zero Bytes: %d bytes, %v", len(b), err)
	}
}
