package report

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// day is a believable hour's worth of results: rising latency, a spell of 429.
func day(rng *rand.Rand, n int, rate, slow float64, point int32) []replay.Result {
	var out []replay.Result
	at := 0.0
	for range n {
		at += rng.ExpFloat64() * 1000 / rate
		tokens := int32(1 + rng.IntN(300))
		busy := 1.0
		if s := at / 1000; s > 100 && s < 125 {
			busy = 2.5
		}
		ttft := slow * busy * (60 + 120*rng.ExpFloat64())
		r := answered(at, 0.08+0.05*rng.ExpFloat64(), ttft, (8+2*rng.NormFloat64()*rng.NormFloat64())*slow, tokens)
		r.Point = point
		if busy > 1 && rng.IntN(8) == 0 {
			r = failed(at, replay.HTTP429)
			r.Point, r.RetryAfterMS = point, trace.Some(int64(1500))
		}
		out = append(out, r)
	}
	return out
}

func TestShow(t *testing.T) {
	dir := os.Getenv("REPORT_SHOW")
	if dir == "" {
		t.Skip("set REPORT_SHOW to a directory to look at sample pages")
	}
	rng := rand.New(rand.NewPCG(7, 7))
	limits := testRun(slo("ttft", 95, 800), slo("tpot", 95, 20), slo("e2e", 99, 6000))
	limits.Notes = []string{"The server's prefix cache could not be emptied before the run.", "Other tenants of the endpoint could not be excluded."}
	health := []replay.HealthRow{{KernelP99US: 120, HeartP99US: 90, CPU: 0.31, Steal: 0.002}}
	save := func(name string, r *Report) {
		for ext, render := range map[string]func(io.Writer) error{".html": r.HTML, ".txt": r.Text, ".json": r.JSON} {
			var b bytes.Buffer
			if err := render(&b); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+ext), b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	save("single", build(t, Input{Run: limits, Results: seq(day(rng, 1600, 5.5, 1, 0)), Health: health}))
	var sweep []replay.Result
	for i, slow := range []float64{1, 1.1, 1.4, 2.4, 6} {
		sweep = append(sweep, day(rng, 1200, 2*float64(i+1), slow, int32(i))...)
	}
	save("sweep", build(t, Input{Run: limits, Results: seq(sweep)}))
	save("pair", build(t, Input{Run: limits, Results: seq(day(rng, 1600, 5.5, 1, 0)), Label: "from the trace"},
		Input{Run: limits, Results: seq(day(rng, 1600, 5.4, 1.06, 0)), Label: "synthetic"}))
	late := testRun(slo("ttft", 95, 800))
	late.Verdict = replay.ClientVerdict{Verdict: replay.ClientLimited, Reason: "p99 send lag 46.0 ms"}
	save("late", build(t, Input{Run: late, Results: seq(day(rng, 300, 5.5, 1, 0))}))
}
