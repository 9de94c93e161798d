// Command overhead measures what a load client adds to the TTFT that it
// reports. A mock of 50 ms to the first token and 10 ms between tokens has one
// core, the client another; the mock knows from the kernel when each request
// came and when it wrote the first token. Own error is the client's mean TTFT
// less the mock's.
//
//	go run ./replay/testdata/overhead -streams 1,10,100,500
//	go run ./replay/testdata/overhead -streams 10000 -itl 500 -tokens 10 -rounds 1   # memory a stream
//
// It runs our client by both engines and with both kinds of stamps, and the
// peers that -peers names (see peers.go). Each case has processes of its own.
// Not here: lateness against a schedule, and machines that are not Linux.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// options are the flags.
type options struct {
	role     string
	streams  string
	starts   string
	tokens   int
	ttft     float64
	itl      float64
	rounds   int
	fifo     bool
	engine   string
	stamps   string
	url      string
	n        int
	peers    string
	modelDir string
	only     string
}

func main() {
	var o options
	flag.StringVar(&o.role, "role", "", "mock or client: what a child does")
	flag.StringVar(&o.streams, "streams", "1,10,100,500", "streams at one time")
	flag.StringVar(&o.starts, "starts", "random,sync,poisson", "how streams begin: random, sync, poisson")
	flag.IntVar(&o.tokens, "tokens", 100, "tokens of an answer")
	flag.Float64Var(&o.ttft, "ttft", 50, "the mock's time to the first token, ms")
	flag.Float64Var(&o.itl, "itl", 10, "the mock's time between tokens, ms")
	flag.IntVar(&o.rounds, "rounds", 4, "requests a stream, one after the other")
	flag.BoolVar(&o.fifo, "fifo", false, "run each process at real-time priority on its core")
	flag.StringVar(&o.engine, "engine", "raw", "of a child")
	flag.StringVar(&o.stamps, "stamps", "kernel", "of a child")
	flag.StringVar(&o.url, "url", "", "of a child")
	flag.IntVar(&o.n, "n", 0, "streams of a child")
	flag.StringVar(&o.peers, "peers", "", "NAME=PATH of peers to run beside: vllm-rs, vllm, aiperf")
	flag.StringVar(&o.modelDir, "model-dir", "", "a local tokenizer for the peers")
	flag.StringVar(&o.only, "cases", "raw/kernel,raw/user,net/kernel,net/user", "our own cases")
	flag.Parse()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(o *options) error {
	switch o.role {
	case "mock":
		return serve(o)
	case "client":
		return load(o)
	}
	// The first processes of a new binary are slow while its pages are read.
	warm := *o
	warm.rounds, warm.starts, warm.only = 1, "sync", "raw/kernel"
	if _, err := measure(&warm, ours(&warm, "raw", "kernel", "sync", 1)); err != nil {
		return err
	}
	fmt.Println("| client | start | streams | TTFT mean, ms | own error, ms | p99 error, ms | TPOT, ms | of ideal rate | µs CPU an event | MB | mock late p99, ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|")
	for _, start := range strings.Split(o.starts, ",") {
		for _, text := range strings.Split(o.streams, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return fmt.Errorf("-streams has %q, want numbers", text)
			}
			if err := compare(o, start, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// compare runs every client at one load.
func compare(o *options, start string, n int) error {
	for _, name := range strings.Split(o.only, ",") {
		engine, stamps, ok := strings.Cut(name, "/")
		if !ok {
			continue
		}
		row, err := measure(o, ours(o, engine, stamps, start, n))
		if err != nil {
			return fmt.Errorf("%s, %d streams: %w", name, n, err)
		}
		row.print(name, start, n, o)
	}
	return peers(o, start, n)
}

// ours is our client at one load.
func ours(o *options, engine, stamps, start string, n int) func(url string) ([]string, func([]byte) (seen, error)) {
	return func(url string) ([]string, func([]byte) (seen, error)) {
		return []string{os.Args[0], "-role", "client", "-url", url, "-engine", engine, "-stamps", stamps, "-starts", start,
			"-n", strconv.Itoa(n), "-tokens", strconv.Itoa(o.tokens), "-rounds", strconv.Itoa(o.rounds), "-ttft", fmt.Sprint(o.ttft), "-itl", fmt.Sprint(o.itl)}, decodeSeen
	}
}

// seen is what a client reports.
type seen struct {
	N      int     `json:"n"`
	MeanMS float64 `json:"ttft_mean_ms"`
	P99MS  float64 `json:"ttft_p99_ms"`
	TPOTMS float64 `json:"tpot_ms"`
	Rate   float64 `json:"rate"`  // requests a second
	CPUs   float64 `json:"cpu_s"` // 0: that of the process
	Events int     `json:"events"`
	Bad    string  `json:"bad,omitempty"`
}

func decodeSeen(out []byte) (s seen, err error) {
	err = json.Unmarshal(out, &s)
	return s, err
}

// truth is what the mock knows.
type truth struct {
	N      int     `json:"n"`
	MeanMS float64 `json:"ttft_mean_ms"`
	P99MS  float64 `json:"ttft_p99_ms"`
	Late   float64 `json:"late_p99_ms"`
}

// row is one line of the table.
type row struct {
	seen seen
	true truth
	cpu  float64 // s
	rss  int64   // bytes
}

func (r *row) print(name, start string, n int, o *options) {
	ideal := float64(n) / lifetime(o).Seconds()
	cpu := r.seen.CPUs
	if cpu == 0 {
		cpu = r.cpu
	}
	events := r.seen.Events
	if events == 0 {
		events = r.true.N * o.tokens
	}
	share := fmt.Sprintf("%.1f %%", 100*r.seen.Rate/ideal)
	if start == "poisson" {
		share = "-"
	}
	fmt.Printf("| %s | %s | %d | %.3f | %+.3f | %+.3f | %.3f | %s | %.1f | %.0f | %.2f |\n", name, start, n, r.seen.MeanMS, r.seen.MeanMS-r.true.MeanMS,
		r.seen.P99MS-r.true.P99MS, r.seen.TPOTMS, share, cpu*1e6/float64(max(events, 1)), float64(r.rss)/1e6, r.true.Late)
	if r.seen.Bad != "" || r.seen.N != r.true.N {
		fmt.Printf("| | | | %d answers, the mock had %d %s | | | | | | | |\n", r.seen.N, r.true.N, r.seen.Bad)
	}
}
