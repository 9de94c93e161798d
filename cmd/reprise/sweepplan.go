package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"reprise/replay"
	"reprise/trace/spec"
	"reprise/trace/strictyaml"
)

// sweepPlan is a run matrix as people write it by hand (reprise init plan).
type sweepPlan struct {
	Workload  string          `yaml:"workload"`
	Spec      string          `yaml:"spec"`
	SLO       []string        `yaml:"slo"`
	Region    string          `yaml:"region"`
	Seed      uint64          `yaml:"seed"`
	Repeats   int             `yaml:"repeats"`
	Pause     string          `yaml:"pause"`
	Endpoints []sweepEndpoint `yaml:"endpoints"`
	Runs      []sweepRow      `yaml:"runs"`

	pause time.Duration
}

type sweepEndpoint struct {
	Name    string   `yaml:"name"`
	URL     string   `yaml:"url"`
	Model   string   `yaml:"model"`
	API     string   `yaml:"api"`
	KeyFile string   `yaml:"api_key_file"`
	Headers []string `yaml:"headers"`
}

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
	From         float64   `yaml:"from"`
	To           float64   `yaml:"to"`
	Steps        int       `yaml:"steps"`
	Sessions     string    `yaml:"sessions"`
	Duration     string    `yaml:"duration"`
	Warmup       string    `yaml:"warmup"`

	duration, warmup time.Duration
}

// ladder are the levels of a closed loop that names none: doubled until the
// rate of answers grows no more.
func ladder() []int { return []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024} }

// The modes of rows, as a spec's runs have them.
const (
	rowClosed = "closed_loop"
	rowOpen   = "open_loop"
	rowReplay = "replay"
	rowRamp   = "ramp"
)

// readPlan reads a plan; files that it names are beside it, and more adds what
// the command line says.
func readPlan(path string, data []byte, more func(*sweepPlan) error) (*sweepPlan, error) {
	p := &sweepPlan{Seed: 1, Repeats: 1}
	if err := strictyaml.Decode(data, p); err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	beside := func(name *string) {
		if *name != "" && !filepath.IsAbs(*name) {
			*name = filepath.Join(dir, *name)
		}
	}
	beside(&p.Workload)
	beside(&p.Spec)
	for i := range p.Runs {
		beside(&p.Runs[i].Workload)
	}
	for i := range p.Endpoints {
		beside(&p.Endpoints[i].KeyFile)
	}
	if err := more(p); err != nil {
		return nil, err
	}
	return p, p.check()
}

// row returns a row by its name.
func (p *sweepPlan) row(name string) *sweepRow {
	return &p.Runs[slices.IndexFunc(p.Runs, func(r sweepRow) bool { return r.Name == name })]
}

// endpoint returns an endpoint by its name.
func (p *sweepPlan) endpoint(name string) *sweepEndpoint {
	return &p.Endpoints[slices.IndexFunc(p.Endpoints, func(e sweepEndpoint) bool { return e.Name == name })]
}

// give puts an endpoint into the options of a run; what it leaves out is as the
// flags say.
func (e *sweepEndpoint) give(o *replayOptions) {
	o.url = e.URL
	o.model = cmp.Or(e.Model, o.model)
	o.api = cmp.Or(e.API, o.api)
	o.keyFile = cmp.Or(e.KeyFile, o.keyFile)
	o.headers = slices.Concat(o.headers, e.Headers)
}

// planOf makes a plan of the runs that a spec agrees on.
func planOf(sp *spec.Spec, path, trace string) (*sweepPlan, error) {
	if len(sp.Runs) == 0 {
		return nil, withHint(errors.New("the spec agrees on no runs"), "add them with reprise agree, or write a plan (reprise init plan)")
	}
	p := &sweepPlan{Workload: path, Spec: path, Seed: 1, Repeats: 1}
	for i, r := range sp.Runs {
		row := sweepRow{Name: r.Name, Mode: r.Mode, Duration: (time.Duration(float64(r.LastS) * 1e9)).String()}
		rate := float64(r.Load.Value)
		switch r.Mode {
		case rowClosed: // the agreed time is that of all levels
			row.Duration = (time.Duration(float64(r.LastS)*1e9) / time.Duration(len(ladder()))).String()
		case rowOpen:
			if row.Arrivals = fromSpec; rate > 0 {
				row.Rates = []float64{rate}
			}
		case rowReplay:
			row.Workload = trace
		case rowRamp:
			row.To = rate
		}
		if row.Name == "" {
			row.Name = fmt.Sprintf("run%d", i+1)
		}
		p.Runs = append(p.Runs, row)
	}
	return p, nil
}

// check settles what was left out and refuses what cannot be run.
func (p *sweepPlan) check() error {
	var err error
	if p.pause, err = span(p.Pause); err != nil {
		return fmt.Errorf("pause: %w", err)
	}
	switch {
	case len(p.Runs) == 0:
		return errors.New("the plan has no runs")
	case p.Repeats < 1 || p.Repeats > 1000:
		return errors.New("repeats is not between 1 and 1000")
	case len(p.Endpoints) == 0:
		return withHint(errors.New("the plan has no endpoints"), "name them in the plan, or give --url")
	}
	names := map[string]bool{}
	for i := range p.Endpoints {
		e := &p.Endpoints[i]
		if e.Name == "" && len(p.Endpoints) == 1 {
			e.Name = "endpoint"
		}
		if err := unique("endpoints", i, e.Name, names); err != nil {
			return err
		}
		if e.URL == "" {
			return fmt.Errorf("endpoints: %s has no url", e.Name)
		}
	}
	names = map[string]bool{}
	saturated := false
	for i := range p.Runs {
		r := &p.Runs[i]
		if err := unique("runs", i, r.Name, names); err != nil {
			return err
		}
		if r.Workload == "" {
			r.Workload = p.Workload
		}
		if err := r.check(saturated); err != nil {
			return fmt.Errorf("runs: %s: %w", r.Name, err)
		}
		saturated = saturated || r.Mode == rowClosed
	}
	return nil
}

// unique checks a name that becomes part of a folder's.
func unique(list string, i int, name string, seen map[string]bool) error {
	for _, c := range name {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' || c == '-' {
			continue
		}
		return fmt.Errorf("%s: name %d is more than letters, digits, dots, dashes and underscores", list, i+1)
	}
	if name == "" || seen[name] || name[0] == '.' || len(name) > 60 {
		return fmt.Errorf("%s: name %d is missing, too long, or there already", list, i+1)
	}
	seen[name] = true
	return nil
}

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

func (r *sweepRow) check(saturated bool) error {
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
	for _, v := range slices.Concat(r.Rates, r.OfSaturation) {
		if !(v > 0) || math.IsInf(v, 0) {
			return errors.New("a rate, or share of saturation, is not above 0")
		}
	}
	switch r.Mode {
	case rowClosed:
		if r.duration == 0 {
			return errors.New("a closed loop needs a duration, which each level takes")
		}
	case rowOpen:
		if len(r.OfSaturation) > 0 && !saturated {
			return errors.New("of_saturation needs a closed_loop row above it, which finds the saturation")
		}
		if r.duration == 0 {
			return errors.New("an open loop needs a duration")
		}
	case rowReplay:
	case rowRamp:
		if r.duration == 0 || r.From < 0 || r.To < 0 || r.From+r.To <= 0 {
			return errors.New("a ramp needs from, to and a duration")
		}
	default:
		return fmt.Errorf("the mode %q is not closed_loop, open_loop, replay or ramp", r.Mode)
	}
	return r.ineffective()
}

// ineffective refuses keys that a mode does not look at.
func (r *sweepRow) ineffective() error {
	for _, k := range []struct {
		key   string
		given bool
		modes []string
	}{
		{"concurrency", len(r.Concurrency) > 0, []string{rowClosed}},
		{"rates", len(r.Rates) > 0, []string{rowOpen}},
		{"of_saturation", len(r.OfSaturation) > 0, []string{rowOpen}},
		{"arrivals", r.Arrivals != "", []string{rowOpen, rowRamp}},
		{"cv", r.CV != nil, []string{rowOpen, rowRamp}},
		{"from and to", r.From != 0 || r.To != 0, []string{rowRamp}},
		{"steps", r.Steps != 0, []string{rowRamp}},
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
	case rowRamp:
		o.from, o.to = r.From, r.To
		o.ramp, o.given["ramp"] = fmt.Sprintf("%g..%g", r.From, r.To), true
		if r.Steps > 0 {
			o.steps, o.given["steps"] = r.Steps, true
		}
	}
	return o, o.settle()
}

// readable says early which file of a plan is missing.
func (p *sweepPlan) readable() error {
	files := []string{p.Spec}
	for _, r := range p.Runs {
		files = append(files, r.Workload)
	}
	for _, e := range p.Endpoints {
		files = append(files, e.KeyFile)
	}
	for _, f := range files {
		if f == "" {
			continue
		}
		if _, err := os.Stat(f); err != nil {
			return err
		}
	}
	return nil
}
