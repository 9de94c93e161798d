// Command overhead measures what a load client adds to the TTFT that it
// reports. A mock of 50 ms to the first token and 10 ms between tokens has one
// core, the client another; the mock knows from the kernel when each request
// came and when it wrote the first token. Own error is the client's mean TTFT
// less the mock's.
//
//	go run ./replay/testdata/overhead -streams 1,10,100,500,1000 -repeats 3
//	go run ./replay/testdata/overhead -streams 10000 -itl 500 -tokens 10 -rounds 1   # memory a stream
//
// It runs our client by both engines and with both kinds of stamps, and the
// peers that -peers names, one after the other, -repeats times; a row has the
// medians. CPU an event is that of the whole process less that of a run of one
// request, for all alike. The ideal rate is that of streams without a pause, by
// the mock's own arrivals. A row whose mock was itself more than 1 ms late at
// p99 is marked: it shows the mock.
//
// Not here: lateness against a schedule, and machines that are not Linux.
package main

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"reprise/replay/testdata/rig"
)

// options are the flags.
type options struct {
	cores    rig.Cores
	role     string
	streams  string
	starts   string
	tokens   int
	ttft     float64
	itl      float64
	rounds   int
	repeats  int
	engine   string
	stamps   string
	url      string
	n        int
	peers    string
	modelDir string
	only     string
	slow     string
	limit    time.Duration
}

func main() {
	if rig.Child() {
		return
	}
	var o options
	flag.StringVar(&o.role, "role", "", "client: what a child does")
	flag.StringVar(&o.streams, "streams", "1,10,100,500,1000", "streams at one time")
	flag.StringVar(&o.starts, "starts", "random,sync,poisson", "how streams begin: random, sync, poisson")
	flag.IntVar(&o.tokens, "tokens", 100, "tokens of an answer")
	flag.Float64Var(&o.ttft, "ttft", 50, "the mock's time to the first token, ms")
	flag.Float64Var(&o.itl, "itl", 10, "the mock's time between tokens, ms")
	flag.IntVar(&o.rounds, "rounds", 4, "requests a stream, one after the other")
	flag.IntVar(&o.repeats, "repeats", 1, "runs of each client, clients in turn; a row has medians")
	o.cores.Flags(flag.CommandLine)
	flag.StringVar(&o.engine, "engine", "raw", "of a child")
	flag.StringVar(&o.stamps, "stamps", "kernel", "of a child")
	flag.StringVar(&o.url, "url", "", "of a child")
	flag.IntVar(&o.n, "n", 0, "streams of a child")
	flag.StringVar(&o.peers, "peers", "", "NAME=PATH of peers to run beside: vllm-rs, vllm, aiperf")
	flag.StringVar(&o.modelDir, "model-dir", "", "a local tokenizer for the peers")
	flag.StringVar(&o.only, "cases", "raw/kernel,raw/user,net/kernel,net/user", "our own cases")
	flag.StringVar(&o.slow, "slow-starts", "random", "starts with which vllm and aiperf are run, once each")
	flag.DurationVar(&o.limit, "limit", 3*time.Minute, "what one run of a client gets")
	flag.Parse()
	run := run
	if o.role == "client" {
		run = load
	}
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(o *options) error {
	clients, err := clients(o)
	if err != nil {
		return err
	}
	// The first processes of a new binary are slow while its pages are read; and
	// what a client takes to start is not what an event costs.
	for _, c := range clients {
		if err := c.start(o); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", c.name, err)
		}
	}
	fmt.Println("| client | start | streams | runs | TTFT mean, ms | own error, ms | lowest to highest | p99 error, ms | TPOT, ms | of ideal rate | µs CPU an event | MB | mock late p99, ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for _, start := range strings.Split(o.starts, ",") {
		for _, text := range strings.Split(o.streams, ",") {
			n, err := strconv.Atoi(text)
			if err != nil || n < 1 {
				return fmt.Errorf("-streams has %q, want numbers", text)
			}
			compare(o, clients, start, n)
		}
	}
	return nil
}

// compare runs every client at one load, in turn.
func compare(o *options, clients []*client, start string, n int) {
	rows := make([][]row, len(clients))
	failed := make([]error, len(clients))
	for k := range o.repeats {
		for i, c := range clients {
			if c.slow && (k > 0 || !strings.Contains(o.slow, start)) {
				continue
			}
			r, err := measure(o, c, start, n, o.rounds)
			if err != nil {
				failed[i] = err
				continue
			}
			rows[i] = append(rows[i], r)
		}
	}
	for i, c := range clients {
		if len(rows[i]) > 0 {
			print(o, c, start, n, rows[i])
		}
		if failed[i] != nil {
			fmt.Printf("| %s | %s | %d | failed: %v | | | | | | | | | |\n", c.name, start, n, failed[i])
		}
	}
}
