package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"reprise/fit/synth"
	"reprise/replay"
	"reprise/trace"
	"reprise/trace/spec"
)

// fromSpec are arrivals as a spec's own model draws them.
const fromSpec = "spec"

// shapeFlags say what load is made of a trace or a spec.
type shapeFlags struct {
	arrivals    string
	rate        float64
	cv          float64
	length      time.Duration
	ramp        string
	steps       int
	concurrency []int
	stagger     time.Duration
	sessions    string
	seed        uint64
	warmup      time.Duration

	from, to float64 // of the ramp
	given    map[string]bool
}

func (o *shapeFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.arrivals, "arrivals", "", "trace or spec (as it has them), poisson, constant or gamma (default: as it has them; with --rate or --ramp poisson)")
	f.Float64Var(&o.rate, "rate", 0, "requests per second of the arrivals")
	f.Float64Var(&o.cv, "cv", 1, "coefficient of variation of gamma gaps: 1 is Poisson, more is bursty, 0 is constant")
	f.DurationVar(&o.length, "for", 0, "how long to send (default: every request once)")
	f.StringVar(&o.ramp, "ramp", "", "FROM..TO: change the rate evenly over --for")
	f.IntVar(&o.steps, "steps", 0, "change the rate of --ramp in so many equal steps, each a load point")
	f.IntSliceVar(&o.concurrency, "concurrency", nil, "closed loop: so many requests under way at once; several, one after the other: 1,2,4")
	f.DurationVar(&o.stagger, "stagger", 0, "spread the first requests of a closed loop over this long")
	f.StringVar(&o.sessions, "sessions", "schedule", "further turns: schedule (at their own instants) or think (a think time after the answer: the trace's, or drawn from the spec)")
	f.Uint64Var(&o.seed, "seed", 1, "seed of drawn arrivals and of a spec's trace")
	f.DurationVar(&o.warmup, "warmup", 0, "leave the first part out of the headline, of every closed-loop step")
}

// check reads the flags that were given and refuses those without an effect.
func (o *shapeFlags) check(c *cobra.Command) error {
	o.given = map[string]bool{}
	for _, name := range []string{"arrivals", "rate", "cv", "for", "ramp", "steps", "concurrency", "stagger", "sessions", "seed", "warmup"} {
		o.given[name] = c.Flags().Changed(name)
	}
	return o.settle()
}

func (o *shapeFlags) settle() error {
	closed, ramp := o.given["concurrency"], o.given["ramp"]
	if o.arrivals == "" && (o.given["rate"] || ramp) {
		o.arrivals = replay.Poisson
	}
	drawn := slices.Contains([]string{replay.Poisson, replay.Constant, replay.Gamma}, o.arrivals)
	think := o.sessions == "think"
	switch {
	case o.arrivals != "" && o.arrivals != replay.Recorded && o.arrivals != fromSpec && !drawn:
		return usagef("--arrivals is trace, spec, poisson, constant or gamma, not %q", o.arrivals)
	case o.sessions != "schedule" && !think:
		return usagef("--sessions is schedule or think, not %q", o.sessions)
	case closed && (o.arrivals != "" || ramp || think):
		return usagef("--concurrency has no schedule: it does not go with --arrivals, --rate, --ramp or --sessions think")
	case think && (drawn || ramp):
		return usagef("--sessions think keeps the recorded instants of first turns: it does not go with drawn arrivals")
	case ramp && (o.given["rate"] || !drawn):
		return usagef("--ramp has its own rates and draws its arrivals: it does not go with --rate, or --arrivals trace or spec")
	case o.given["rate"] && !(o.rate > 0):
		return usagef("--rate is a number of requests per second above 0")
	case o.given["rate"] && o.arrivals == replay.Recorded:
		return usagef("--rate does not go with --arrivals trace: a recorded trace is never squeezed; use reprise cut, or --arrivals poisson")
	case o.given["cv"] && o.arrivals != replay.Gamma:
		return usagef("--cv has an effect on --arrivals gamma alone")
	case o.given["cv"] && !(o.cv >= 0 && o.cv <= math.MaxFloat64):
		return usagef("--cv is 0 or more")
	case slices.ContainsFunc(o.concurrency, func(n int) bool { return n < 1 }):
		return usagef("--concurrency is the number of requests under way at once, 1 or more")
	case o.given["steps"] && (!ramp || o.steps < 2):
		return usagef("--steps is the number of steps of a --ramp, 2 or more")
	case o.steps > maxSteps:
		return usagef("--steps is at most %d", maxSteps)
	case o.given["stagger"] && !closed:
		return usagef("--stagger spreads the start of a closed loop: it needs --concurrency")
	case o.length < 0 || o.warmup < 0 || o.stagger < 0:
		return usagef("--for, --warmup and --stagger are not negative")
	case ramp && o.length == 0:
		return usagef("--ramp needs --for: how long it takes")
	case closed && o.warmup > 0 && o.length == 0:
		return usagef("the --warmup of a closed loop needs --for: how long each step takes")
	}
	if o.given["rate"] {
		if err := sendable(o.rate); err != nil {
			return usagef("--rate: %w", err)
		}
	}
	return o.readRamp()
}

// maxSteps bounds the load points of a ramp: each has its numbers in run.json
// and the report.
const maxSteps = 10_000

// sendable refuses rates that no client sends, before a spec is drawn for them.
func sendable(rates ...float64) error {
	for _, r := range rates {
		a := replay.Arrivals{Process: replay.Poisson, Rate: replay.Linear(r, r, time.Second)}
		if err := a.Check(); err != nil {
			return err
		}
	}
	return nil
}

func (o *shapeFlags) readRamp() error {
	if o.ramp == "" {
		return nil
	}
	a, b, ok := strings.Cut(o.ramp, "..")
	var err1, err2 error
	o.from, err1 = strconv.ParseFloat(a, 64)
	o.to, err2 = strconv.ParseFloat(b, 64)
	if !ok || err1 != nil || err2 != nil || !rampRate(o.from) || !rampRate(o.to) {
		return usagef("--ramp is FROM..TO in requests per second, for instance 1..20")
	}
	if err := sendable(o.from, o.to); err != nil {
		return usagef("--ramp: %w", err)
	}
	if o.from == o.to {
		return usagef("--ramp %s changes nothing: use --rate", o.ramp)
	}
	return nil
}

// args is what the flags say, for run.json.
func (o *shapeFlags) args() []string {
	var out []string
	add := func(name, value string) {
		if o.given[name] {
			out = append(out, "--"+name, value)
		}
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	add("arrivals", o.arrivals)
	add("rate", number(o.rate))
	add("cv", number(o.cv))
	add("for", o.length.String())
	add("ramp", o.ramp)
	add("steps", strconv.Itoa(o.steps))
	add("concurrency", strings.Trim(strings.ReplaceAll(fmt.Sprint(o.concurrency), " ", ","), "[]"))
	add("stagger", o.stagger.String())
	add("sessions", o.sessions)
	add("seed", strconv.FormatUint(o.seed, 10))
	return out
}

// plan makes the schedule of w.
func (o *shapeFlags) plan(w *feed) (*replay.Plan, error) {
	p, err := o.draw(w)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", w.name, err)
	}
	if w.spec != nil && p.Shape.Arrivals == replay.Recorded {
		p.Shape.Arrivals, p.Shape.Seed = fromSpec, o.seed
	}
	if len(o.concurrency) > 0 {
		return p, nil
	}
	p.WarmUp(o.warmup)
	if o.warmup > 0 && !slices.ContainsFunc(p.Jobs, func(j replay.Job) bool { return j.Phase == replay.Measure }) {
		return nil, usagef("a warm-up of %v leaves nothing to measure: the last request comes after %v", o.warmup, p.Length())
	}
	return p, nil
}

// whole is the plan of all machines of a run together.
type whole struct {
	planned int64         // requests, 0 where only the run tells
	last    time.Duration // last planned instant, as Plan.Length
	hits    float64       // expected hit rate
}

// part makes the schedule of this machine's part of a run, where cache is the
// mode. Arrivals are drawn for all machines and then shared out, so that together
// they are the process that was asked for; so are the slots of a closed loop.
func (o *shapeFlags) part(w *feed, sh *shardFlags, cache string) (*replay.Plan, whole, error) {
	p, err := o.plan(w)
	if err != nil {
		return nil, whole{}, err
	}
	p.Keep = cache == replay.CacheKeep
	all := whole{planned: max(p.Planned(), 0), last: p.Length()}
	if cache != replay.CacheNone {
		all.hits = p.ExpectedHits(w.trace.Header.BlockTokens)
	}
	if sh.shard == "" {
		return p, all, nil
	}
	if err := p.Part(sh.part); err != nil {
		return nil, whole{}, usagef("--shard: %w", err)
	}
	return p, all, nil
}

func (o *shapeFlags) draw(w *feed) (*replay.Plan, error) {
	a := replay.Arrivals{Process: o.arrivals, CV: o.cv, Seed: o.seed}
	switch {
	case len(o.concurrency) > 0:
		var levels []replay.Level
		for _, n := range o.concurrency {
			levels = append(levels, replay.Level{Concurrency: n, Last: o.length, Warmup: o.warmup, Stagger: o.stagger})
		}
		return replay.NewClosedPlan(w.trace, levels)
	case o.ramp != "":
		a.Rate = replay.Linear(o.from, o.to, o.length)
		if o.steps > 0 {
			a.Rate = replay.Stepped(o.from, o.to, o.length, o.steps)
		}
		return replay.NewArrivalPlan(w.trace, a)
	case a.Process == replay.Poisson || a.Process == replay.Constant || a.Process == replay.Gamma:
		rate := o.rate
		if rate == 0 {
			rate = w.rate()
		}
		if rate == 0 {
			return nil, usagef("the trace has no rate of its own: give --rate")
		}
		a.Rate = replay.Steady(rate, o.length)
		return replay.NewArrivalPlan(w.trace, a)
	}
	return o.recorded(w)
}

// recorded keeps the instants of the trace, or of what the spec drew.
func (o *shapeFlags) recorded(w *feed) (*replay.Plan, error) {
	t := w.trace
	if o.length > 0 && w.spec == nil {
		until := *t
		n, _ := slices.BinarySearchFunc(t.Requests, o.length.Microseconds(), func(r trace.Request, us int64) int {
			if r.T.V < us {
				return -1
			}
			return 1
		})
		until.Requests = t.Requests[:n]
		t = &until
	}
	if o.sessions != "think" {
		return replay.NewPlan(t)
	}
	var thinks *replay.Thinks
	if w.spec != nil {
		thinks = replay.NewThinks(w.spec.Workload.Sessions, o.seed)
	}
	return replay.NewSessionPlan(t, thinks)
}

// feed is what a run sends: a trace, or one that a spec drew.
type feed struct {
	name   string
	trace  *trace.Trace
	spec   *spec.Spec   // nil of a trace
	given  replay.Input // the file
	source replay.Input // the trace that is sent
}

// rate is the mean rate, 1/s, 0 when it is not known.
func (w *feed) rate() float64 {
	if w.spec != nil {
		return specRate(w.spec)
	}
	n := len(w.trace.Requests)
	if !w.trace.Timed() || n < 2 {
		return 0
	}
	if us := w.trace.Requests[n-1].T.V - w.trace.Requests[0].T.V; us > 0 {
		return float64(n-1) / (float64(us) / 1e6)
	}
	return 0
}

func specRate(sp *spec.Spec) float64 {
	if a := &sp.Workload.Arrivals; a.Process != spec.ProcessUnknown && a.Rate.Value > 0 {
		return float64(a.Rate.Value)
	}
	return float64(sp.Question.Load.Value)
}

// readFeed opens a trace, or a spec and draws its trace.
func (s *stdio) readFeed(path string, o *shapeFlags) (*feed, error) {
	in, err := s.open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	w := &feed{name: in.name, given: replay.Input{Name: filepath.Base(path), SHA256: in.sha256}}
	w.source = w.given
	if !in.starts("{") {
		if o.arrivals == fromSpec {
			return nil, usagef("--arrivals spec needs a spec, and %s is a trace", in.name)
		}
		if !in.starts("PAR1") {
			return nil, in.noTrace()
		}
		w.trace, err = trace.Load(in, in.size)
		if err != nil {
			return nil, ofResults(fmt.Errorf("%s: %w", in.name, err), path)
		}
		return w, nil
	}
	data, err := in.bytes()
	if err != nil {
		return nil, err
	}
	if w.spec, err = spec.Decode(data); err != nil {
		if jsonLines(data) {
			return nil, withHint(fmt.Errorf("%s is neither a trace nor a spec: line 1 is a JSON value of its own, as in a log", in.name), "reprise ingest makes a trace of a log")
		}
		if what := in.what(); what != "a spec" {
			return nil, fmt.Errorf("%s is %s, and neither a trace nor a spec", in.name, what)
		}
		return nil, fmt.Errorf("%s is neither a trace nor a spec: %w", in.name, err)
	}
	return w, w.draw(o)
}

// jsonLines tells that the first of several lines is a whole JSON value, which a
// spec's never is.
func jsonLines(data []byte) bool {
	first, rest, _ := bytes.Cut(data, []byte("\n"))
	return json.Valid(first) && len(bytes.TrimSpace(rest)) > 0
}

// meanRate is the mean rate that is asked for, 1/s, 0 for the trace's own.
func (o *shapeFlags) meanRate() float64 {
	if o.ramp != "" {
		return (o.from + o.to) / 2
	}
	return o.rate
}

// drawn is how much of a spec that has a rate of its own must be drawn, so that
// a run of so long at another rate has requests enough. Both counts vary: four
// times the square root of a Poisson number is not exceeded.
func drawn(length time.Duration, rate, own float64) time.Duration {
	n := length.Seconds() * rate
	return time.Duration((n + 8*math.Sqrt(n) + 8) / own * 1e9)
}

// draw makes the trace of a spec: as reprise synth does with the same seed.
func (w *feed) draw(o *shapeFlags) error {
	options := synth.Options{Seed: o.seed, For: o.length}
	if own, rate := specRate(w.spec), o.meanRate(); rate > 0 && own > 0 {
		if o.arrivals == fromSpec {
			options.Scale = rate / own
		} else if o.length > 0 {
			options.For = drawn(o.length, rate, own)
		}
	}
	so := synthOptions{seed: options.Seed, length: options.For, scale: max(options.Scale, 0)}
	if so.scale == 0 {
		so.scale = 1
	}
	t, err := synth.Trace(w.spec, options)
	if err != nil {
		return fmt.Errorf("%s: %w", w.name, err)
	}
	if len(t.Requests) == 0 {
		return fmt.Errorf("%s: the spec drew no request: a longer time with --for, or a higher rate", w.name)
	}
	t.Header.Tool, t.Header.Leaves = version(), true
	t.Header.DerivedFrom = &trace.Derived{SHA256: w.given.SHA256, Verb: "synth", Args: so.args()}
	w.trace = t
	h := sha256.New()
	if err := trace.Write(h, t.Header, t.All()); err != nil {
		return err
	}
	w.source = replay.Input{Name: fmt.Sprintf("drawn from %s by synth %s", w.source.Name, strings.Join(so.args(), " ")), SHA256: hex.EncodeToString(h.Sum(nil))}
	return nil
}
