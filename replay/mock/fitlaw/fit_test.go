package fitlaw

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"reprise/replay"
	"reprise/replay/mock/engine"
	"reprise/replay/mock/simulate"
	"reprise/trace"
)

// testLaw is deterministic: a step is 10 ms, plus 1 ms a decode, 0.1 ms a
// prefilled token.
func testLaw() engine.Law {
	return engine.Law{Name: "test", BaseUS: 10000, DecodeUS: 1000, PrefillUS: 100, MaxSeqs: 4, MaxBatched: 64,
		Blocks: 256, PrefixCache: true, MaxModelLen: 1024, Output: engine.OutputLaw{Median: 5}}
}

// load is n Poisson arrivals at a rate.
func load(n int, rate float64, seed uint64, request func(*rand.Rand) engine.Request) []simulate.Timed {
	rng := rand.New(rand.NewPCG(seed, 0x6c6f6164))
	in := make([]simulate.Timed, n)
	at := 0.0
	for i := range in {
		at += rng.ExpFloat64() / rate
		in[i] = simulate.Timed{At: time.Duration(at * 1e9), Request: request(rng)}
	}
	return in
}

func exact(prompt, out int32) engine.Request {
	return engine.Request{Prompt: prompt, MaxTokens: out, IgnoreEOS: true}
}

// measure simulates a load and writes down what a perfect client would see,
// with every token up to a given delay late.
func measure(t *testing.T, law engine.Law, in []simulate.Timed, late time.Duration) []replay.Result {
	t.Helper()
	rng := rand.New(rand.NewPCG(8, 8))
	res := make([]replay.Result, len(in))
	last := make([]int64, len(in))
	_, _, err := simulate.RunFleet(law, 11, engine.FleetConfig{}, in, func(k int, ev engine.Event) {
		r := &res[k]
		at := max(last[k], int64(ev.At)+rng.Int64N(int64(late)+1))
		if ev.N == 1 {
			r.Sched, r.WriteEnd = int64(in[k].At), trace.Some(int64(in[k].At))
			r.FirstContent = trace.Some(at)
			r.InUsage, r.Cached, r.OutUsage = trace.Some(in[k].Prompt), trace.Some(ev.Cached), trace.Some(in[k].MaxTokens)
			r.InAsked = r.InUsage
		} else {
			r.Gaps = append(r.Gaps, int32((at-last[k])/1000))
		}
		last[k] = at
		r.LastContent = trace.Some(at)
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func observed(t *testing.T, res []replay.Result) []Observation {
	t.Helper()
	obs, left, err := Observe(func(yield func(replay.Result, error) bool) {
		for _, r := range res {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil || left != 0 {
		t.Fatalf("%d left out, %v", left, err)
	}
	return obs
}

// mixed is a load of varied prompts and answers, some of whose blocks are shared.
func mixed(n int, rate float64, seed uint64) []simulate.Timed {
	return load(n, rate, seed, func(rng *rand.Rand) engine.Request {
		r := exact(100+rng.Int32N(1200), 20+rng.Int32N(120))
		base := uint64(rng.IntN(4)) * 1000
		for k := range int(r.Prompt) / engine.BlockTokens {
			id := base + uint64(k)
			if k >= 4 {
				id = rng.Uint64()
			}
			r.Blocks = append(r.Blocks, id|1<<60)
		}
		return r
	})
}

// TestFitRecoversLaw: from what a client sees of a known law at one rate, the
// law is found, and it predicts TTFT and TPOT at other rates.
func TestFitRecoversLaw(t *testing.T) {
	truth := engine.Law{Name: "truth", BaseUS: 7000, DecodeUS: 350, KVTokenUS: 0.25, PrefillUS: 25, IngressUS: 4000, JitterSigma: 0.05,
		MaxSeqs: 64, MaxBatched: 2048, Blocks: 8192, Watermark: 0.01, PrefixCache: true, MaxModelLen: 4096, Output: engine.OutputLaw{Median: 1}}
	at := func(rate float64) []Observation {
		return observed(t, measure(t, truth, mixed(int(40*rate), rate, uint64(rate*10)), 500*time.Microsecond))
	}
	law, report, err := Fit(at(6), 0, Options{Name: "fit", Source: "test", Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("R² of the gaps %.3f, median error %.0f of %.0f µs; %s; %v", report.R2, report.MedianErrUS, report.MedianGapUS, report.Taken, report.Warnings)
	for _, p := range []struct {
		name      string
		got, want float64
		within    float64
	}{{"base_us", law.BaseUS, truth.BaseUS, 0.1}, {"decode_us", law.DecodeUS, truth.DecodeUS, 0.4}, {"kv_token_us", law.KVTokenUS, truth.KVTokenUS, 0.4}, {"prefill_token_us", law.PrefillUS, truth.PrefillUS, 0.1}} {
		if math.Abs(p.got/p.want-1) > p.within {
			t.Errorf("%s is %.4g, the truth %.4g", p.name, p.got, p.want)
		}
	}
	for _, rate := range []float64{2, 10} {
		c, err := Predict(law, at(rate), 2)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("at %v requests/s: TTFT p50 %+.1f %% p90 %+.1f %%, TPOT p50 %+.1f %% p90 %+.1f %%", rate, 100*c.TTFTP50, 100*c.TTFTP90, 100*c.TPOTP50, 100*c.TPOTP90)
		for _, e := range []float64{c.TTFTP50, c.TTFTP90, c.TPOTP50, c.TPOTP90} {
			if math.Abs(e) > 0.1 {
				t.Errorf("at %v requests/s a quantile is wrong by %.0f %%", rate, 100*e)
			}
		}
	}
}

// TestFitFindsPlaces: where the batch is full the run shows how large it is.
func TestFitFindsPlaces(t *testing.T) {
	truth := testLaw()
	truth.MaxBatched, truth.PrefixCache = 512, false
	obs := observed(t, measure(t, truth, load(150, 5, 3, func(rng *rand.Rand) engine.Request { return exact(30+rng.Int32N(60), 20+rng.Int32N(40)) }), 0))
	law, report, err := Fit(obs, 0, Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if law.MaxSeqs != truth.MaxSeqs {
		t.Errorf("max_num_seqs %d, want %d; %+v", law.MaxSeqs, truth.MaxSeqs, report)
	}
}

func TestFitRefuses(t *testing.T) {
	if _, _, err := Fit(nil, 3, Options{}); err == nil {
		t.Error("fitted to nothing")
	}
	res := measure(t, testLaw(), []simulate.Timed{{At: 0, Request: exact(20, 3)}}, 0)
	for name, spoil := range map[string]func(*replay.Result){
		"failed": func(r *replay.Result) { r.Class = replay.Truncated }, "no counts": func(r *replay.Result) { r.InUsage, r.InAsked = trace.Opt[int32]{}, trace.Opt[int32]{} },
		"no first": func(r *replay.Result) { r.FirstContent = trace.Opt[int64]{} }, "backwards": func(r *replay.Result) { r.FirstContent.V = -5 },
	} {
		r := res[0]
		spoil(&r)
		if _, ok := observe(&r); ok {
			t.Errorf("%s: observed", name)
		}
	}
	if o, ok := observe(&res[0]); !ok || len(o.Gaps) != 2 || o.Out != 3 {
		t.Errorf("%+v", o)
	}
}

// TestRegressExact: without noise the coefficients come out as they went in,
// and outliers on a fifth of the gaps do not move them.
func TestRegressexact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	want := [terms]float64{5000, 300, 0, 20}
	ms := make([]moment, 2000)
	for i := range ms {
		n := 1 + rng.IntN(30)
		ms[i].x = [terms]float64{1, float64(n), float64(n * (100 + rng.IntN(900))), float64(rng.IntN(2) * rng.IntN(800))}
		ms[i].gap = predicted(&want, &ms[i])
		if i%5 == 0 {
			ms[i].gap *= 3
		}
	}
	rng.Shuffle(len(ms), func(i, j int) { ms[i], ms[j] = ms[j], ms[i] })
	got := regress(ms)
	for j := range terms {
		if math.Abs(got[j]-want[j]) > 0.02*want[j]+0.01 {
			t.Errorf("coefficient %d is %v, want %v", j, got[j], want[j])
		}
	}
	if !slices.Equal(got[:], func() []float64 { c := regress(ms); return c[:] }()) {
		t.Error("not the same twice")
	}
}

// TestFromMetrics: from the engine's own metrics, scraped once a second under a
// load that rises and falls, the law comes out.
func TestFromMetrics(t *testing.T) {
	truth := engine.Law{Name: "truth", BaseUS: 7000, DecodeUS: 400, PrefillUS: 30, IngressUS: 5000,
		MaxSeqs: 64, MaxBatched: 2048, Blocks: 8192, MaxModelLen: 4096, Output: engine.OutputLaw{Median: 1}}
	e, err := engine.New(truth, 1)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Duration(0)
	until := func(limit time.Duration) {
		for {
			_, next, busy := e.Step(at, nil)
			if !busy || next > limit {
				return
			}
			at = max(at, next)
		}
	}
	rng := rand.New(rand.NewPCG(2, 2))
	var rows []replay.ServerRow
	second := 0
	for now := 0.0; now < 120; {
		rate := 2 + 14*math.Pow(math.Sin(now/20), 2)
		now += rng.ExpFloat64() / rate
		for ; float64(second) < now; second++ {
			until(time.Duration(second) * time.Second)
			st := e.Stats()
			add := func(name string, v float64) {
				rows = append(rows, replay.ServerRow{TNS: int64(second) * 1e9, Name: "vllm:" + name, Value: v})
			}
			for name, h := range map[string]engine.Histogram{"inter_token_latency_seconds": st.ITL, "time_to_first_token_seconds": st.TTFT} {
				n := int64(0)
				for _, c := range h.Counts {
					n += c
				}
				add(name+"_count", float64(n))
				add(name+"_sum", h.Sum)
			}
			add("prompt_tokens_total", float64(st.PromptTokens))
		}
		until(time.Duration(now * 1e9))
		at = time.Duration(now * 1e9)
		if _, err := e.Submit(at, exact(100+rng.Int32N(700), 30+rng.Int32N(100))); err != nil {
			t.Fatal(err)
		}
	}
	law, report, err := FromMetrics(func(yield func(replay.ServerRow, error) bool) {
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("base %.0f decode %.0f prefill %.1f ingress %.0f, R² %.3f over %d intervals; %v", law.BaseUS, law.DecodeUS, law.PrefillUS, law.IngressUS, report.R2, report.Gaps, report.Warnings)
	for _, p := range []struct {
		name              string
		got, want, within float64
	}{{"base_us", law.BaseUS, truth.BaseUS, 0.1}, {"decode_us", law.DecodeUS, truth.DecodeUS, 0.2}, {"prefill_token_us", law.PrefillUS, truth.PrefillUS, 0.2}, {"ingress_us", law.IngressUS, truth.IngressUS, 0.5}} {
		if math.Abs(p.got/p.want-1) > p.within {
			t.Errorf("%s is %.4g, the truth %.4g", p.name, p.got, p.want)
		}
	}
}
