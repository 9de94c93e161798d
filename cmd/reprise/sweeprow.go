package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"reprise/replay"
)

// sweepRow is one kind of run of the matrix, at one load point or several.
type sweepRow struct {
	Name         string    `yaml:"name"`
	Mode         string    `yaml:"mode"`
	Workload     string    `yaml:"workload"`
	Arrivals     string    `yaml:"arrivals"`
	CV           *float64  `yaml:"cv"`
	Concurrency  []int     `yaml:"concurrency"`
	Rates        []float64 `yaml:"rates"`
	OfSaturation []float64 `yaml:"of_saturation"`
	From         *float64  `yaml:"from"`
	To           *float64  `yaml:"to"`
	Steps        *int      `yaml:"steps"`
	Sessions     string    `yaml:"sessions"`
	Duration     string    `yaml:"duration"`
	Warmup       string    `yaml:"warmup"`

	duration, warmup time.Duration
	agreed           float64 // rate of a replay that a spec agrees on, 1/s; 0: none
}

// ladder are the levels of a closed loop that names none: doubled until the
// rate of answers grows no more.
func ladder() []int { return []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024} }

func span(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, errors.New("it is not a time such as 30s or 10m")
	}
	return d, nil
}

// check settles a row and refuses what cannot be run, or would run as something
// else. saturated tells whether a row above finds the saturation.
func (r *sweepRow) check(saturated bool) error {
	if !slices.Contains([]string{rowClosed, rowOpen, rowReplay, rowRamp}, r.Mode) {
		return fmt.Errorf("the mode %q is not closed_loop, open_loop, replay or ramp", r.Mode)
	}
	var err error
	if r.duration, err = span(r.Duration); err != nil {
		return fmt.Errorf("duration: %w", err)
	}
	if r.warmup, err = span(r.Warmup); err != nil {
		return fmt.Errorf("warmup: %w", err)
	}
	if r.Workload == "" {
		return errors.New("there is no workload")
	}
	if r.duration > 0 && r.warmup >= r.duration {
		return fmt.Errorf("warmup: %v leaves nothing of the duration, %v, to measure", r.warmup, r.duration)
	}
	if err := r.ineffective(); err != nil {
		return err
	}
	switch r.Mode {
	case rowClosed:
		return r.checkClosed()
	case rowOpen:
		return r.checkOpen(saturated)
	case rowRamp:
		return r.checkRamp()
	}
	return nil
}

// leastLevel is the least time of a level of a closed loop: below, all that is
// seen is its beginning and its end.
const leastLevel = time.Second

func (r *sweepRow) checkClosed() error {
	switch {
	case r.duration == 0:
		return errors.New("duration: a closed loop needs one, which each level takes")
	case r.duration-r.warmup < leastLevel:
		return fmt.Errorf("duration: each level of a closed loop takes %v, of which %v are measured: %v at least, and long enough for ten answers and one for each request under way", r.duration, r.duration-r.warmup, leastLevel)
	case r.Concurrency != nil && len(r.Concurrency) == 0:
		return errors.New("concurrency: the list is empty: leave it out for 1, 2, 4 … 1024")
	}
	for i, n := range r.Concurrency {
		switch {
		case n < 1:
			return fmt.Errorf("concurrency: %d requests under way are no load", n)
		case i > 0 && n <= r.Concurrency[i-1]:
			return fmt.Errorf("concurrency: %d follows %d: levels ascend, since they end where the rate grows no more", n, r.Concurrency[i-1])
		}
	}
	return nil
}

func (r *sweepRow) checkOpen(saturated bool) error {
	switch {
	case r.duration == 0:
		return errors.New("duration: an open loop needs one")
	case len(r.OfSaturation) > 0 && !saturated:
		return errors.New("of_saturation needs a closed_loop row above it, which finds the saturation")
	}
	for _, list := range []struct {
		key    string
		values []float64
	}{{"rates", r.Rates}, {"of_saturation", r.OfSaturation}} {
		if list.values != nil && len(list.values) == 0 {
			return fmt.Errorf("%s: the list is empty", list.key)
		}
		for i, v := range list.values {
			switch {
			case !(v > 0) || math.IsInf(v, 0):
				return fmt.Errorf("%s: %g is not above 0", list.key, v)
			case slices.Contains(list.values[:i], v):
				return fmt.Errorf("%s: %g stands there twice; repeats runs it again", list.key, v)
			}
		}
	}
	return nil
}

func (r *sweepRow) checkRamp() error {
	switch {
	case r.duration == 0:
		return errors.New("duration: a ramp needs one")
	case r.From == nil:
		return errors.New("from: a ramp needs the rate at which it begins")
	case r.To == nil:
		return errors.New("to: a ramp needs the rate at which it ends")
	case !rampRate(*r.From) || !rampRate(*r.To):
		return errors.New("from and to are requests per second, 0 or more")
	case *r.From == *r.To:
		return fmt.Errorf("to: a ramp from %g to %g changes nothing: use open_loop", *r.From, *r.To)
	case r.Steps != nil && *r.Steps < 2:
		return fmt.Errorf("steps: %d is not 2 or more; leave it out for a rate that changes evenly", *r.Steps)
	case r.Steps != nil && *r.Steps > maxSteps:
		return fmt.Errorf("steps: %d is more than %d", *r.Steps, maxSteps)
	}
	return nil
}

func rampRate(v float64) bool { return v >= 0 && !math.IsInf(v, 0) }

// ineffective refuses keys that a mode does not look at.
func (r *sweepRow) ineffective() error {
	for _, k := range []struct {
		key   string
		given bool
		modes []string
	}{
		{"concurrency", r.Concurrency != nil, []string{rowClosed}},
		{"rates", r.Rates != nil, []string{rowOpen}},
		{"of_saturation", r.OfSaturation != nil, []string{rowOpen}},
		{"arrivals", r.Arrivals != "", []string{rowOpen, rowRamp}},
		{"cv", r.CV != nil, []string{rowOpen, rowRamp}},
		{"from and to", r.From != nil || r.To != nil, []string{rowRamp}},
		{"steps", r.Steps != nil, []string{rowRamp}},
		{"sessions", r.Sessions != "", []string{rowReplay}},
	} {
		if k.given && !slices.Contains(k.modes, r.Mode) {
			return fmt.Errorf("%s has no effect on a row of mode %s", k.key, r.Mode)
		}
	}
	return nil
}

// sweepPoint is a load point of a row: a rate, or a share of the saturation.
type sweepPoint struct{ rate, share float64 }

func (r *sweepRow) points() []sweepPoint {
	var out []sweepPoint
	for _, v := range r.Rates {
		out = append(out, sweepPoint{rate: v})
	}
	for _, v := range r.OfSaturation {
		out = append(out, sweepPoint{share: v})
	}
	if len(out) == 0 {
		out = []sweepPoint{{}}
	}
	return out
}

// shape is a row at a rate as the flags of replay say it.
func (r *sweepRow) shape(rate float64, seed uint64, isSpec bool) (shapeFlags, error) {
	o := shapeFlags{cv: 1, length: r.duration, warmup: r.warmup, sessions: "schedule", seed: seed, given: map[string]bool{"seed": true, "for": r.duration > 0}}
	if r.CV != nil {
		o.cv, o.given["cv"] = *r.CV, true
	}
	if r.Arrivals != "" {
		o.arrivals, o.given["arrivals"] = r.Arrivals, true
	}
	switch r.Mode {
	case rowClosed:
		o.concurrency, o.given["concurrency"] = r.Concurrency, true
		if len(o.concurrency) == 0 {
			o.concurrency = ladder()
		}
	case rowOpen:
		if o.arrivals == "" {
			o.arrivals = replay.Poisson
			if isSpec {
				o.arrivals = fromSpec
			}
		}
		if rate > 0 {
			o.rate, o.given["rate"] = rate, true
		}
	case rowReplay:
		if r.Sessions != "" {
			o.sessions = r.Sessions
		}
		if isSpec && r.agreed > 0 {
			o.arrivals = fromSpec
			o.rate, o.given["rate"] = r.agreed, true
		}
	case rowRamp:
		o.from, o.to = *r.From, *r.To
		o.ramp, o.given["ramp"] = fmt.Sprintf("%g..%g", o.from, o.to), true
		if r.Steps != nil {
			o.steps, o.given["steps"] = *r.Steps, true
		}
	}
	return o, o.settle()
}

// keeps refuses a trace that is not at the rate which a spec agrees on for its
// replay: recorded instants are sent as they are. What a Poisson number of as
// many requests varies by is no difference.
func (r *sweepRow) keeps(p *replay.Plan) error {
	n, s := float64(p.Planned()), p.Length().Seconds()
	if r.agreed == 0 || n < 2 || s == 0 {
		return nil
	}
	if rate := (n - 1) / s; math.Abs(rate/r.agreed-1) > max(0.05, 3/math.Sqrt(n)) {
		return fmt.Errorf("load: the spec agrees on a replay at %.4g requests/s, and the trace has %.4g: cut it to that rate (reprise cut), or agree on its own", r.agreed, rate)
	}
	return nil
}
