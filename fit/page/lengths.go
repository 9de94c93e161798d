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
	b, err := howLong(s)
	if err != nil {
		return out, err
	}
	out.keep(b)
	if b, err = dependence(l); err != nil {
		return out, err
	}
	out.keep(b)
	out.keep(drift(l))
	out.keep(classes(s))
	return out, nil
}

// howLong is the distribution of prompts and answers.
func howLong(s *spec.Spec) (block, error) {
	l := &s.Workload.Lengths
	in, answer := &l.Input, &l.Output
	b := block{Title: "How long prompts and answers are", Lead: fmt.Sprintf("Half of the prompts have %s tokens or fewer, half of the answers %s. One in a hundred has more than %s and %s.",
		Tokens(Quantile(&in.Quantiles, 0.5)), Tokens(Quantile(&answer.Quantiles, 0.5)), Tokens(Quantile(&in.Quantiles, 0.99)), Tokens(Quantile(&answer.Quantiles, 0.99)))}
	if err := b.draw(chart.Chart{ID: "lengths", Title: "Share of requests of at most so many tokens", XLog: true, YShare: true, YMax: 1,
		Desc:  "Cumulative distribution of prompt and answer tokens on a logarithmic axis.",
		Lines: []chart.Series{{Name: "prompt", Colour: 1, Points: cumulative(&in.Quantiles)}, {Name: "answer", Colour: 2, Points: cumulative(&answer.Quantiles)}}},
		"Tokens, logarithmic axis; from the quantile tables."); err != nil {
		return b, err
	}
	if err := b.draw(chart.Chart{ID: "density", Title: "Which lengths are common", XLog: true, YShare: true,
		Desc:  "Share of requests by prompt and answer tokens, forty bins of equal width on a logarithmic axis.",
		Lines: []chart.Series{{Name: "prompt", Colour: 1, Points: density(&in.Quantiles)}, {Name: "answer", Colour: 2, Points: density(&answer.Quantiles)}}},
		"Share of requests in each of forty bins of tokens, of equal width on the logarithmic axis."); err != nil {
		return b, err
	}
	b.Table = &table{Head: append(words("tokens"), append(numbers("mean", "p50", "p90", "p95", "p99", "max"), words("source")...)...)}
	b.lengths("prompt", in)
	b.lengths("answer", answer)
	for i := range s.Workload.Jobs {
		j := &s.Workload.Jobs[i]
		for _, x := range []struct {
			name string
			l    *spec.Length
		}{{"prompt", j.Input}, {"answer", j.Output}} {
			if x.l != nil {
				b.lengths(x.name+", job "+j.Name, x.l)
			}
		}
	}
	b.limits("prompts", in)
	b.limits("answers", answer)
	return b, nil
}

func (b *block) lengths(name string, l *spec.Length) {
	row := append(words(name), numbers(Tokens(float64(l.Mean.Value)))...)
	for _, p := range []spec.Num{0.5, 0.9, 0.95, 0.99, 1} {
		row = append(row, numbers(Tokens(Quantile(&l.Quantiles, p)))...)
	}
	b.add(append(row, words(by(l.Quantiles.Provenance))...))
}

// limits says what cuts lengths off, and how near a formula comes to them.
func (b *block) limits(name string, l *spec.Length) {
	if c := l.Cap; c != nil {
		b.Notes = append(b.Notes, fmt.Sprintf("%s of the %s run into a limit at %s tokens.", percent(float64(c.Share)), name, Tokens(float64(c.Value))))
	}
	if c := l.Censored; c != nil && c.Value > 0 {
		b.Notes = append(b.Notes, fmt.Sprintf("%s of the %s were cut by max_tokens.", percent(float64(c.Value)), name))
	}
	var best *spec.Family
	for i := range l.Families {
		if f := &l.Families[i]; f.Label != "assumed" && (best == nil || f.BIC < best.BIC) {
			best = f
		}
	}
	if best != nil {
		b.Notes = append(b.Notes, fmt.Sprintf("Of the formulas, %s fits the %s best (KS %.3f, %s); synthetic traffic is drawn from the table, not from it.", best.Name, name, float64(best.KS), best.Label))
	}
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

// dependence draws the answers of prompts by their length.
func dependence(l *spec.Lengths) (block, error) {
	b := block{Title: "Whether long prompts get long answers"}
	d := l.Dependence
	if d == nil {
		return b, nil
	}
	tv, noise := float64(d.TV), float64(d.Noise)
	switch {
	case tv <= float64(1.5*noise):
		b.Lead = "Within chance, how long an answer is does not depend on how long its prompt is."
	case tv <= noise+0.05:
		b.Lead = "How long an answer is depends little on how long its prompt is."
	default:
		b.Lead = "How long an answer is depends on how long its prompt is: drawing the two apart would make another workload."
	}
	b.add(row("distance from independence", fmt.Sprintf("%.2f", tv), fmt.Sprintf("0 to 1 (total variation on ranks); chance alone %.2f; %s", noise, by(d.Provenance))))
	if n := l.Spearman; n != nil {
		b.add(row("rank correlation (Spearman)", fmt.Sprintf("%.2f", float64(n.Value)), "−1 to 1; near 0 does not mean independent"))
	}
	if l.Joint == nil || len(l.Joint.Strata) < 2 {
		return b, nil
	}
	var mid, high []chart.XY
	for i := range l.Joint.Strata {
		t := &l.Joint.Strata[i]
		of := spec.Table{P: t.P, Values: t.Output}
		x := max(float64(t.Upto), 1)
		mid, high = append(mid, chart.XY{X: x, Y: Quantile(&of, 0.5)}), append(high, chart.XY{X: x, Y: Quantile(&of, 0.9)})
	}
	return b, b.draw(chart.Chart{ID: "joint", Title: "Answer tokens by prompt length", XLog: true, Desc: "Median and 90th percentile of answer tokens for ten groups of prompts by length.",
		Lines: []chart.Series{{Name: "p90", Colour: 2, Dots: true, Points: high}, {Name: "median", Colour: 1, Dots: true, Points: mid}}},
		fmt.Sprintf("%d groups of prompts by length, each at its longest prompt (tokens, logarithmic axis).", len(mid)))
}

// drift sets the halves of the log side by side.
func drift(l *spec.Lengths) block {
	b := block{Title: "Whether the mix held over the log"}
	d := l.Drift
	if d == nil {
		return b
	}
	in, out := float64(d.InputKS) > float64(d.InputNoise), float64(d.OutputKS) > float64(d.OutputNoise)
	switch {
	case in && out:
		b.Lead = fmt.Sprintf("It did not: from the first half of the log to the second, prompts became %s and answers %s on average. A test of the whole mixes both.", change(d.InputRatio), change(d.OutputRatio))
	case in:
		b.Lead = fmt.Sprintf("Answers did; prompts became %s on average from the first half of the log to the second.", change(d.InputRatio))
	case out:
		b.Lead = fmt.Sprintf("Prompts did; answers became %s on average from the first half of the log to the second.", change(d.OutputRatio))
	default:
		b.Lead = "It did: the two halves of the log have the same lengths, within chance."
	}
	b.Table = &table{Head: append(words("second half against first"), append(numbers("mean", "KS distance", "chance, p95"), words("source")...)...)}
	b.add(append(words("prompts"), append(numbers(signed(d.InputRatio), fmt.Sprintf("%.3f", float64(d.InputKS)), fmt.Sprintf("%.3f", float64(d.InputNoise))), words(by(d.Provenance))...)...),
		append(words("answers"), append(numbers(signed(d.OutputRatio), fmt.Sprintf("%.3f", float64(d.OutputKS)), fmt.Sprintf("%.3f", float64(d.OutputNoise))), words(by(d.Provenance))...)...))
	return b
}

// change says a ratio of means in words.
func change(r spec.Num) string {
	switch p := math.Round(100 * (float64(r) - 1)); {
	case p > 0:
		return fmt.Sprintf("%.0f %% longer", p)
	case p < 0:
		return fmt.Sprintf("%.0f %% shorter", -p)
	}
	return "no longer, yet otherwise spread"
}

func signed(r spec.Num) string { return fmt.Sprintf("%+.1f %%", 100*(float64(r)-1)) }

// classes are the lengths by model and adapter, and between clients.
func classes(s *spec.Spec) block {
	l := &s.Workload.Lengths
	b := block{Title: "Whether models and clients differ"}
	if n := l.Between; n != nil {
		b.Lead = fmt.Sprintf("Which client sends it explains %s of the variance of prompt lengths and %s of that of answers (%s clients); the rest lies within clients.",
			percent(float64(n.Input)), percent(float64(n.Output)), Tokens(float64(n.N)))
	}
	if len(l.Classes) > 0 {
		b.Table = &table{Head: append(words("tokens of"), append(numbers("requests", "prompt p50", "p95", "answer p50", "p95"), words("source")...)...)}
	}
	for i := range l.Classes {
		c := &l.Classes[i]
		b.add(append(words(c.Kind+" "+c.Alias), append(numbers(Tokens(float64(c.N)), Tokens(Quantile(&c.Input, 0.5)), Tokens(Quantile(&c.Input, 0.95)), Tokens(Quantile(&c.Output, 0.5)), Tokens(Quantile(&c.Output, 0.95))), words(string(c.From))...)...))
	}
	if n := l.Between; n != nil && len(l.Classes) == 0 {
		b.Table = &table{Head: append(words("share of the variance that lies between clients"), append(numbers(""), words("", "source")...)...)}
		b.add([]cell{{Text: "prompt tokens"}, {Text: percent(float64(n.Input)), Number: true}, bar(float64(n.Input)), {Text: by(n.Provenance)}},
			[]cell{{Text: "answer tokens"}, {Text: percent(float64(n.Output)), Number: true}, bar(float64(n.Output)), {Text: by(n.Provenance)}})
	}
	return b
}
