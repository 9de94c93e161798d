package main

import (
	"fmt"
	"slices"

	"reprise/replay/testdata/rig"
)

// seen is what a client reports.
type seen struct {
	N      int     `json:"n"`
	MeanMS float64 `json:"ttft_mean_ms"`
	P99MS  float64 `json:"ttft_p99_ms"`
	TPOTMS float64 `json:"tpot_ms"`
	Bad    string  `json:"bad,omitempty"`
}

// truth is what the mock knows.
type truth struct {
	n         int
	mean, p99 float64 // TTFT, ms
	rate      float64 // requests a second of a closed loop
	late      float64 // p99, ms
}

// row is one run of a client.
type row struct {
	seen seen
	true truth
	cpu  float64 // µs an event
	rss  float64 // MB
}

// look sums up what the mock saw of n streams.
func look(s *rig.Seen, n int) truth {
	var ttft []float64
	var at []float64
	for _, a := range s.Arrivals {
		if a.Asked > 1 && a.TTFTMS > 0 { // not a probe
			ttft = append(ttft, a.TTFTMS)
			at = append(at, float64(a.At-s.Arrivals[0].At)/1e9)
		}
	}
	t := truth{n: len(ttft), mean: rig.Mean(ttft), p99: rig.Quantile(ttft, 0.99), late: s.LateMS()}
	// Of k rounds, from the first round's mean start to the last one's.
	if slices.Sort(at); len(at) > n {
		t.rate = float64(len(at)-n) / (rig.Mean(at[len(at)-n:]) - rig.Mean(at[:n]))
	}
	return t
}

// print prints the medians of a client's runs.
func print(o *options, c *client, start string, n int, rows []row) {
	column := func(f func(*row) float64) (v []float64) {
		for i := range rows {
			v = append(v, f(&rows[i]))
		}
		return v
	}
	median := func(f func(*row) float64) float64 { return rig.Median(column(f)) }
	errs := column(func(r *row) float64 { return r.seen.MeanMS - r.true.mean })
	share := "-"
	if start != "poisson" && o.rounds > 1 {
		share = fmt.Sprintf("%.1f %%", 100*median(func(r *row) float64 { return r.true.rate })/(float64(n)/lifetime(o).Seconds()))
	}
	late := median(func(r *row) float64 { return r.true.late })
	mark := ""
	if late > 1 {
		mark = ", **mock-limited**"
	}
	fmt.Printf("| %s | %s | %d | %d | %.3f | %+.3f | %+.3f to %+.3f | %+.3f | %.3f | %s | %.1f | %.0f | %.2f%s |\n", c.name, start, n, len(rows),
		median(func(r *row) float64 { return r.seen.MeanMS }), rig.Median(errs), slices.Min(errs), slices.Max(errs),
		median(func(r *row) float64 { return r.seen.P99MS - r.true.p99 }), median(func(r *row) float64 { return r.seen.TPOTMS }), share,
		median(func(r *row) float64 { return r.cpu }), median(func(r *row) float64 { return r.rss }), late, mark)
	for _, r := range rows {
		if r.seen.Bad != "" || r.seen.N != r.true.n {
			fmt.Printf("| %s | %s | %d | %d answers, the mock had %d %s | | | | | | | | | |\n", c.name, start, n, r.seen.N, r.true.n, r.seen.Bad)
		}
	}
}
