package compare

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace"
)

// TestProbeNoise gives the queue a noise floor where all requests are alike, so
// that nothing but their arrivals varies: synthetic ones that have the count of
// each minute lie within it.
func TestProbeNoise(t *testing.T) {
	x := azure(t, "conv")
	for i := range x.Requests {
		x.Requests[i].Input, x.Requests[i].Output = trace.Some[int32](3500), trace.Some[int32](120)
	}
	sp, err := fit.Fit(x, fit.Options{})
	check(t, err)
	var draws []*trace.Trace
	for seed := range uint64(2) {
		d, err := synth.Trace(sp, synth.Options{Seed: seed})
		check(t, err)
		draws = append(draws, d)
	}
	r, err := Traces(x, draws, Options{Limits: Fidelity, Seed: 1})
	check(t, err)
	for _, name := range []string{"mean wait", "p99 wait"} {
		m := find(t, r, name)
		if !m.Noise.OK || m.Noise.V < 0.02 || m.Noise.V > 0.5 {
			t.Errorf("%s: the noise is %.3f", name, m.Noise.V)
		}
		if m.Baseline.V < 1.5*m.Noise.V {
			t.Errorf("%s: a Poisson process is %.2f off, the noise is %.2f", name, m.Baseline.V, m.Noise.V)
		}
	}
}

// TestRedraw keeps the minutes of a log, their counts too where seconds are only
// shuffled.
func TestRedraw(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var times []int64
	for range 3000 {
		times = append(times, rng.Int64N(10*noiseBlock))
	}
	slices.Sort(times)
	shuffled, drawn := redraw(times, 1, true, rng), redraw(times, 1, false, rng)
	if !slices.IsSorted(shuffled) || !slices.IsSorted(drawn) {
		t.Error("arrivals are not in order")
	}
	if len(shuffled) != len(times) || !replays(times, shuffled) || slices.Equal(times, shuffled) {
		t.Errorf("%d of %d arrivals, in the same minutes: %v", len(shuffled), len(times), replays(times, shuffled))
	}
	if len(drawn) == len(times) || replays(times, drawn) || len(drawn) < 2700 || len(drawn) > 3300 {
		t.Errorf("%d of %d arrivals are drawn", len(drawn), len(times))
	}
	// A clock of three seconds: ten arrivals a step, whatever step comes where.
	var stamps []int64
	for i := range int64(2000) {
		stamps = append(stamps, i/10*3_000_000+30_000-i/10%3*30_000) // a little off its steps
	}
	if got := redraw(stamps, 3_000_000, false, rng); len(got) != len(stamps) {
		t.Errorf("%d of %d arrivals on a coarse clock", len(got), len(stamps))
	}
}
