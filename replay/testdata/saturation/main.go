// Command saturation finds how many events a second a client takes on one core,
// and how late it sends at four fifths of that beside a bare timer.
//
//	go run ./replay/testdata/saturation -loops VENV/bin/python -script replay/testdata/saturation/loop.py
//
// Clients: ours, and loop.py on asyncio's loop and on uvloop's. The mock has a
// core, the client another; answers are 100 events 10 ms apart, one in a write;
// requests arrive by a Poisson process. The rate climbs by a quarter until a
// client fails three times, clients in turn; then the middle of the last step is
// tried. A try passes:
//
//	punctual   p99 send lag (due to handed over) at most 5 ms
//	keeps up   median send lag and median error of TTFT at most 5 ms
//
// Noise only makes a client worse, so one pass in three is a pass, for all alike.
// Where a client fails while the mock itself is more than 5 ms late at p99, that is
// the mock's end: the client's is not below what it passed last.
//
// The bare timer is a thread that reads a timerfd and sends nothing, at the same
// instants on the same core, in turn with the client.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"

	"reprise/replay/testdata/rig"
)

type options struct {
	cores     rig.Cores
	role      string
	url       string
	rate      float64
	step      time.Duration
	loops     string
	script    string
	repeats   int
	from      float64
	loopsFrom float64
	at        float64
}

const (
	tokens = 100
	ttftMS = 20
	itlMS  = 10
	// warm is left out: until as many requests are in flight as will be.
	warm = 1500 * time.Millisecond
)

func main() {
	if rig.Child() {
		return
	}
	var o options
	flag.StringVar(&o.role, "role", "", "client or bare: what a child does")
	flag.StringVar(&o.url, "url", "", "of a child")
	flag.Float64Var(&o.rate, "rate", 0, "of a child, requests a second")
	flag.DurationVar(&o.step, "step", 4*time.Second, "time measured at each rate, longer where that is under 200 requests")
	flag.StringVar(&o.loops, "loops", "none", "a Python with aiohttp and uvloop")
	flag.StringVar(&o.script, "script", "loop.py", "the Python clients")
	flag.IntVar(&o.repeats, "repeats", 3, "runs beside the bare timer")
	flag.Float64Var(&o.from, "from", 30000, "events a second at which our client begins")
	flag.Float64Var(&o.at, "at", 0, "only the comparison with the bare timer, at so many events a second")
	flag.Float64Var(&o.loopsFrom, "loops-from", 4000, "events a second at which the Python clients begin")
	o.cores.Flags(flag.CommandLine)
	flag.Parse()
	run := run
	switch o.role {
	case "client":
		run = load
	case "bare":
		run = bare
	}
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "saturation:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	if o.at > 0 {
		return beside(o, o.at)
	}
	climbs := []*climb{{name: "ours", rate: o.from, args: ours}}
	if o.loops != "none" {
		climbs = append(climbs, &climb{name: "asyncio", rate: o.loopsFrom, args: python()}, &climb{name: "uvloop", rate: o.loopsFrom, args: python("uvloop")})
	}
	fmt.Println("| client | events/s | tries | send lag p50, ms | p99 | TTFT error p50, ms | core used | mock late p99, ms | punctual | keeps up |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for busy := true; busy; {
		busy = false
		for _, c := range climbs {
			if c.done {
				continue
			}
			busy = true
			if err := c.try(o); err != nil {
				return fmt.Errorf("%s at %.0f events/s: %w", c.name, c.rate, err)
			}
		}
	}
	fmt.Println("\n| client | punctual up to, events/s | ours to it | keeps up to, events/s | ours to it |")
	fmt.Println("|---|---|---|---|---|")
	us := climbs[0]
	for _, c := range climbs {
		fmt.Printf("| %s | %s | %.1f | %s | %.1f |\n", c.name, c.end(c.punctual), us.punctual/c.punctual, c.end(c.keeps), us.keeps/c.keeps)
	}
	fmt.Println("\nFour fifths of our punctual end, beside a bare timer:")
	return beside(o, 0.8*us.punctual)
}

// beside runs our client and the bare timer in turn at one rate.
func beside(o *options, events float64) error {
	if events == 0 {
		return nil
	}
	fmt.Println("\n| run | events/s | bare p50, ms | bare p99 | ours p50 | ours p99 | p99 above bare | mock late p99, ms |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	var above []float64
	for i := range o.repeats {
		timer, err := probe(o, bareArgs, events)
		if err != nil {
			return err
		}
		client, err := probe(o, ours, events)
		if err != nil {
			return err
		}
		above = append(above, client.p99-timer.p99)
		fmt.Printf("| %d | %.0f | %.3f | %.3f | %.3f | %.3f | %+.3f | %.2f |\n", i+1, events, timer.p50, timer.p99, client.p50, client.p99, above[i], client.mockP99)
	}
	fmt.Printf("| median | | | | | | %+.3f | |\n", rig.Median(above))
	return nil
}
