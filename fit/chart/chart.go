package chart

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"image/color"
	"math"
	"regexp"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// XY is a point of a line; NaN as y breaks the line.
type XY = plotter.XY

// Series is one line of a chart. Colour is an index into the page's palette.
type Series struct {
	Name   string
	Colour int
	Points []XY
	Dashed bool
	Dots   bool
	Fill   bool // down to zero
}

// Band is the area between two lines of equal x.
type Band struct {
	Colour int
	Lo, Hi []XY
}

// Rule is a straight line across the chart with a few words at it: vertical at
// x, or horizontal at y.
type Rule struct {
	At       float64
	Label    string
	Vertical bool
}

// Chart is what is drawn; the page writes title, legend and numbers around it.
type Chart struct {
	ID, Title, Desc string
	Height          float64
	XLog            bool
	XMin            *float64 // nil takes the data's
	XUnit           string   // behind each tick of x
	YMax            float64  // 0 takes the data's
	YShare          bool     // y is a share, in per cent
	Bands           []Band
	Lines           []Series
	Rules           []Rule
}

const (
	chartWidth  = 480
	chartHeight = 180
)

// Colours that stand for the page's own: svg puts CSS variables in their place.
const (
	paintText = 100 + iota
	paintGrid
	paintRule
)

func paint(i int) color.RGBA { return color.RGBA{R: 1, G: 2, B: uint8(i), A: 255} }

// paintArea stands for the same colour, thinned.
func paintArea(i int) color.RGBA { return color.RGBA{R: 1, G: 3, B: uint8(i), A: 255} }

// SVG draws the chart as an inline SVG element that takes its colours and font
// from the page.
func (c *Chart) SVG() (template.HTML, error) {
	p := plot.New()
	p.BackgroundColor = nil
	c.axes(p)
	if err := c.draw(p); err != nil {
		return "", fmt.Errorf("chart %s: %w", c.ID, err)
	}
	h := c.Height
	if h == 0 {
		h = chartHeight
	}
	canvas := vgsvg.NewWith(vgsvg.UseWH(chartWidth, vg.Length(h)), vgsvg.EmbedFonts(false))
	p.Draw(draw.Crop(draw.New(canvas), 2, -14, 2, -6))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return "", fmt.Errorf("chart %s: %w", c.ID, err)
	}
	return template.HTML(c.inline(b.String(), h)), nil
}

// inline turns the file that the library wrote into an element of the page.
func (c *Chart) inline(file string, h float64) string {
	body := file[strings.Index(file, "<g "):strings.LastIndex(file, "</svg>")]
	body = regexp.MustCompile(`#0103([0-9A-F]{2})`).ReplaceAllString(body, "#0102$1;fill-opacity:0.16")
	body = regexp.MustCompile(`#0102[0-9A-F]{2}`).ReplaceAllStringFunc(body, func(s string) string {
		var n int
		fmt.Sscanf(s, "#0102%X", &n)
		return map[int]string{paintText: "var(--muted)", paintGrid: "var(--grid)", paintRule: "var(--bad)"}[n] + Series{Colour: n}.css()
	})
	body = regexp.MustCompile(`font-family:[^;]*;font-variant:normal;font-weight:normal;font-style:normal;`).ReplaceAllString(body, "")
	return fmt.Sprintf(`<svg viewBox="0 0 %d %g" role="img" aria-labelledby="%s-t %s-d"><title id="%s-t">%s</title><desc id="%s-d">%s</desc>%s</svg>`,
		chartWidth, h, c.ID, c.ID, c.ID, html.EscapeString(c.Title), c.ID, html.EscapeString(c.Desc), body)
}

// css is the palette's name of the colour, empty for those that are no line's.
func (s Series) css() string {
	if s.Colour >= paintText {
		return ""
	}
	return fmt.Sprintf("var(--c%d)", s.Colour)
}

func (c *Chart) axes(p *plot.Plot) {
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle.Color, a.LineStyle.Width = paint(paintGrid), 0.8
		a.Tick.LineStyle.Color, a.Tick.LineStyle.Width = paint(paintGrid), 0.8
		a.Tick.Length = 4
		a.Tick.Label.Font.Size, a.Tick.Label.Font.Variant = 10, "Sans"
		a.Tick.Label.Color = paint(paintText)
	}
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	p.Y.Tick.Label.XAlign = text.XRight
	p.Y.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return linearTicks(lo, hi, 4, c.YShare, "") })
	p.X.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return linearTicks(lo, hi, 6, false, c.XUnit) })
	if c.XLog {
		p.X.Scale = plot.LogScale{}
		p.X.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick { return logTicks(lo, hi, c.XUnit) })
	}
}

func (c *Chart) draw(p *plot.Plot) error {
	g := plotter.NewGrid()
	g.Vertical.Width = 0
	g.Horizontal.Color, g.Horizontal.Width = paint(paintGrid), 0.8
	p.Add(g)
	for _, b := range c.Bands {
		if err := b.draw(p); err != nil {
			return err
		}
	}
	for _, s := range c.Lines {
		if err := s.draw(p); err != nil {
			return err
		}
	}
	p.Y.Min = 0
	if c.YMax > 0 {
		p.Y.Max = c.YMax
	}
	for _, r := range c.Rules {
		if !r.Vertical {
			p.Y.Max = max(p.Y.Max, r.At*1.1)
		}
	}
	if p.Y.Max <= 0 || math.IsInf(p.Y.Max, 0) {
		p.Y.Max = 1
	}
	if !c.YShare && c.YMax == 0 {
		p.Y.Max *= 1.05
	}
	c.room(p)
	for _, r := range c.Rules {
		if err := r.draw(p); err != nil {
			return err
		}
	}
	return nil
}

// room gives the x axis a range that can be drawn.
func (c *Chart) room(p *plot.Plot) {
	if c.XMin != nil {
		p.X.Min = *c.XMin
	}
	for _, r := range c.Rules {
		if r.Vertical {
			p.X.Min, p.X.Max = min(p.X.Min, r.At), max(p.X.Max, r.At*1.05)
		}
	}
	if math.IsInf(p.X.Min, 0) || math.IsInf(p.X.Max, 0) {
		p.X.Min, p.X.Max = 0, 1
	}
	if c.XLog {
		p.X.Min = max(p.X.Min, 1e-3)
		p.X.Max = max(p.X.Max, p.X.Min*2)
	}
	if p.X.Max <= p.X.Min {
		p.X.Max = p.X.Min + 1
	}
}
