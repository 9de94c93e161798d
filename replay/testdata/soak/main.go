// Command soak replays a steady Poisson load for a long time and says whether
// what was planned was sent, at the planned rate, without falling behind.
//
//	go run ./replay/testdata/soak -reprise ./reprise -rate 500 -for 10m
//
// The rate is that of the arrivals' stamps at the server's kernel against the
// plan's own instants: first to last, so that the process of the arrivals does
// not matter. Send lag stands by tenths of the run. Exit 1 when less than all
// was sent, the rate is off by more than 0.1 %, or the median lag of the last
// tenth is a millisecond above that of the first.
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"reprise/replay"
	"reprise/replay/testdata/rig"
	"reprise/trace"
)

type options struct {
	cores   rig.Cores
	reprise string
	rate    float64
	length  time.Duration
	tokens  int
}

func main() {
	if rig.Child() {
		return
	}
	var o options
	flag.StringVar(&o.reprise, "reprise", "reprise", "our program")
	flag.Float64Var(&o.rate, "rate", 500, "requests a second")
	flag.DurationVar(&o.length, "for", 10*time.Minute, "how long")
	flag.IntVar(&o.tokens, "tokens", 20, "tokens of an answer, 10 ms apart")
	o.cores.Flags(flag.CommandLine)
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	load, out := filepath.Join(dir, "load.trace.parquet"), filepath.Join(dir, "run")
	if err := write(load, o.tokens); err != nil {
		return err
	}
	m, err := o.cores.Mock(rig.Law{TTFT: 50, ITL: 10})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), o.length+5*time.Minute)
	defer stop()
	_, used, runErr := o.cores.Client(ctx, nil, o.reprise, "replay", load, "--url", m.URL+"/v1/completions", "--metrics-url", "none",
		"--tokenizer", "o200k_base", "--rate", fmt.Sprint(o.rate), "--for", o.length.String(), "-o", out)
	seen, err := m.Stop()
	if err != nil {
		return err
	}
	if runErr != nil && !rig.Distrusted(runErr) {
		return runErr
	}
	d, err := replay.OpenDir(out)
	if err != nil {
		return err
	}
	defer d.Close()
	return judge(o, d, seen, used)
}

// tenths of a run.
const tenths = 10

// judge prints what was planned, sent and received.
func judge(o *options, d *replay.Dir, seen *rig.Seen, used rig.Used) error {
	var lags [tenths][]float64
	var planned, ok, sent int
	var last int64
	for r, err := range d.Requests() {
		if err != nil {
			return err
		}
		planned++
		last = max(last, r.Sched)
		if r.Class == replay.OK {
			ok++
		}
		if r.WriteEnd.OK {
			sent++
			k := min(int(float64(r.Sched)/float64(o.length)*tenths), tenths-1)
			lags[k] = append(lags[k], float64(r.WriteEnd.V-r.Sched)/1e6)
		}
	}
	var at []int64
	for _, a := range seen.Arrivals {
		if a.Asked == int32(o.tokens) {
			at = append(at, a.At)
		}
	}
	if len(at) < 2 {
		return fmt.Errorf("%d requests came", len(at))
	}
	off := (float64(planned)/float64(last))/(float64(len(at))/float64(at[len(at)-1]-at[0])) - 1
	off = -off / (1 + off) // of the planned rate
	fmt.Println("| planned | sent | answered | came | of the planned rate | CPU, cores | MB | mock late p99, ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	fmt.Printf("| %d | %d | %d | %d | %+.4f %% | %.2f | %.0f | %.2f |\n\n", planned, sent, ok, len(at), 100*off, used.CPU/o.length.Seconds(), float64(used.RSS)/1e6, seen.LateMS())
	fmt.Println("| tenth | requests | send lag p50, ms | p99 | max |\n|---|---|---|---|---|")
	for i, l := range lags {
		fmt.Printf("| %d | %d | %.3f | %.3f | %.3f |\n", i+1, len(l), rig.Quantile(l, .5), rig.Quantile(l, .99), rig.Quantile(l, 1))
	}
	switch grown := rig.Median(lags[tenths-1]) - rig.Median(lags[0]); {
	case sent != planned || len(at) != planned:
		return fmt.Errorf("%d planned, %d sent, %d came", planned, sent, len(at))
	case math.Abs(off) > 0.001:
		return fmt.Errorf("the rate is off by %.4f %%", 100*off)
	case grown > 1:
		return fmt.Errorf("the median lag grew by %.3f ms", grown)
	}
	return nil
}

// write makes a trace of a thousand short requests; the replay goes through it
// again and again.
func write(path string, tokens int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const n = 1000
	h := trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Tool: trace.Tool{Name: "soak"},
		Profile: "local", Counts: trace.Counts{Read: n, Kept: n}, Time: trace.Time{ResolutionUS: 1000, Calendar: trace.CalendarNone}}
	rows := func(yield func(trace.Request, error) bool) {
		for i := range int64(n) {
			if !yield(trace.Request{ID: i, T: trace.Some(i * 1000), API: trace.Completions, Model: "m1", Input: trace.Some[int32](32),
				Output: trace.Some(int32(tokens)), From: trace.Counted, N: 1}, nil) {
				return
			}
		}
	}
	if err := trace.Write(f, h, rows); err != nil {
		return err
	}
	return f.Close()
}
