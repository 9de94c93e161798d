package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"time"

	"reprise/replay/testdata/rig"
)

// climb looks for the rates at which a client fails.
type climb struct {
	name string
	args func(o *options, url string, rate float64, step time.Duration) []string
	rate float64 // events a second, of the next try

	tries          int
	best           *tried // of the tries at this rate
	punctual       float64
	keeps          float64
	late           bool // no longer punctual
	up, down, half bool // how it came to this rate
	limited        bool // by the mock
	done           bool
}

// tried is what one run showed, ms.
type tried struct {
	p50, p99, wrong float64
	core            float64
	mockP99         float64
	events          float64 // a second, received
}

func (t *tried) punctual() bool { return t.p99 <= 5 }
func (t *tried) keeps() bool    { return t.p50 <= 5 && t.wrong <= 5 }

// try runs the client at its rate and settles the next one.
func (c *climb) try(o *options) error {
	t, err := probe(o, c.args, c.rate)
	if err != nil {
		return err
	}
	c.tries++
	if c.best == nil || t.p99 < c.best.p99 {
		c.best = t
	}
	enough := c.best.keeps() && (c.late || c.best.punctual())
	if !enough && c.tries < 3 {
		return nil
	}
	b := c.best
	fmt.Printf("| %s | %.0f | %d | %.3f | %.3f | %+.3f | %.2f | %.2f | %s | %s |\n", c.name, c.rate, c.tries, b.p50, b.p99, b.wrong, b.core, b.mockP99, yes(b.punctual()), yes(b.keeps()))
	c.settle()
	c.tries, c.best = 0, nil
	return nil
}

func yes(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] }

// settle takes the result at this rate, and the next rate.
func (c *climb) settle() {
	const step = 1.25
	if c.best.punctual() && !c.late {
		c.punctual = max(c.punctual, c.rate)
	} else if !c.down || c.keeps > 0 {
		c.late = true
	}
	pass := c.best.keeps()
	if pass {
		c.keeps = max(c.keeps, c.rate)
	}
	if !pass && c.best.mockP99 > 5 {
		c.limited = true
	}
	switch {
	case c.half, c.rate < 200:
		c.done = true
	case pass && !c.down:
		c.up, c.rate = true, c.rate*step
	case !pass && !c.up:
		c.down, c.rate = true, c.rate/step
	case pass: // on the way down
		c.half, c.rate = true, c.rate*math.Sqrt(step)
	default:
		c.half, c.rate = true, c.rate/math.Sqrt(step)
	}
}

// end is a rate in text.
func (c *climb) end(rate float64) string {
	if c.limited {
		return fmt.Sprintf("%.0f or more (the mock's end)", rate)
	}
	return fmt.Sprintf("%.0f", rate)
}

// probe runs a client against a mock at a rate of events.
func probe(o *options, args func(*options, string, float64, time.Duration) []string, events float64) (*tried, error) {
	rate := events / tokens
	step := max(o.step, time.Duration(200/rate*1e9))
	m, err := o.cores.Mock(rig.Law{TTFT: ttftMS, ITL: itlMS})
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(context.Background(), 5*(warm+step)+time.Minute)
	defer stop()
	out, used, err := o.cores.Client(ctx, nil, args(o, m.URL, rate, step)...)
	took := time.Since(used.Start).Seconds()
	seen, stopErr := m.Stop()
	if err == nil {
		err = stopErr
	}
	if err != nil {
		return nil, err
	}
	var said result
	if err := json.Unmarshal(out, &said); err != nil {
		return nil, err
	}
	t := &tried{p50: rig.Quantile(said.Lag, 0.5), p99: rig.Quantile(said.Lag, 0.99), core: used.CPU / took,
		mockP99: seen.LateMS(), events: float64(said.Events) / step.Seconds()}
	var truth []float64
	for _, a := range seen.Arrivals {
		truth = append(truth, a.TTFTMS)
	}
	if len(truth) > 0 {
		t.wrong = rig.Median(said.TTFT) - rig.Median(truth)
	}
	return t, nil
}

// result is what a client prints, ms.
type result struct {
	Lag    []float64 `json:"lag_ms"`
	TTFT   []float64 `json:"ttft_ms"`
	Events int       `json:"events"`
}

func child(role string) func(*options, string, float64, time.Duration) []string {
	return func(o *options, url string, rate float64, step time.Duration) []string {
		return []string{os.Args[0], "-role", role, "-url", url, "-rate", fmt.Sprint(rate), "-step", step.String()}
	}
}

func ours(o *options, url string, rate float64, step time.Duration) []string {
	return child("client")(o, url, rate, step)
}

func bareArgs(o *options, url string, rate float64, step time.Duration) []string {
	return child("bare")(o, url, rate, step)
}

func python(more ...string) func(*options, string, float64, time.Duration) []string {
	return func(o *options, url string, rate float64, step time.Duration) []string {
		args := []string{o.loops, "-B", o.script, url, fmt.Sprint(rate), fmt.Sprint(step.Seconds()), fmt.Sprint(warm.Seconds()), strconv.Itoa(tokens)}
		return slices.Concat(args, more)
	}
}
