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

// section holds blocks of one subject, block one idea: a sentence that says it,
// what is drawn of it, and its numbers.
type section struct {
	Title  string
	Blocks []block
	Notes  []string
}

type block struct {
	Title   string
	Lead    string
	Warn    []string
	Figures []figure
	Table   *table
	Notes   []string
}

// table has a header where Head names columns; cells of a column are numbers or
// words as its head is.
type table struct {
	Head []cell
	Rows [][]cell
}

// cell with a bar shows a share of one beside its text.
type cell struct {
	Text   string
	Number bool
	Bar    *float64
}

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
		v.Warnings = append(v.Warnings, "The question still lacks "+strings.ReplaceAll(strings.Join(missing, ", "), "_", " ")+": this spec cannot be signed yet.")
	}
	for _, of := range []func(*spec.Spec) (section, error){statedSection, lengthSection, arrivalSection, prefixSection, sessionSection, featureSection, agreedSection} {
		sec, err := of(s)
		if err != nil {
			return err
		}
		if len(sec.Blocks)+len(sec.Notes) > 0 {
			v.Sections = append(v.Sections, sec)
		}
	}
	return t.Execute(w, v)
}

func title(s *spec.Spec) string {
	if s.Question.Mix != "" {
		return capital(s.Question.Mix)
	}
	return "The workload, as measured"
}

func capital(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func tokenizer(s *spec.Spec) string {
	if s.Synth.Tokenizer.Name == "" {
		return "the log's own tokenizer"
	}
	return s.Synth.Tokenizer.Name
}

func tiles(s *spec.Spec) []tile {
	w := &s.Workload
	out := []tile{lengthTile("Prompt", &w.Lengths.Input), lengthTile("Answer", &w.Lengths.Output)}
	if w.Arrivals.Process != spec.ProcessUnknown {
		note := "mean, " + string(w.Arrivals.Rate.From)
		if len(w.Arrivals.Variants) > 0 {
			note = "the stated peak, at which the test runs"
		}
		if p := w.Arrivals.PeakHour; p != nil {
			note = fmt.Sprintf("mean; %s in the busiest hour", Short(float64(p.Rate)))
		}
		out = append(out, tile{"Rate", Short(float64(w.Arrivals.Rate.Value)), "/s", note})
	}
	for _, p := range w.Arrivals.PeakToMean {
		if p.WidthS == 60 {
			out = append(out, tile{"Busiest minute", Short(float64(p.Value)), "× mean", fmt.Sprintf("chance alone: %s to %s", Short(float64(p.PoissonP5)), Short(float64(p.PoissonP95)))})
		}
	}
	for _, h := range w.Prefix.HitRates {
		if h.Name == "tokens" {
			out = append(out, tile{"Prefix hits", fmt.Sprintf("%.1f", 100*float64(h.Value)), "%", "of prompt tokens, in a cache without limit"})
		}
	}
	if x := w.Sessions; x != nil {
		out = append(out, tile{"Turns", fmt.Sprintf("%.2f", float64(x.MeanTurns.Value)), "", "a session, on average; " + percent(float64(x.ShareMultiple.Value)) + " have several"})
	}
	return out
}

func lengthTile(name string, l *spec.Length) tile {
	q := func(p spec.Num) string { return Tokens(Quantile(&l.Quantiles, p)) }
	return tile{name, q(0.5), "tokens", fmt.Sprintf("median; p95 %s, p99 %s", q(0.95), q(0.99))}
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

// draw adds a figure to a block.
func (b *block) draw(c chart.Chart, note string) error {
	f, err := drawn(c, note)
	if err == nil {
		b.Figures = append(b.Figures, f)
	}
	return err
}
