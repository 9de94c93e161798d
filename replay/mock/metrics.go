package mock

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// metrics is the engine's statistics in Prometheus' text format under vLLM's
// names.
func (h *Handler) metrics() *answer {
	s, err := h.driver.snapshot()
	if err != nil {
		return refusal(err).answer()
	}
	return textAnswer(http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", exposition(&s, h.cfg.Model))
}

// exposition renders the statistics of a model's engine.
func exposition(s *Stats, model string) string {
	e := expositor{labels: fmt.Sprintf(`engine="0",model_name="%s"`, labelValue(model))}
	e.gauge("num_requests_running", "Number of requests in model execution batches.", float64(s.Running))
	e.gauge("num_requests_waiting", "Number of requests waiting to be processed.", float64(s.Waiting))
	e.gauge("kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", s.KVUsage)
	e.counter("prefix_cache_queries", "Prefix cache queries, in terms of number of queried tokens.", s.PrefixQueries)
	e.counter("prefix_cache_hits", "Prefix cache hits, in terms of number of cached tokens.", s.PrefixHits)
	e.counter("num_preemptions", "Cumulative number of preemptions.", s.Preemptions)
	e.counter("prompt_tokens", "Number of prefill tokens processed.", s.PromptTokens)
	e.counter("generation_tokens", "Number of generation tokens processed.", s.GenerationTokens)
	e.head("request_success_total", "counter", "Count of processed requests, by their end.")
	for f := Stop; f < finishes; f++ {
		e.value("request_success_total", fmt.Sprintf(`,finished_reason="%s"`, f), float64(s.Ended[f]))
	}
	e.head("admission_rejections_total", "counter", "Count of refused requests, by reason.")
	for _, r := range []struct {
		reason string
		n      int64
	}{{"length", s.Rejected.Length}, {"queue", s.Rejected.Queue}, {"rate", s.Rejected.Rate}} {
		e.value("admission_rejections_total", fmt.Sprintf(`,reason="%s"`, r.reason), float64(r.n))
	}
	e.histogram("time_to_first_token_seconds", "Histogram of time to first token in seconds.", s.TTFT)
	e.histogram("inter_token_latency_seconds", "Histogram of inter-token latency in seconds.", s.ITL)
	e.histogram("e2e_request_latency_seconds", "Histogram of e2e request latency in seconds.", s.E2E)
	e.histogram("request_queue_time_seconds", "Histogram of time spent in WAITING phase for request.", s.Queue)
	return e.out.String()
}

// labelValue escapes a label's value as the format asks.
func labelValue(v string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(v)
}

// expositor writes metric families that share their labels.
type expositor struct {
	out    strings.Builder
	labels string
}

func (e *expositor) head(name, kind, help string) {
	fmt.Fprintf(&e.out, "# HELP vllm:%s %s\n# TYPE vllm:%s %s\n", name, help, name, kind)
}

// value writes a sample; more are labels that begin with a comma.
func (e *expositor) value(name, more string, v float64) {
	fmt.Fprintf(&e.out, "vllm:%s{%s%s} %s\n", name, e.labels, more, strconv.FormatFloat(v, 'g', -1, 64))
}

func (e *expositor) gauge(name, help string, v float64) {
	e.head(name, "gauge", help)
	e.value(name, "", v)
}

func (e *expositor) counter(name, help string, v int64) {
	e.head(name+"_total", "counter", help)
	e.value(name+"_total", "", float64(v))
}

func (e *expositor) histogram(name, help string, h Histogram) {
	e.head(name, "histogram", help)
	var n int64
	for i, c := range h.Counts {
		n += c
		le := "+Inf"
		if i < len(h.Bounds) {
			le = strconv.FormatFloat(h.Bounds[i], 'g', -1, 64)
		}
		e.value(name+"_bucket", fmt.Sprintf(`,le="%s"`, le), float64(n))
	}
	e.value(name+"_sum", "", h.Sum)
	e.value(name+"_count", "", float64(n))
}
