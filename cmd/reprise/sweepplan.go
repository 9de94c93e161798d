package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"reprise/replay/openai"
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

// The modes of rows, as a spec's runs have them.
const (
	rowClosed = "closed_loop"
	rowOpen   = "open_loop"
	rowReplay = "replay"
	rowRamp   = "ramp"
)

const maxRepeats = 1000

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
	err := p.check()
	var wrong *planError
	if errors.As(err, &wrong) {
		if line := strictyaml.Line(data, wrong.path...); line > 0 {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
	return p, err
}

// planError is what is wrong with a plan, and the path in it where that stands.
type planError struct {
	error
	path []any
}

func (e *planError) Unwrap() error { return e.error }

// at says where in a plan err is: at a path, and there under the key with which
// it begins, if it does.
func at(err error, path ...any) error {
	if err == nil {
		return nil
	}
	if key, _, ok := strings.Cut(err.Error(), ": "); ok {
		path = append(path, key)
	}
	return &planError{err, path}
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
		case rowOpen:
			if row.Arrivals = fromSpec; rate > 0 {
				row.Rates = []float64{rate}
			}
		case rowReplay:
			row.Workload, row.agreed = trace, rate
		case rowRamp:
			row.From, row.To = new(float64), &rate
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
		return at(fmt.Errorf("pause: %w", err))
	}
	switch {
	case len(p.Runs) == 0:
		return errors.New("the plan has no runs")
	case p.Repeats < 1 || p.Repeats > maxRepeats:
		return &planError{fmt.Errorf("repeats is between 1 and %d, not %d", maxRepeats, p.Repeats), []any{"repeats"}}
	case len(p.Endpoints) == 0:
		return withHint(errors.New("the plan has no endpoints"), "name them in the plan, or give --url")
	}
	for i, line := range p.SLO {
		if _, err := parseSLO(line); err != nil {
			return &planError{fmt.Errorf("slo: %w", err), []any{"slo", i}}
		}
	}
	if err := p.checkEndpoints(); err != nil {
		return err
	}
	names := map[string]bool{}
	saturated := false
	for i := range p.Runs {
		r := &p.Runs[i]
		if err := unique("runs", i, r.Name, names); err != nil {
			return &planError{err, []any{"runs", i, "name"}}
		}
		if r.Workload == "" {
			r.Workload = p.Workload
		}
		if err := r.check(saturated); err != nil {
			return fmt.Errorf("runs: %s: %w", r.Name, at(err, "runs", i))
		}
		saturated = saturated || r.Mode == rowClosed
	}
	return nil
}

// checkEndpoints refuses endpoints that cannot be told apart, or not be sent to.
func (p *sweepPlan) checkEndpoints() error {
	names, at := map[string]bool{}, map[string]string{}
	for i := range p.Endpoints {
		e := &p.Endpoints[i]
		if e.Name == "" && len(p.Endpoints) == 1 {
			e.Name = "endpoint"
		}
		if err := unique("endpoints", i, e.Name, names); err != nil {
			return &planError{err, []any{"endpoints", i, "name"}}
		}
		if e.URL == "" {
			return &planError{fmt.Errorf("endpoints: %s has no url", e.Name), []any{"endpoints", i}}
		}
		where, err := openai.Address(e.URL, e.API)
		if err != nil {
			return &planError{fmt.Errorf("endpoints: %s: url: %w", e.Name, err), []any{"endpoints", i, "url"}}
		}
		where += " " + e.Model
		if other := at[where]; other != "" {
			return &planError{fmt.Errorf("endpoints: %s and %s are one: the same url, api and model; repeats runs one several times", other, e.Name), []any{"endpoints", i}}
		}
		at[where] = e.Name
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
	switch {
	case name == "":
		return fmt.Errorf("%s: the %s has no name", list, ordinal(i+1))
	case name[0] == '.':
		return fmt.Errorf("%s: the name of the %s begins with a dot", list, ordinal(i+1))
	case len(name) > maxName:
		return fmt.Errorf("%s: the name of the %s has %d characters, %d at most", list, ordinal(i+1), len(name), maxName)
	case seen[name]:
		return fmt.Errorf("%s: the name %s of the %s is that of another", list, name, ordinal(i+1))
	}
	seen[name] = true
	return nil
}

// maxName bounds a name that becomes part of a folder's.
const maxName = 60

// ordinal writes a place in a list: 1st, 2nd, 11th.
func ordinal(n int) string {
	end := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}

// readable says early which file of a plan is missing, and what names it.
func (p *sweepPlan) readable() error {
	type named struct{ key, file string }
	files := []named{{"workload", p.Workload}, {"spec", p.Spec}}
	for _, r := range p.Runs {
		files = append(files, named{"runs: " + r.Name + ": workload", r.Workload})
	}
	for _, e := range p.Endpoints {
		files = append(files, named{"endpoints: " + e.Name + ": api_key_file", e.KeyFile})
	}
	for _, f := range files {
		if f.file == "" {
			continue
		}
		if _, err := os.Stat(f.file); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s: there is no file %s", f.key, f.file)
		} else if err != nil {
			return fmt.Errorf("%s: %w", f.key, err)
		}
	}
	return nil
}
