package main

import (
	"fmt"
	"io"

	"reprise/fit"
	"reprise/fit/page"
	"reprise/trace/spec"
)

// chartWidth is how many cells a small chart has.
const chartWidth = 42

// smallCharts draws lengths, the rate over the log and the hit curve, a line
// each.
func smallCharts(w io.Writer, s *spec.Spec) {
	fmt.Fprintln(w)
	l := &s.Workload.Lengths
	for _, v := range []struct {
		name string
		t    *spec.Table
	}{{"prompt", &l.Input.Quantiles}, {"answer", &l.Output.Quantiles}} {
		mass, lo, hi := page.Density(v.t, chartWidth)
		if len(mass) > 1 {
			fmt.Fprintf(w, " %-7s %s %.0f to %.0f tokens, log axis\n", v.name, page.Line(mass, chartWidth), lo, hi)
		}
	}
	a := &s.Workload.Arrivals
	if rates := page.Rates(a.Rates); len(rates) > 1 {
		fmt.Fprintf(w, " %-7s %s %.3g h of log, up to %.3g/s\n", "rate", page.Line(rates, chartWidth),
			float64(len(rates))*float64(a.Rates.WidthS)/3600, highest(rates))
	}
	if a.Week != nil {
		rates := make([]float64, len(a.Week.Rates))
		for i, r := range a.Week.Rates {
			rates[i] = float64(r)
		}
		fmt.Fprintf(w, " %-7s %s Mon to Sun, up to %.3g/s (%s)\n", "week", page.Line(rates, chartWidth), highest(rates), fit.ZoneName(a.Week.Zone))
	}
	if c := s.Workload.Prefix.Curve; len(c) > 1 {
		hits := make([]float64, len(c))
		for i, p := range c {
			hits[i] = float64(p.Tokens)
		}
		fmt.Fprintf(w, " %-7s %s hit rate, cache %.3g to %.3g M tokens: to %.1f %%\n", "cache", page.Line(hits, chartWidth),
			float64(c[0].CapacityTokens)/1e6, float64(c[len(c)-1].CapacityTokens)/1e6, 100*highest(hits))
	}
}

func highest(v []float64) float64 {
	most := 0.0
	for _, x := range v {
		most = max(most, x)
	}
	return most
}
