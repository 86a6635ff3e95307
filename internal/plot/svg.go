package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"strings"
)

// svg is a canvas that writes SVG.
type svg struct{ b bytes.Buffer }

func newSVG(c Chart) *svg {
	s := &svg{}
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" font-family="sans-serif">`+"\n",
		c.Width, c.Height, c.Width, c.Height)
	fmt.Fprintf(&s.b, "<title>%s</title>\n", escape(c.Title))
	return s
}

func (s *svg) bytes() []byte { return append(s.b.Bytes(), "</svg>\n"...) }

// escape keeps text from being read as markup.
var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;")

func escape(t string) string { return escaper.Replace(t) }

func hex(c color.RGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func (s *svg) rect(x, y, w, h float64, c color.RGBA) {
	fmt.Fprintf(&s.b, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>`+"\n", x, y, w, h, hex(c))
}

func (s *svg) line(points []xy, c color.RGBA, width float64, dashed bool) {
	if len(points) == 0 {
		return
	}
	dash := ""
	if dashed {
		dash = ` stroke-dasharray="6 4"`
	}
	fmt.Fprintf(&s.b, `<polyline fill="none" stroke="%s" stroke-width="%g"%s points="`, hex(c), width, dash)
	for i, p := range points {
		if i > 0 {
			s.b.WriteByte(' ')
		}
		fmt.Fprintf(&s.b, "%.2f,%.2f", p.x, p.y)
	}
	s.b.WriteString("\"/>\n")
}

func (s *svg) text(x, y, size float64, a anchor, c color.RGBA, t string) {
	fmt.Fprintf(&s.b, `<text x="%.2f" y="%.2f" font-size="%g" text-anchor="%s" fill="%s">%s</text>`+"\n",
		x, y, size, [...]string{start: "start", middle: "middle", end: "end"}[a], hex(c), escape(t))
}
