package page

import (
	"fmt"
	"slices"

	"reprise/fit/chart"
	"reprise/trace/spec"
)

func prefixSection(s *spec.Spec) (section, error) {
	p := &s.Workload.Prefix
	out := section{Title: "Prefix sharing", Notes: p.Notes}
	out.keep(hits(p))
	out.keep(same(p))
	out.keep(brokenBlock(p))
	b, err := cache(p)
	if err != nil {
		return out, err
	}
	out.keep(b)
	out.keep(kinds(p))
	return out, nil
}

// tokensHit is the hit rate of prompt tokens, nil where it is not known.
func tokensHit(p *spec.Prefix) *spec.HitRate {
	for i := range p.HitRates {
		if p.HitRates[i].Name == "tokens" {
			return &p.HitRates[i]
		}
	}
	return nil
}

// hits are the hit rates of a cache without limit, each with what it divides by.
func hits(p *spec.Prefix) block {
	b := block{Title: "What a prefix cache could hit at most"}
	if h := tokensHit(p); h != nil {
		b.Lead = fmt.Sprintf("A cache without limit finds %s of the prompt tokens in earlier prompts. Rates that divide by something else do not compare.", percent(float64(h.Value)))
	} else if n := p.ShareRequests; n != nil {
		b.Lead = fmt.Sprintf("%s of the requests begin as an earlier one does.", percent(float64(n.Value)))
	}
	for _, h := range p.HitRates {
		b.add([]cell{{Text: rateOf(h)}, {Text: percent(float64(h.Value)), Number: true}, bar(float64(h.Value)), {Text: of(h.Number)}})
	}
	for _, x := range []struct {
		name string
		n    *spec.Number
	}{{"requests, by a first block or more", p.ShareRequests}, {"requests, beyond the common beginning", p.ShareBeyond}} {
		if n := x.n; n != nil && (n != p.ShareBeyond || p.Parts()) {
			b.add([]cell{{Text: x.name}, {Text: percent(float64(n.Value)), Number: true}, bar(float64(n.Value)), {Text: of(*n)}})
		}
	}
	if b.Table != nil {
		b.Table.Head = append(words("share that hits, of"), append(numbers(""), words("", "source")...)...)
		b.Notes = append(b.Notes, fmt.Sprintf("Counted in blocks of %d tokens.", p.BlockTokens))
	}
	return b
}

// rateOf names a hit rate by what it is a share of.
func rateOf(h spec.HitRate) string {
	switch h.Name {
	case "tokens":
		return "prompt tokens"
	case "full_block_tokens":
		return "prompt tokens, hits in whole blocks only"
	case "mean_of_requests":
		return "prompt tokens of a request, mean over requests"
	}
	return h.Denominator
}

// same is what prompts have in common byte for byte.
func same(p *spec.Prefix) block {
	b := block{Title: "Whether the common beginning is byte-identical"}
	if len(p.Identical)+len(p.Roots) > 0 {
		b.Table = &table{Head: append(words("prompts"), append(numbers("tokens in common", "have it"), words("", "source")...)...)}
	}
	line := func(name string, n, share spec.Num, how string) {
		b.add([]cell{{Text: name}, {Text: Tokens(float64(n)), Number: true}, {Text: percent(float64(share)), Number: true}, bar(float64(share)), {Text: how}})
	}
	for _, c := range p.Identical {
		if c.Kind == spec.KindAll {
			b.Lead = "No beginning is common to half of the prompts or more."
			if c.Tokens > 0 {
				b.Lead = fmt.Sprintf("It is: %s of the prompts begin with the same %s tokens.", percent(float64(c.Share)), Tokens(float64(c.Tokens)))
			}
		}
		name, how := "of "+c.Kind+" "+c.Alias, "whole blocks; "+by(c.Provenance)
		if c.Kind == spec.KindAll {
			name = "of all"
		}
		if c.Exact {
			how = "exact to the token; " + by(c.Provenance)
		}
		line(name, c.Tokens, c.Share, how)
	}
	for _, r := range p.Roots {
		if slices.ContainsFunc(p.Identical, func(c spec.CommonPrefix) bool { return c.Kind == spec.KindAll && c.Share == r.Share }) {
			continue // the same beginning, in whole blocks
		}
		line("a shared beginning", r.Tokens, r.Share, by(r.Provenance))
	}
	if b.Lead == "" && len(p.Roots) > 0 {
		b.Lead = fmt.Sprintf("%s of the prompts begin with the same %s tokens.", percent(float64(p.Roots[0].Share)), Tokens(float64(p.Roots[0].Tokens)))
	}
	return b
}

// brokenBlock are the prefixes that do not hit, and what would mend them.
func brokenBlock(p *spec.Prefix) block {
	b := block{Title: "What breaks the prefix"}
	all := p.AllBroken()
	if len(all) == 0 {
		return b
	}
	sum, saved := 0.0, 0.0
	b.Table = &table{Head: append(words("field"), append(numbers("requests"), append(words(""), append(numbers("shared now", "if it moved", "gained"), words("source")...)...)...)...)}
	for _, x := range all {
		place := "at token "
		if x.Behind {
			place = "then at token "
		} else {
			sum += float64(x.Share)
		}
		saved += float64(x.Share) * x.Gain()
		b.add([]cell{{Text: place + Tokens(float64(x.At))}, {Text: percent(float64(x.Share)), Number: true}, bar(float64(x.Share)), {Text: Tokens(float64(x.Now)), Number: true},
			{Text: Tokens(float64(x.Would)), Number: true}, {Text: "+" + Tokens(x.Gain()), Number: true}, {Text: by(x.Provenance)}})
	}
	b.Warn = append(b.Warn, fmt.Sprintf("%s of the requests have a long stretch in common with others and do not share it with most of them, since a field that changes (a date, an id) stands before it. Moving %s behind its stretch would share about %s tokens more a request, over all requests.",
		percent(sum), fieldsOf(len(all)), Tokens(saved)))
	b.Notes = append(b.Notes, "Tokens from a prompt's beginning; means over the requests with that field. Each request counts for one field; one that follows with \"then\" stands behind the field before it, in the same requests, and gains what moving both adds.")
	return b
}

func fieldsOf(n int) string {
	if n == 1 {
		return "it"
	}
	return fmt.Sprintf("each of the %d fields", n)
}

// cache is the hit rate by size, and how long blocks wait to be used again.
func cache(p *spec.Prefix) (block, error) {
	b := block{Title: "How large a cache must be"}
	if n := len(p.Curve); n > 0 {
		first, last := p.Curve[0], p.Curve[n-1]
		b.Lead = fmt.Sprintf("On one replica, room for %s tokens hits %s of the prompt tokens, room for %s hits %s.", size(float64(first.CapacityTokens)), percent(float64(first.Tokens)), size(float64(last.CapacityTokens)), percent(float64(last.Tokens)))
		b.Table = &table{Head: append(words("cache, tokens"), append(numbers("hits"), words("")...)...)}
		for _, c := range p.Curve {
			b.add([]cell{{Text: size(float64(c.CapacityTokens))}, {Text: percent(float64(c.Tokens)), Number: true}, bar(float64(c.Tokens))})
		}
		b.Notes = append(b.Notes, "Least recently used goes first; requests in order of arrival, whole prompts stored at arrival: an upper bound for requests that run at the same time.")
	}
	if t := p.ReuseTimes; t != nil {
		b.Notes = append(b.Notes, fmt.Sprintf("A block that is used again was last used %s before in the median; 90 %% of such uses come within %s.", Seconds(Quantile(t, 0.5)), Seconds(Quantile(t, 0.9))))
	}
	if len(p.Curve) < 2 {
		return b, nil
	}
	var points []chart.XY
	for _, c := range p.Curve {
		points = append(points, chart.XY{X: float64(c.CapacityTokens) / 1e6, Y: float64(c.Tokens)})
	}
	return b, b.draw(chart.Chart{ID: "cache", Title: "Hit rate by size of the prefix cache", XLog: true, YShare: true, XUnit: " M", Desc: "Share of prompt tokens that an LRU cache of so many million tokens hits.",
		Lines: []chart.Series{{Name: "prompt tokens", Colour: 1, Dots: true, Points: points}}}, "Million tokens of cache on one replica, logarithmic axis.")
}

// size writes a number of tokens in millions or thousands.
func size(v float64) string {
	if v >= 1e6 {
		return fmt.Sprintf("%.3g M", v/1e6)
	}
	return fmt.Sprintf("%.3g k", v/1e3)
}

// kinds sets hits on prompt tokens beside those on answers that come back.
func kinds(p *spec.Prefix) block {
	b := block{Title: "What a replay cannot hit"}
	g := p.Generated
	h := tokensHit(p)
	if g == nil || h == nil {
		return b
	}
	b.Lead = fmt.Sprintf("At most %s of all hits are on answers that the engine wrote and the next turn sends back. A replay gets other answers, so it misses these.", percent(float64(g.Share)))
	b.Table = &table{Head: append(words("share of prompt tokens"), append(numbers(""), words("", "source")...)...)}
	more := max(float64(g.HitRate)-float64(h.Value), 0)
	for _, x := range []struct {
		name  string
		v     float64
		where string
	}{{"hits on earlier prompts", float64(h.Value), of(h.Number)}, {"hits on answers, at most", more, by(g.Provenance)}, {"no hit", max(1-float64(h.Value)-more, 0), "the rest"}} {
		b.add([]cell{{Text: x.name}, {Text: percent(x.v), Number: true}, bar(x.v), {Text: x.where}})
	}
	b.Notes = append(b.Notes, "Turns are known by "+identity(g.By)+".")
	return b
}
