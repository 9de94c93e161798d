package page

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"reprise/fit"
	"reprise/fit/chart"
	"reprise/trace/spec"
)

func arrivalSection(s *spec.Spec) (section, error) {
	a := &s.Workload.Arrivals
	out := section{Title: "Arrivals", Notes: a.Notes}
	if a.Process == spec.ProcessUnknown {
		return out, nil
	}
	b, err := when(s)
	if err != nil {
		return out, err
	}
	out.keep(b)
	if b, err = bursts(a); err != nil {
		return out, err
	}
	out.keep(b)
	return out, nil
}

// when is the rate over the log and the week, its busiest hours and the jobs.
func when(s *spec.Spec) (block, error) {
	a := &s.Workload.Arrivals
	b := block{Title: "When requests come", Lead: fmt.Sprintf("On average %s a second", Short(float64(a.Rate.Value)))}
	if len(a.Variants) > 0 {
		b.Lead = fmt.Sprintf("At the stated peak %s a second, at which the test runs", Short(float64(a.Rate.Value)))
	}
	if a.Span != nil {
		b.Lead += " over " + Seconds(float64(a.Span.Value))
	}
	if p := a.PeakHour; p != nil && float64(p.WidthS) >= 3600 {
		b.Lead += fmt.Sprintf(", %s in the busiest hour", Short(float64(p.Rate)))
	}
	b.Lead += "."
	if err := overTime(&b, a); err != nil {
		return b, err
	}
	b.add(row("rate", Short(float64(a.Rate.Value))+" /s", of(a.Rate)))
	for _, p := range []struct {
		name string
		p    *spec.PeakWindow
	}{{"busiest hour, wherever it begins", a.PeakHour}, {"busiest hour by the clock", a.ClockHour}} {
		if p.p != nil {
			if p.p.WidthS < 3600 {
				p.name = "the whole log, no longer than an hour"
			}
			b.add(row(p.name, Short(float64(p.p.Rate))+" /s", "from "+When(p.p, a)))
		}
	}
	for _, v := range a.Variants {
		b.add(row("variant "+v.Name, Short(float64(v.Rate))+" /s", fmt.Sprintf("%s, CV of gaps %.3g, %s", v.Process, float64(v.CV), by(v.Provenance))))
	}
	for _, j := range s.Workload.Jobs {
		b.add(row("job "+j.Name, Tokens(float64(j.Requests.Value))+" requests", fmt.Sprintf("within %s from %s, %s", Seconds(float64(j.WindowS.Value)), strings.TrimSpace(j.StartClock+" "+j.Zone), of(j.Requests))))
	}
	return b, nil
}

func overTime(b *block, a *spec.Arrivals) error {
	if rates := Rates(a.Rates); len(rates) > 1 {
		width := float64(a.Rates.WidthS)
		unit, per := clockUnit(width * float64(len(rates)))
		if err := b.draw(chart.Chart{ID: "rate", Title: "Requests per second over the log", XUnit: unit, XMin: new(float64),
			Desc:  "Arrival rate in each bin of the rate series, from the log's start.",
			Lines: []chart.Series{{Name: "rate", Colour: 1, Points: series(rates, width/per), Fill: true}}},
			fmt.Sprintf("Bins of %s from the log's start%s; empty bins included.", Seconds(width), zero(a))); err != nil {
			return err
		}
	}
	if a.Week == nil {
		return nil
	}
	rates := make([]float64, len(a.Week.Rates))
	for i, r := range a.Week.Rates {
		rates[i] = float64(r)
	}
	return b.draw(chart.Chart{ID: "week", Title: "Requests per second by hour of the week", XUnit: " d", XMin: new(float64), Desc: "Mean arrival rate of each hour of the week from Monday 00:00.",
		Lines: []chart.Series{{Name: "rate", Colour: 1, Points: series(rates, 1./24), Fill: true}}},
		"Days from Monday 00:00, "+fit.ZoneName(a.Week.Zone)+"; "+by(a.Week.Provenance)+".")
}

// clockUnit is the unit in which a span (s) reads well, with its seconds.
func clockUnit(span float64) (unit string, per float64) {
	switch {
	case span < 2*3600:
		return " min", 60
	case span < 100*3600:
		return " h", 3600
	}
	return " d", 86400
}

func zero(a *spec.Arrivals) string {
	if a.Rates.Zero == "" {
		return ""
	}
	return ", " + fit.ClockLabel(a.Rates.Zero, weekZone(a))
}

// When says when a window begins: by the calendar, with the zone of its clock,
// which is that of the hours of the week.
func When(p *spec.PeakWindow, a *spec.Arrivals) string {
	if p.Label != "" {
		return fit.ClockLabel(p.Label, weekZone(a))
	}
	return Seconds(float64(p.StartS)) + " into the log"
}

func weekZone(a *spec.Arrivals) string {
	if a.Week == nil {
		return ""
	}
	return a.Week.Zone
}

// series are values in bins of one width; those below zero are gaps.
func series(v []float64, width float64) []chart.XY {
	var out []chart.XY
	for i, y := range v {
		if y < 0 {
			y = math.NaN()
		}
		out = append(out, chart.XY{X: (float64(i) + 0.5) * width, Y: y})
	}
	return out
}

// bursts compares peaks with those of chance, and says how uneven arrivals are at
// each time scale.
func bursts(a *spec.Arrivals) (block, error) {
	b := block{Title: "How bursty arrivals are"}
	for _, p := range a.PeakToMean {
		if p.WidthS == 60 {
			b.Lead = fmt.Sprintf("The busiest minute had %s × the mean rate; Poisson arrivals at a constant rate would show %s to %s.", Short(float64(p.Value)), Short(float64(p.PoissonP5)), Short(float64(p.PoissonP95)))
		}
	}
	b.scales(a)
	if g := a.Gamma; g != nil && g.Warning != "" {
		b.Notes = append(b.Notes, capital(g.Warning)+": a load generator with one burstiness setting does not reproduce them.")
	}
	if n := a.CV; n != nil {
		local := ""
		if a.LocalCV != nil {
			local = fmt.Sprintf(", %s in the median 5 minutes", Short(float64(a.LocalCV.Value)))
		}
		b.Notes = append(b.Notes, fmt.Sprintf("Coefficient of variation of the gaps between requests: %s over the log%s; 1 is Poisson.", Short(float64(n.Value)), local))
	}
	if r := a.Rescaling; r != nil {
		note := fmt.Sprintf("Distance of the gaps from Poisson at the rate of each %s: KS %.3f", Seconds(float64(r.WidthS)), float64(r.KS))
		if r.Null95 != nil {
			note += fmt.Sprintf("; such Poisson arrivals show up to %.3f", float64(*r.Null95))
		}
		b.Notes = append(b.Notes, note+".")
	}
	if len(a.PeakToMean) < 2 {
		return b, nil
	}
	var have, lo, hi []chart.XY
	for _, p := range a.PeakToMean {
		x := float64(p.WidthS)
		have, lo, hi = append(have, chart.XY{X: x, Y: float64(p.Value)}), append(lo, chart.XY{X: x, Y: float64(p.PoissonP5)}), append(hi, chart.XY{X: x, Y: float64(p.PoissonP95)})
	}
	return b, b.draw(chart.Chart{ID: "peaks", Title: "Busiest window over the mean", XLog: true, XUnit: " s", Desc: "Peak to mean by the width of the window, with the range that Poisson arrivals show.",
		Bands: []chart.Band{{Colour: 3, Lo: lo, Hi: hi}}, Lines: []chart.Series{{Name: "this log", Colour: 1, Dots: true, Points: have}, {Name: "Poisson, p95", Colour: 3, Points: hi}}},
		"By the width of the window; the grey band is what chance alone shows (5 % to 95 %).")
}

// scales is the table of peaks and dispersion by window.
func (b *block) scales(a *spec.Arrivals) {
	if len(a.PeakToMean)+len(a.IDC) == 0 {
		return
	}
	rows := map[spec.Num][]string{}
	for _, p := range a.PeakToMean {
		rows[p.WidthS] = []string{Short(float64(p.Value)), Short(float64(p.PoissonP5)) + " to " + Short(float64(p.PoissonP95)), ""}
	}
	for _, v := range a.IDC {
		if rows[v.WidthS] == nil {
			rows[v.WidthS] = make([]string, 3)
		}
		rows[v.WidthS][2] = Short(float64(v.Value))
	}
	b.Table = &table{Head: append(words("window"), numbers("busiest ÷ mean", "by chance", "dispersion")...)}
	for _, width := range slices.Sorted(maps.Keys(rows)) {
		b.add(append(words(Seconds(float64(width))), numbers(rows[width]...)...))
	}
	b.Notes = append(b.Notes, "Dispersion is the variance of the counts over their mean (IDC); 1 is Poisson.")
}
