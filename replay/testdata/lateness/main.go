// Command lateness sends one trace with several clients and says how late its
// requests reached the server's kernel against their instants in the trace.
//
//	go run ./replay/testdata/lateness -reprise ./reprise -n 3000 -over 60s
//
// The trace is Poisson in whole milliseconds; its answers have 50 to 149 tokens
// in turn, so that an arrival is known by what it asks for. The mock has the
// kernel's receive stamp of each request.
//
// A client that can be told when to begin is measured on the wall clock; then
// "earliest" tells whether it was ever early. The others are measured from their
// own least late request, which flatters them. Start is from the process's start
// to the first request at the server.
//
// Not here: what clients add to what they report (../overhead).
package main

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"reprise/replay/testdata/rig"
)

type options struct {
	cores    rig.Cores
	reprise  string
	peers    string
	modelDir string
	n        int
	over     time.Duration
	repeats  int
}

func main() {
	if rig.Child() {
		return
	}
	var o options
	flag.StringVar(&o.reprise, "reprise", "reprise", "our program")
	flag.StringVar(&o.peers, "peers", "", "NAME=PATH of peers to run beside: vllm-rs, vllm, aiperf")
	flag.StringVar(&o.modelDir, "model-dir", "", "a local tokenizer for the peers")
	flag.IntVar(&o.n, "n", 3000, "requests")
	flag.DurationVar(&o.over, "over", time.Minute, "time that they span")
	flag.IntVar(&o.repeats, "repeats", 1, "runs of each client, clients in turn; vllm and aiperf run once")
	o.cores.Flags(flag.CommandLine)
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "lateness:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	peers, err := rig.ParsePeers(o.peers)
	if err != nil {
		return err
	}
	clients := []*client{ours("reprise", false), ours("reprise --start-at", true)}
	for _, p := range peers {
		clients = append(clients, peer(p))
	}
	dir, err := os.MkdirTemp("", "lateness")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := newLoad(dir, o.n, o.over)
	if err != nil {
		return err
	}
	fmt.Println("| client | requests | earliest, ms | p50 | p90 | p99 | max | start, s | mock late p99, ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for k := range o.repeats {
		for _, c := range clients {
			if c.slow && k > 0 {
				continue
			}
			if err := one(o, c, w, filepath.Join(dir, fmt.Sprint(c.name, k))); err != nil {
				fmt.Printf("| %s | failed: %v | | | | | | | |\n", c.name, err)
			}
		}
	}
	return nil
}

// one runs a client once and prints its row.
func one(o *options, c *client, w *load, dir string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	m, err := o.cores.Mock(rig.Law{TTFT: 50, ITL: 10})
	if err != nil {
		return err
	}
	begin := time.Time{}
	if c.absolute {
		begin = time.Now().Add(5 * time.Second).Truncate(time.Second)
	}
	ctx, stop := context.WithTimeout(context.Background(), o.over+5*time.Minute)
	defer stop()
	_, used, err := o.cores.Client(ctx, append(rig.Offline(), c.env...), c.args(o, w, m.URL, dir, begin)...)
	seen, stopErr := m.Stop()
	if rig.Distrusted(err) { // how late it was is what we are here for
		err = nil
	}
	if err == nil {
		err = stopErr
	}
	if err != nil {
		return err
	}
	late, first, err := w.late(seen.Arrivals, begin)
	if err != nil {
		return err
	}
	if seen.User > 0 {
		return fmt.Errorf("%d arrivals have no stamp of the kernel", seen.User)
	}
	start := fmt.Sprintf("%.2f", float64(first-used.Start.UnixNano())/1e9)
	earliest := "0 (set)"
	if c.absolute {
		start, earliest = "-", fmt.Sprintf("%.3f", slices.Min(late))
	}
	q := func(p float64) float64 { return rig.Quantile(late, p) }
	fmt.Printf("| %s | %d | %s | %.3f | %.3f | %.3f | %.3f | %s | %.2f |\n", c.name, len(late), earliest, q(.5), q(.9), q(.99), slices.Max(late), start, seen.LateMS())
	return nil
}

// late is how late each request was, ms, and when the first one came. Without a
// beginning the least late one was punctual.
func (w *load) late(arrivals []rig.Arrival, begin time.Time) (late []float64, first int64, err error) {
	came := map[int32][]int64{}
	for _, a := range arrivals {
		came[a.Asked] = append(came[a.Asked], a.At)
	}
	asked := map[int32]int{}
	for _, r := range w.rows {
		asked[r.output]++
	}
	for out, n := range asked {
		list := came[out]
		if len(list) < n {
			return nil, 0, fmt.Errorf("%d requests of %d tokens came, want %d", len(list), out, n)
		}
		slices.Sort(list)
		came[out] = list[len(list)-n:] // before them only what a client sent to try
	}
	zero, first := begin.UnixNano(), int64(math.MaxInt64)
	off := make([]int64, len(w.rows))
	for i, r := range w.rows {
		at := came[r.output][0]
		came[r.output] = came[r.output][1:]
		off[i], first = at-r.ms*1e6, min(first, at)
	}
	if begin.IsZero() {
		zero = slices.Min(off)
	}
	for _, t := range off {
		late = append(late, float64(t-zero)/1e6)
	}
	return late, first, nil
}
