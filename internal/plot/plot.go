// Package plot draws charts of what happens over time, as SVG or PNG: panels one
// above the other on one time axis, with lines, a shaded time, and marks.
//
// It is small because it does one kind of chart. The same chart gives the same
// bytes. Colours are told apart by people who see few of them, and lines differ in
// their dashes too.
package plot

import (
	"fmt"
	"image/color"
	"io"
	"slices"
	"time"

	"claimdlq"
)

// Chart is what is drawn.
type Chart struct {
	Title string
	// Width and Height are in pixels, 200 to 8000. Default: 1000 and 640.
	Width, Height int
	// From and To are the ends of the time axis.
	From, To time.Duration
	Panels   []Panel
}

// Panel is one plot of a chart.
type Panel struct {
	Title string
	Lines []Line
	// Shaded is a time with a name; none where To is not after From.
	Shaded Range
	Marks  []Mark
}

// Line is a line with a name. Points are in order of time, and not below 0.
type Line struct {
	Name   string
	Color  Color
	Dashed bool
	Points []Point
}

// Point is a value at a time.
type Point struct {
	At    time.Duration
	Value float64
}

// Range is a time with a name.
type Range struct {
	Name     string
	From, To time.Duration
}

// Mark is a moment with a name.
type Mark struct {
	Name string
	At   time.Duration
}

// Color is one of a few that are easy to tell apart.
type Color uint8

// The colours.
const (
	Blue Color = iota
	Red
	Orange
	Green
)

var (
	palette = [...]color.RGBA{Blue: {0, 114, 178, 255}, Red: {213, 94, 0, 255}, Orange: {230, 159, 0, 255}, Green: {0, 158, 115, 255}}
	ink     = color.RGBA{34, 34, 34, 255}
	faint   = color.RGBA{221, 221, 221, 255}
	shade   = color.RGBA{244, 240, 232, 255}
	paper   = color.RGBA{255, 255, 255, 255}
)

// anchor is where a text lies, seen from its position.
type anchor uint8

const (
	start anchor = iota
	middle
	end
)

// canvas is what a chart is drawn on. Coordinates are pixels from the upper left.
type canvas interface {
	rect(x, y, w, h float64, c color.RGBA)
	line(points []xy, c color.RGBA, width float64, dashed bool)
	text(x, y, size float64, a anchor, c color.RGBA, s string)
}

type xy struct{ x, y float64 }

// SVG writes the chart as SVG.
func SVG(w io.Writer, c Chart) error {
	if err := c.check(); err != nil {
		return err
	}
	s := newSVG(c)
	c.draw(s)
	_, err := w.Write(s.bytes())
	return err
}

// PNG writes the chart as PNG.
func PNG(w io.Writer, c Chart) error {
	if err := c.check(); err != nil {
		return err
	}
	p, err := newRaster(c)
	if err != nil {
		return err
	}
	c.draw(p)
	return p.encode(w)
}

func (c *Chart) check() error {
	if c.Width == 0 {
		c.Width = 1000
	}
	if c.Height == 0 {
		c.Height = 640
	}
	if c.Width < 200 || c.Height < 200 || c.Width > 8000 || c.Height > 8000 || c.To <= c.From || len(c.Panels) == 0 {
		return &claimdlq.Error{Code: claimdlq.Invalid, Op: "draw chart", Hint: "it needs a size of 200 to 8000 pixels, a time axis and a panel"}
	}
	return nil
}

// margins of the chart and of each panel, in pixels.
const (
	left   = 78.0
	right  = 24.0
	head   = 40.0
	foot   = 30.0
	above  = 44.0
	letter = 12.0
)

func (c *Chart) draw(v canvas) {
	w, h := float64(c.Width), float64(c.Height)
	v.rect(0, 0, w, h, paper)
	v.text(left, 26, 16, start, ink, c.Title)
	each := (h - head - foot) / float64(len(c.Panels))
	for i, p := range c.Panels {
		f := frame{chart: c, x: left, w: w - left - right, y: head + float64(i)*each + above, h: each - above - 8, v: v}
		f.panel(p, i == len(c.Panels)-1)
	}
}

// frame is where a panel lies, and how large its largest value is.
type frame struct {
	chart      *Chart
	v          canvas
	x, y, w, h float64
	top        float64
}

func (f *frame) at(t time.Duration) float64 {
	return f.x + f.w*float64(t-f.chart.From)/float64(f.chart.To-f.chart.From)
}

func (f *frame) level(v float64) float64 { return f.y + f.h*(1-v/f.top) }

func (f *frame) panel(p Panel, last bool) {
	largest := 0.0
	for _, l := range p.Lines {
		for _, pt := range l.Points {
			largest = max(largest, pt.Value)
		}
	}
	step := nice(largest / 5)
	f.top = step
	for f.top < largest {
		f.top += step
	}
	f.v.text(f.x, f.y-26, 13, start, ink, p.Title)
	if s := p.Shaded; s.To > s.From {
		x := f.at(max(s.From, f.chart.From))
		f.v.rect(x, f.y, f.at(min(s.To, f.chart.To))-x, f.h, shade)
		f.v.text(x+6, f.y+15, letter, start, ink, s.Name)
	}
	for v := 0.0; v <= f.top+step/2; v += step {
		y := f.level(v)
		f.v.line([]xy{{f.x, y}, {f.x + f.w, y}}, faint, 1, false)
		f.v.text(f.x-8, y+4, letter, end, ink, number(v))
	}
	f.times(last)
	f.marks(p.Marks)
	for _, l := range p.Lines {
		points := make([]xy, len(l.Points))
		for i, pt := range l.Points {
			points[i] = xy{f.at(pt.At), f.level(pt.Value)}
		}
		f.v.line(points, palette[l.Color], 2, l.Dashed)
	}
	f.legend(p)
}

// times draws the time axis, with names under the last panel.
func (f *frame) times(named bool) {
	step := niceTime((f.chart.To - f.chart.From) / 8)
	first := f.chart.From + (step-f.chart.From%step)%step
	for t := first; t <= f.chart.To; t += step {
		x := f.at(t)
		f.v.line([]xy{{x, f.y + f.h}, {x, f.y + f.h + 5}}, ink, 1, false)
		if named {
			f.v.text(x, f.y+f.h+19, letter, middle, ink, clock(t, step))
		}
	}
	f.v.line([]xy{{f.x, f.y + f.h}, {f.x + f.w, f.y + f.h}}, ink, 1, false)
}

// legend names the lines above the panel, to the right.
func (f *frame) legend(p Panel) {
	x := f.x + f.w
	for _, l := range slices.Backward(p.Lines) {
		x -= float64(len(l.Name)) * letter * 0.52 // about as wide as it will be
		f.v.text(x, f.y-9, letter, start, ink, l.Name)
		f.v.line([]xy{{x - 30, f.y - 13}, {x - 6, f.y - 13}}, palette[l.Color], 2, l.Dashed)
		x -= 48
	}
}

// marks draws moments. Names of those that are close lie beside the last of them.
func (f *frame) marks(ms []Mark) {
	for i, m := range ms {
		x := f.at(m.At)
		f.v.line([]xy{{x, f.y}, {x, f.y + f.h}}, ink, 1, true)
		beside := x
		for _, o := range ms {
			if ox := f.at(o.At); ox > beside && ox-x < 60 {
				beside = ox
			}
		}
		f.v.text(beside+6, f.y+15+float64(i+1)*15, letter, start, ink, m.Name)
	}
}

// nice returns the smallest of 1, 2, 5 times a power of ten that is not below v.
func nice(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := 1.0
	for unit*10 <= v {
		unit *= 10
	}
	for unit > v {
		unit /= 10
	}
	for _, n := range []float64{1, 2, 5} {
		if n*unit >= v {
			return n * unit
		}
	}
	return 10 * unit
}

// niceTime returns the smallest step of a clock that is not below d.
func niceTime(d time.Duration) time.Duration {
	const s, m, h, day = time.Second, time.Minute, time.Hour, 24 * time.Hour
	for _, n := range []time.Duration{
		time.Millisecond, 10 * time.Millisecond, 100 * time.Millisecond, s, 2 * s, 5 * s, 10 * s, 30 * s, m, 2 * m, 5 * m, 10 * m, 30 * m, h, 2 * h, 6 * h, 12 * h,
		day, 2 * day, 5 * day, 10 * day, 50 * day, 100 * day,
	} {
		if n >= d {
			return n
		}
	}
	return 1000 * day
}

// clock prints a time on the axis in the unit of the axis' step: 90 s, 5 min, 2 h.
func clock(t, step time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}} {
		if step%u.size == 0 {
			return fmt.Sprintf("%d %s", t/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d ms", t/time.Millisecond)
}

// number prints a value on the axis: 200, 100 k, 1.5 M.
func number(v float64) string {
	for _, u := range []struct {
		name string
		size float64
	}{{" G", 1e9}, {" M", 1e6}, {" k", 1e3}} {
		if v >= u.size {
			return fmt.Sprintf("%.4g", v/u.size) + u.name
		}
	}
	return fmt.Sprintf("%.4g", v)
}
