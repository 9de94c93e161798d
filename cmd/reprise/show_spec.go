package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"reprise/fit/page"
	"reprise/trace/spec"
)

// oneScreen is how wide the screen is on which a spec is shown, in columns.
const oneScreen = 80

// specText is what a customer needs of the workload on one screen, some 40 lines
// of 80 columns: how long, how many, how bursty, what is shared, what is missing.
// The page and --json have the rest. A star marks what is assumed.
func specText(w io.Writer, s *spec.Spec) error {
	say := func(name string, list []string) {
		const most = 3
		for i, x := range list {
			if i == most && len(list) > most+1 {
				fmt.Fprintf(w, "%s: and %d more\n", name, len(list)-most)
				return
			}
			paragraph(w, name+": "+x)
		}
	}
	fmt.Fprintf(w, "spec, version %d, revision %d (%s), by %s\n", s.Version, s.Revision, s.Status, made(s.Tool))
	if s.Question.Sentence != "" {
		fmt.Fprintln(w)
		paragraph(w, s.Question.Sentence)
	}
	fmt.Fprintln(w)
	lengthTable(w, &s.Workload.Lengths)
	smallCharts(w, s)
	lengthRows(w, &s.Workload.Lengths)
	arrivalTable(w, s)
	prefixTable(w, &s.Workload.Prefix)
	sessionTable(w, s.Workload.Sessions)
	featureTable(w, &s.Workload.Features)
	var broken, asks []string
	for _, b := range s.Workload.Prefix.AllBroken() {
		broken = append(broken, b.Sentence())
	}
	for _, d := range s.DataRequests {
		asks = append(asks, d.Ask)
	}
	say("broken prefix", broken)
	say("note", specNotes(&s.Workload))
	say("held back", s.Privacy.HeldBack)
	say("to ask for", asks)
	if q := s.Question.Today; q != nil && s.Question.Sentence == "" {
		paragraph(w, "said of today: "+q.Sentence())
	}
	fmt.Fprintln(w, "(more of each, with charts: reprise show --html; every number: --json)")
	return nil
}

// paragraph writes text in lines of one screen; the lines behind the first are
// set in.
func paragraph(w io.Writer, s string) {
	fmt.Fprintln(w, strings.ReplaceAll(wrapped(visible(s), oneScreen-2), "\n", "\n  "))
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
		row := table.Row{r.name, r.l.Quantiles.N, number(r.l.Mean) + stated(r.l.Mean.Confidence)}
		for _, p := range []spec.Num{0.5, 0.9, 0.95, 0.99} {
			row = append(row, quantile(&r.l.Quantiles, p))
		}
		t.AppendRow(append(row, family(r.l.Families)))
	}
	fmt.Fprintln(w, trimmed(t))
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
		return best.Name + spread(&best) + " (assumed)"
	}
	return fmt.Sprintf("%s (%s)", best.Name, best.Label)
}

// spread is the sigma of an assumed lognormal.
func spread(f *spec.Family) string {
	for _, p := range f.Params {
		if p.Name == "sigma" {
			return fmt.Sprintf(", sigma %.3g", float64(p.Value))
		}
	}
	return ""
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

// lengthRows say what lengths hang on, and what cuts them off.
func lengthRows(w io.Writer, l *spec.Lengths) {
	var rows [][2]string
	if d := l.Dependence; d != nil {
		rows = append(rows, [2]string{"answer depends on prompt", fmt.Sprintf("total variation %.2f (chance %.2f)", float64(d.TV), float64(d.Noise))})
	}
	if d := l.Drift; d != nil {
		half := func(name string, ratio, ks, noise spec.Num) string {
			v := fmt.Sprintf("%s %+.1f %%", name, 100*(float64(ratio)-1))
			if ks <= noise {
				v += " (within chance)"
			}
			return v
		}
		rows = append(rows, [2]string{"second half of the log", half("prompts", d.InputRatio, d.InputKS, d.InputNoise) + ", " + half("answers", d.OutputRatio, d.OutputKS, d.OutputNoise)})
	}
	var classes []string
	for i := range l.Classes {
		c := &l.Classes[i]
		classes = append(classes, fmt.Sprintf("%s %s %s and %s", c.Kind, c.Alias, page.Tokens(page.Quantile(&c.Input, 0.5)), page.Tokens(page.Quantile(&c.Output, 0.5))))
	}
	cut := append(cutOff("prompts", &l.Input), cutOff("answers", &l.Output)...)
	rows = append(rows, [2]string{"cut off", strings.Join(cut, "; ")}, [2]string{"median prompt and answer", few(classes)})
	if slices.ContainsFunc(rows, func(r [2]string) bool { return r[1] != "" }) {
		screened(w, "lengths", rows...)
	}
}

// cutOff says what share of lengths run into a limit, or were cut by max_tokens.
func cutOff(name string, l *spec.Length) (out []string) {
	if c := l.Cap; c != nil {
		out = append(out, fmt.Sprintf("%.1f %% of %s at a limit of %s tokens", 100*float64(c.Share), name, page.Tokens(float64(c.Value))))
	}
	if c := l.Censored; c != nil && c.Value > 0 {
		out = append(out, fmt.Sprintf("%s of %s cut by max_tokens", share(*c), name))
	}
	return out
}

// few joins the first few of a list.
func few(list []string) string {
	const most = 3
	if n := len(list) - most; n > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(list[:most], "; "), n)
	}
	return strings.Join(list, "; ")
}

func arrivalTable(w io.Writer, s *spec.Spec) {
	a := &s.Workload.Arrivals
	name := "rate"
	if len(a.Variants) > 0 {
		name = "rate, the stated peak"
	}
	rate := number(a.Rate) + " 1/s, process " + a.Process + stated(a.Rate.Confidence)
	if a.Span != nil {
		rate += " over " + page.Seconds(float64(a.Span.Value))
	}
	rows := [][2]string{{name, rate}}
	if p := a.PeakHour; p != nil {
		rows = append(rows, [2]string{"busiest hour", fmt.Sprintf("%.6g 1/s over %s from %s", float64(p.Rate), page.Seconds(float64(p.WidthS)), page.When(p, a))})
	}
	var peaks, at, chance, idc []string
	for _, p := range a.PeakToMean {
		peaks, at = append(peaks, page.Short(float64(p.Value))), append(at, fmt.Sprint(float64(p.WidthS)))
		chance = append(chance, page.Short(float64(p.PoissonP95)))
	}
	peak := ""
	if len(peaks) > 0 {
		peak = fmt.Sprintf("%s at %s s (Poisson to %s)", strings.Join(peaks, ", "), strings.Join(at, ", "), strings.Join(chance, ", "))
	}
	for _, v := range a.IDC {
		if v.WidthS == 1 || v.WidthS == 10 || v.WidthS == 60 {
			idc = append(idc, fmt.Sprintf("%s at %v s", page.Short(float64(v.Value)), float64(v.WidthS)))
		}
	}
	rows = append(rows, [2]string{"peak to mean", peak}, [2]string{"dispersion (Poisson 1)", strings.Join(idc, ", ")}, [2]string{"CV of gaps", gaps(a)})
	for _, v := range a.Variants {
		rows = append(rows, [2]string{"variant " + v.Name, fmt.Sprintf("%v 1/s, %s, CV of gaps %v%s", float64(v.Rate), v.Process, float64(v.CV), stated(v.Confidence))})
	}
	for _, j := range s.Workload.Jobs {
		rows = append(rows, [2]string{"job " + j.Name, fmt.Sprintf("%s requests%s within %s%s from %s", number(j.Requests), stated(j.Requests.Confidence), page.Seconds(float64(j.WindowS.Value)), stated(j.WindowS.Confidence), strings.TrimSpace(j.StartClock+" "+j.Zone))})
	}
	screened(w, "arrivals", rows...)
}

// gaps are the coefficients of variation of the gaps between requests.
func gaps(a *spec.Arrivals) string {
	var out []string
	if a.CV != nil {
		out = append(out, number(*a.CV))
	}
	if a.LocalCV != nil {
		out = append(out, number(*a.LocalCV)+" in the median 5 min")
	}
	return strings.Join(out, ", ")
}
