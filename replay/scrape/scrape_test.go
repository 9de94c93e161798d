package scrape

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"reprise/replay"
)

func parse(t testing.TB, text string) (out []replay.ServerRow, err error) {
	t.Helper()
	err = Parse([]byte(text), func([]byte) bool { return true }, func(n, l []byte, v float64) {
		out = append(out, replay.ServerRow{Name: string(n), Labels: string(l), Value: v})
	})
	return out, err
}

// The example of the format's own documentation (prometheus/docs,
// instrumenting/exposition_formats).
const example = `# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
http_requests_total{method="post",code="400"}    3 1395066363000

# Escaping in label values:
msdos_file_access_time_seconds{path="C:\\DIR\\FILE.TXT",error="Cannot find file:\n\"FILE.TXT\""} 1.458255915e9

# Minimalistic line:
metric_without_timestamp_and_labels 12.47

# A weird metric from before the epoch:
something_weird{problem="division by zero"} +Inf -3982045

# A histogram, which has a pretty complex representation in the text format:
# HELP http_request_duration_seconds A histogram of the request duration.
# TYPE http_request_duration_seconds histogram
http_request_duration_seconds_bucket{le="0.05"} 24054
http_request_duration_seconds_bucket{le="+Inf"} 144320
http_request_duration_seconds_sum 53423
http_request_duration_seconds_count 144320
brace{a="}"} 1 # {trace="x"} 0.5
`

func TestParse(t *testing.T) {
	rows, err := parse(t, example)
	if err != nil || len(rows) != 10 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if r := rows[0]; r.Name != "http_requests_total" || r.Labels != `method="post",code="200"` || r.Value != 1027 {
		t.Errorf("%+v", r)
	}
	if v, ok := Label(rows[2].Labels, "error"); !ok || v != "Cannot find file:\n\"FILE.TXT\"" {
		t.Errorf("%q", v)
	}
	if v, _ := Label(rows[2].Labels, "path"); v != `C:\DIR\FILE.TXT` {
		t.Errorf("%q", v)
	}
	if !math.IsInf(rows[4].Value, 1) || rows[9].Labels != `a="}"` || rows[9].Value != 1 {
		t.Errorf("%+v %+v", rows[4], rows[9])
	}
	for _, bad := range []string{"{a=\"b\"} 1", "a{b=\"c\" 1", "a", "a b", "a 0x10", "1a 2", "<html>"} {
		if _, err := parse(t, bad+"\n"); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q was taken: %v", bad, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = Parse(data, func([]byte) bool { return true }, func(n, l []byte, v float64) {
			Label(string(l), "le")
			if len(n) == 0 || bytes.ContainsAny(n, "\n {") {
				t.Fatalf("name %q", n)
			}
		})
	})
}

func TestRoles(t *testing.T) {
	for name, want := range map[string]struct {
		role Role
		part Part
	}{
		"vllm:time_to_first_token_seconds_bucket": {TTFT, Bucket}, "vllm:request_queue_time_seconds_sum": {Queue, Sum},
		"vllm:num_requests_running": {Running, Whole}, "vllm:num_requests_waiting": {Waiting, Whole}, "vllm:kv_cache_usage_perc": {KVUsage, Whole},
		"vllm:prefix_cache_hits_total": {Hits, Whole}, "vllm:gpu_prefix_cache_queries_total": {Queries, Whole}, "ray_vllm_num_requests_running": {Running, Whole},
		"sglang:cached_tokens_total": {Hits, Whole}, "sglang:num_queue_reqs": {Waiting, Whole}, "sglang_token_usage": {KVUsage, Whole},
		"tgi_request_queue_duration_bucket": {Queue, Bucket}, "tgi_queue_size": {Waiting, Whole}, "tgi_batch_current_size": {Running, Whole},
		"vllm:num_requests_waiting_by_reason": {}, "vllm:time_to_first_token_seconds_created": {}, "vllm:prefix_cache_hits_created": {},
		"vllm:external_prefix_cache_hits_total": {}, "process_cpu_seconds_total": {}, "vllm:time_to_first_token_seconds": {},
	} {
		if role, part := RoleOf(name); role != want.role || part != want.part {
			t.Errorf("%s: %d %d", name, role, part)
		}
	}
}

// Every name of vLLM's that has a role stands in what vLLM 0.32 answered.
func TestRolesOfRecording(t *testing.T) {
	data, err := os.ReadFile("../../testdata/vectors/vllm-0.32/metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	var rec struct{ Body string }
	if err := json.Unmarshal(data, &rec); err != nil {
		t.Fatal(err)
	}
	seen := map[Role]bool{}
	for line := range strings.Lines(rec.Body) {
		if name, _, ok := strings.Cut(line, "{"); ok && line[0] != '#' {
			role, _ := RoleOf(name)
			seen[role] = true
		}
	}
	for _, r := range []Role{TTFT, Queue, Running, Waiting, KVUsage, Hits, Queries, Prompt, Output, Requests, Preempts} {
		if !seen[r] {
			t.Errorf("no series of the recording has the role %d", r)
		}
	}
}

// llama.cpp has no histograms, and counts cached prompt tokens apart from those
// that it computed.
func TestLlama(t *testing.T) {
	const text = `# HELP llamacpp:prompt_tokens_total Number of prompt tokens processed, excluding cached tokens
# TYPE llamacpp:prompt_tokens_total counter
llamacpp:prompt_tokens_total 100
llamacpp:prompt_tokens_cached_total 50
llamacpp:prompt_seconds_total 1.5
llamacpp:tokens_predicted_total 7
llamacpp:tokens_predicted_seconds_total 2
llamacpp:prompt_tokens_seconds 66.6
llamacpp:requests_processing 3
llamacpp:requests_deferred 1
llamacpp:n_tokens_max 40
`
	later := strings.NewReplacer("_total 100", "_total 400", "_total 50", "_total 950", "_total 1.5", "_total 4", "_total 7", "_total 27").Replace(text)
	s := twoScrapes(t, text, later)
	for name, v := range map[string]struct {
		got  *float64
		want float64
	}{"computed": {s.Computed, 300}, "hits": {s.Hits, 900}, "queries": {s.Queries, 1200}, "prompt": {s.Prompt, 1200}, "prefill": {s.PrefillS, 2.5},
		"output": {s.Output, 20}, "running": {s.Running, 3}, "waiting": {s.Waiting, 1}} {
		if v.got == nil || *v.got != v.want {
			t.Errorf("%s: %v, want %g", name, v.got, v.want)
		}
	}
	if s.Engine != "llama.cpp" || s.TTFT != nil {
		t.Errorf("%+v", s)
	}
}

// before and after are two scrapes with known differences: of 10 TTFTs 5 lie in
// (0.02, 0.04], 4 in (0.04, 0.06], 1 beyond the last bucket.
const before = `vllm:time_to_first_token_seconds_bucket{engine="0",le="0.02"} 100
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.04"} 100
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.06"} 100
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf"} 100
vllm:prefix_cache_queries_total{engine="0"} 1000
vllm:prefix_cache_queries_total{engine="1"} 50
vllm:prefix_cache_hits_total{engine="0"} 10
vllm:gpu_prefix_cache_hits_total{engine="0"} 10
vllm:num_requests_running{engine="0"} 1
vllm:num_requests_running{engine="1"} 2
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.5
vllm:cache_config_info{block_size="128",engine="0"} 1
`

var after = strings.NewReplacer(`le="0.04"} 100`, `le="0.04"} 105`, `le="0.06"} 100`, `le="0.06"} 109`, `le="+Inf"} 100`, `le="+Inf"} 110`,
	"} 1000\n", "} 1600\n", "} 50\n", "} 450\n", "hits_total{engine=\"0\"} 10\n", "hits_total{engine=\"0\"} 260\n")

func twoScrapes(t *testing.T, a, b string) *Summary {
	first, err := parse(t, a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := parse(t, b)
	if err != nil {
		t.Fatal(err)
	}
	for i := range first {
		first[i].TNS = -5
	}
	for i := range second {
		second[i].TNS = 9
	}
	return Summarize(append(first, second...))
}

func TestSummarize(t *testing.T) {
	s := twoScrapes(t, before, after.Replace(before))
	if s.Engine != "vLLM" || s.Scrapes != 2 || !s.Before || s.Restarted {
		t.Fatalf("%+v", s)
	}
	for p, want := range map[float64]Span{10: {0.02, 0.04}, 50: {0.02, 0.04}, 51: {0.04, 0.06}, 90: {0.04, 0.06}, 99: {0.06, math.Inf(1)}} {
		if got, ok := s.TTFT.At(p); !ok || got != want {
			t.Errorf("p%g: %v, want %v", p, got, want)
		}
	}
	if s.TTFT.N != 10 || *s.Queries != 1000 || *s.Hits != 250 || *s.Running != 3 || *s.KVUsage != 0.5 || s.BlockTokens != 128 || s.Queue != nil || s.Waiting != nil {
		t.Errorf("%+v", s)
	}
	if s := twoScrapes(t, after.Replace(before), before); !s.Restarted {
		t.Error("counts that fall were taken")
	}
	if _, ok := (*Times)(nil).At(50); ok || Summarize(nil) != nil {
		t.Error("nothing has a percentile")
	}
}

// In virtual time: a scrape before the clock, one a second, buckets in every
// tenth, and one after the end. A server that fails now and then costs only
// those scrapes.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		s := &Scraper{URL: "http://h/metrics", Client: &http.Client{Transport: round(func(*http.Request) *http.Response {
			if n++; n == 3 {
				return answer(500, "")
			}
			return answer(200, before)
		})}}
		name, err := s.Before(t.Context())
		if name != "vLLM" || err != nil {
			t.Fatal(name, err)
		}
		time.Sleep(3 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		var rows []replay.ServerRow
		done := make(chan error)
		timer := replay.NewTimer(time.Now())
		go func() {
			done <- s.Watch(ctx, timer, func(r replay.ServerRow) error { rows = append(rows, r); return nil })
		}()
		time.Sleep(20*time.Second + time.Millisecond)
		synctest.Wait()
		cancel()
		if err := <-done; err == nil || !strings.Contains(err.Error(), "1 scrapes of the metrics failed: the metrics answer HTTP 500") {
			t.Fatal(err)
		}
		at, buckets := map[int64]bool{}, map[int64]bool{}
		for _, r := range rows {
			at[r.TNS] = true
			if strings.Contains(r.Name, "_bucket") {
				buckets[r.TNS] = true
			}
		}
		if len(at) != 21 || len(buckets) != 4 || !at[-3e9] || !at[1e9] || at[2e9] || !buckets[20e9+1e6] {
			t.Fatalf("scrapes at %v, with buckets at %v", at, buckets)
		}
	})
}

// Where the clock's zero is to come, a scrape with buckets begins just before
// it, and none between Before and that.
func TestWatchScrapesJustBeforeTheStart(t *testing.T) {
	for in, want := range map[time.Duration]time.Duration{time.Hour: -lead, 5 * time.Second: -lead, lead / 2: -lead / 2, lead: -lead} {
		synctest.Test(t, func(t *testing.T) {
			s := &Scraper{URL: "http://h/metrics", Client: &http.Client{Transport: round(func(*http.Request) *http.Response { return answer(200, before) })}}
			if _, err := s.Before(t.Context()); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			buckets := map[int64]bool{}
			done := make(chan error)
			timer := replay.NewTimer(time.Now().Add(in))
			go func() {
				done <- s.Watch(ctx, timer, func(r replay.ServerRow) error {
					buckets[r.TNS] = buckets[r.TNS] || strings.Contains(r.Name, "_bucket")
					return nil
				})
			}()
			time.Sleep(in + 500*time.Millisecond)
			synctest.Wait()
			scrapes := 2
			if in <= lead { // Before was late enough
				scrapes = 1
			}
			if len(buckets) != scrapes || !buckets[-int64(in)] || !buckets[int64(want)] {
				t.Errorf("a start in %v: scrapes, with buckets or not, at %v", in, buckets)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
	// An end before the start is as soon as it is asked for.
	synctest.Test(t, func(t *testing.T) {
		s := &Scraper{URL: "http://h/metrics", Client: &http.Client{Transport: round(func(*http.Request) *http.Response { return answer(200, before) })}}
		if _, err := s.Before(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		timer := replay.NewTimer(time.Now().Add(time.Minute))
		err := s.Watch(ctx, timer, func(replay.ServerRow) error { return nil })
		if now := timer.Now(); err != nil || now != -59e9 {
			t.Errorf("%v, at %d ns", err, now)
		}
	})
}

type round func(*http.Request) *http.Response

func (f round) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func answer(code int, body string) *http.Response {
	w := httptest.NewRecorder()
	w.WriteHeader(code)
	w.WriteString(body)
	return w.Result()
}

func TestBeforeRefuses(t *testing.T) {
	for body, want := range map[string]string{"": "none of vLLM's", "<html>": "not a sample", "go_goroutines 3\n": "none of vLLM's"} {
		s := &Scraper{URL: "http://h", Client: &http.Client{Transport: round(func(*http.Request) *http.Response { return answer(200, body) })}}
		if _, err := s.Before(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", body, err)
		}
	}
}
