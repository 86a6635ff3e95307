package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"claimdlq"
	"claimdlq/internal/plot"
)

func chart() plot.Chart {
	return plot.Chart{
		Title: "A <TEST> chart & more", Width: 600, Height: 400, To: 10 * time.Minute,
		Panels: []plot.Panel{
			{
				Title: "claims", Shaded: plot.Range{Name: "outage", From: time.Minute, To: 6 * time.Minute},
				Marks: []plot.Mark{{Name: "alarm", At: 2 * time.Minute}, {Name: "second", At: 130 * time.Second}},
				Lines: []plot.Line{
					{Name: "up", Color: plot.Blue, Points: []plot.Point{{At: 0, Value: 0}, {At: 10 * time.Minute, Value: 123_456}}},
					{Name: "down", Color: plot.Red, Dashed: true, Points: []plot.Point{{At: 0, Value: 100_000}, {At: 10 * time.Minute, Value: 0}}},
				},
			},
			{Title: "nothing"},
		},
	}
}

func TestSVG_IsTheGoldenChart(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := plot.SVG(&b, chart()); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "chart.svg")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(golden, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the chart is another: UPDATE_GOLDEN=1 writes it\n%s", b.String())
	}
}

func TestSVG_IsWellFormedWhateverTheNames(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := plot.SVG(&b, chart()); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"A &lt;TEST&gt; chart &amp; more", ">150 k<", ">2 min<", ">outage<", ">alarm<", `stroke-dasharray`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s", want)
		}
	}
}

func TestPNG_DrawsLinesTextAndShade(t *testing.T) {
	t.Parallel()
	var a, b bytes.Buffer
	if err := plot.PNG(&a, chart()); err != nil {
		t.Fatal(err)
	}
	if err := plot.PNG(&b, chart()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("the same chart gives other bytes")
	}
	img, err := png.Decode(&a)
	if err != nil {
		t.Fatal(err)
	}
	if s := img.Bounds().Size(); s.X != 600 || s.Y != 400 {
		t.Errorf("it is %v", s)
	}
	seen := map[[3]uint32]int{}
	for y := range 400 {
		for x := range 600 {
			r, g, b, _ := img.At(x, y).RGBA()
			seen[[3]uint32{r >> 8, g >> 8, b >> 8}]++
		}
	}
	for name, c := range map[string][3]uint32{"blue": {0, 114, 178}, "red": {213, 94, 0}, "shade": {244, 240, 232}, "paper": {255, 255, 255}, "ink": {34, 34, 34}} {
		if seen[c] < 20 {
			t.Errorf("%d pixels are %s", seen[c], name)
		}
	}
	if seen[[3]uint32{0, 114, 178}] <= seen[[3]uint32{213, 94, 0}] {
		t.Error("the dashed line has no gaps")
	}
}

func TestDraw_RefusesWhatCannotBeDrawn(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]func(*plot.Chart){
		"no time":    func(c *plot.Chart) { c.To = 0 },
		"no panel":   func(c *plot.Chart) { c.Panels = nil },
		"too small":  func(c *plot.Chart) { c.Width = 199 },
		"too large":  func(c *plot.Chart) { c.Height = 8001 },
		"below zero": func(c *plot.Chart) { c.Width = -1 },
	} {
		c := chart()
		f(&c)
		if err := plot.SVG(io.Discard, c); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s, SVG: %v", name, err)
		}
		if err := plot.PNG(io.Discard, c); !errors.Is(err, claimdlq.Invalid) {
			t.Errorf("%s, PNG: %v", name, err)
		}
	}
}
