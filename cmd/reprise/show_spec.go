package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"reprise/trace/spec"
)

// specText is the workload on one screen. A star marks what is assumed.
func specText(w io.Writer, s *spec.Spec) error {
	fmt.Fprintf(w, "spec, version %d, revision %d (%s), by %s\n", s.Version, s.Revision, s.Status, made(s.Tool))
	if s.Question.Sentence != "" {
		fmt.Fprintf(w, "\n%s\n", s.Question.Sentence)
	}
	fmt.Fprintln(w)
	lengthTable(w, &s.Workload.Lengths)
	smallCharts(w, s)
	fmt.Fprintln(w)
	arrivalTable(w, &s.Workload.Arrivals)
	fmt.Fprintln(w)
	prefixTable(w, s)
	for _, b := range s.Workload.Prefix.AllBroken() {
		fmt.Fprintf(w, "broken prefix: %s\n", b.Sentence())
	}
	for _, n := range specNotes(&s.Workload) {
		fmt.Fprintf(w, "note: %s\n", n)
	}
	for _, h := range s.Privacy.HeldBack {
		fmt.Fprintf(w, "held back: %s\n", h)
	}
	for _, d := range s.DataRequests {
		fmt.Fprintf(w, "to ask for: %s (fills %s)\n", d.Ask, strings.Join(d.Replaces, ", "))
	}
	return nil
}

// specNotes are the remarks of all sections.
func specNotes(w *spec.Workload) []string {
	out := slices.Concat(w.Arrivals.Notes, w.Prefix.Notes)
	if w.Sessions != nil {
		out = append(out, w.Sessions.Notes...)
	}
	return out
}

func plain() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	return t
}

func lengthTable(w io.Writer, l *spec.Lengths) {
	t := plain()
	t.AppendHeader(table.Row{"tokens", "n", "mean", "p50", "p90", "p95", "p99", "best family"})
	for _, r := range []struct {
		name string
		l    *spec.Length
	}{{"input", &l.Input}, {"output", &l.Output}} {
		row := table.Row{r.name, r.l.Quantiles.N, number(r.l.Mean)}
		for _, p := range []spec.Num{0.5, 0.9, 0.95, 0.99} {
			row = append(row, quantile(&r.l.Quantiles, p))
		}
		t.AppendRow(append(row, family(r.l.Families)))
	}
	fmt.Fprintln(w, t.Render())
}

func quantile(t *spec.Table, p spec.Num) string {
	for i := range t.P {
		if t.P[i] == p {
			return fmt.Sprint(float64(t.Values[i]))
		}
	}
	return "held back"
}

func family(f []spec.Family) string {
	if len(f) == 0 {
		return ""
	}
	best := f[0]
	for _, x := range f {
		if x.BIC < best.BIC {
			best = x
		}
	}
	if best.Label == "assumed" {
		return best.Name + " (assumed)"
	}
	return fmt.Sprintf("%s, KS %.3f (%s)", best.Name, float64(best.KS), best.Label)
}

// number prints a value with a star when it is assumed.
func number(n spec.Number) string {
	s := fmt.Sprintf("%.6g", float64(n.Value))
	if n.From == spec.Assumed {
		s += "*"
	}
	return s
}

// stated is the confidence that a brief gives a number.
func stated(confidence string) string {
	if confidence == "" {
		return ""
	}
	return " (" + confidence + ")"
}

func optional(n *spec.Number) string {
	if n == nil {
		return ""
	}
	return number(*n)
}

func arrivalTable(w io.Writer, a *spec.Arrivals) {
	name := "rate"
	if len(a.Variants) > 0 {
		name = "rate, the stated peak"
	}
	rows := [][2]string{{name, number(a.Rate) + " 1/s, process " + a.Process + stated(a.Rate.Confidence)}}
	if a.Span != nil {
		rows = append(rows, [2]string{"span", optional(a.Span) + " s"})
	}
	for _, p := range a.PeakToMean {
		rows = append(rows, [2]string{fmt.Sprintf("peak-to-mean at %v s", float64(p.WidthS)),
			fmt.Sprintf("%.3f (Poisson alone: %.2f to %.2f)", float64(p.Value), float64(p.PoissonP5), float64(p.PoissonP95))})
	}
	rows = append(rows, [2]string{"CV of gaps", optional(a.CV)}, [2]string{"CV, median of 5 min windows", optional(a.LocalCV)})
	if g := a.Gamma; g != nil {
		rows = append(rows, [2]string{"gamma shape", strings.TrimSpace("moments " + optional(g.Moments) + ", MLE " + optional(g.MLE))})
	}
	if p := a.PeakHour; p != nil {
		rows = append(rows, [2]string{"peak hour", fmt.Sprintf("%.6g 1/s over %v s from %v s %s", float64(p.Rate), float64(p.WidthS), float64(p.StartS), p.Label)})
	}
	pairs(w, "arrivals", rows...)
}

func prefixTable(w io.Writer, s *spec.Spec) {
	p := &s.Workload.Prefix
	rows := [][2]string{{"blocks", fmt.Sprintf("%d tokens", p.BlockTokens)}, {"requests that share a beginning", optional(p.ShareRequests)}}
	for _, h := range p.HitRates {
		rows = append(rows, [2]string{"hit rate, " + h.Name, fmt.Sprintf("%s of %s", number(h.Number), h.Denominator)})
	}
	for _, r := range p.Roots {
		rows = append(rows, [2]string{"shared beginning", fmt.Sprintf("%v tokens, %.1f %% of requests", float64(r.Tokens), 100*float64(r.Share))})
	}
	if text := p.Exactly(); text != "" {
		rows = append(rows, [2]string{"byte-identical", text})
	}
	if g := p.Generated; g != nil {
		rows = append(rows, [2]string{"generated before", fmt.Sprintf("%.1f %% of hit tokens at most: answers sent back, which a replay with other answers misses", 100*float64(g.Share))})
	}
	if x := s.Workload.Sessions; x != nil {
		rows = append(rows, [2]string{"sessions", fmt.Sprintf("%s, %s turns on average", number(x.Count), number(x.MeanTurns))})
	}
	pairs(w, "prefix sharing (infinite cache)", rows...)
}
