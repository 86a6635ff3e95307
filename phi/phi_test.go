package phi_test

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"claimdlq/phi"
)

func TestNoVerbLeaks(t *testing.T) {
	const secret = "NM1*IL*1*DOE*JANE"
	p := phi.Wrap([]byte(secret))
	type wrap struct{ P phi.Bytes }
	type hidden struct{ p phi.Bytes }
	var outs []string
	for _, v := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%p", "%t"} {
		for _, x := range []any{p, &p, wrap{p}, &wrap{p}, []phi.Bytes{p}, map[string]phi.Bytes{"a": p}, errors.Join(fmt.Errorf("x %v", p)), hidden{p}, &hidden{p}} {
			outs = append(outs, v+" "+fmt.Sprintf("%T ", x)+fmt.Sprintf(v, x))
		}
	}
	var buf bytes.Buffer
	slog.New(slog.NewJSONHandler(&buf, nil)).Info("m", "p", p, "w", wrap{p}, "h", hidden{p}, "l", []phi.Bytes{p})
	slog.New(slog.NewTextHandler(&buf, nil)).Info("m", "p", p, "w", wrap{p}, "h", hidden{p}, "l", []phi.Bytes{p})
	outs = append(outs, buf.String())
	if b, err := json.Marshal(wrap{p}); err == nil {
		outs = append(outs, string(b))
	}
	if b, err := xml.Marshal(wrap{p}); err == nil {
		outs = append(outs, string(b))
	}
	var g bytes.Buffer
	_ = gob.NewEncoder(&g).Encode(wrap{p})
	outs = append(outs, g.String())
	hexs := fmt.Sprintf("%x", secret)
	dec := strings.Trim(fmt.Sprint([]byte(secret)), "[]")
	for _, o := range outs {
		lo := strings.ToLower(o)
		if strings.Contains(o, "DOE") || strings.Contains(lo, hexs) || strings.Contains(o, dec) || strings.Contains(lo, "0x4e, 0x4d") || strings.Contains(o, "Tk0x") {
			t.Errorf("leak: %s", o)
		}
	}
}
