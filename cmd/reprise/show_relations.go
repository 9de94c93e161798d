package main

import (
	"fmt"
	"io"
	"strings"

	"reprise/fit/page"
	"reprise/trace/spec"
)

// prefixTable is what prompts share, in an infinite cache but for the curve.
func prefixTable(w io.Writer, p *spec.Prefix) {
	var hits, roots []string
	for _, h := range p.HitRates {
		switch {
		case h.Name == "full_block_tokens":
			hits = append(hits, share(h.Number)+" in whole blocks only")
		case h.Denominator == "input tokens":
			hits = append(hits, share(h.Number)+" of "+h.Denominator)
		}
	}
	for _, r := range p.Roots {
		roots = append(roots, fmt.Sprintf("%s tokens%s of %.1f %%", page.Tokens(float64(r.Tokens)), stated(r.Confidence), 100*float64(r.Share)))
	}
	some := "what prompts share is not known: the log has neither their text nor prefix blocks"
	if p.ShareRequests != nil {
		some = share(*p.ShareRequests) + " of requests share a beginning" + stated(p.ShareRequests.Confidence)
	}
	if p.ShareBeyond != nil && p.Parts() {
		some += ", " + share(*p.ShareBeyond) + " more than the common one"
	}
	rows := [][2]string{{"blocks", fmt.Sprintf("of %d tokens; %s", p.BlockTokens, some)}}
	rows = append(rows, [2]string{"hit rate", strings.Join(hits, ", ")}, [2]string{"shared beginnings", few(roots)}, [2]string{"byte-identical", p.Exactly()})
	if g := p.Generated; g != nil {
		rows = append(rows, [2]string{"generated before", fmt.Sprintf("%.1f %% of hit tokens at most: a replay with other answers misses them", 100*float64(g.Share))})
	}
	screened(w, "prefix sharing (infinite cache)", rows...)
}

// share prints a share in per cent, with a star when it is assumed.
func share(n spec.Number) string {
	s := fmt.Sprintf("%.1f %%", 100*float64(n.Value))
	if n.From == spec.Assumed {
		s += "*"
	}
	return s
}

func sessionTable(w io.Writer, x *spec.Sessions) {
	if x == nil {
		return
	}
	count := fmt.Sprintf("%s, %s turns on average (p90 %s", number(x.Count), page.Short(float64(x.MeanTurns.Value)), page.Short(page.Quantile(&x.Turns, 0.9)))
	if x.MostTurns != nil {
		count += ", most " + number(*x.MostTurns)
	}
	count += "); " + share(x.ShareMultiple) + " have several"
	if x.Requests != nil {
		count += ", with " + share(*x.Requests) + " of the requests"
	}
	rows := [][2]string{{"told by " + x.Identity, count}}
	rows = append(rows, [2]string{"between turns", pauses(x)}, [2]string{"prompt grows", growth(x)})
	screened(w, "sessions", rows...)
}

// pauses are the medians and 90th percentiles of the times between turns.
func pauses(x *spec.Sessions) string {
	var out []string
	for _, t := range []struct {
		name string
		t    *spec.Table
	}{{"a person", x.ThinkHuman}, {"a tool", x.ThinkTool}, {"request to request", x.Between}} {
		if t.t != nil {
			out = append(out, fmt.Sprintf("%s %s (p90 %s)", t.name, page.Seconds(page.Quantile(t.t, 0.5)), page.Seconds(page.Quantile(t.t, 0.9))))
		}
	}
	return strings.Join(out, ", ")
}

func growth(x *spec.Sessions) string {
	var out []string
	if x.Growth != nil {
		out = append(out, fmt.Sprintf("by %s tokens a turn (p90 %s)", page.Tokens(page.Quantile(x.Growth, 0.5)), page.Tokens(page.Quantile(x.Growth, 0.9))))
	}
	if x.Compacted != nil {
		out = append(out, page.Shrank(x))
	}
	if x.Branched != nil {
		out = append(out, share(*x.Branched)+" of continued requests branch")
	}
	return strings.Join(out, "; ")
}

// featureTable is one line of shares, and one of who gets the requests.
func featureTable(w io.Writer, f *spec.Features) {
	var uses, names []string
	for _, x := range []struct {
		name string
		n    *spec.Number
	}{{"stream", f.Stream}, {"tools", f.Tools}, {"json schema", f.Schema}, {"several completions", f.Several}, {"chat", f.Chat}} {
		if x.n != nil {
			uses = append(uses, x.name+" "+share(*x.n)+stated(x.n.Confidence))
		}
	}
	for _, list := range [][]spec.Share{f.Models, f.Adapters} {
		for i := range list {
			names = append(names, list[i].Alias+" "+share(list[i].Number))
		}
	}
	if len(uses)+len(names) == 0 {
		return
	}
	screened(w, "features", [2]string{"requests with", strings.Join(uses, ", ")}, [2]string{"models, adapters", few(names)})
}
