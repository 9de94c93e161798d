package report

import (
	"bytes"
	"strings"
	"testing"

	"reprise/replay"
)

// A ramp is not told as one rate, a step is told by its own, and a closed loop
// offers nothing.
func TestWordsOfLoads(t *testing.T) {
	text := func(mode string, points []replay.LoadPoint, n int) string {
		run := testRun(slo("ttft", 50, 800))
		run.Mode, run.Shape = mode, &replay.Shape{Arrivals: replay.Poisson, Points: points}
		var all []replay.Result
		for i := range n {
			for _, r := range paced(200, 100/float64(i+1), 1, int32(i)) {
				all = append(all, r)
			}
		}
		r := build(t, Input{Run: run, Results: seq(all), Label: "dir"})
		var b bytes.Buffer
		if err := r.Text(&b); err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(b.String()), " ")
	}
	for _, c := range []struct {
		name, text string
		want       []string
		not        string
	}{
		{"linear", text(replay.Ramp, []replay.LoadPoint{{FromPerS: 2, ToPerS: 18}}, 1), []string{"Over a ramp from 2 to 18 requests/s (10.0 requests/s offered on average, eu-west-1) p50 TTFT", "of no one rate"}, "At 10.0"},
		{"stepped", text(replay.Ramp, []replay.LoadPoint{{Point: 0, FromPerS: 10, ToPerS: 10}, {Point: 1, FromPerS: 20, ToPerS: 20}}, 2),
			[]string{"point 2 (20/s)", "offered /s", "All limits hold at every rate offered"}, "dir:"},
		{"closed", text(replay.ClosedLoop, []replay.LoadPoint{{Point: 0, Concurrency: 1}, {Point: 1, Concurrency: 2}}, 2), []string{"The most in a closed loop", "point 2 (2 under way)", "sent /s"}, "offered /s"},
	} {
		for _, want := range c.want {
			if !strings.Contains(c.text, want) {
				t.Errorf("%s does not say %q:\n%s", c.name, want, c.text)
			}
		}
		if strings.Contains(c.text, c.not) {
			t.Errorf("%s says %q", c.name, c.not)
		}
	}
}
