package report

import (
	"fmt"
	"math"

	"reprise/replay/scrape"
)

// Server is what the server's own metrics say of the run, to stand beside the
// client's numbers. Nil is what it does not tell.
type Server struct {
	Engine   string       `json:"engine"`
	Scrapes  int          `json:"scrapes"`
	Seconds  float64      `json:"seconds"` // from the first scrape to the last
	TTFT     *ServerTimes `json:"ttft,omitempty"`
	Queue    *ServerTimes `json:"queue,omitempty"`
	Hits     *int64       `json:"prefix_cache_hit_tokens"`
	Queries  *int64       `json:"prefix_cache_query_tokens"`
	HitRate  *float64     `json:"prefix_cache_hit_rate"`
	Prompt   *int64       `json:"prompt_tokens"`
	Output   *int64       `json:"generated_tokens"`
	Requests *int64       `json:"requests"`
	Preempts *int64       `json:"preemptions"`
	Running  *int64       `json:"most_running"`
	Waiting  *int64       `json:"most_waiting"`
	KVUsage  *float64     `json:"most_kv_usage"`
	PrefillS *float64     `json:"prompt_seconds,omitempty"` // of computing prompts, where the server sums them
	Blocks   int64        `json:"cache_block_tokens"`       // 0 when not told
}

// ServerTimes are percentiles of a histogram of the server's. Each lies in a
// bucket, so it is known to the bucket's bounds.
type ServerTimes struct {
	N   int64  `json:"n"`
	P50 Within `json:"p50"`
	P99 Within `json:"p99"`
}

// Within are bounds: above OverMS, at most ToMS (nil: beyond the last bucket).
type Within struct {
	OverMS float64  `json:"over_ms"`
	ToMS   *float64 `json:"to_ms"`
}

// server turns what the metrics say into figures.
func server(m *scrape.Summary) *Server {
	out := &Server{Engine: m.Engine, Scrapes: m.Scrapes, Seconds: m.Seconds, TTFT: serverTimes(m.TTFT), Queue: serverTimes(m.Queue),
		Hits: whole(m.Hits), Queries: whole(m.Queries), Prompt: whole(m.Prompt), Output: whole(m.Output), Requests: whole(m.Requests),
		Preempts: whole(m.Preempts), Running: whole(m.Running), Waiting: whole(m.Waiting), KVUsage: m.KVUsage, PrefillS: m.PrefillS, Blocks: m.BlockTokens}
	if out.Hits != nil && out.Queries != nil {
		out.HitRate = ratio(*out.Hits, *out.Queries)
	}
	return out
}

func whole(v *float64) *int64 {
	if v == nil {
		return nil
	}
	n := int64(math.Round(*v))
	return &n
}

func serverTimes(t *scrape.Times) *ServerTimes {
	if t == nil || t.N == 0 {
		return nil
	}
	in := func(p float64) Within {
		s, _ := t.At(p)
		w := Within{OverMS: s.LoS * 1000}
		if !math.IsInf(s.HiS, 1) {
			hi := s.HiS * 1000
			w.ToMS = &hi
		}
		return w
	}
	return &ServerTimes{N: t.N, P50: in(50), P99: in(99)}
}

func (w Within) text() string {
	switch {
	case w.ToMS == nil:
		return "over " + msNumber(w.OverMS)
	case w.OverMS == 0:
		return "≤ " + msNumber(*w.ToMS)
	}
	return msNumber(w.OverMS) + " to " + msNumber(*w.ToMS)
}

// serverCells sets the server's figures beside the client's; only the header
// when there is nothing to say.
func (s *Summary) serverCells() [][]string {
	out := [][]string{{"Server", "by its metrics", "by the client "}}
	if s.Server == nil {
		out[0][1] = "by its headers"
	}
	add := func(name, value, note string) { out = append(out, []string{name, value, note}) }
	s.statedCells(add)
	v := s.Server
	if v == nil {
		return out
	}
	if t := v.TTFT; t != nil {
		ours := s.latency("ttft", "write_end")
		add("TTFT p50, ms", t.P50.text(), "from sending "+or(ours.percentile(50), "too few"))
		add("TTFT p99, ms", t.P99.text(), "from sending "+or(ours.percentile(99), "too few"))
	}
	if q := v.Queue; q != nil {
		add("Queue time p50, ms", q.P50.text(), "")
		add("Queue time p99, ms", q.P99.text(), plural(q.N, "request"))
	}
	if v.HitRate != nil {
		expected := s.Cache.Expected
		add("Prefix cache hit rate", shareText(v.HitRate), fmt.Sprintf("%s by usage; %s expected", shareText(s.Cache.Measured), shareText(&expected)))
	}
	if v.Blocks > 0 {
		add("Prefix cache block, tokens", count(v.Blocks), "")
	}
	counts := func(name string, n *int64, note string) {
		if n != nil {
			add(name, count(*n), note)
		}
	}
	if v.PrefillS != nil {
		add("Computing prompts, s", fmt.Sprintf("%.3g", *v.PrefillS), "in all, by the server's own sum")
	}
	counts("Prompt tokens", v.Prompt, count(s.Tokens.InAsked.Got)+" by usage of measured answers")
	counts("Generated tokens", v.Output, count(s.Tokens.OutAsked.Got)+" "+s.Tokens.OutAsked.source()+" of measured answers")
	counts("Requests", v.Requests, count(s.Load.OK)+" answered and measured")
	counts("Most running at once", v.Running, count(s.Load.PeakInFlight)+" in flight")
	counts("Most waiting at once", v.Waiting, "")
	counts("Preemptions", v.Preempts, "")
	if v.KVUsage != nil {
		add("KV cache in use, most", shareText(v.KVUsage), "")
	}
	return out
}

// serverTitle says where the server's figures are from.
func (s *Summary) serverTitle() string {
	if s.Server == nil {
		return "Server, by the headers of its answers"
	}
	return "Server, by its own metrics (ms within bucket bounds)"
}

// serverPage is serverCells, nil when there is nothing to say.
func (s *Summary) serverPage() [][]string {
	if cells := s.serverCells(); len(cells) > 1 {
		return cells
	}
	return nil
}
