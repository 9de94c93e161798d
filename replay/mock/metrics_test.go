package mock

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// promFamily is a metric family as the parser of this test reads it: by the text
// of the format's specification, knowing nothing of how it was written.
type promFamily struct {
	kind, help string
	samples    map[string]float64 // by name and labels as they stand
}

var sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{(?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"(?:,|\}))+)? (\S+)$`)

// parseProm reads an exposition. Samples must follow the TYPE of their family.
func parseProm(t *testing.T, text string) map[string]*promFamily {
	t.Helper()
	out := map[string]*promFamily{}
	var name string
	if !strings.HasSuffix(text, "\n") {
		t.Fatal("the last line does not end")
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if rest, ok := strings.CutPrefix(line, "# HELP "); ok {
			var help string
			name, help, _ = strings.Cut(rest, " ")
			if out[name] != nil {
				t.Fatalf("%s comes twice", name)
			}
			out[name] = &promFamily{help: help, samples: map[string]float64{}}
			continue
		}
		if rest, ok := strings.CutPrefix(line, "# TYPE "); ok {
			if out[name].kind, ok = strings.CutPrefix(rest, name+" "); !ok {
				t.Fatalf("%q behind the HELP of %s", line, name)
			}
			continue
		}
		m := sampleLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("not a sample: %q", line)
		}
		base := name
		if out[name].kind == "histogram" {
			for _, suffix := range []string{"_bucket", "_sum", "_count"} {
				if m[1] == name+suffix {
					base = m[1]
				}
			}
		}
		v, err := strconv.ParseFloat(m[3], 64)
		if m[1] != base || err != nil {
			t.Fatalf("%q under %s: %v", line, name, err)
		}
		if _, twice := out[name].samples[m[1]+m[2]]; twice {
			t.Fatalf("%q comes twice", line)
		}
		out[name].samples[m[1]+m[2]] = v
	}
	return out
}

const promLabels = `engine="0",model_name="mock"`

// checkHistogram holds what is true of every histogram, and returns its bounds
// as they are written.
func checkHistogram(t *testing.T, name string, f *promFamily) string {
	t.Helper()
	type bucket struct{ le, n float64 }
	var bounds []string
	var buckets []bucket
	for key, n := range f.samples {
		if rest, ok := strings.CutPrefix(key, name+`_bucket{engine="0",le="`); ok {
			le, _, _ := strings.Cut(rest, `"`)
			v, err := strconv.ParseFloat(le, 64)
			if err != nil {
				t.Fatal(err)
			}
			buckets = append(buckets, bucket{v, n})
		}
	}
	for range buckets { // in order of bounds
		at := 0
		for i, b := range buckets {
			if b.le < buckets[at].le {
				at = i
			}
		}
		bounds = append(bounds, strconv.FormatFloat(buckets[at].le, 'g', -1, 64))
		for _, b := range buckets {
			if b.n < buckets[at].n && b.le != math.Inf(1) && buckets[at].le != math.Inf(1) {
				t.Errorf("%s: bucket %g holds less than bucket %g", name, b.le, buckets[at].le)
			}
		}
		buckets[at].le = math.Inf(1)
		if len(bounds) == len(buckets) && f.samples[name+`_bucket{engine="0",le="+Inf",model_name="mock"}`] != f.samples[name+"_count{"+promLabels+"}"] {
			t.Errorf("%s: +Inf is not the count", name)
		}
		buckets[at].n = math.Inf(1)
	}
	if _, ok := f.samples[name+"_sum{"+promLabels+"}"]; !ok {
		t.Errorf("%s has no sum", name)
	}
	return strings.Join(bounds, " ")
}

// TestMetrics: names, kinds, labels and buckets are those of vLLM's loggers.py
// (V1, 2026), and the values those of two requests.
func TestMetrics(t *testing.T) {
	s, _ := serve(t)
	for range 2 {
		post(t, s.URL+"/v1/completions", `{"model":"mock","prompt":"`+strings.Repeat("a ", 40)+`","max_tokens":3,"ignore_eos":true}`)
	}
	families := parseProm(t, get(t, s.URL+"/metrics"))
	const (
		latency = "0.3 0.5 0.8 1 1.5 2 2.5 5 10 15 20 30 40 50 60 120 240 480 960 1920 7680 +Inf"
		gap     = "0.01 0.025 0.05 0.075 0.1 0.15 0.2 0.3 0.4 0.5 0.75 1 2.5 5 7.5 10 20 40 80 +Inf"
	)
	tokens := "1 2 5 10 20 50 100 200 500 1000 +Inf" // of a context of 1,024
	for name, want := range map[string]struct {
		kind, bounds string
		value        float64 // without labels of its own; a histogram's count
	}{
		"num_requests_running": {"gauge", "", 0}, "num_requests_waiting": {"gauge", "", 0}, "kv_cache_usage_perc": {"gauge", "", 0},
		"prefix_cache_queries_total": {"counter", "", 80}, "prefix_cache_hits_total": {"counter", "", 32},
		"external_prefix_cache_queries_total": {"counter", "", 0}, "external_prefix_cache_hits_total": {"counter", "", 0},
		"mm_cache_queries_total": {"counter", "", 0}, "mm_cache_hits_total": {"counter", "", 0},
		"num_preemptions_total": {"counter", "", 0}, "prompt_tokens_total": {"counter", "", 80}, "prompt_tokens_cached_total": {"counter", "", 32},
		"generation_tokens_total": {"counter", "", 6},
		"request_prompt_tokens":   {"histogram", tokens, 2}, "request_generation_tokens": {"histogram", tokens, 2},
		"request_max_num_generation_tokens": {"histogram", tokens, 2}, "request_params_max_tokens": {"histogram", tokens, 2},
		"request_prefill_kv_computed_tokens":    {"histogram", tokens, 2},
		"request_params_n":                      {"histogram", "1 2 5 10 20 +Inf", 2},
		"iteration_tokens_total":                {"histogram", "1 8 16 32 64 128 256 512 1024 2048 4096 8192 16384 +Inf", 6},
		"time_to_first_token_seconds":           {"histogram", "0.001 0.005 0.01 0.02 0.04 0.06 0.08 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 20 40 80 160 640 2560 +Inf", 2},
		"inter_token_latency_seconds":           {"histogram", gap, 4},
		"request_time_per_output_token_seconds": {"histogram", gap, 2},
		"e2e_request_latency_seconds":           {"histogram", latency, 2}, "request_queue_time_seconds": {"histogram", latency, 2},
		"request_inference_time_seconds": {"histogram", latency, 2}, "request_prefill_time_seconds": {"histogram", latency, 2}, "request_decode_time_seconds": {"histogram", latency, 2},
	} {
		name = "vllm:" + name
		f := families[name]
		if f == nil || f.kind != want.kind || f.help == "" {
			t.Errorf("%s: %+v", name, f)
			continue
		}
		key := name + "{" + promLabels + "}"
		if want.kind == "histogram" {
			key = name + "_count{" + promLabels + "}"
			if bounds := checkHistogram(t, name, f); bounds != want.bounds {
				t.Errorf("%s: buckets %s, want %s", name, bounds, want.bounds)
			}
		}
		if got, ok := f.samples[key]; !ok || got != want.value {
			t.Errorf("%s is %v, %v, want %v", key, got, ok, want.value)
		}
	}
	for key, want := range map[string]float64{
		`request_success_total{engine="0",finished_reason="length",model_name="mock"}`:                                                     2,
		`request_success_total{engine="0",finished_reason="stop",model_name="mock"}`:                                                       0,
		`prompt_tokens_by_source_total{engine="0",model_name="mock",source="local_compute"}`:                                               48,
		`prompt_tokens_by_source_total{engine="0",model_name="mock",source="local_cache_hit"}`:                                             32,
		`num_requests_waiting_by_reason{engine="0",model_name="mock",reason="capacity"}`:                                                   0,
		`engine_sleep_state{engine="0",model_name="mock",sleep_state="awake"}`:                                                             1,
		`admission_rejections_total{model_name="mock",reason="queue"}`:                                                                     0,
		`cache_config_info{block_size="16",enable_prefix_caching="True",engine="0",num_gpu_blocks="` + fmt.Sprint(fastLaw().Blocks) + `"}`: 1,
	} {
		name, _, _ := strings.Cut(key, "{")
		if got, ok := families["vllm:"+name].samples["vllm:"+key]; !ok || got != want {
			t.Errorf("%s is %v, %v, want %v", key, got, ok, want)
		}
	}
	prompt := families["vllm:request_prompt_tokens"].samples["vllm:request_prompt_tokens_sum{"+promLabels+"}"]
	steps := families["vllm:iteration_tokens_total"].samples["vllm:iteration_tokens_total_sum{"+promLabels+"}"]
	if prompt != 80 || steps != 86 {
		t.Errorf("sums: %v prompt tokens, %v in steps", prompt, steps)
	}
}

// TestPythonFloat: numbers are written as prometheus_client 0.2x writes them.
func TestPythonFloat(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", 2.5: "2.5", 0.001: "0.001", 16384: "16384.0", 100000: "100000.0", 1000000: "1e+06", 1234567: "1.234567e+06",
		math.Inf(1): "+Inf", 7.5e-5: "7.5e-05",
	} {
		if got := pythonFloat(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

func TestTokenize(t *testing.T) {
	s, _ := serve(t)
	for _, c := range []struct {
		body string
		code int
		has  string
	}{
		{`{"model":"mock","prompt":"one two three"}`, 200, `{"count":3,"max_model_len":1024,"tokens":[`},
		{`{"prompt":""}`, 200, `{"count":0,"max_model_len":1024,"tokens":[],"token_strs":null}`},
		// 3 of the prefix and 4 of the message, then the words.
		{`{"model":"mock","messages":[{"role":"user","content":"one two"}]}`, 200, `{"count":9,"max_model_len":1024,"tokens":[0,0,0,0,0,0,0,`},
		{`{"model":"other","prompt":"x"}`, 404, "does not exist"},
		{`{"model":"mock"}`, 400, "prompt"}, {`{"messages":[]}`, 400, `"code":400`}, {`{`, 400, `"code":400`},
	} {
		r, body := post(t, s.URL+"/tokenize", c.body)
		if r.StatusCode != c.code || !strings.Contains(body, c.has) {
			t.Errorf("%s: %d %s", c.body, r.StatusCode, body)
		}
	}
	// The count is the one that a request is charged.
	_, body := post(t, s.URL+"/v1/chat/completions", `{"model":"mock","max_tokens":1,"messages":[{"role":"user","content":"one two"}]}`)
	if !strings.Contains(body, `"prompt_tokens":9`) {
		t.Error(body)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", url, r.Status, err)
	}
	return string(data)
}

// TestMetricsLikeVLLM: every series of a recorded vLLM 0.32 is there, in its
// order, and none besides; but for those named here.
func TestMetricsLikeVLLM(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(vllmDir, "metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var real recorded
	if err := json.Unmarshal(data, &real); err != nil {
		t.Fatal(err)
	}
	s, _ := serve(t, func(c *Config) { c.Law.MaxModelLen, c.Law.Blocks = 4096, 4096 })
	keep := func(line string) bool {
		// Floating point operations are no part of the model, and the cache's
		// configuration is its own.
		return !strings.Contains(line, "estimated_") && !strings.HasPrefix(line, "vllm:cache_config_info") && line != ""
	}
	var want, got []string
	for line := range strings.SplitSeq(real.Body, "\n") {
		if keep(line) {
			want = append(want, line)
		}
	}
	for line := range strings.SplitSeq(series(get(t, s.URL+"/metrics")), "\n") {
		if keep(line) {
			got = append(got, line)
		}
	}
	if len(want) < 300 {
		t.Fatalf("the recording has %d series", len(want))
	}
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("series %d of %d and %d:\n got %q\nwant %q", i, len(got), len(want), at(got, i), at(want, i))
		}
	}
	r, err := http.Get(s.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if kind := r.Header.Get("Content-Type"); kind != real.Headers["Content-Type"] {
		t.Errorf("%q, want %q", kind, real.Headers["Content-Type"])
	}
}

func at(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
