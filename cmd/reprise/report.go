package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reprise/replay"
	"reprise/replay/report"
)

type reportOptions struct {
	format string
	html   string
	output string
}

func newReport(s *stdio) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report RESULTS...",
		Short: "Report on results: latency, goodput under the SLO, verdict on the client",
		Long: `Report reads one or more results folders and prints percentiles, goodput under
the limits of the run, and whether the client may be believed. Several folders
are set side by side, and against throughput when they are the same work at
several loads; LABEL=DIR names one, and those of one label are one curve. The
folders of the client machines of one run (replay --shard) are one run, and the
folder of a sweep is all its runs.

Exit codes: 0 limits met, or none set; 3 a limit missed; 4 the numbers are not to
be trusted: the client was late, the run did not end, or the load was another.`,
		Example: `  reprise report run/
  reprise report trace=run-a/ synthetic=run-b/ --html report.html`,
		Args: func(c *cobra.Command, args []string) error {
			if err := atLeast(1, "one results folder or more")(c, args); err != nil {
				return err
			}
			return o.outputs()
		},
		RunE: func(c *cobra.Command, args []string) error { return o.run(c.Context(), s, args) },
	}
	c.Flags().StringVar(&o.format, "format", "text", "text, json, md or html")
	c.Flags().StringVar(&o.html, "html", "", "also write one offline HTML page to this file")
	outputFlag(c, &o.output, "file to write")
	return c
}

// outputs refuses, before anything is read, a page that cannot be written or
// that would stand where something else goes.
func (o *reportOptions) outputs() error {
	switch {
	case !slices.Contains([]string{"text", "json", "md", "html"}, o.format):
		return usagef("--format is %q, want text, json, md or html", o.format)
	case o.html == "":
		return nil
	case o.html == "-":
		return usagef("--html is a file beside what goes to stdout; --format html writes the page there")
	case o.output != "" && filepath.Clean(o.html) == filepath.Clean(o.output):
		return usagef("--html and -o are the same file, %s: --format html -o %s writes the page alone", o.output, o.output)
	}
	return errors.Join(writable(o.html), spared(o.html))
}

func (o *reportOptions) run(_ context.Context, s *stdio, args []string) error {
	r, err := buildReport(args)
	if err != nil {
		return err
	}
	text := func(w io.Writer) error { return r.TextIn(w, s.width(o.output)) }
	render := map[string]func(io.Writer) error{"text": text, "json": r.JSON, "md": r.Markdown, "html": r.HTML}[o.format]
	if o.html != "" {
		if err := s.write(o.html, 0o644, false, r.HTML); err != nil {
			return err
		}
		s.talk("wrote %s", o.html)
	}
	if err := s.write(o.output, 0o644, false, render); err != nil {
		return err
	}
	if r.Exit != exitDone {
		return verdict{r.Exit, r.Reason}
	}
	return nil
}

// again refuses a folder that was named before, in whatever way.
func again(path string, seen map[string]bool) error {
	full, err := filepath.Abs(path)
	if real, err2 := filepath.EvalSymlinks(full); err == nil && err2 == nil {
		full = real
	}
	if seen[full] {
		return usagef("%s is named twice: a run is not compared with itself", path)
	}
	seen[full] = true
	return nil
}

// buildReport reads results folders, each optionally LABEL=DIR. The folders of
// the client machines of one run are one input.
func buildReport(args []string) (*report.Report, error) {
	var inputs []report.Input
	var groups []runGroup
	var short []string
	seen := map[string]bool{}
	for _, a := range args {
		label, path, named := strings.Cut(a, "=")
		if !named {
			label, path = "", a
		}
		if err := again(path, seen); err != nil {
			return nil, err
		}
		if isSweep(path) {
			more, lack, closeAll, err := sweepInputs(path, label)
			if err != nil {
				return nil, err
			}
			defer closeAll()
			if lack != "" {
				short = append(short, lack)
			}
			inputs = append(inputs, more...)
			continue
		}
		d, err := openRun(path)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		at := slices.IndexFunc(groups, func(g runGroup) bool { return replay.SameRun(g.dirs[0].Run, d.Run) })
		if at >= 0 {
			groups[at].dirs = append(groups[at].dirs, d)
			continue
		}
		groups = append(groups, runGroup{label, named, []*replay.Dir{d}})
	}
	if err := oneSalt(groups); err != nil {
		return nil, err
	}
	nameGroups(groups)
	for _, g := range groups {
		in, err := input(g.label, g.dirs)
		if err != nil {
			return nil, err
		}
		in.Named = g.named
		inputs = append(inputs, in)
	}
	r, err := report.Build(version(), inputs...)
	if err == nil && len(short) > 0 {
		r.Detail += " " + strings.Join(short, " ")
	}
	return r, err
}

// runGroup is one run: its folder, or those of its client machines.
type runGroup struct {
	label string
	named bool // by hand
	dirs  []*replay.Dir
}

// oneSalt refuses parts of one run that were made with several salts, each of
// which would stand there as a run that lacks the other's. Where both have the
// same shard they are two runs that started together.
func oneSalt(groups []runGroup) error {
	for i, g := range groups {
		for _, h := range groups[i+1:] {
			if !replay.OtherSalt(g.dirs[0].Run, h.dirs[0].Run) {
				continue
			}
			shared := slices.ContainsFunc(g.dirs, func(a *replay.Dir) bool {
				return slices.ContainsFunc(h.dirs, func(b *replay.Dir) bool { return a.Run.Shard.Index == b.Run.Shard.Index })
			})
			if !shared {
				_, err := replay.Merge(slices.Concat(g.dirs, h.dirs)) // it says of which
				return err
			}
		}
	}
	return nil
}

// nameGroups labels the runs that nobody named by the end of their paths, as
// much of it as tells them apart.
func nameGroups(groups []runGroup) {
	var paths [][]string // the parts of each, the last first
	for _, g := range groups {
		path := g.dirs[0].Path
		if whole, err := filepath.Abs(path); err == nil {
			path = whole
		}
		parts := strings.Split(filepath.ToSlash(path), "/")
		slices.Reverse(parts)
		paths = append(paths, parts)
	}
	for i := range groups {
		if groups[i].named {
			continue
		}
		own, n := paths[i], 1
		for j := range groups {
			if !groups[j].named && !slices.Equal(own, paths[j]) {
				n = max(n, common(own, paths[j])+1)
			}
		}
		end := slices.Clone(own[:min(n, len(own))])
		slices.Reverse(end)
		groups[i].label = strings.Join(end, "/")
	}
}

// common is how many first parts two lists share.
func common(a, b []string) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// input reads one run: of one folder, or of several client machines.
func input(label string, dirs []*replay.Dir) (report.Input, error) {
	d := dirs[0]
	if d.Run.Shard != nil {
		m, err := replay.Merge(dirs)
		if err != nil {
			return report.Input{}, err
		}
		return report.Input{Label: label, Run: m.Run, Results: m.Requests(), Health: m.Health, Server: [][]replay.ServerRow{m.Server}, Cut: m.Cut}, nil
	}
	in := report.Input{Label: label, Run: d.Run, Results: d.Requests(), Cut: d.Cut}
	for h, err := range d.Health() {
		if err != nil {
			return in, fmt.Errorf("%s: %w", d.Path, err)
		}
		in.Health = append(in.Health, h)
	}
	rows, err := d.Followed()
	in.Server = [][]replay.ServerRow{rows}
	return in, err
}
