package scrape

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"reprise/replay"
)

// Span is a percentile of a histogram: it lies above LoS and at most at HiS,
// seconds. HiS is +Inf where it lies beyond the last bucket.
type Span struct{ LoS, HiS float64 }

// Times are the observations that a histogram took in the run.
type Times struct {
	N        int64
	buckets  []bucket
	Negative bool // the server began anew in the run: its counts fell
}

type bucket struct{ le, n float64 } // n cumulated

// At returns the percentile p in (0, 100], type 1; ok is false with nothing
// observed.
func (t *Times) At(p float64) (s Span, ok bool) {
	if t == nil || t.N == 0 {
		return Span{}, false
	}
	rank := math.Max(1, math.Ceil(float64(t.N)*p/100))
	for _, b := range t.buckets {
		if b.n >= rank {
			return Span{s.LoS, b.le}, true
		}
		s.LoS = b.le
	}
	return Span{s.LoS, math.Inf(1)}, true
}

// Summary is what the server's metrics say of a run. What it does not have is
// nil or empty.
type Summary struct {
	Engine        string
	Scrapes       int
	Seconds       float64 // from the first scrape to the last
	Before, After bool    // scraped before the clock began, and once all was over
	TTFT, Queue   *Times
	Hits, Queries *float64 // prompt tokens, in the run
	Prompt        *float64 // prompt tokens, in the run
	Output        *float64 // tokens generated, in the run
	Requests      *float64 // ended well, in the run
	Preempts      *float64
	Computed      *float64 // prompt tokens computed, in the run
	PrefillS      *float64 // seconds spent on them, in the run
	Running       *float64 // the most seen
	Waiting       *float64 //
	KVUsage       *float64 //
	BlockTokens   int64    // of the prefix cache, 0 when not told
	Restarted     bool     // a count fell: the server began anew
}

// series are the values of one metric, of all label sets, by instant.
type series struct {
	place
	byTime map[int64]float64
	ends   map[string][2]float64 // buckets: first and last, by le and labels
}

// Summarize takes the rows of a run, in order of time.
func Summarize(rows []replay.ServerRow) *Summary {
	if len(rows) == 0 {
		return nil
	}
	n, all := newNames(), map[Role]*series{}
	times := map[int64]bool{}
	var blocks int64
	for _, r := range rows {
		times[r.TNS] = true
		p, part, ok := n.find(r.Name)
		if !ok || part == Sum || part == Count {
			continue
		}
		s := all[p.role]
		if p.role == Config {
			size, _ := Label(r.Labels, "block_size")
			blocks, _ = strconv.ParseInt(size, 10, 32)
			continue
		}
		if s == nil || p.order < s.order { // a name of more weight
			s = &series{place: p, byTime: map[int64]float64{}, ends: map[string][2]float64{}}
			all[p.role] = s
		}
		if s.order == p.order {
			s.add(r, part)
		}
	}
	out := &Summary{Engine: engine(rows[0].Name), Scrapes: len(times), Before: rows[0].TNS < 0, BlockTokens: blocks}
	out.After = len(times) > 1
	out.Seconds = float64(rows[len(rows)-1].TNS-rows[0].TNS) / 1e9
	out.fill(all)
	return out
}

func (s *series) add(r replay.ServerRow, part Part) {
	if part == Bucket {
		e, ok := s.ends[r.Labels]
		if !ok {
			e[0] = r.Value
		}
		e[1] = r.Value
		s.ends[r.Labels] = e
		return
	}
	switch s.role {
	case KVUsage, HitRate:
		s.byTime[r.TNS] = max(s.byTime[r.TNS], r.Value)
	default:
		s.byTime[r.TNS] += r.Value
	}
}

func (out *Summary) fill(all map[Role]*series) {
	for role, to := range map[Role]**float64{Hits: &out.Hits, Queries: &out.Queries, Prompt: &out.Prompt, Output: &out.Output, Requests: &out.Requests, Preempts: &out.Preempts, Computed: &out.Computed, Prefill: &out.PrefillS} {
		if s := all[role]; s != nil {
			*to = out.grown(s)
		}
	}
	if out.Queries == nil && out.Hits != nil && out.Computed != nil { // llama.cpp counts either part
		sum := *out.Hits + *out.Computed
		out.Queries = &sum
	}
	if out.Prompt == nil && out.Queries != nil { // SGLang has one count for both
		out.Prompt = out.Queries
	}
	for role, to := range map[Role]**float64{Running: &out.Running, Waiting: &out.Waiting, KVUsage: &out.KVUsage} {
		if s := all[role]; s != nil {
			*to = s.most()
		}
	}
	for role, to := range map[Role]**Times{TTFT: &out.TTFT, Queue: &out.Queue} {
		if s := all[role]; s != nil {
			*to = s.times()
			out.Restarted = out.Restarted || (*to).Negative
		}
	}
}

// grown is by how much a count grew from the first scrape to the last.
func (out *Summary) grown(s *series) *float64 {
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for t := range s.byTime {
		lo, hi = min(lo, t), max(hi, t)
	}
	v := s.byTime[hi] - s.byTime[lo]
	if v < 0 {
		out.Restarted = true
		return nil
	}
	return &v
}

func (s *series) most() *float64 {
	v := 0.0
	for _, x := range s.byTime {
		v = max(v, x)
	}
	return &v
}

// times adds up the buckets of all label sets.
func (s *series) times() *Times {
	sum := map[float64]float64{}
	t := &Times{}
	for labels, e := range s.ends {
		le, ok := bound(labels)
		if !ok {
			continue
		}
		sum[le] += e[1] - e[0]
		t.Negative = t.Negative || e[1] < e[0]
	}
	if t.Negative {
		return t
	}
	for le, n := range sum {
		t.buckets = append(t.buckets, bucket{le, n})
	}
	slices.SortFunc(t.buckets, func(a, b bucket) int { return cmp.Compare(a.le, b.le) })
	if k := len(t.buckets); k > 0 {
		t.N = int64(t.buckets[k-1].n)
	}
	return t
}

// Add takes up what another run's metrics say: counts and observations add up,
// gauges are the most seen in either. What one of the two does not have is not
// known of both.
func (s *Summary) Add(o *Summary) {
	s.Scrapes += o.Scrapes
	s.Before, s.After, s.Restarted = s.Before && o.Before, s.After && o.After, s.Restarted || o.Restarted
	s.Seconds += o.Seconds
	s.TTFT, s.Queue = s.TTFT.with(o.TTFT), s.Queue.with(o.Queue)
	sum := func(a, b float64) float64 { return a + b }
	most := func(a, b float64) float64 { return max(a, b) }
	for _, p := range []struct {
		to   **float64
		from *float64
		join func(a, b float64) float64
	}{{&s.Hits, o.Hits, sum}, {&s.Queries, o.Queries, sum}, {&s.Prompt, o.Prompt, sum}, {&s.Output, o.Output, sum}, {&s.Requests, o.Requests, sum},
		{&s.Preempts, o.Preempts, sum}, {&s.Running, o.Running, most}, {&s.Waiting, o.Waiting, most}, {&s.KVUsage, o.KVUsage, most}} {
		if *p.to == nil || p.from == nil {
			*p.to = nil
			continue
		}
		v := p.join(**p.to, *p.from)
		*p.to = &v
	}
}

// with adds observations; nil where the buckets of the two are not the same.
func (t *Times) with(o *Times) *Times {
	if t == nil || o == nil || len(t.buckets) != len(o.buckets) {
		return nil
	}
	out := &Times{N: t.N + o.N, Negative: t.Negative || o.Negative}
	for i, b := range t.buckets {
		if b.le != o.buckets[i].le {
			return nil
		}
		out.buckets = append(out.buckets, bucket{b.le, b.n + o.buckets[i].n})
	}
	return out
}

// Cut returns the rows, in order of time, from the scrape nearest to one instant
// to the scrape nearest to another, ns; nil when that is one and the same.
func Cut(rows []replay.ServerRow, from, to int64) []replay.ServerRow {
	lo, hi := nearest(rows, from), nearest(rows, to)
	if lo >= hi {
		return nil
	}
	a := sort.Search(len(rows), func(i int) bool { return rows[i].TNS >= lo })
	b := sort.Search(len(rows), func(i int) bool { return rows[i].TNS > hi })
	return rows[a:b]
}

// nearest is the instant of the scrape nearest to another.
func nearest(rows []replay.ServerRow, at int64) int64 {
	if len(rows) == 0 {
		return 0
	}
	i := min(sort.Search(len(rows), func(i int) bool { return rows[i].TNS >= at }), len(rows)-1)
	if i > 0 && at-rows[i-1].TNS < rows[i].TNS-at {
		i--
	}
	return rows[i].TNS
}

// Has names the figures that the server gives, for a note.
func (s *Summary) Has() string {
	var has []string
	for _, f := range []struct {
		ok   bool
		name string
	}{{s.TTFT != nil, "TTFT"}, {s.Queue != nil, "queue time"}, {s.Hits != nil && s.Queries != nil, "cache hits"}, {s.Running != nil, "running and waiting"}, {s.KVUsage != nil, "KV usage"}, {s.PrefillS != nil, "prompt time"}} {
		if f.ok {
			has = append(has, f.name)
		}
	}
	return strings.Join(has, ", ")
}
