package fitlaw

import (
	"fmt"
	"iter"
	"slices"

	"reprise/replay"
	"reprise/replay/mock/engine"
	"reprise/replay/mock/simulate"
)

// scrape is one reading of a server's counters under vLLM's names, summed over
// labels.
type scrape struct {
	at     float64 // s
	values map[string]float64
}

// scrapes groups rows of server.parquet by their time.
func scrapes(rows iter.Seq2[replay.ServerRow, error]) ([]scrape, error) {
	var out []scrape
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		at := float64(r.TNS) / 1e9
		if len(out) == 0 || out[len(out)-1].at != at {
			out = append(out, scrape{at, map[string]float64{}})
		}
		out[len(out)-1].values[r.Name] += r.Value
	}
	return out, nil
}

// span is what happened between two scrapes.
type span struct {
	seconds, gaps, gapSum, firsts, firstSum, prompt float64
}

func between(a, b *scrape) span {
	d := func(name string) float64 { return b.values["vllm:"+name] - a.values["vllm:"+name] }
	return span{
		seconds: b.at - a.at, gaps: d("inter_token_latency_seconds_count"), gapSum: d("inter_token_latency_seconds_sum"),
		firsts: d("time_to_first_token_seconds_count"), firstSum: d("time_to_first_token_seconds_sum"),
		prompt: d("prompt_tokens_total") - d("prefix_cache_hits_total"),
	}
}

// FromMetrics estimates a law from a server's own metrics, scraped about once a
// second while its load changed: in each interval the mean gap between tokens
// is regressed on the streams that decoded (the sum of all gaps over the time,
// by Little's law) and on the prompt tokens computed a step. Context cannot be
// told from decodes there, so kv_token_us is 0 and decode_us holds both.
func FromMetrics(rows iter.Seq2[replay.ServerRow, error], o Options) (engine.Law, Report, error) {
	r := Report{Warnings: []string{"metrics tell means of intervals: no check against single requests, and kv_token_us is within decode_us"}, Taken: "metrics"}
	list, err := scrapes(rows)
	if err != nil {
		return engine.Law{}, r, err
	}
	var ms []moment
	var spans []span
	for i := 1; i < len(list); i++ {
		s := between(&list[i-1], &list[i])
		if s.seconds <= 0 || s.gaps < 5 || s.gapSum <= 0 || s.prompt < 0 {
			continue
		}
		streams := max(1, s.gapSum/s.seconds)
		spans = append(spans, s)
		ms = append(ms, moment{gap: s.gapSum / s.gaps * 1e6, x: [terms]float64{1, streams, 0, s.prompt * streams / s.gaps}})
	}
	if r.Gaps = len(ms); len(ms) < fewest {
		return engine.Law{}, r, fmt.Errorf("%d intervals with output tokens between scrapes are too few to fit a law, scrape at least %d", len(ms), fewest)
	}
	c := regress(ms)
	r.goodness(ms, &c)
	law := o.law(nil, &c)
	law.JitterSigma = spread(ms, &c)
	law.Output.Median = 1
	law.PrefixCache = list[len(list)-1].values["vllm:prefix_cache_hits_total"] > 0
	var rest []float64
	for i := range spans {
		s := &spans[i]
		if s.firsts > 0 {
			r.Requests += int(s.firsts)
			// On average a request waits half a step for its own to begin.
			step := ms[i].gap
			own := c[0] + float64(c[1]*(ms[i].x[1]-1)) + float64(c[3]*s.prompt/s.firsts)
			wait := step / 2 * min(1, s.gapSum/s.seconds)
			rest = append(rest, s.firstSum/s.firsts*1e6-own-wait)
		}
	}
	slices.Sort(rest)
	law.IngressUS = min(max(simulate.Quantile(rest, 0.5), 0), engine.MaxUS)
	if lo, hi := spreadOf(ms, 1); hi < 2*lo {
		r.Warnings = append(r.Warnings, fmt.Sprintf("between %.1f and %.1f streams decoded: what a batch costs is hardly to be seen, let the load change more", lo, hi))
	}
	return sixDigits(law), r, nil
}

// spreadOf is the 5 % and 95 % quantile of a term.
func spreadOf(ms []moment, term int) (lo, hi float64) {
	v := make([]float64, len(ms))
	for i := range ms {
		v[i] = ms[i].x[term]
	}
	slices.Sort(v)
	return simulate.Quantile(v, 0.05), simulate.Quantile(v, 0.95)
}
