package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"reprise/replay"
	"reprise/replay/report"
	"reprise/trace"
	"reprise/trace/strictjson"
)

// sweepFile is the index in the folder of a sweep.
const sweepFile = "sweep.json"

const (
	sweepKind    = "reprise.sweep"
	sweepVersion = 1
)

// sweepIndex is sweep.json: what was to run, and how each run ended.
type sweepIndex struct {
	Kind       string            `json:"kind"`
	Version    int               `json:"version"`
	Tool       trace.Tool        `json:"tool"`
	Status     replay.Status     `json:"status"`
	Reason     string            `json:"abort_reason,omitempty"`
	StartedAt  string            `json:"started_at"`
	Plan       replay.Input      `json:"plan"`
	Endpoints  []sweepURL        `json:"endpoints"`
	Saturation []sweepSaturation `json:"saturation"`
	Runs       []sweepLine       `json:"runs"` // in the order of running
}

type sweepURL struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"` // as run.json has it, once a run was
}

// sweepSaturation is the most that an endpoint did in a closed loop: the median
// over repetitions.
type sweepSaturation struct {
	Endpoint    string    `json:"endpoint"`
	Concurrency int       `json:"concurrency"`
	RatePerS    float64   `json:"rate_per_s"`
	Repeats     []float64 `json:"repeats_per_s"`
	// AtLeast says why the endpoint may do more: it was the client that was late,
	// or the rate still grew at the last level.
	AtLeast string `json:"at_least,omitempty"`
}

// sweepLine is one run.
type sweepLine struct {
	Dir          string  `json:"dir"`
	Row          string  `json:"row"`
	Mode         string  `json:"mode"` // of the row
	Point        int32   `json:"point"`
	Repeat       int     `json:"repeat"`
	Endpoint     string  `json:"endpoint"`
	RatePerS     float64 `json:"rate_per_s,omitempty"`
	OfSaturation float64 `json:"of_saturation,omitempty"`
	Status       string  `json:"status"` // planned, complete, aborted, failed (no results)
	Reason       string  `json:"reason,omitempty"`
	Verdict      string  `json:"client_verdict,omitempty"`
}

// newSweepIndex lists the runs of a plan: row after row, repetition after
// repetition, point after point, and the endpoints in turns.
func newSweepIndex(p *sweepPlan, plan replay.Input) *sweepIndex {
	x := &sweepIndex{Kind: sweepKind, Version: sweepVersion, Tool: version(), Status: replay.Running, Plan: plan,
		StartedAt: time.Now().UTC().Format(time.RFC3339), Saturation: []sweepSaturation{}}
	for _, e := range p.Endpoints {
		x.Endpoints = append(x.Endpoints, sweepURL{Name: e.Name})
	}
	for i := range p.Runs {
		r := &p.Runs[i]
		for rep := range p.Repeats {
			for k, pt := range r.points() {
				for e := range p.Endpoints {
					name := p.Endpoints[(e+rep+k)%len(p.Endpoints)].Name
					x.Runs = append(x.Runs, sweepLine{Row: r.Name, Mode: r.Mode, Point: int32(k), Repeat: rep, Endpoint: name,
						RatePerS: pt.rate, OfSaturation: pt.share, Status: "planned",
						Dir: fmt.Sprintf("%03d-%s-p%d-r%d-%s", len(x.Runs)+1, r.Name, k+1, rep+1, name)})
				}
			}
		}
	}
	return x
}

// take says how a run ended.
func (l *sweepLine) take(run *replay.Run, err error) {
	if run == nil {
		l.Status = "failed"
		if err != nil {
			l.Reason = oneLine(err.Error())
		}
		return
	}
	l.Status, l.Reason, l.Verdict = string(run.Status), run.AbortReason, run.Verdict.Verdict
}

// saturates takes the saturation that a closed loop found.
func (x *sweepIndex) saturates(endpoint string, at replay.LoadPoint, rate float64, more string) {
	if rate <= 0 {
		return
	}
	i := slices.IndexFunc(x.Saturation, func(s sweepSaturation) bool { return s.Endpoint == endpoint })
	if i < 0 {
		i = len(x.Saturation)
		x.Saturation = append(x.Saturation, sweepSaturation{Endpoint: endpoint})
	}
	s := &x.Saturation[i]
	s.Repeats = append(s.Repeats, rate)
	s.AtLeast = cmp.Or(s.AtLeast, more)
	sorted := slices.Sorted(slices.Values(s.Repeats))
	if s.RatePerS = sorted[(len(sorted)-1)/2]; s.RatePerS == rate {
		s.Concurrency = at.Concurrency
	}
}

// reached takes the URL of an endpoint, as run.json has it: without secrets.
func (x *sweepIndex) reached(endpoint, url string) {
	for i := range x.Endpoints {
		if x.Endpoints[i].Name == endpoint {
			x.Endpoints[i].URL = url
		}
	}
}

func (x *sweepIndex) saturation(endpoint string) (float64, bool) {
	for _, s := range x.Saturation {
		if s.Endpoint == endpoint {
			return s.RatePerS, true
		}
	}
	return 0, false
}

func (x *sweepIndex) end(err error) {
	x.Status = replay.Complete
	if err != nil {
		x.Status, x.Reason = replay.Aborted, oneLine(err.Error())
	}
}

func (x *sweepIndex) write(s *stdio, dir string) error {
	data, err := strictjson.Encode(x)
	if err != nil {
		return err
	}
	return s.writeBytes(filepath.Join(dir, sweepFile), data)
}

// print shows what a plan would run.
func (w *sweeper) print() error {
	for _, l := range w.index.Runs {
		at := ""
		switch {
		case l.OfSaturation > 0:
			at = fmt.Sprintf(" at %.6g of saturation", l.OfSaturation)
		case l.RatePerS > 0:
			at = fmt.Sprintf(" at %.6g requests/s", l.RatePerS)
		}
		row := w.plan.row(l.Row)
		long := "as long as it is"
		if row.duration > 0 {
			long = row.duration.String()
		}
		if row.Mode == rowClosed {
			long += " a level"
		}
		fmt.Fprintf(w.io.out, "%s  %s%s, %s, %s\n", l.Dir, l.Mode, at, long, l.Endpoint)
	}
	return nil
}

// isSweep tells whether a folder is that of a sweep.
func isSweep(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, sweepFile))
	return err == nil
}

func readSweep(dir string) (*sweepIndex, error) {
	data, err := os.ReadFile(filepath.Join(dir, sweepFile))
	if err != nil {
		return nil, err
	}
	x, err := decodeSweep(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, sweepFile), err)
	}
	return x, nil
}

func decodeSweep(data []byte) (*sweepIndex, error) {
	var x sweepIndex
	if err := strictjson.Decode(data, &x); err != nil {
		return nil, err
	}
	if x.Kind != sweepKind || x.Version != sweepVersion {
		return nil, fmt.Errorf("kind %q version %d, this build reads %q version %d", x.Kind, x.Version, sweepKind, sweepVersion)
	}
	for _, l := range x.Runs {
		if !filepath.IsLocal(l.Dir) {
			return nil, errors.New("it names a folder outside")
		}
	}
	return &x, nil
}

// sweepInputs opens the runs of a sweep for a report: one input for each load
// point of a row at an endpoint, its repetitions taken together. short says what
// the sweep lacks.
func sweepInputs(dir, label string) (inputs []report.Input, short string, closeAll func(), err error) {
	x, err := readSweep(dir)
	if err != nil {
		return nil, "", nil, err
	}
	x.begun(dir)
	var open []*replay.Dir
	closeAll = func() {
		for _, d := range open {
			d.Close()
		}
	}
	for _, group := range x.groups() {
		var dirs []*replay.Dir
		for _, l := range group {
			d, err := replay.OpenDir(filepath.Join(dir, l.Dir))
			if err != nil {
				closeAll()
				return nil, "", nil, err
			}
			open, dirs = append(open, d), append(dirs, d)
		}
		in, err := x.input(group[0], dirs, label)
		if err != nil {
			closeAll()
			return nil, "", nil, err
		}
		inputs = append(inputs, in)
	}
	if len(inputs) == 0 {
		return nil, "", nil, errors.New("the sweep has no results")
	}
	return inputs, x.short(), closeAll, nil
}

// has tells whether a line has results.
func (l *sweepLine) has() bool {
	return l.Status == string(replay.Complete) || l.Status == string(replay.Aborted) || l.Status == string(replay.Running)
}

// begun finds the run at which a sweep was killed, or that still runs: it is
// planned yet, and its folder is there.
func (x *sweepIndex) begun(dir string) {
	for i := range x.Runs {
		if l := &x.Runs[i]; l.Status == "planned" {
			if _, err := os.Stat(filepath.Join(dir, l.Dir, "run.json")); err == nil {
				l.Status = string(replay.Running)
			}
		}
	}
}

// short says what a sweep lacks, empty when it ran to its end.
func (x *sweepIndex) short() string {
	n := 0
	for i := range x.Runs {
		if x.Runs[i].has() {
			n++
		}
	}
	if n == len(x.Runs) && x.Status == replay.Complete {
		return ""
	}
	why := "it still runs or was killed"
	if x.Status != replay.Running {
		why = cmp.Or(x.Reason, "runs failed")
	}
	return fmt.Sprintf("The sweep did not run to its end (%s): %d of its %d runs have results.", why, n, len(x.Runs))
}

// groups are the lines with results by row, endpoint and point, in the order of
// the plan.
func (x *sweepIndex) groups() [][]*sweepLine {
	var out [][]*sweepLine
	type key struct {
		row, endpoint string
		point         int32
	}
	at := map[key]int{}
	for i := range x.Runs {
		l := &x.Runs[i]
		if !l.has() {
			continue
		}
		k := key{l.Row, l.Endpoint, l.Point}
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			out = append(out, nil)
		}
		out[j] = append(out[j], l)
	}
	for _, g := range out {
		slices.SortFunc(g, func(a, b *sweepLine) int { return cmp.Compare(a.Repeat, b.Repeat) })
	}
	return out
}

func (x *sweepIndex) input(l *sweepLine, dirs []*replay.Dir, label string) (report.Input, error) {
	endpoint, point := "", int32(-1)
	if len(x.Endpoints) > 1 {
		endpoint = l.Endpoint
	}
	if l.Mode == rowOpen {
		point = l.Point
	}
	j, err := replay.JoinRepeats(dirs, endpoint, point)
	if err != nil {
		return report.Input{}, err
	}
	named := label != ""
	if named {
		label += " "
	}
	return report.Input{Label: label + l.Row, Named: named, Run: j.Run, Results: j.Requests(), Health: j.Health, Server: j.Server, Cut: j.Cut}, nil
}
