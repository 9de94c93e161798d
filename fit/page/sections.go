package page

import (
	"fmt"
	"math"

	"reprise/fit/chart"
	"reprise/trace/spec"
)

func lengthSection(s *spec.Spec) (section, error) {
	l := &s.Workload.Lengths
	out := section{Title: "Lengths"}
	c := chart.Chart{ID: "lengths", Title: "Share of requests of at most so many tokens", XUnit: "", XLog: true, YShare: true, YMax: 1,
		Desc:  "Cumulative distribution of prompt and answer tokens on a logarithmic axis.",
		Lines: []chart.Series{{Name: "prompt", Colour: 1, Points: cumulative(&l.Input.Quantiles)}, {Name: "answer", Colour: 2, Points: cumulative(&l.Output.Quantiles)}}}
	f, err := drawn(c, "From the quantile tables, "+from(l.Input.Quantiles.From, l.Input.Quantiles.N)+"; tokens, logarithmic axis.")
	if err != nil {
		return out, err
	}
	out.Figures = append(out.Figures, f)
	d := chart.Chart{ID: "density", Title: "Where the mass lies", XLog: true, YShare: true,
		Desc:  "Share of requests by prompt and answer tokens, forty bins of equal width on a logarithmic axis.",
		Lines: []chart.Series{{Name: "prompt", Colour: 1, Points: density(&l.Input.Quantiles)}, {Name: "answer", Colour: 2, Points: density(&l.Output.Quantiles)}}}
	if f, err = drawn(d, "Share of requests in each of forty bins of equal width on the logarithmic axis of tokens."); err != nil {
		return out, err
	}
	out.Figures = append(out.Figures, f)
	for _, v := range []struct {
		name string
		l    *spec.Length
	}{{"prompt", &l.Input}, {"answer", &l.Output}} {
		out.Rows = append(out.Rows, number(v.name+", mean tokens", &v.l.Mean, "%.6g")...)
		if v.l.Cap != nil {
			out.Rows = append(out.Rows, row{v.name + ", a limit at", short(float64(v.l.Cap.Value)), fmt.Sprintf("%.1f %% of requests run into it", 100*float64(v.l.Cap.Share))})
		}
		out.Rows = append(out.Rows, number(v.name+", cut by max_tokens", v.l.Censored, "%.1f %%")...)
	}
	if d := l.Dependence; d != nil {
		out.Rows = append(out.Rows, row{"answer depends on prompt (total variation)", fmt.Sprintf("%.2f", float64(d.TV)), fmt.Sprintf("chance alone: %.2f", float64(d.Noise))})
	}
	if d := l.Drift; d != nil {
		out.Rows = append(out.Rows, row{"drift between halves of the log, prompt KS", fmt.Sprintf("%.3f", float64(d.InputKS)), fmt.Sprintf("chance alone: %.3f", float64(d.InputNoise))},
			row{"drift between halves of the log, answer KS", fmt.Sprintf("%.3f", float64(d.OutputKS)), fmt.Sprintf("chance alone: %.3f", float64(d.OutputNoise))})
	}
	return out, nil
}

// cumulative are the points of a distribution for a logarithmic axis.
func cumulative(t *spec.Table) []chart.XY {
	var out []chart.XY
	for i := range t.P {
		out = append(out, chart.XY{X: max(float64(t.Values[i]), 1), Y: float64(t.P[i])})
	}
	return out
}

const densityBins = 40

func density(t *spec.Table) []chart.XY {
	mass, lo, hi := Density(t, densityBins)
	var out []chart.XY
	for i, m := range mass {
		x := lo
		if len(mass) > 1 {
			x = lo * math.Pow(hi/lo, (float64(i)+0.5)/float64(len(mass)))
		}
		out = append(out, chart.XY{X: x, Y: m})
	}
	return out
}

func arrivalSection(s *spec.Spec) (section, error) {
	a := &s.Workload.Arrivals
	out := section{Title: "Arrivals", Notes: a.Notes}
	if a.Process == spec.ProcessUnknown {
		return out, nil
	}
	if rates := Rates(a.Rates); len(rates) > 1 {
		c := chart.Chart{ID: "rate", Title: "Requests per second over the log", XUnit: " h", XMin: new(float64),
			Desc:  "Arrival rate in each bin of the rate series, from the log's start.",
			Lines: []chart.Series{{Name: "rate", Colour: 1, Points: overHours(rates, float64(a.Rates.WidthS)), Fill: true}}}
		f, err := drawn(c, fmt.Sprintf("Bins of %v s from the log's start%s; empty bins included.", float64(a.Rates.WidthS), zero(a.Rates.Zero)))
		if err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, f)
	}
	if a.Week != nil {
		c := chart.Chart{ID: "week", Title: "Requests per second by hour of the week", XUnit: " h", XMin: new(float64), Desc: "Mean arrival rate of each hour of the week from Monday 00:00.",
			Lines: []chart.Series{{Name: "rate", Colour: 1, Points: overHours(floats(a.Week.Rates), 3600), Fill: true}}}
		f, err := drawn(c, "Hours from Monday 00:00 "+a.Week.Zone+", "+from(a.Week.From, a.Week.N)+".")
		if err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, f)
	}
	out.Rows = append(out.Rows, number("rate, 1/s", &a.Rate, "%.4g")...)
	for _, p := range a.PeakToMean {
		out.Rows = append(out.Rows, row{fmt.Sprintf("peak to mean at %v s", float64(p.WidthS)), fmt.Sprintf("%.2f", float64(p.Value)), fmt.Sprintf("chance alone: %.2f to %.2f", float64(p.PoissonP5), float64(p.PoissonP95))})
	}
	out.Rows = append(out.Rows, number("CV of gaps", a.CV, "%.2f")...)
	out.Rows = append(out.Rows, number("CV of gaps, median of 5 min", a.LocalCV, "%.2f")...)
	if r := a.Rescaling; r != nil {
		x := row{"distance from Poisson at the rate of each minute (KS)", fmt.Sprintf("%.3f", float64(r.KS)), ""}
		if r.Null95 != nil {
			x.From = fmt.Sprintf("Poisson arrivals show up to %.3f", float64(*r.Null95))
		}
		out.Rows = append(out.Rows, x)
	}
	for _, p := range []struct {
		name string
		p    *spec.PeakWindow
	}{{"busiest hour, 1/s", a.PeakHour}, {"busiest hour by the clock, 1/s", a.ClockHour}} {
		if p.p != nil {
			out.Rows = append(out.Rows, row{p.name, fmt.Sprintf("%.4g", float64(p.p.Rate)), "from " + labelOr(p.p)})
		}
	}
	for _, v := range a.Variants {
		out.Rows = append(out.Rows, row{"variant " + v.Name, fmt.Sprintf("%.3g", float64(v.Rate)), fmt.Sprintf("%s, CV of gaps %.3g, %s", v.Process, float64(v.CV), v.From)})
	}
	for _, j := range s.Workload.Jobs {
		out.Rows = append(out.Rows, row{"job " + j.Name, short(float64(j.Requests.Value)), fmt.Sprintf("requests within %.3g h from %s %s, %s", float64(j.WindowS.Value)/3600, j.StartClock, j.Zone, j.Requests.From)})
	}
	return out, nil
}

func zero(label string) string {
	if label == "" {
		return ""
	}
	return ", " + label
}

func labelOr(p *spec.PeakWindow) string {
	if p.Label != "" {
		return p.Label
	}
	return fmt.Sprintf("%.6g s into the log", float64(p.StartS))
}

func overHours(v []float64, width float64) []chart.XY {
	var out []chart.XY
	for i, y := range v {
		if y < 0 {
			y = math.NaN()
		}
		out = append(out, chart.XY{X: (float64(i) + 0.5) * width / 3600, Y: y})
	}
	return out
}

func floats(n []spec.Num) []float64 {
	out := make([]float64, len(n))
	for i := range n {
		out[i] = float64(n[i])
	}
	return out
}

func prefixSection(s *spec.Spec) (section, error) {
	p := &s.Workload.Prefix
	out := section{Title: "Prefix sharing", Notes: p.Notes}
	if len(p.Curve) > 1 {
		c := chart.Chart{ID: "cache", Title: "Hit rate by size of the prefix cache", XLog: true, YShare: true, XUnit: " M", Desc: "Share of prompt tokens that an LRU cache of so many million tokens hits.",
			Lines: []chart.Series{{Name: "prompt tokens", Colour: 1, Dots: true, Points: curve(p.Curve)}}}
		f, err := drawn(c, "LRU cache of so many million tokens on one replica, requests in order of arrival; an upper bound for concurrent duplicates.")
		if err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, f)
	}
	out.Rows = append(out.Rows, number("requests that share a beginning", p.ShareRequests, "%.1f %%")...)
	for _, h := range p.HitRates {
		out.Rows = append(out.Rows, row{"hit rate, " + h.Name, fmt.Sprintf("%.1f %%", 100*float64(h.Value)), "of " + h.Denominator + ", " + from(h.From, h.N)})
	}
	for _, r := range p.Roots {
		out.Rows = append(out.Rows, row{"shared beginning", short(float64(r.Tokens)) + " tokens", fmt.Sprintf("of %.1f %% of requests, %s", 100*float64(r.Share), from(r.From, r.N))})
	}
	return out, nil
}

func curve(points []spec.CachePoint) []chart.XY {
	var out []chart.XY
	for _, p := range points {
		out = append(out, chart.XY{X: float64(p.CapacityTokens) / 1e6, Y: float64(p.Tokens)})
	}
	return out
}

func sessionSection(s *spec.Spec) (section, error) {
	x := s.Workload.Sessions
	out := section{Title: "Sessions"}
	if x == nil {
		return out, nil
	}
	if len(x.Hazards) > 1 {
		var points []chart.XY
		for _, h := range x.Hazards {
			points = append(points, chart.XY{X: float64(h.Turn), Y: float64(h.Value)})
		}
		c := chart.Chart{ID: "hazard", Title: "Sessions that go on after each turn", YShare: true, YMax: 1, XMin: new(float64), Desc: "Share of the sessions that reached a turn and went on.",
			Lines: []chart.Series{{Name: "go on", Colour: 1, Dots: true, Points: points}}}
		f, err := drawn(c, "Of the sessions that reached the turn; the last point pools all later ones. Kaplan-Meier, for sessions that the log cuts.")
		if err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, f)
	}
	out.Rows = append(out.Rows, number("sessions", &x.Count, "%.0f")...)
	out.Rows = append(out.Rows, number("turns a session, mean", &x.MeanTurns, "%.2f")...)
	out.Rows = append(out.Rows, number("sessions with several turns", &x.ShareMultiple, "%.1f %%")...)
	out.Rows = append(out.Rows, number("requests in them", x.Requests, "%.1f %%")...)
	return out, nil
}

func featureSection(s *spec.Spec) (section, error) {
	f := &s.Workload.Features
	out := section{Title: "Features"}
	for _, v := range []struct {
		name string
		n    *spec.Number
	}{{"streamed", f.Stream}, {"with tools", f.Tools}, {"with a JSON schema", f.Schema}, {"several completions", f.Several}, {"chat endpoint", f.Chat}} {
		out.Rows = append(out.Rows, number(v.name, v.n, "%.1f %%")...)
	}
	for _, m := range f.Models {
		out.Rows = append(out.Rows, number("model "+m.Alias, &m.Number, "%.1f %%")...)
	}
	for _, m := range f.Adapters {
		out.Rows = append(out.Rows, number("adapter "+m.Alias, &m.Number, "%.1f %%")...)
	}
	return out, nil
}
