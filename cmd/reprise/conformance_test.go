package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/replay/scrape"
	"reprise/trace"
)

// These tests replay at real engines, where the environment names them:
//
//	VLLM_URL, VLLM_TOKENIZER    a vLLM whose tokenizer holds the words of
//	                            prompts (replay/testdata/conformance/model.py)
//	LLAMA_URL, LLAMA_GGUF       a llama.cpp server and the file of its model
//
// Each has to itself; make conformance runs them. On two cores each replay
// takes about a minute.

// conformanceRows is how many requests each replay has.
const conformanceRows = 200

// conformance is a trace of eight conversations that share a beginning of
// shared tokens each, at a rate in requests/s.
func conformance(rows int64, tokenizer string, shared, in, out int, rate float64) *trace.Trace {
	const groups, size = 8, 16
	r := rand.New(rand.NewPCG(3, 4))
	tr := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: size, Tail: trace.TailFresh,
		Tool: trace.Tool{Name: "reprise", Version: "0", Commit: "none"}, Tokenizer: trace.Named{Name: tokenizer},
		Time: trace.Time{ResolutionUS: 1, Calendar: trace.CalendarNone}, Profile: "none", Counts: trace.Counts{Read: rows, Kept: rows}}}
	next, at := int32(0), 0.0
	starts := map[int][]int32{}
	for i := range rows {
		q := trace.Request{ID: i, T: trace.Some(int64(at * 1e6)), N: 1, Output: trace.Some(int32(4 + r.IntN(out-3)))}
		q.Input = trace.Some(int32(shared + 1 + r.IntN(in-shared)))
		g := int(i) % groups
		q.Blocks = slices.Clone(starts[g])
		for len(q.Blocks)*size < int(q.Input.V) {
			q.Blocks = append(q.Blocks, next)
			next++
		}
		if starts[g] == nil {
			starts[g] = slices.Clone(q.Blocks[:shared/size])
		}
		tr.Requests = append(tr.Requests, q)
		at += r.ExpFloat64() / rate
	}
	return tr
}

// shareable returns for each row how many tokens of its prompt a cache of whole
// blocks of size tokens finds that holds all earlier prompts; never the last
// token, which a server computes in any case.
func shareable(tr *trace.Trace, size int) []int32 {
	fine := tr.Header.BlockTokens
	seen := map[string]bool{}
	out := make([]int32, len(tr.Requests))
	for i, q := range tr.Requests {
		hit := true
		for k := 1; k*size <= int(q.Input.V); k++ {
			key := fmt.Sprint(q.Blocks[:k*size/fine])
			if hit = hit && seen[key]; hit && k*size < int(q.Input.V) {
				out[i] = int32(k * size)
			}
			seen[key] = true
		}
	}
	return out
}

// replayed is what a replay at an engine left.
type replayed struct {
	run    *replay.Run
	rows   []replay.Result
	server []replay.ServerRow
	talk   string
}

// replayAt runs the command; the exit codes 0 and 4 (a busy machine) are taken.
func replayAt(t *testing.T, tr *trace.Trace, args ...string) replayed {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "t.trace.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Write(f, tr.Header, tr.All()); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var out, talk bytes.Buffer
	to := filepath.Join(dir, "run")
	code := run(t.Context(), append([]string{"replay", path, "-o", to}, args...), stdio{in: strings.NewReader(""), out: &out, err: &talk})
	if code != 0 && code != exitDistrust {
		t.Fatalf("exit %d:\n%s", code, talk.String())
	}
	d, err := replay.OpenDir(to)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	x := replayed{run: d.Run, talk: talk.String()}
	for r, err := range d.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		x.rows = append(x.rows, r)
	}
	for r, err := range d.Server() {
		if err != nil {
			t.Fatal(err)
		}
		x.server = append(x.server, r)
	}
	return x
}

// accounted checks that every request has its class, and logs the table.
func (x *replayed) accounted(t *testing.T) {
	t.Helper()
	sum, by := int64(0), ""
	for _, o := range x.run.Outcomes {
		if sum += o.N; o.N > 0 {
			by += fmt.Sprintf(" %d %s", o.N, o.Class)
		}
	}
	if sum != int64(len(x.rows)) || x.run.Planned != sum {
		t.Errorf("%d rows, %d planned, classes:%s", len(x.rows), x.run.Planned, by)
	}
	for _, r := range x.rows {
		if r.Class != replay.OK {
			t.Errorf("row %d: %v, HTTP %d", r.Row, r.Class, r.HTTP.V)
		}
		if r.NEvents == 0 && r.OutChars.V == 0 {
			t.Logf("row %d: %d output tokens show no text", r.Row, r.OutUsage.V)
			continue
		}
		if r.Dispatch.V < r.Sched || r.WriteEnd.V < r.Dispatch.V || r.FirstContent.V < r.WriteEnd.V || r.LastContent.V < r.FirstContent.V || r.End.V < r.LastContent.V {
			t.Errorf("row %d: instants out of order: %+v", r.Row, r)
		}
	}
	t.Logf("classes:%s; template %d, client %s (lag p99 %.3g ms)", by, x.run.Endpoint.Template, x.run.Verdict.Verdict, x.run.Verdict.LagP99MS)
	for _, n := range x.run.Notes {
		t.Logf("note: %s", n)
	}
}

// sums are the token counts of a replay.
type sums struct{ inAsked, inUsage, outAsked, outUsage, outLocal, cached int64 }

func (x *replayed) sums() (s sums) {
	for _, r := range x.rows {
		s.inAsked += int64(r.InAsked.V)
		s.inUsage += int64(r.InUsage.V)
		s.outAsked += int64(r.OutAsked.V)
		s.outUsage += int64(r.OutUsage.V)
		s.outLocal += int64(r.OutLocal.V)
		s.cached += int64(r.Cached.V)
	}
	return s
}

// ttft returns quantiles and the mean of the time from sending to the first
// content, ms.
func (x *replayed) ttft() (p50, p99, mean float64) {
	var ms []float64
	for _, r := range x.rows {
		if r.FirstContent.OK {
			v := float64(r.FirstContent.V-r.WriteEnd.V) / 1e6
			ms, mean = append(ms, v), mean+v
		}
	}
	mean /= float64(len(ms))
	slices.Sort(ms)
	return ms[(len(ms)-1)/2], ms[int(math.Ceil(float64(len(ms))*0.99))-1], mean
}

// grown is by how much a series of the server's metrics grew from the first
// scrape to the last, over all label sets.
func (x *replayed) grown(name string) float64 {
	at := map[int64]float64{}
	lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
	for _, r := range x.server {
		if r.Name == name {
			at[r.TNS] += r.Value
			lo, hi = min(lo, r.TNS), max(hi, r.TNS)
		}
	}
	return at[hi] - at[lo]
}

// TestConformanceVLLM replays by each kind of prompt: lengths and cached tokens
// are those of the trace exactly, and the server's own TTFT stands below ours.
func TestConformanceVLLM(t *testing.T) {
	url, tokenizer := os.Getenv("VLLM_URL"), os.Getenv("VLLM_TOKENIZER")
	if url == "" || tokenizer == "" {
		t.Skip("VLLM_URL and VLLM_TOKENIZER name no vLLM: not replayed at a real one")
	}
	tr := conformance(conformanceRows, tokenizer, 272, 352, 8, 4)
	for _, c := range []struct {
		name string
		args []string
	}{
		{"completions", []string{"--api", "completions"}},
		{"ids", []string{"--api", "completions", "--prompts", "ids"}},
		{"chat", []string{"--api", "chat"}},
		{"chat-net", []string{"--api", "chat", "--engine", "net"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := replayAt(t, tr, append([]string{"--url", url, "--tokenizer", tokenizer}, c.args...)...)
			x.accounted(t)
			server := scrape.Summarize(x.server)
			if server == nil || server.TTFT == nil || server.Hits == nil {
				t.Fatalf("the server's metrics were not followed: %+v", server)
			}
			x.lengths(t, tr)
			x.cache(t, tr, server)
			x.beside(t, server)
		})
	}
	t.Run("cache modes", func(t *testing.T) { cacheModes(t, url, tokenizer) })
	t.Run("choices", func(t *testing.T) { severalChoices(t, url, tokenizer) })
}

// cacheModes replays without sharing, where no block may be found, and twice with
// repeats kept warm, where the second time every whole block must be.
func cacheModes(t *testing.T, url, tokenizer string) {
	tr := conformance(40, tokenizer, 272, 352, 6, 4)
	for i, mode := range []string{replay.CacheNone, replay.CacheKeep, replay.CacheKeep} {
		x := replayAt(t, tr, "--url", url, "--tokenizer", tokenizer, "--cache", mode)
		x.accounted(t)
		x.lengths(t, tr)
		size := scrape.Summarize(x.server).BlockTokens
		whole := int64(0)
		for j, r := range x.rows {
			all := (int64(r.InAsked.V) - 1) / size * size
			whole += all
			if got := int64(r.Cached.Or(0)); i == 0 && got != 0 || i == 2 && got != all {
				t.Errorf("--cache %s, time %d, row %d: %d of %d tokens cached", mode, i, j, got, r.InAsked.V)
			}
		}
		t.Logf("--cache %s: %d tokens cached, %d in whole blocks", mode, x.sums().cached, whole)
	}
}

// severalChoices asks for two completions of each prompt: output tokens are those
// of both, by usage and by local count.
func severalChoices(t *testing.T, url, tokenizer string) {
	tr := conformance(12, tokenizer, 32, 64, 8, 4)
	for i := range tr.Requests {
		tr.Requests[i].N, tr.Requests[i].Output.V = 2, 2*tr.Requests[i].Output.V
	}
	x := replayAt(t, tr, "--url", url, "--tokenizer", tokenizer)
	x.accounted(t)
	x.lengths(t, tr)
	one := 0
	for _, r := range x.rows {
		if r.OutChars.V > 0 && r.OutLocal.Or(0) == 0 {
			t.Errorf("row %d has %d characters and no local count", r.Row, r.OutChars.V)
		}
		if r.OutLocal.V <= r.OutAsked.V/2 {
			one++
		}
	}
	if one > len(x.rows)/2 {
		t.Errorf("%d of %d answers have the local count of one choice alone", one, len(x.rows))
	}
}

// lengths checks that the server counted what was asked for, prompt and output.
func (x *replayed) lengths(t *testing.T, tr *trace.Trace) {
	t.Helper()
	off, short := 0, 0
	for i, r := range x.rows {
		if r.InUsage != tr.Requests[i].Input || r.InAsked != r.InUsage {
			off++
		}
		if r.OutUsage != tr.Requests[i].Output {
			short++
		}
	}
	s := x.sums()
	t.Logf("prompt tokens: %d asked, %d by usage, %d rows off; output: %d asked, %d by usage, %d rows off, %d by local count", s.inAsked, s.inUsage, off, s.outAsked, s.outUsage, short, s.outLocal)
	if off > 0 {
		t.Errorf("%d prompts are not as long as planned", off)
	}
	if short > 0 && x.run.Endpoint.IgnoreEOS {
		t.Errorf("%d answers are not as long as planned though the server ignores their end", short)
	}
}

// cache checks cached tokens by the server's own block size. A prompt that comes
// while the one it shares with is still being computed may find less.
func (x *replayed) cache(t *testing.T, tr *trace.Trace, server *scrape.Summary) {
	t.Helper()
	want := shareable(tr, int(server.BlockTokens))
	less, sum := 0, int64(0)
	for i, r := range x.rows {
		sum += int64(want[i])
		switch {
		case r.Cached.Or(0) > want[i]:
			t.Errorf("row %d: %d tokens cached, the trace shares %d", i, r.Cached.V, want[i])
		case r.Cached.Or(0) < want[i]:
			less++
		}
	}
	s := x.sums()
	t.Logf("cached tokens in blocks of %d: %d expected, %d by usage (%d rows less), %.0f of %.0f by metrics; hit rate expected by the trace's blocks %.3f", server.BlockTokens, sum, s.cached, less, *server.Hits, *server.Queries, x.run.Cache.ExpectedHitRate)
	if less > len(x.rows)/20 || sum == 0 {
		t.Errorf("%d of %d rows found less in the cache than the trace shares", less, len(x.rows))
	}
	if math.Abs(*server.Hits-float64(s.cached)) > 0.02*float64(s.cached) {
		t.Errorf("%.0f cached tokens by metrics, %d by usage", *server.Hits, s.cached)
	}
}

// beside sets the client's TTFT beside the server's, which has less to wait for.
func (x *replayed) beside(t *testing.T, server *scrape.Summary) {
	t.Helper()
	p50, p99, mean := x.ttft()
	a, _ := server.TTFT.At(50)
	b, _ := server.TTFT.At(99)
	theirs := x.grown("vllm:time_to_first_token_seconds_sum") / x.grown("vllm:time_to_first_token_seconds_count") * 1000
	t.Logf("TTFT ms, client from sending: p50 %.1f p99 %.1f mean %.2f; server: p50 in (%g, %g], p99 in (%g, %g], mean %.2f, n %d",
		p50, p99, mean, a.LoS*1e3, a.HiS*1e3, b.LoS*1e3, b.HiS*1e3, theirs, server.TTFT.N)
	if server.TTFT.N != int64(len(x.rows)) {
		t.Errorf("the server timed %d first tokens, %d were sent", server.TTFT.N, len(x.rows))
	}
	// Answers without text are in the server's mean alone.
	if p50 < a.LoS*1e3 || mean < theirs*0.98 {
		t.Error("the client's TTFT is below the server's own")
	}
	if x.run.Verdict.Verdict != replay.ClientLimited && mean > theirs*1.05+50 {
		t.Errorf("the client's mean TTFT is %.1f ms above the server's own", mean-theirs)
	}
}

// TestConformanceLlama replays chat at a llama.cpp server of a real small model:
// slots of its own cache, a template with a system prompt of its own.
func TestConformanceLlama(t *testing.T) {
	url, model := os.Getenv("LLAMA_URL"), os.Getenv("LLAMA_GGUF")
	if url == "" || model == "" {
		t.Skip("LLAMA_URL and LLAMA_GGUF name no llama.cpp server: not replayed at a real one")
	}
	tokenizer := ggufTokenizer(t, model)
	tr := conformance(conformanceRows, tokenizer, 96, 128, 8, 1.2)
	t.Run("chat", func(t *testing.T) {
		x := replayAt(t, tr, "--url", url, "--tokenizer", tokenizer)
		x.accounted(t)
		x.lengths(t, tr)
		x.slots(t, tr)
		if server := scrape.Summarize(x.server); server == nil || server.Engine != "llama.cpp" || server.Output == nil {
			t.Errorf("the server's metrics were not followed: %+v", server)
		}
		p50, p99, mean := x.ttft()
		theirs := x.grown("llamacpp:prompt_seconds_total") / float64(len(x.rows)) * 1000
		t.Logf("TTFT ms, client from sending: p50 %.1f p99 %.1f mean %.1f; the server computed prompts for %.1f a request", p50, p99, mean, theirs)
		if mean < theirs {
			t.Error("the client's TTFT is below what the server computed")
		}
	})
	t.Run("completions", func(t *testing.T) {
		x := replayAt(t, conformance(12, tokenizer, 32, 64, 8, 1.5), "--url", url, "--tokenizer", tokenizer, "--api", "completions")
		x.accounted(t)
		x.lengths(t, conformance(12, tokenizer, 32, 64, 8, 1.5))
	})
	t.Run("closing", func(t *testing.T) { closingAttained(t, url, tokenizer) })
	t.Run("choices", func(t *testing.T) { severalChoices(t, url, tokenizer) })
}

// slots checks the cached tokens of a server that keeps what each slot had last:
// never more than an earlier prompt has in common, template included.
func (x *replayed) slots(t *testing.T, tr *trace.Trace) {
	t.Helper()
	want, sum := shareable(tr, tr.Header.BlockTokens), int64(0)
	front := x.run.Endpoint.Template
	for i, r := range x.rows {
		sum += int64(want[i])
		// Blocks that differ may begin with the same words, by chance.
		if most := max(want[i], front) + 3; r.Cached.Or(0) > most {
			t.Errorf("row %d: %d tokens cached, at most %d are shared", i, r.Cached.V, most)
		}
	}
	s := x.sums()
	t.Logf("cached tokens: %d expected of an unbounded cache, %d by usage of %d", sum, s.cached, s.inUsage)
	if s.cached == 0 {
		t.Error("no token was cached")
	}
}

// closingAttained sends a model that is free to end its answers the sentence that
// asks it to write on, and then not. How much that helps is the model's affair (a
// small one does as it likes): what must hold is that prompts stay as long, and
// that what came is what the results say.
func closingAttained(t *testing.T, url, tokenizer string) {
	tr := conformance(16, tokenizer, 96, 144, 8, 0.5)
	for i := range tr.Requests {
		tr.Requests[i].Output.V = 64
	}
	share := map[bool]float64{}
	for _, with := range []bool{true, false} {
		args := []string{"--url", url, "--tokenizer", tokenizer, "--ignore-eos", "off"}
		if !with {
			args = append(args, "--no-closing")
		}
		x := replayAt(t, tr, args...)
		x.accounted(t)
		x.lengths(t, tr)
		s := x.sums()
		share[with] = float64(s.outUsage) / float64(s.outAsked)
		if x.run.Endpoint.IgnoreEOS || math.Abs(float64(s.outLocal-s.outUsage)) > 0.02*float64(s.outUsage)+float64(len(x.rows)) {
			t.Errorf("ignore_eos %v; %d output tokens by usage, %d by local count", x.run.Endpoint.IgnoreEOS, s.outUsage, s.outLocal)
		}
		for _, r := range x.rows {
			if (r.Finish == trace.FinishLength) != (r.OutUsage.V == r.OutAsked.V) && r.Finish != trace.FinishStop {
				t.Errorf("row %d: %d of %d tokens, finish %v", r.Row, r.OutUsage.V, r.OutAsked.V, r.Finish)
			}
		}
	}
	t.Logf("of the asked output %.3f came with the closing sentence, %.3f without", share[true], share[false])
}
