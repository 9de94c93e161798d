package simulate

import (
	"crypto/sha256"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"reprise/replay/mock/engine"
	"reprise/trace"
)

// testLaw is deterministic: a step is 10 ms, plus 1 ms a decode, 0.1 ms a
// prefilled token.
func testLaw() engine.Law {
	return engine.Law{Name: "test", BaseUS: 10000, DecodeUS: 1000, PrefillUS: 100, MaxSeqs: 4, MaxBatched: 64,
		Blocks: 256, PrefixCache: true, MaxModelLen: 1024, Output: engine.OutputLaw{Median: 5}}
}

func exact(prompt, out int32) engine.Request {
	return engine.Request{Prompt: prompt, MaxTokens: out, IgnoreEOS: true}
}

// load is n Poisson arrivals at a rate.
func load(n int, rate float64, seed uint64, request func(*rand.Rand) engine.Request) []Timed {
	rng := rand.New(rand.NewPCG(seed, 0x6c6f6164))
	in := make([]Timed, n)
	at := 0.0
	for i := range in {
		at += rng.ExpFloat64() / rate
		in[i] = Timed{time.Duration(at * 1e9), request(rng)}
	}
	return in
}

// TestHourIsReproducible: an hour at 10 requests/s comes out the same to the
// byte, however many processors.
func TestHourIsReproducible(t *testing.T) {
	in := load(36000, 10, 1, func(rng *rand.Rand) engine.Request {
		return engine.Request{Prompt: 200 + rng.Int32N(600), Draw: rng.Uint64()}
	})
	law, err := engine.Preset("8b-h100")
	if err != nil {
		t.Fatal(err)
	}
	digest := func() string {
		out, stats, err := RunFleet(law, 3, engine.FleetConfig{Replicas: 2, Routing: engine.LeastRequests}, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%v %+v %+v", out, stats, Sum(in, out))))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := digest()
	runtime.GOMAXPROCS(4)
	if many := digest(); one != many {
		t.Errorf("with one processor %s, with four %s", one, many)
	}
}

// TestSimulationIsTheEngine: the virtual run gives what the step by step
// arithmetic gives.
func TestSimulationIsTheEngine(t *testing.T) {
	law := testLaw()
	law.MaxWaiting = 1
	in := []Timed{{0, exact(100, 3)}, {5 * time.Millisecond, exact(40, 2)}, {6 * time.Millisecond, exact(2000, 1)}, {time.Second, exact(16, 1)}}
	out, err := Run(law, 1, in)
	if err != nil {
		t.Fatal(err)
	}
	at := func(ms float64) time.Duration { return time.Duration(math.Round(ms * 1e6)) }
	want := []Outcome{
		{TTFT: at(32.8), E2E: at(57), Tokens: 3, Finish: engine.Length},
		{TTFT: at(40), E2E: at(52), Tokens: 2, Finish: engine.Length},
		{}, // longer than the model takes
		{TTFT: at(11.6), E2E: at(11.6), Tokens: 1, Finish: engine.Length},
	}
	if !slices.Equal(out, want) {
		t.Errorf("%+v\nwant %+v", out, want)
	}
	if f := Sum(in, out); f.Requests != 4 || f.Refused != 1 || f.TTFT.P50 != 32.8 || f.TTFT.P99 != 40 || f.TPOT.P50 != 12 {
		t.Errorf("%+v", f)
	}
}

// TestFromTrace: blocks of 64 tokens share what they say, in blocks of 16.
func TestFromTrace(t *testing.T) {
	request := func(id, at int64, in int32, blocks ...int32) trace.Request {
		return trace.Request{ID: id, T: trace.Some(at), Input: trace.Some(in), Output: trace.Some[int32](2), Blocks: blocks}
	}
	tr := &trace.Trace{Header: trace.Header{BlockTokens: 64}, Requests: []trace.Request{
		request(0, 0, 150, 0, 1, 2), request(1, 1e6, 150, 0, 1, 3), request(2, 2e6, 150, 0, 4, 5), request(3, 3e6, 60, 6),
	}}
	in, err := FromTrace(tr)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Run(testLaw(), 1, in)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []int32{0, 128, 64, 0} {
		if out[k].Cached != want {
			t.Errorf("request %d: %d tokens cached, want %d", k, out[k].Cached, want)
		}
	}
	if len(in[0].Blocks) != 9 || in[1].At != time.Second || len(in[3].Blocks) != 3 {
		t.Errorf("%+v", in)
	}
	law := testLaw()
	law.CacheUnit = 96 // hits of 6 blocks: 128 tokens are 96, 64 are none
	if out, err = Run(law, 1, in); err != nil || out[1].Cached != 96 || out[2].Cached != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	tr.Requests[1].Output = trace.Opt[int32]{}
	if _, err := FromTrace(tr); err == nil {
		t.Error("a row without counts was accepted")
	}
	if _, err := FromTrace(&trace.Trace{}); err == nil {
		t.Error("a trace without times was accepted")
	}
}

// TestScaleInSimulation: at twice the capacity of one replica the queue grows
// until a second and third join, and then drains.
func TestScaleInSimulation(t *testing.T) {
	law := testLaw()
	in := load(3000, 36, 2, func(*rand.Rand) engine.Request { return exact(64, 8) })
	at := func(c engine.FleetConfig) (before, after float64) {
		out, _, err := RunFleet(law, 1, c, in, nil)
		if err != nil {
			t.Fatal(err)
		}
		var v []float64
		for k := range out {
			if in[k].At > 25*time.Second && in[k].At < 30*time.Second {
				before = max(before, out[k].TTFT.Seconds())
			}
			if in[k].At > 75*time.Second {
				v = append(v, out[k].TTFT.Seconds())
			}
		}
		slices.Sort(v)
		return before, Quantile(v, 0.9)
	}
	_, alone := at(engine.FleetConfig{})
	before, after := at(engine.FleetConfig{Routing: engine.LeastRequests, Scales: []engine.Scale{{At: 20 * time.Second, To: 4, ColdStart: 10 * time.Second}}})
	t.Logf("TTFT: one replica p90 %.1f s at the end; scaled: up to %.1f s before the cold start ends, p90 %.3f s at the end", alone, before, after)
	if alone < 20 || before < 8 || after > 0.5 {
		t.Error("the replicas that join must end the queue, and not before their cold start")
	}
}

func BenchmarkHour(b *testing.B) {
	in := load(36000, 10, 1, func(rng *rand.Rand) engine.Request {
		return engine.Request{Prompt: 200 + rng.Int32N(600), Draw: rng.Uint64()}
	})
	law, err := engine.Preset("8b-h100")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Run(law, 3, in); err != nil {
			b.Fatal(err)
		}
	}
}
