package plot

import (
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// raster is a canvas of pixels.
type raster struct {
	img   *image.RGBA
	font  *opentype.Font
	faces map[float64]font.Face
}

func newRaster(c Chart) (*raster, error) {
	f, err := opentype.Parse(goregular.TTF)
	if err != nil {
		return nil, err
	}
	return &raster{img: image.NewRGBA(image.Rect(0, 0, c.Width, c.Height)), font: f, faces: map[float64]font.Face{}}, nil
}

func (r *raster) encode(w io.Writer) error { return png.Encode(w, r.img) }

func (r *raster) rect(x, y, w, h float64, c color.RGBA) {
	round := func(v float64) int { return int(math.Round(v)) }
	draw.Draw(r.img, image.Rect(round(x), round(y), round(x+w), round(y+h)), image.NewUniform(c), image.Point{}, draw.Src)
}

// line draws each stretch as a rectangle of its own: they overlap at the corners,
// which lines this thin do not show.
func (r *raster) line(points []xy, c color.RGBA, width float64, dashed bool) {
	b := r.img.Bounds()
	v := vector.NewRasterizer(b.Dx(), b.Dy())
	walked := 0.0
	for i := 1; i < len(points); i++ {
		a, z := points[i-1], points[i]
		length := math.Hypot(z.x-a.x, z.y-a.y)
		if length == 0 {
			continue
		}
		part := func(from, to float64) {
			at := func(d float64) xy { return xy{a.x + (z.x-a.x)*d/length, a.y + (z.y-a.y)*d/length} }
			stroke(v, at(from), at(to), width)
		}
		if !dashed {
			part(0, length)
			continue
		}
		for d := 0.0; d < length; {
			phase := math.Mod(walked+d, 10)
			if phase < 6 {
				to := min(d+6-phase, length)
				part(d, to)
				d = to + 1e-9
			} else {
				d += 10 - phase
			}
		}
		walked += length
	}
	v.Draw(r.img, b, image.NewUniform(c), image.Point{})
}

// stroke adds a straight line of the given width.
func stroke(v *vector.Rasterizer, a, z xy, width float64) {
	length := math.Hypot(z.x-a.x, z.y-a.y)
	if length == 0 {
		return
	}
	// dx, dy is half the width along the line: the ends are square and overlap.
	dx, dy := (z.x-a.x)/length*width/2, (z.y-a.y)/length*width/2
	corner := func(p xy, along, across float64) (float32, float32) {
		return float32(p.x + along*dx - across*dy), float32(p.y + along*dy + across*dx)
	}
	v.MoveTo(corner(a, -0.5, 1))
	v.LineTo(corner(z, 0.5, 1))
	v.LineTo(corner(z, 0.5, -1))
	v.LineTo(corner(a, -0.5, -1))
	v.ClosePath()
}

func (r *raster) text(x, y, size float64, a anchor, c color.RGBA, t string) {
	face := r.faces[size]
	if face == nil {
		var err error
		face, err = opentype.NewFace(r.font, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
		if err != nil {
			return // the font is our own and every size is good
		}
		r.faces[size] = face
	}
	d := font.Drawer{Dst: r.img, Src: image.NewUniform(c), Face: face}
	width := float64(d.MeasureString(t)) / 64
	x -= width * [...]float64{start: 0, middle: 0.5, end: 1}[a]
	d.Dot = fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}
	d.DrawString(t)
}
