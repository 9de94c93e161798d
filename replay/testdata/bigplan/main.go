// Command bigplan measures how long reprise replay takes from its start to the
// first request of a big trace at the server, and its memory.
//
//	go run ./replay/testdata/bigplan -reprise ./reprise -n 87000 [TRACE...]
//
// The trace is like Mooncake's public ones: prompts of 8,000 tokens in the mean,
// in blocks of 512, half of the requests going on with an earlier conversation.
// Traces that are named are measured beside it. A run is killed some seconds
// after its start; memory is the most that the process had until then.
//
// The time includes what a replay does before its clock starts: reading the
// trace, the prefix blocks, the tokenizer's vocabulary, the trial requests, the
// first prompts and the connections.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"reprise/replay/testdata/rig"
	"reprise/trace"
)

type options struct {
	cores   rig.Cores
	reprise string
	n       int
	repeats int
	after   time.Duration
}

func main() {
	if rig.Child() {
		return
	}
	var o options
	flag.StringVar(&o.reprise, "reprise", "reprise", "our program")
	flag.IntVar(&o.n, "n", 87000, "requests")
	flag.IntVar(&o.repeats, "repeats", 3, "runs of each trace, in turn")
	flag.DurationVar(&o.after, "after", 10*time.Second, "when a run is ended")
	o.cores.Flags(flag.CommandLine)
	flag.Parse()
	if err := run(&o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "bigplan:", err)
		os.Exit(1)
	}
}

func run(o *options, paths []string) error {
	dir, err := os.MkdirTemp("", "bigplan")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	own := filepath.Join(dir, "mooncake.trace.parquet")
	if err := write(own, o.n); err != nil {
		return err
	}
	fmt.Println("| trace | requests | MB | runs | start to first request, s | lowest to highest | CPU s of the run | most memory, MB |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	paths = append([]string{own}, paths...)
	all := make([]runs, len(paths))
	for k := range o.repeats {
		for i, path := range paths {
			if err := all[i].one(o, path, filepath.Join(dir, fmt.Sprintf("run-%d-%d", i, k))); err != nil {
				return fmt.Errorf("%s: %w", filepath.Base(path), err)
			}
		}
	}
	for i, path := range paths {
		all[i].print(path)
	}
	return nil
}

// runs are those of one trace.
type runs struct {
	start, cpu, rss []float64
	requests        int
}

// one replays a trace until the time is up.
func (r *runs) one(o *options, path, out string) error {
	zero, n, err := first(path)
	if err != nil {
		return err
	}
	r.requests = n
	m, err := o.cores.Mock(rig.Law{TTFT: 1, ITL: 1})
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(context.Background(), o.after+zero)
	defer stop()
	_, used, err := o.cores.Client(ctx, nil, o.reprise, "replay", path, "--url", m.URL+"/v1/completions", "--metrics-url", "none", "--tokenizer", "o200k_base", "-o", out)
	seen, stopErr := m.Stop()
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the replay ended by itself: %w", err)
	}
	if stopErr != nil {
		return stopErr
	}
	// The trial requests ask for one token, the trace's for more.
	for _, a := range seen.Arrivals {
		if a.Asked > 1 {
			r.start = append(r.start, float64(a.At-used.Start.UnixNano())/1e9-zero.Seconds())
			r.cpu = append(r.cpu, used.CPU)
			r.rss = append(r.rss, float64(used.RSS)/1e6)
			return nil
		}
	}
	return fmt.Errorf("no request of the trace came within %v", o.after+zero)
}

func (r *runs) print(path string) {
	size := 0.0
	if st, err := os.Stat(path); err == nil {
		size = float64(st.Size()) / 1e6
	}
	fmt.Printf("| %s | %d | %.1f | %d | %.2f | %.2f to %.2f | %.1f | %.0f |\n", filepath.Base(path), r.requests, size, len(r.start), rig.Median(r.start),
		rig.Quantile(r.start, 0), rig.Quantile(r.start, 1), rig.Median(r.cpu), rig.Quantile(r.rss, 1))
}

// first is the instant of a trace's first request of more than one token, and the
// number of all.
func first(path string) (time.Duration, int, error) {
	t, err := trace.LoadFile(path)
	if err != nil {
		return 0, 0, err
	}
	for _, q := range t.Requests {
		if q.Output.Or(2) > 1 {
			return time.Duration(q.T.V) * time.Microsecond, len(t.Requests), nil
		}
	}
	return 0, 0, errors.New("no request asks for more than one token")
}
