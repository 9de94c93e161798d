package mock

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/replay/mock/engine"
)

// metrics is the engine's statistics in Prometheus' text format under vLLM's
// names.
func (h *Handler) metrics() *answer {
	s, err := h.driver.Snapshot()
	if err != nil {
		return refusal(err).answer()
	}
	return textAnswer(http.StatusOK, "text/plain; version=1.0.0; charset=utf-8", exposition(&s, &h.cfg, h.driver.Zero()))
}

// exposition renders the statistics of a model's engine that began at zero, in
// the names, the order and the writing of a recorded vLLM 0.32.
func exposition(s *engine.Stats, cfg *Config, zero time.Time) string {
	e := expositor{labels: labels{{"engine", "0"}, {"model_name", cfg.Model}}, created: float64(zero.UnixMicro()) / 1e6}
	e.gauges(s)
	e.counters(s)
	e.histogram("request_prompt_tokens", "Number of prefill tokens processed.", s.Prompt)
	e.histogram("request_generation_tokens", "Number of generation tokens processed.", s.Generation)
	e.histogram("iteration_tokens_total", "Histogram of number of tokens per engine_step.", s.Iteration)
	e.histogram("request_max_num_generation_tokens", "Histogram of maximum number of requested generation tokens.", s.MaxGeneration)
	e.histogram("request_params_n", "Histogram of the n request parameter.", s.Choices)
	e.histogram("request_params_max_tokens", "Histogram of the max_tokens request parameter.", s.AskedTokens)
	e.histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", s.TTFT)
	e.histogram("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", s.ITL)
	e.histogram("request_time_per_output_token_seconds", "Histogram of time_per_output_token_seconds per request.", s.TPOT)
	e.histogram("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", s.E2E)
	e.histogram("request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", s.Queue)
	e.histogram("request_inference_time_seconds", "Histogram of time spent in RUNNING phase for request.", s.Inference)
	e.histogram("request_prefill_time_seconds", "Histogram of time spent in PREFILL phase for request.", s.Prefill)
	e.histogram("request_decode_time_seconds", "Histogram of time spent in DECODE phase for request.", s.Decode)
	e.histogram("request_num_preemptions", "Histogram of the number of preemptions of a request.", s.Preempted)
	e.histogram("request_prefill_kv_computed_tokens", "Histogram of new KV tokens computed during prefill (excluding cached tokens).", s.Computed)
	e.info(cfg)
	return e.out.String()
}

func (e *expositor) gauges(s *engine.Stats) {
	e.gauge("num_requests_running", "Number of requests in model execution batches.", float64(s.Running))
	e.gauge("num_requests_waiting", "Number of requests waiting to be processed.", float64(s.Waiting))
	e.family("num_requests_waiting_by_reason", "gauge", "Number of requests waiting to be processed, by reason.", "reason",
		sample{"capacity", float64(s.Waiting)}, sample{"deferred", 0})
	e.family("engine_sleep_state", "gauge", "Engine sleep state; awake = 0 means engine is sleeping; awake = 1 means engine is awake.", "sleep_state",
		sample{"awake", 1}, sample{"weights_offloaded", 0}, sample{"discard_all", 0})
	e.gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", s.KVUsage)
}

// info is what is known of the cache. The real one has some thirty labels more.
func (e *expositor) info(cfg *Config) {
	e.head("cache_config_info", "gauge", "Information of the LLMEngine CacheConfig")
	e.value("cache_config_info", labels{{"block_size", strconv.Itoa(engine.BlockTokens)}, {"engine", "0"},
		{"enable_prefix_caching", python(cfg.Law.PrefixCache)}, {"num_gpu_blocks", strconv.Itoa(cfg.Law.Blocks)}}, 1)
}

// python is a truth value as Python writes it.
func python(v bool) string {
	if v {
		return "True"
	}
	return "False"
}

func (e *expositor) counters(s *engine.Stats) {
	e.counter("prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens.", s.PrefixQueries)
	e.counter("prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", s.PrefixHits)
	e.counter("external_prefix_cache_queries", "External prefix cache queries from KV connector cross-instance cache sharing, in terms of number of queried tokens.", 0)
	e.counter("external_prefix_cache_hits", "External prefix cache hits from KV connector cross-instance cache sharing, in terms of number of cached tokens.", 0)
	e.counter("mm_cache_queries", "Multi-modal cache queries, in terms of number of queried items.", 0)
	e.counter("mm_cache_hits", "Multi-modal cache hits, in terms of number of cached items.", 0)
	e.counter("num_preemptions", "Cumulative number of preemption from the engine.", s.Preemptions)
	e.counter("prompt_tokens", "Number of prefill tokens processed.", s.PromptTokens)
	// A prompt's hits count on its admission, its tokens with its first one.
	hits := min(s.PrefixHits, s.PromptTokens)
	e.family("prompt_tokens_by_source_total", "counter", "Number of prompt tokens by source.", "source",
		sample{"local_compute", float64(s.PromptTokens - hits)}, sample{"local_cache_hit", float64(hits)}, sample{"external_kv_transfer", 0})
	e.counter("prompt_tokens_cached", "Number of cached prompt tokens.", hits)
	e.family("prompt_tokens_cached_by_source_total", "counter", "Number of cached prompt tokens by source.", "source",
		sample{"local_cache_hit", float64(hits)}, sample{"external_kv_transfer", 0})
	e.counter("generation_tokens", "Number of generation tokens processed.", s.GenerationTokens)
	var ends []sample
	for f := engine.Stop; int(f) < len(s.Ended); f++ {
		ends = append(ends, sample{f.String(), float64(s.Ended[f])})
	}
	ends = append(ends, sample{"error", 0}, sample{"repetition", 0})
	e.family("request_success_total", "counter", "Count of successfully processed requests.", "finished_reason", ends...)
	all := e.labels
	e.labels = all[1:] // of the server, not of an engine
	e.family("admission_rejections_total", "counter", "Count of requests refused on admission, by reason.", "reason",
		sample{"length", float64(s.Rejected.Length)}, sample{"queue", float64(s.Rejected.Queue)}, sample{"rate", float64(s.Rejected.Rate)})
	e.labels = all
}

// sample is a value of a family with a label of its own.
type sample struct {
	label string
	value float64
}

// labels are names and values.
type labels [][2]string

// String is the label set, in order of names, as Python's client writes it.
func (l labels) String() string {
	l = slices.Clone(l)
	slices.SortFunc(l, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	parts := make([]string, len(l))
	for i, p := range l {
		parts[i] = p[0] + `="` + labelValue(p[1]) + `"`
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// labelValue escapes a label's value as the format asks.
func labelValue(v string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(v)
}

// expositor writes metric families that share their labels.
type expositor struct {
	out     strings.Builder
	labels  labels
	created float64 // Unix seconds, of the series that count
}

func (e *expositor) head(name, kind, help string) {
	fmt.Fprintf(&e.out, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, kind)
}

func (e *expositor) value(name string, l labels, v float64) {
	fmt.Fprintf(&e.out, "vllm:%s%s %s\n", name, l, pythonFloat(v))
}

// with are the common labels and one more.
func (e *expositor) with(name, value string) labels {
	return append(slices.Clone(e.labels), [2]string{name, value})
}

func (e *expositor) family(name, kind, help, label string, samples ...sample) {
	e.head(name, kind, help)
	for _, s := range samples {
		e.value(name, e.with(label, s.label), s.value)
	}
	if base, ok := strings.CutSuffix(name, "_total"); ok && kind == "counter" {
		e.head(base+"_created", "gauge", help)
		for _, s := range samples {
			e.value(base+"_created", e.with(label, s.label), e.created)
		}
	}
}

// born is the series that says since when another counts.
func (e *expositor) born(name, help string) { e.gauge(name+"_created", help, e.created) }

func (e *expositor) gauge(name, help string, v float64) {
	e.head(name, "gauge", help)
	e.value(name, e.labels, v)
}

func (e *expositor) counter(name, help string, v int64) {
	e.head(name+"_total", "counter", help)
	e.value(name+"_total", e.labels, float64(v))
	e.born(name, help)
}

func (e *expositor) histogram(name, help string, h engine.Histogram) {
	e.head(name, "histogram", help)
	var n int64
	for i, c := range h.Counts {
		n += c
		le := math.Inf(1)
		if i < len(h.Bounds) {
			le = h.Bounds[i]
		}
		e.value(name+"_bucket", e.with("le", pythonFloat(le)), float64(n))
	}
	e.value(name+"_count", e.labels, float64(n))
	e.value(name+"_sum", e.labels, h.Sum)
	e.born(name, help)
}

// pythonFloat is a number as prometheus_client writes it: 1.0, 0.025, 1e+06,
// +Inf (floatToGoString of its utils.py).
func pythonFloat(v float64) string {
	if math.IsInf(v, 1) {
		return "+Inf"
	}
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) { // where Python's repr takes an exponent
		return strconv.FormatFloat(v, 'e', -1, 64)
	}
	s := strconv.FormatFloat(v, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	if dot := strings.IndexByte(s, '.'); v > 0 && dot > 6 {
		mantissa := s[:1] + "." + s[1:dot] + s[dot+1:]
		return fmt.Sprintf("%se+0%d", strings.TrimRight(mantissa, "0."), dot-1)
	}
	return s
}
