package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"reprise/replay"
)

// steps is a run of three load points, 10 s each at 10, 20 and 40 requests/s, of
// answers that take 100 ms.
func steps(repeat int32, shift int64) []replay.Result {
	var out []replay.Result
	for point, rate := range []int64{10, 20, 40} {
		for i := range rate * 10 {
			r := answered(float64(shift+int64(point)*10e9+i*1e9/rate)/1e6, 0.25, 20, 10, 5)
			r.Point, r.Repeat, r.Row = int32(point), repeat, int64(len(out))
			out = append(out, r)
		}
	}
	return out
}

// scrapes are taken once a second of a server that ends what steps offers it,
// with TTFTs in (20, 40] ms at the first point, and one bucket higher at each
// further one, and as many requests waiting as the point's number.
func scrapes(shift int64) []replay.ServerRow {
	var out []replay.ServerRow
	for s := int64(-1); s <= 31; s++ {
		ended := [3]float64{}
		for p, rate := range []int64{10, 20, 40} {
			ended[p] = float64(rate * min(max(s-int64(p)*10, 0), 10))
		}
		add := func(name, labels string, v float64) {
			out = append(out, replay.ServerRow{TNS: shift + s*1e9, Name: name, Labels: labels, Value: v})
		}
		sum := 7.0
		for p, le := range []string{"0.04", "0.06", "0.08"} {
			sum += ended[p]
			add("vllm:time_to_first_token_seconds_bucket", `le="`+le+`"`, sum)
		}
		add("vllm:time_to_first_token_seconds_bucket", `le="+Inf"`, sum)
		add("vllm:request_success_total", "", sum)
		add("vllm:prefix_cache_queries_total", "", 100*sum)
		add("vllm:prefix_cache_hits_total", "", 50*sum)
		add("vllm:num_requests_running", "", 1)
		add("vllm:num_requests_waiting", "", math.Min(2, float64(max(s, 0)/10)))
	}
	return out
}

// Each load point has what the server did in its own time, by differences of the
// scrapes at its ends; repetitions add up.
func TestServerAtEachPoint(t *testing.T) {
	for repeats := range 3 {
		var all []replay.Result
		var server [][]replay.ServerRow
		for i := range repeats + 1 {
			all = append(all, steps(int32(i), int64(i)*100e9)...)
			server = append(server, scrapes(int64(i)*100e9))
		}
		run := testRun()
		run.Mode, run.Planned = replay.Ramp, int64(len(all))
		r := build(t, Input{Run: run, Results: seq(all), Server: server})
		if len(r.Summaries) != 3 || r.Shape != LoadCurve {
			t.Fatalf("%d summaries, %s", len(r.Summaries), r.Shape)
		}
		for p, rate := range []int64{10, 20, 40} {
			v := r.Summaries[p].Server
			n := rate * 10 * int64(repeats+1)
			lo := []float64{0, 40, 60}[p]
			if v == nil || *v.Requests != n || v.TTFT.N != n || v.TTFT.P50.OverMS != lo || *v.TTFT.P99.ToMS != []float64{40, 60, 80}[p] || *v.HitRate != 0.5 || *v.Waiting != int64(p) || *v.Running != 1 || math.Abs(v.Seconds-10*float64(repeats+1)) > 1e-9 {
				t.Errorf("point %d of %d repetitions: %+v", p, repeats+1, v)
			}
		}
		for name, render := range map[string]func(io.Writer) error{"text": r.Text, "md": r.Markdown, "html": r.HTML} {
			var b bytes.Buffer
			if err := render(&b); err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"Server beside client", "40.0–60.0", "60.0–80.0"} {
				if !strings.Contains(b.String(), want) {
					t.Errorf("%s does not say %q", name, want)
				}
			}
		}
	}
}

// A point too short for two scrapes has no figures of the server, and no run
// has any of them doubled.
func TestServerOfShortPoints(t *testing.T) {
	rows := scrapes(0)
	var short []replay.Result
	for i := range int64(60) { // 200 ms a point
		r := answered(float64(i)*10, 0.25, 20, 10, 5)
		r.Point = int32(i / 20)
		short = append(short, r)
	}
	run := testRun()
	run.Planned = int64(len(short))
	r := build(t, Input{Run: run, Results: seq(short), Server: [][]replay.ServerRow{rows}})
	have := 0
	for i := range r.Summaries {
		have += int(one(r.Summaries[i].Server != nil))
	}
	if have > 1 {
		t.Errorf("%d points of 200 ms have figures of a server that is scraped once a second", have)
	}
	// Other endpoints' results are not the server's that was scraped.
	two := steps(0, 0)
	for i := range two {
		two[i].Endpoint = fmt.Sprint(i % 2)
	}
	run.Planned = int64(len(two))
	for _, s := range build(t, Input{Run: run, Results: seq(two), Server: [][]replay.ServerRow{rows}}).Summaries {
		if s.Server != nil {
			t.Errorf("%s has figures that are not its own", s.Name)
		}
	}
}

// A server whose last scrape came before the last answer, as of a client machine
// that was done before the others, says until when its figures are.
func TestServerScrapedTooShort(t *testing.T) {
	rows := scrapes(0)
	for _, c := range []struct {
		ms   float64
		told bool
	}{{100, false}, {1e6, true}} {
		late := answered(c.ms, 0, 5, 1, 10)
		s := build(t, Input{Run: testRun(), Results: seq([]replay.Result{answered(0, 0, 5, 1, 10), late}), Server: [][]replay.ServerRow{rows}}).Summaries[0]
		if told := strings.Contains(strings.Join(s.Notes, " "), "by the scrapes of one client machine, until"); told != c.told {
			t.Errorf("last answer after %g ms: %q", c.ms, s.Notes)
		}
	}
}
