package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"reprise/fit/chart"
	"reprise/trace/spec"
)

//go:embed page.gohtml
var page string

// view is what the page shows; all of it but the charts is escaped.
type view struct {
	Spec      *spec.Spec
	Title     string
	Sentence  string
	Tokenizer string
	Warnings  []string
	Tiles     []tile
	Sections  []section
}

type tile struct{ Name, Value, Unit, Note string }

type section struct {
	Title   string
	Figures []figure
	Rows    []row
	Notes   []string
}

type row struct{ Name, Value, From string }

type figure struct {
	Title, Note string
	SVG         template.HTML
	Legend      []legend
}

type legend struct {
	Name   string
	Colour int
	Dashed bool
}

// HTML writes the page of a spec.
func HTML(w io.Writer, s *spec.Spec) error {
	t, err := template.New("page").Parse(page)
	if err != nil {
		return fmt.Errorf("page: %w", err)
	}
	v := view{Spec: s, Title: title(s), Sentence: s.Question.Sentence, Tokenizer: tokenizer(s), Tiles: tiles(s)}
	if missing := s.Question.Missing(); len(missing) > 0 {
		v.Warnings = append(v.Warnings, "The question still lacks "+strings.Join(missing, ", ")+": this spec cannot be signed yet.")
	}
	if g := s.Workload.Arrivals.Gamma; g != nil && g.Warning != "" {
		v.Warnings = append(v.Warnings, strings.ToUpper(g.Warning[:1])+g.Warning[1:]+".")
	}
	for _, make := range []func(*spec.Spec) (section, error){lengthSection, arrivalSection, prefixSection, sessionSection, featureSection} {
		sec, err := make(s)
		if err != nil {
			return err
		}
		if len(sec.Figures)+len(sec.Rows)+len(sec.Notes) > 0 {
			v.Sections = append(v.Sections, sec)
		}
	}
	return t.Execute(w, v)
}

func title(s *spec.Spec) string {
	if s.Question.Mix != "" {
		return strings.ToUpper(s.Question.Mix[:1]) + s.Question.Mix[1:]
	}
	return "The workload, as measured"
}

func tokenizer(s *spec.Spec) string {
	if s.Synth.Tokenizer.Name == "" {
		return "the log's own tokenizer"
	}
	return s.Synth.Tokenizer.Name
}

func tiles(s *spec.Spec) []tile {
	w := &s.Workload
	out := []tile{
		{"Prompt", short(at(&w.Lengths.Input.Quantiles, 0.5)), "tokens", fmt.Sprintf("median; p95 %s, p99 %s", short(at(&w.Lengths.Input.Quantiles, 0.95)), short(at(&w.Lengths.Input.Quantiles, 0.99)))},
		{"Answer", short(at(&w.Lengths.Output.Quantiles, 0.5)), "tokens", fmt.Sprintf("median; p95 %s, p99 %s", short(at(&w.Lengths.Output.Quantiles, 0.95)), short(at(&w.Lengths.Output.Quantiles, 0.99)))},
	}
	if w.Arrivals.Process != spec.ProcessUnknown {
		note := "mean rate, " + string(w.Arrivals.Rate.From)
		if len(w.Arrivals.Variants) > 0 {
			note = "the stated peak, at which the test runs; " + string(w.Arrivals.Rate.From)
		}
		if p := w.Arrivals.PeakHour; p != nil {
			note = fmt.Sprintf("mean; %.3g in the busiest hour", float64(p.Rate))
		}
		out = append(out, tile{"Rate", fmt.Sprintf("%.3g", float64(w.Arrivals.Rate.Value)), "1/s", note})
	}
	for _, p := range w.Arrivals.PeakToMean {
		if p.WidthS == 60 {
			out = append(out, tile{"Peak to mean", fmt.Sprintf("%.2f", float64(p.Value)), "at 1 min", fmt.Sprintf("chance alone: %.2f to %.2f", float64(p.PoissonP5), float64(p.PoissonP95))})
		}
	}
	for _, h := range w.Prefix.HitRates {
		if h.Name == "tokens" {
			out = append(out, tile{"Shared prefix", fmt.Sprintf("%.1f", 100*float64(h.Value)), "%", "of prompt tokens: what a prefix cache without limit would hit"})
		}
	}
	if x := w.Sessions; x != nil {
		out = append(out, tile{"Turns", fmt.Sprintf("%.2f", float64(x.MeanTurns.Value)), "a session", fmt.Sprintf("%.1f %% of sessions have several", 100*float64(x.ShareMultiple.Value))})
	}
	return out
}

// at is the table's value at p, NaN when it is not there.
func at(t *spec.Table, p spec.Num) float64 {
	for i := range t.P {
		if t.P[i] == p {
			return float64(t.Values[i])
		}
	}
	return -1
}

func short(v float64) string {
	if v < 0 {
		return "held back"
	}
	return chart.Thousands(fmt.Sprintf("%.0f", v))
}

func from(f spec.From, n int64) string {
	if n > 0 {
		return fmt.Sprintf("%s, n = %s", f, chart.Thousands(fmt.Sprint(n)))
	}
	return string(f)
}

func number(name string, n *spec.Number, format string) []row {
	if n == nil {
		return nil
	}
	v := float64(n.Value)
	if strings.HasSuffix(format, "%%") {
		v *= 100
	}
	return []row{{name, fmt.Sprintf(format, v), from(n.From, n.N)}}
}

// drawn makes a figure of a chart.
func drawn(c chart.Chart, note string) (figure, error) {
	svg, err := c.SVG()
	if err != nil {
		return figure{}, err
	}
	f := figure{Title: c.Title, Note: note, SVG: svg}
	for _, s := range c.Lines {
		f.Legend = append(f.Legend, legend{s.Name, s.Colour, s.Dashed})
	}
	return f, nil
}
