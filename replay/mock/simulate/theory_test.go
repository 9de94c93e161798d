package simulate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"reprise/replay/mock/engine"
)

// t999 is the 99.95 % quantile of Student's t with 9 degrees of freedom: the
// half width of a 99.9 % confidence interval over 10 seeds, in standard errors.
const t999 = 4.781

// interval is the mean of one value a seed and the half width of its 99.9 %
// confidence interval.
func interval(v []float64) (mean, half float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		half += (x - mean) * (x - mean) / float64(len(v)-1)
	}
	return mean, t999 * math.Sqrt(half/float64(len(v)))
}

// oneServer is a law under which a request of p tokens holds the engine for
// 1 ms and 0.1 ms a token, alone.
func oneServer() engine.Law {
	return engine.Law{Name: "one server", BaseUS: 1000, PrefillUS: 100, MaxSeqs: 1, MaxBatched: 1 << 14,
		Blocks: 2048, MaxModelLen: 1 << 14, Output: engine.OutputLaw{Median: 1}}
}

// waits runs one seed of n requests and returns the mean time before service
// and the share of time that the engine worked, both after the first tenth.
func waits(t *testing.T, law engine.Law, seed uint64, rate float64, n int, prompt func(*rand.Rand) int32) (wait, busy float64) {
	t.Helper()
	in := load(n, rate, seed, func(rng *rand.Rand) engine.Request { return exact(prompt(rng), 1) })
	out, err := Run(law, seed, in)
	if err != nil {
		t.Fatal(err)
	}
	var served, sum float64
	for k := n / 10; k < n; k++ {
		service := (law.BaseUS + law.PrefillUS*float64(in[k].Prompt)) / 1e6
		sum += out[k].TTFT.Seconds() - service
		served += service
	}
	return sum / float64(n-n/10), served / (in[n-1].At - in[n/10].At).Seconds()
}

// TestPollaczekKhinchine: one sequence at a time and one token out make the
// engine an M/G/1 queue, whose mean wait is λE[S²]/(2(1−ρ)) (Pollaczek 1930,
// Khinchine 1932): with constant service M/D/1, ρE[S]/(2(1−ρ)), and with
// service times that are geometric, nearly M/M/1. The utilization is λE[S].
func TestPollaczekKhinchine(t *testing.T) {
	const p = 0.02 // of the geometric number of tokens: mean 50
	for _, c := range []struct {
		name           string
		prompt         func(*rand.Rand) int32
		tokens, square float64 // E[N], E[N²]
	}{
		{"M/D/1", func(*rand.Rand) int32 { return 50 }, 50, 2500},
		{"M/Geo/1", func(rng *rand.Rand) int32 { return 1 + int32(math.Log(1-rng.Float64())/math.Log(1-p)) }, 1 / p, (2 - p) / (p * p)},
	} {
		service := 1e-3 + 1e-4*c.tokens
		square := 1e-6 + 2e-7*c.tokens + 1e-8*c.square
		for _, rho := range []float64{0.3, 0.6, 0.8} {
			rate := rho / service
			var wait, busy []float64
			for seed := range uint64(10) {
				w, b := waits(t, oneServer(), seed+1, rate, 15000, c.prompt)
				wait, busy = append(wait, w), append(busy, b)
			}
			want := rate * square / (2 * (1 - rho))
			mean, half := interval(wait)
			t.Logf("%s at ρ %.1f: mean wait %.3f ± %.3f ms (99.9 %%, 10 seeds), theory %.3f ms, %+.1f %%", c.name, rho, mean*1e3, half*1e3, want*1e3, 100*(mean/want-1))
			if math.Abs(mean-want) > half || half > 0.2*want {
				t.Errorf("%s at ρ %.1f: mean wait %.3f ± %.3f ms, theory %.3f ms", c.name, rho, mean*1e3, half*1e3, want*1e3)
			}
			if u, h := interval(busy); math.Abs(u-rho) > h || h > 0.03 {
				t.Errorf("%s: utilization %.4f ± %.4f, λE[S] is %.1f", c.name, u, h, rho)
			}
		}
	}
}

// TestLittleOfAFleet: L = λW over three replicas, from empty to empty.
func TestLittleOfAFleet(t *testing.T) {
	in := load(3000, 12, 4, func(rng *rand.Rand) engine.Request {
		return engine.Request{Prompt: 700, MaxTokens: 300, Draw: rng.Uint64()}
	})
	law, err := engine.Preset("demo")
	if err != nil {
		t.Fatal(err)
	}
	var area float64 // integral of the number inside, by counting ends
	inside, last := 0, time.Duration(0)
	next := 0
	move := func(to time.Duration) {
		area += float64(inside) * (to - last).Seconds()
		last = to
	}
	out, _, err := RunFleet(law, 1, engine.FleetConfig{Replicas: 3}, in, func(_ int, ev engine.Event) {
		for next < len(in) && in[next].At < ev.At {
			move(in[next].At)
			inside++
			next++
		}
		if ev.Finish != engine.Going {
			move(ev.At)
			inside--
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var spent float64
	for k := range out {
		spent += out[k].E2E.Seconds()
	}
	if inside != 0 || math.Abs(area-spent)/spent > 1e-9 {
		t.Errorf("L·T = %.6f, N·W = %.6f request-seconds, %d left", area, spent, inside)
	}
}

// capacity is the most requests/s of a prompt and an answer that a law without
// jitter serves when every place in the batch is taken: each of its MaxSeqs
// places serves a request in as many steps as it has tokens.
func capacity(law engine.Law, prompt, cached, out int32) float64 {
	us := law.BaseUS * float64(out) / float64(law.MaxSeqs)
	us += law.PrefillUS * float64(prompt-cached)
	us += law.DecodeUS * float64(out-1)
	for k := range out - 1 {
		us += law.KVTokenUS * float64(prompt+k)
	}
	return 1e6 / us
}

// saturated is the rate of answers while twice the capacity is offered.
func saturated(t *testing.T, law engine.Law, rate float64, prompt, out int32, blocks []uint64) float64 {
	t.Helper()
	in := load(4000, rate, 5, func(rng *rand.Rand) engine.Request {
		r := exact(prompt, out)
		r.Blocks = blocks
		return r
	})
	res, err := Run(law, 1, in)
	if err != nil {
		t.Fatal(err)
	}
	end := in[len(in)-1].At
	n, from := 0, end/4
	for k := range res {
		if done := in[k].At + res[k].E2E; done > from && done <= end {
			n++
		}
	}
	return float64(n) / (end - from).Seconds()
}

// TestCapacity: over the knee the engine serves what its law allows, and a
// prefix cache raises that by the factor that the law allows.
func TestCapacity(t *testing.T) {
	law := engine.Law{Name: "c", BaseUS: 6000, DecodeUS: 300, KVTokenUS: 0.2, PrefillUS: 40, MaxSeqs: 16, MaxBatched: 1 << 14,
		Blocks: 4096, PrefixCache: true, MaxModelLen: 4096, Output: engine.OutputLaw{Median: 1}}
	const prompt, out = 520, 40
	shared := make([]uint64, 400/engine.BlockTokens)
	for i := range shared {
		shared[i] = uint64(i + 1)
	}
	none, warm := capacity(law, prompt, 0, out), capacity(law, prompt, 400, out)
	cold := saturated(t, law, 2*none, prompt, out, nil)
	hot := saturated(t, law, 2*warm, prompt, out, shared)
	t.Logf("capacity %.2f requests/s, served %.2f; with 400 of %d tokens cached %.2f, served %.2f: factor %.3f, the law's %.3f",
		none, cold, prompt, warm, hot, hot/cold, warm/none)
	if math.Abs(cold/none-1) > 0.01 || math.Abs(hot/warm-1) > 0.01 {
		t.Errorf("served %.2f and %.2f requests/s, capacity is %.2f and %.2f", cold, hot, none, warm)
	}
	if below := saturated(t, law, 0.5*none, prompt, out, nil); math.Abs(below/(0.5*none)-1) > 0.05 {
		t.Errorf("under the knee %.2f requests/s are served of %.2f offered", below, 0.5*none)
	}
}
