package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"reprise/replay"
	"reprise/trace"
	"reprise/trace/spec"
)

type sweepOptions struct {
	replayOptions
	trace   string
	repeats int
	dryRun  bool
}

func newSweep(s *stdio) *cobra.Command {
	var o sweepOptions
	c := &cobra.Command{
		Use:   "sweep PLAN|SPEC",
		Short: "Run a matrix of loads: closed loop, open loop, replay, ramp; endpoints take turns",
		Long: `Sweep runs a plan (see reprise init plan), or the runs that a spec agrees on: a
closed loop finds what an endpoint can do, open loops show at which rates the
limits hold, a replay of the trace confirms, a ramp shows where it breaks.

Endpoints take turns and runs are repeated with other seeds, so that an hour of
the day is not taken for a difference. Every run has a results folder of its own
in one folder, whose name is printed; reprise report reads that. A run that is
cut short is kept and said; an interrupt ends the sweep and keeps what there is.`,
		Example: `  reprise init plan > plan.yaml
  reprise sweep plan.yaml -o sweep/
  reprise sweep agreed.spec.json --trace peak.trace.parquet --url $URL -o sweep/
  reprise report sweep/`,
		Args: exactly(1, "one plan or spec"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.check(c); err != nil {
				return err
			}
			return o.run(c.Context(), s, args[0])
		},
	}
	o.add(c)
	c.Flags().StringVar(&o.trace, "trace", "", "trace that the replay rows of a spec send (default: drawn from the spec)")
	c.Flags().IntVar(&o.repeats, "repeats", 0, "run everything so often (default: as the plan says)")
	c.Flags().BoolVar(&o.dryRun, "dry-run", false, "print what would run, and end")
	c.Flags().StringVarP(&o.output, "output", "o", "", "folder to make for the results (default: sweep-DATE-TIME)")
	return c
}

// check refuses flags that no run could hold to.
func (o *sweepOptions) check(c *cobra.Command) error {
	if c.Flags().Changed("repeats") && (o.repeats < 1 || o.repeats > maxRepeats) {
		return usagef("--repeats is between 1 and %d, not %d", maxRepeats, o.repeats)
	}
	return o.replayOptions.check()
}

func (o *sweepOptions) run(ctx context.Context, s *stdio, path string) error {
	p, in, err := o.plan(s, path)
	if err != nil {
		return err
	}
	if err := p.readable(); err != nil {
		return err
	}
	w := &sweeper{options: o, io: s, plan: p, index: newSweepIndex(p, in), feeds: map[string]*feed{}}
	if err := w.feasible(); err != nil {
		return err
	}
	if o.dryRun {
		return w.print()
	}
	if o.output == "" {
		o.output = time.Now().UTC().Format("sweep-20060102-150405Z")
	}
	if err := os.Mkdir(o.output, 0o755); err != nil {
		if errors.Is(err, os.ErrExist) {
			return withHint(fmt.Errorf("%s exists already", o.output), "name another folder with -o")
		}
		return fmt.Errorf("making the folder of the results: %w", err)
	}
	return w.sweep(ctx)
}

// plan reads the plan, or makes it of a spec, and adds what flags say.
func (o *sweepOptions) plan(s *stdio, path string) (*sweepPlan, replay.Input, error) {
	in, err := s.open(path)
	if err != nil {
		return nil, replay.Input{}, err
	}
	defer in.Close()
	source := replay.Input{Name: filepath.Base(path), SHA256: in.sha256}
	data, err := in.bytes()
	if err != nil {
		return nil, source, err
	}
	var p *sweepPlan
	if err := in.noPlan(); err != nil {
		return nil, source, err
	}
	if in.starts("{") {
		sp, err := spec.Decode(data)
		if err == nil {
			p, err = planOf(sp, path, o.trace)
		}
		if err == nil {
			err = o.endpoint(p)
		}
		if err == nil {
			err = p.check()
		}
		if err != nil {
			return nil, source, fmt.Errorf("%s: %w", in.name, err)
		}
	} else if p, err = readPlan(path, data, o.endpoint); err != nil {
		return nil, source, fmt.Errorf("%s: %w", in.name, err)
	} else if o.trace != "" {
		return nil, source, usagef("--trace goes with a spec: a plan names its workload")
	}
	if o.repeats > 0 {
		p.Repeats = o.repeats
	}
	return p, source, nil
}

// endpoint takes the endpoint of the flags where a plan has none.
func (o *sweepOptions) endpoint(p *sweepPlan) error {
	switch {
	case o.url == "":
		return nil
	case len(p.Endpoints) > 0:
		return usagef("--url does not go with a plan that names its endpoints")
	}
	p.Endpoints = []sweepEndpoint{{Name: "endpoint", URL: o.url}}
	return nil
}

// sweeper runs a plan.
type sweeper struct {
	options *sweepOptions
	io      *stdio
	plan    *sweepPlan
	index   *sweepIndex
	feeds   map[string]*feed // traces, by path
	limited int              // runs whose client was late
	failed  int
}

// feasible makes every shape once, so that a plan fails before its first run.
func (w *sweeper) feasible() error {
	var sent []*trace.Trace
	if _, err := w.options.replayOptions.endpoint.adapterNames(&trace.Trace{}); err != nil {
		return err // of the flag itself
	}
	if _, err := w.options.replayOptions.endpoint.extraFields(); err != nil {
		return err
	}
	for i := range w.plan.Runs {
		r := &w.plan.Runs[i]
		for _, pt := range r.points() {
			rate := pt.rate
			if pt.share > 0 {
				rate = 100 / r.duration.Seconds() // not known yet
			}
			t, err := w.try(r, rate)
			if err != nil {
				return fmt.Errorf("runs: %s: %w", r.Name, err)
			}
			if !slices.Contains(sent, t) {
				sent = append(sent, t)
			}
		}
	}
	return w.options.replayOptions.endpoint.known(sent...)
}

// try makes what a row would send, and returns its requests.
func (w *sweeper) try(r *sweepRow, rate float64) (*trace.Trace, error) {
	f, shape, err := w.feed(r, rate, w.plan.Seed)
	if err != nil {
		return nil, err
	}
	p, err := shape.plan(f)
	if err != nil {
		return nil, err
	}
	if _, err := w.options.replayOptions.endpoint.adapterNames(f.trace); err != nil {
		return nil, err
	}
	if r.Mode == rowReplay && f.spec == nil {
		return f.trace, r.keeps(p)
	}
	return f.trace, nil
}

// feed is what a row sends at a rate, and how.
func (w *sweeper) feed(r *sweepRow, rate float64, seed uint64) (*feed, shapeFlags, error) {
	known := w.feeds[r.Workload]
	shape, err := r.shape(rate, seed, known != nil && known.spec != nil)
	if err != nil {
		return nil, shape, err
	}
	if known != nil && known.spec == nil {
		if shape.arrivals == fromSpec {
			return nil, shape, errors.New("arrivals: spec is the model of a spec, and the workload is a trace: poisson, constant or gamma")
		}
		return known, shape, nil
	}
	if known == nil {
		probe := shape
		probe.arrivals = "" // whatever it is
		if known, err = w.io.readFeed(r.Workload, &probe); err != nil {
			return nil, shape, err
		}
		w.feeds[r.Workload] = known
		return w.feed(r, rate, seed)
	}
	again := *known
	again.source = known.given
	return &again, shape, again.draw(&shape)
}

// sweep runs row after row.
func (w *sweeper) sweep(ctx context.Context) error {
	err := w.rows(ctx)
	w.index.end(err)
	if kept := w.keep(); kept != nil && err == nil {
		err = kept
	}
	fmt.Fprintln(w.io.out, w.options.output)
	for _, sat := range w.index.Saturation {
		least := ""
		if sat.AtLeast != "" {
			least = "; it may do more: " + sat.AtLeast
		}
		w.io.talk("%s saturates at %.3g answers/s, with %d under way%s", sat.Endpoint, sat.RatePerS, sat.Concurrency, least)
	}
	switch {
	case errors.Is(err, replay.ErrInterrupted), ctx.Err() != nil:
		return interrupted{fmt.Errorf("interrupted; what there is was kept in %s", w.options.output)}
	case err != nil:
		return err
	case w.failed > 0:
		return fmt.Errorf("%d of %d runs did not end as planned; see %s", w.failed, len(w.index.Runs), filepath.Join(w.options.output, sweepFile))
	case w.limited > 0:
		return verdict{exitDistrust, fmt.Sprintf("the client was late in %d of %d runs", w.limited, len(w.index.Runs))}
	}
	w.io.talk("reprise report %s shows it", w.options.output)
	return nil
}

func (w *sweeper) rows(ctx context.Context) error {
	for i := range w.index.Runs {
		line := &w.index.Runs[i]
		if ctx.Err() != nil {
			return replay.ErrInterrupted
		}
		if err := w.settleRate(line); err != nil {
			return err
		}
		if err := w.keep(); err != nil {
			return err
		}
		if i > 0 && w.plan.pause > 0 {
			select {
			case <-time.After(w.plan.pause):
			case <-ctx.Done():
				return replay.ErrInterrupted
			}
		}
		if err := w.one(ctx, line); err != nil {
			return err
		}
	}
	return nil
}

// settleRate turns a share of the saturation into a rate: of the lowest of the
// endpoints, so that all get the same load.
func (w *sweeper) settleRate(line *sweepLine) error {
	if line.OfSaturation == 0 {
		return nil
	}
	lowest := math.Inf(1)
	for _, e := range w.plan.Endpoints {
		rate, ok := w.index.saturation(e.Name)
		if !ok {
			return fmt.Errorf("%s has no saturation: no request of a closed loop was answered", e.Name)
		}
		lowest = min(lowest, rate)
	}
	line.RatePerS = lowest * line.OfSaturation
	return nil
}

// rests says on what the rate of a line rests, where that is not sure.
func (w *sweeper) rests(line *sweepLine) (notes []string) {
	if line.OfSaturation == 0 {
		return nil
	}
	notes = append(notes, fmt.Sprintf("The rate asked for, %.4g requests/s, is %.6g of the lowest saturation of the endpoints.", line.RatePerS, line.OfSaturation))
	for _, sat := range w.index.Saturation {
		if sat.AtLeast != "" {
			notes = append(notes, fmt.Sprintf("The rate is %.6g of a saturation that may be higher than the %.3g answers/s found at %s: %s.", line.OfSaturation, sat.RatePerS, sat.Endpoint, sat.AtLeast))
		}
	}
	return notes
}

// one runs one line of the index. Its error ends the sweep.
func (w *sweeper) one(ctx context.Context, line *sweepLine) error {
	row := w.plan.row(line.Row)
	seed := w.plan.Seed + uint64(line.Repeat)
	f, shape, err := w.feed(row, line.RatePerS, seed)
	if err != nil {
		return err
	}
	o := w.options.replayOptions
	o.shape, o.output, o.salt = shape, filepath.Join(w.options.output, line.Dir), 0
	o.spec, o.region = w.plan.Spec, w.plan.Region
	o.slo = slices.Concat(w.options.slo, w.plan.SLO)
	w.plan.endpoint(line.Endpoint).give(&o)
	o.notes = w.rests(line)
	var watch saturating
	if row.Mode == rowClosed {
		watch.follow(&o, shape.concurrency, len(row.Concurrency) == 0 || len(row.Concurrency) > 1)
	}
	w.io.talk("run %s", line.Dir)
	quiet := *w.io
	quiet.out = io.Discard
	err = o.replay(ctx, &quiet, f)
	line.take(o.done, err)
	if o.done != nil {
		w.index.reached(line.Endpoint, o.done.Endpoint.URL)
	}
	if row.Mode == rowClosed && o.done != nil {
		at, rate, more := watch.best()
		if o.done.Verdict.Verdict == replay.ClientLimited {
			more = "the client was late"
		}
		w.index.saturates(line.Endpoint, at, rate, more)
	}
	return w.judge(ctx, err)
}

// judge says whether the sweep goes on after a run.
func (w *sweeper) judge(ctx context.Context, err error) error {
	var v verdict
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return replay.ErrInterrupted
	case errors.As(err, &v):
		w.limited++
		return nil
	case errors.Is(err, replay.ErrHopeless):
		return err
	}
	w.failed++
	w.io.talk("error: %s", oneLine(err.Error()))
	return nil
}

func (w *sweeper) keep() error {
	return w.index.write(w.io, w.options.output)
}

// saturating follows a closed loop and ends it where it grows no more.
type saturating struct {
	mu     sync.Mutex
	sum    *replay.Saturation
	levels int
}

// grown is the share by which the rate must grow for the next level to be run.
const grown = 0.05

func (f *saturating) follow(o *replayOptions, levels []int, stop bool) {
	var points []replay.LoadPoint
	for i, n := range levels {
		points = append(points, replay.LoadPoint{Point: int32(i), Concurrency: n})
	}
	f.sum, f.levels = replay.NewSaturation(points), len(points)
	o.each = func(r *replay.Result) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.sum.Add(r)
	}
	o.level = func(i int) bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return i == 0 || !stop || f.sum.Grows(int32(i-1), grown)
	}
}

// best returns the level with the highest rate, that rate, and why there may be
// more to it.
func (f *saturating) best() (at replay.LoadPoint, rate float64, more string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, rate = f.sum.Best()
	if few := f.few(at); few != "" {
		return at, rate, few
	}
	if last := int32(f.levels - 1); at.Point == last && f.sum.Grows(last, grown) {
		more = "the rate still grew at the last level"
	}
	return at, rate, more
}

// few says which level held too few answers to tell, where that may hide a
// higher rate than that of the best; empty where none did.
func (f *saturating) few(best replay.LoadPoint) string {
	for _, p := range f.sum.Few() {
		if p.Point < best.Point {
			continue // a lower level would show less
		}
		l := f.sum.Level(p.Point)
		return fmt.Sprintf("the level with %d under way holds %d answers in its steady part and needs %d; give it a longer duration", p.Concurrency, l.Answers, l.Need)
	}
	return ""
}
