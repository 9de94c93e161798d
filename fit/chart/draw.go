package chart

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func (b Band) draw(p *plot.Plot) error {
	for _, part := range unbroken(append([]XY(nil), b.Lo...), b.Hi) {
		poly, err := plotter.NewPolygon(part)
		if err != nil {
			return err
		}
		poly.Color, poly.LineStyle.Width = paintArea(b.Colour), 0
		p.Add(poly)
	}
	return nil
}

// unbroken cuts a band where either side is not known, and closes each piece
// along its upper side.
func unbroken(lo, hi []XY) []plotter.XYs {
	var out []plotter.XYs
	start := 0
	for i := 0; i <= len(lo); i++ {
		if i < len(lo) && !math.IsNaN(lo[i].Y) && !math.IsNaN(hi[i].Y) {
			continue
		}
		if i-start >= 2 {
			part := append(plotter.XYs(nil), lo[start:i]...)
			for j := i - 1; j >= start; j-- {
				part = append(part, hi[j])
			}
			out = append(out, part)
		}
		start = i + 1
	}
	return out
}

func (s Series) draw(p *plot.Plot) error {
	if s.Fill {
		zero := make([]XY, len(s.Points))
		for i := range zero {
			zero[i] = XY{X: s.Points[i].X}
		}
		if err := (Band{s.Colour, zero, s.Points}).draw(p); err != nil {
			return err
		}
	}
	var run plotter.XYs
	flush := func() error {
		defer func() { run = nil }()
		if len(run) == 0 {
			return nil
		}
		l, dots, err := plotter.NewLinePoints(run)
		if err != nil {
			return err
		}
		l.Color, l.Width = paint(s.Colour), 1.6
		if s.Dashed {
			l.Dashes = []vg.Length{4, 3}
		}
		dots.Color, dots.Shape, dots.Radius = paint(s.Colour), draw.CircleGlyph{}, 2.6
		p.Add(l)
		if s.Dots || len(run) == 1 {
			p.Add(dots)
		}
		return nil
	}
	for _, pt := range s.Points {
		if !math.IsNaN(pt.Y) {
			run = append(run, pt)
			continue
		}
		if err := flush(); err != nil {
			return err
		}
	}
	return flush()
}

func (r Rule) draw(p *plot.Plot) error {
	pts := plotter.XYs{{X: p.X.Min, Y: r.At}, {X: p.X.Max, Y: r.At}}
	at, align, off := XY{X: p.X.Max, Y: r.At}, text.XRight, vg.Point{X: -2, Y: 3}
	if r.Vertical {
		pts = plotter.XYs{{X: r.At, Y: p.Y.Min}, {X: r.At, Y: p.Y.Max}}
		at, align, off = XY{X: r.At, Y: p.Y.Min}, text.XRight, vg.Point{X: -4, Y: 4}
	}
	l, err := plotter.NewLine(pts)
	if err != nil {
		return err
	}
	l.Color, l.Width, l.Dashes = paint(paintRule), 1.2, []vg.Length{5, 3}
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{at}, Labels: []string{r.Label}})
	if err != nil {
		return err
	}
	labels.TextStyle[0].Font.Size, labels.TextStyle[0].Font.Variant = 10, "Sans"
	labels.TextStyle[0].Color, labels.TextStyle[0].XAlign = paint(paintRule), align
	labels.Offset = off
	p.Add(l, labels)
	return nil
}
