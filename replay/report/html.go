package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.gohtml
var page string

// fewCharts is the number of summaries from which each gets fewer charts, so
// that the page stays small.
const fewCharts = 4

// view is what the page shows; everything in it but the charts is escaped by
// html/template.
type view struct {
	*Report
	Multi           bool
	Side            [][]string
	There           [][]string // the servers beside the client
	SideOf, ThereOf string     // what their numbers are of
	Figs            []figureView
	Parts           []partView
	Tiles           []tile
	By              string
}

type partView struct {
	*Summary
	ID, Heading, Text, Where string
	Figs                     []figureView
	SLOs, Latencies          [][]string
	Outs, Loads, Clients     [][]string
	Servers                  [][]string // nil without metrics of the server
	Few, Ran                 []string
}

type figureView struct {
	Title, Note string
	SVG         template.HTML
	Legend      []legend
	Cells       [][]string
}

type legend struct {
	Name   string
	Colour int
	Dashed bool
}

// tile is one large number.
type tile struct {
	Name, Value, Unit, Note, Mood string
	Share                         float64 // of the limit, in per cent up to 100; negative hides the bar
}

// HTML writes the report as one page: no script, nothing fetched, charts as
// inline SVG with their numbers in tables beside them.
func (r *Report) HTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{"word": Verdict.word, "client": clientWord, "number": isNumber, "left": isWords, "mood": mood, "upper": upper}).Parse(page)
	if err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	v, err := r.view()
	if err != nil {
		return fmt.Errorf("report page: %w", err)
	}
	return t.Execute(w, v)
}

func (r *Report) view() (*view, error) {
	v := &view{Report: r, Multi: r.Shape != Single, By: versionLine(r.Tool.Name, r.Tool.Version, r.Tool.Commit)}
	var err error
	if v.Multi {
		v.Side, v.There = r.sideCells(), r.sideServer()
		v.SideOf, v.ThereOf = r.sideTitle(), r.sideServerOf()
		if v.Figs, err = drawAll(r.sideFigures()); err != nil {
			return nil, err
		}
	} else {
		v.Tiles = r.Summaries[0].tiles()
	}
	for i := range r.Summaries {
		p, err := r.part(i)
		if err != nil {
			return nil, err
		}
		v.Parts = append(v.Parts, p)
	}
	return v, nil
}

func (r *Report) part(i int) (partView, error) {
	s := &r.Summaries[i]
	p := partView{Summary: s, ID: fmt.Sprintf("run%d", i+1), Heading: s.Name, Where: s.where(), Latencies: s.latencyCells(), Outs: s.outcomeCells(),
		Loads: s.loadCells(), Clients: s.clientCells(), Servers: s.serverPage(), Few: s.tooFew(), Ran: s.sourceLines()}
	if len(s.SLO) > 0 {
		p.SLOs = s.sloCells()
	}
	if r.Shape != Single {
		p.Text = s.headline() + ". " + s.detail()
	}
	var err error
	p.Figs, err = drawAll(s.figures(p.ID, len(r.Summaries) > fewCharts))
	return p, err
}

func drawAll(figs []figure) ([]figureView, error) {
	var out []figureView
	for _, f := range figs {
		if !f.drawable() {
			continue
		}
		svg, err := f.SVG()
		if err != nil {
			return nil, err
		}
		v := figureView{Title: f.Title, Note: f.note, SVG: svg, Cells: f.cells}
		for _, s := range f.Lines {
			v.Legend = append(v.Legend, legend{s.Name, s.Colour, s.Dashed})
		}
		out = append(out, v)
	}
	return out, nil
}

// drawable reports whether there is a number to draw.
func (f *figure) drawable() bool {
	for _, s := range f.Lines {
		for _, p := range s.Points {
			if p.Y == p.Y {
				return true
			}
		}
	}
	return false
}

// tiles are the numbers on top of a single run: one for each limit, goodput,
// and the client.
func (s *Summary) tiles() []tile {
	var out []tile
	for _, x := range s.SLO {
		t := tile{Name: pName(x.Percentile) + " " + strings.ToUpper(x.Metric), Value: "–", Note: "limit " + msText(x.ThresholdMS) + ", " + x.Reason, Mood: string(x.Verdict), Share: -1}
		if x.MS != nil {
			t.Value, t.Unit, t.Share = msNumber(*x.MS), "ms"+unsureText(*x.MS, x.LessMS, x.MoreMS), min(100, 100**x.MS/x.ThresholdMS)
		}
		out = append(out, t)
	}
	if len(s.SLO) == 0 {
		for _, p := range []float64{50, 95, 99} {
			if x := s.latency("ttft", "sched").at(p); x.MS != nil && !s.Client.Withheld() {
				out = append(out, tile{Name: pName(p) + " TTFT", Value: msNumber(*x.MS), Unit: "ms" + unsureText(*x.MS, x.LessMS, x.MoreMS), Note: "no limit was agreed", Share: -1})
			}
		}
	}
	if len(s.Goodput.Limits) > 0 && !s.Client.Withheld() && s.Goodput.Share != nil {
		out = append(out, tile{Name: "Goodput", Value: rateText(s.Goodput.PerS), Unit: "requests/s", Note: shareText(s.Goodput.Share) + " of planned requests within every limit", Share: 100 * *s.Goodput.Share})
	}
	mood := map[string]string{"clean": "met", "usable": "cannot_say", "client_limited": "missed"}[s.Client.Verdict]
	return append(out, tile{Name: "Client", Value: clientWord(s.Client.Verdict), Note: "send lag p99 " + msOr(s.Client.LagP99MS) + " ms, max " + msOr(s.Client.LagMaxMS) + " ms", Mood: mood, Share: -1})
}

// mood is the colour of a cell that holds a verdict.
func mood(cell string) string {
	switch strings.ToLower(cell) {
	case "met", "clean":
		return "met"
	case "missed", "client-limited":
		return "missed"
	case "cannot say", "usable":
		return "cannot_say"
	}
	return ""
}

// isWords reports whether a heading is over a column of words.
func isWords(head string) bool { return strings.HasSuffix(head, " ") }

// isNumber reports whether a cell is set on the right.
func isNumber(s string) bool {
	s = strings.TrimLeft(strings.TrimPrefix(s, "over "), "+-−±<>≤ ")
	return s == "" || s[0] >= '0' && s[0] <= '9' || s == "n/a" || s == "too few" || s == "infinite"
}
