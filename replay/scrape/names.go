package scrape

import "strings"

// Role is what a metric means here, whatever the server calls it.
type Role uint8

// The roles. TTFT, Queue and Gap are histograms in seconds; Running, Waiting, KVUsage
// and HitRate are gauges; the rest count from the server's start.
const (
	None     Role = iota
	TTFT          // time to first token
	Queue         // time before a request runs
	Gap           // time between tokens
	Running       // requests in the batch
	Waiting       // requests that wait
	KVUsage       // share of the KV cache in use, 0 to 1
	HitRate       // share of prompt tokens found in the cache lately, 0 to 1
	Hits          // prompt tokens found in the prefix cache
	Queries       // prompt tokens looked up in it
	Prompt        // prompt tokens
	Output        // tokens generated
	Requests      // requests that ended well
	Preempts      // requests put back
	Config        // of the cache: its block size is a label
	Computed      // prompt tokens computed: those not found in a cache
	Prefill       // seconds spent on them
)

// Part is which series of a histogram a name is; Whole for anything else.
type Part uint8

// The parts.
const (
	Whole Part = iota
	Bucket
	Sum
	Count
)

// metric is a name of a server's and its role. Where a server has several of
// one role (an old name beside the new), the first of the list counts.
type metric struct {
	name string
	role Role
}

// known are the names, without _total. Sources: vllm/v1/metrics/loggers.py of
// 2026 and the names before it; docs.sglang.io, references/production_metrics;
// huggingface.co/docs/text-generation-inference, reference/metrics; llama.cpp,
// tools/server/README.md (it has no histograms: time to first token is known only
// as seconds spent on prompts).
func known() []metric {
	return []metric{
		{"vllm:time_to_first_token_seconds", TTFT}, {"vllm:request_queue_time_seconds", Queue},
		{"vllm:inter_token_latency_seconds", Gap}, {"vllm:time_per_output_token_seconds", Gap},
		{"vllm:num_requests_running", Running}, {"vllm:num_requests_waiting", Waiting},
		{"vllm:kv_cache_usage_perc", KVUsage}, {"vllm:gpu_cache_usage_perc", KVUsage},
		{"vllm:prefix_cache_hits", Hits}, {"vllm:gpu_prefix_cache_hits", Hits},
		{"vllm:prefix_cache_queries", Queries}, {"vllm:gpu_prefix_cache_queries", Queries},
		{"vllm:prompt_tokens", Prompt}, {"vllm:generation_tokens", Output},
		{"vllm:request_success", Requests}, {"vllm:num_preemptions", Preempts},
		{"vllm:cache_config_info", Config},

		{"sglang:time_to_first_token_seconds", TTFT}, {"sglang:queue_time_seconds", Queue},
		{"sglang:inter_token_latency_seconds", Gap}, {"sglang:time_per_output_token_seconds", Gap},
		{"sglang:num_running_reqs", Running}, {"sglang:num_queue_reqs", Waiting},
		{"sglang:token_usage", KVUsage}, {"sglang:cache_hit_rate", HitRate},
		{"sglang:cached_tokens", Hits}, {"sglang:prompt_tokens", Queries},
		{"sglang:generation_tokens", Output}, {"sglang:num_requests", Requests}, {"sglang:num_retracted_requests", Preempts},

		{"tgi_request_queue_duration", Queue}, {"tgi_batch_current_size", Running}, {"tgi_queue_size", Waiting},
		{"tgi_request_success", Requests},

		{"llamacpp:requests_processing", Running}, {"llamacpp:requests_deferred", Waiting},
		{"llamacpp:kv_cache_usage_ratio", KVUsage}, {"llamacpp:tokens_predicted", Output},
		{"llamacpp:prompt_tokens_cached", Hits}, {"llamacpp:prompt_tokens", Computed}, {"llamacpp:prompt_seconds", Prefill},
	}
}

// names finds roles; built by newNames, and then read only.
type names struct {
	role map[string]place
}

type place struct {
	metric
	order int
}

func newNames() *names {
	n := &names{role: map[string]place{}}
	for i, m := range known() {
		n.role[m.name] = place{m, i}
	}
	return n
}

// find returns the metric that a name of a series belongs to.
func (n *names) find(series string) (place, Part, bool) {
	base, part := series, Whole
	for _, s := range []struct {
		suffix string
		part   Part
	}{{"_bucket", Bucket}, {"_sum", Sum}, {"_count", Count}} {
		if cut, ok := strings.CutSuffix(base, s.suffix); ok {
			base, part = cut, s.part
			break
		}
	}
	if part == Whole {
		base = strings.TrimSuffix(base, "_total")
	}
	base = strings.TrimPrefix(base, "ray_")
	p, ok := n.role[base]
	if !ok { // behind collectors that take no colon
		for _, engine := range []string{"vllm", "sglang", "llamacpp"} {
			if rest, cut := strings.CutPrefix(base, engine+"_"); cut {
				p, ok = n.role[engine+":"+rest]
			}
		}
	}
	if histogram := p.role == TTFT || p.role == Queue || p.role == Gap; ok && histogram == (part == Whole) {
		return place{}, Whole, false
	}
	return p, part, ok
}

// RoleOf returns what a series of a server's metrics means here, None where
// nothing.
func RoleOf(series string) (Role, Part) {
	p, part, ok := newNames().find(series)
	if !ok {
		return None, Whole
	}
	return p.role, part
}

// engine is the server's kind by one of its metrics.
func engine(name string) string {
	for prefix, engine := range map[string]string{"vllm": "vLLM", "ray_vllm": "vLLM", "sglang": "SGLang", "tgi_": "TGI", "llamacpp": "llama.cpp"} {
		if strings.HasPrefix(name, prefix) {
			return engine
		}
	}
	return ""
}
