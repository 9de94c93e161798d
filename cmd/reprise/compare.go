package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"reprise/fit/compare"
	"reprise/replay/report"
	"reprise/trace"
	"reprise/trace/spec"
)

type compareOptions struct {
	limits string
	seed   uint64
	zone   string
	json   bool
	output string
}

func newCompare(s *stdio) *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare A B...",
		Short: "Distances and a verdict between two workloads",
		Long: `Compare sets two workloads against each other; A is the reference. Each is a
trace or a spec: a synthetic trace against its source, next month's log against
the signed spec, a new spec against the old one. Several B are draws of the
same under several seeds: their mean is judged.

Every metric stands with its noise floor (the reference against itself,
resampled by the minute) and with a baseline (Poisson arrivals, lengths apart,
nothing shared), which shows that the metric has power. A difference within its
limit, or within half as much again as the noise, passes. The queue probe sends
both arrivals through one queue with the same service times.

Models and adapters are matched by name where the policy kept their names, and by
alias where both logs were ingested under one --key-file (model-3f9a1c0b22 is then
the same model in every log). Aliases such as model1 tell nothing about another
log's model1: shares are compared by rank then, and the verdict says so.

Limits: fidelity for a synthetic trace against a trace, else drift; --for says
otherwise. Exit 3 when a metric misses, 4 when nothing could be judged.`,
		Example: `  reprise compare day.trace.parquet synthetic-*.trace.parquet
  reprise compare signed/spec.json october.trace.parquet`,
		Args: atLeast(2, "two workloads or more, the reference first"),
		RunE: func(c *cobra.Command, args []string) error {
			var r *compare.Report
			err := unlessInterrupted(c.Context(), func() (err error) {
				r, err = o.compare(s, args)
				return err
			})
			if err != nil {
				return err
			}
			if err := s.write(o.output, 0o644, false, func(w io.Writer) error { return o.render(w, r, args, s.rowWidth(o.output)) }); err != nil {
				return err
			}
			switch {
			case len(r.Misses()) > 0:
				return verdict{exitNo, r.Sentence()}
			case r.Judged() == 0:
				return verdict{exitDistrust, r.Sentence()}
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.limits, "for", "", "limits: fidelity or drift (default: by what B is)")
	c.Flags().Uint64Var(&o.seed, "seed", 1, "seed of the resamples and the baseline")
	c.Flags().StringVar(&o.zone, "timezone", "", "zone by whose clock the hours of two traces are compared, such as Europe/Berlin (default: UTC; a spec has its own)")
	c.Flags().BoolVar(&o.json, "json", false, "JSON instead of text")
	outputFlag(c, &o.output, "file to write")
	return c
}

// workload is a trace or a spec.
type workload struct {
	trace  *trace.Trace
	spec   *spec.Spec
	sha256 string
}

// readWorkload reads either, a trace without its prefix blocks where they are not
// wanted; a bundle's folder stands for its spec.
func (s *stdio) readWorkload(path string, blocks bool) (w workload, err error) {
	in, err := s.open(specIn(path))
	if err != nil {
		return w, err
	}
	defer in.Close()
	w.sha256 = in.sha256
	if within(in.name) != "" || in.starts(zstdMagic) {
		return w, in.noTrace()
	}
	if in.starts("PAR1") {
		load := loadLengths
		if blocks {
			load = trace.Load
		}
		if w.trace, err = load(in, in.size); err != nil {
			return w, fmt.Errorf("%s: %w", in.name, err)
		}
		return w, nil
	}
	data, err := in.bytes()
	if err != nil {
		return w, err
	}
	if w.spec, err = spec.Decode(data); err != nil {
		return w, in.otherSpec(err)
	}
	return w, nil
}

// loadLengths is trace.Load without prefix blocks, of which a prompt of a million
// tokens has 62,500.
func loadLengths(r io.ReaderAt, size int64) (*trace.Trace, error) {
	f, err := trace.Open(r, size)
	if err != nil {
		return nil, err
	}
	t := &trace.Trace{Header: f.Header}
	for q, err := range f.Requests() {
		if err != nil {
			return nil, err
		}
		q.Blocks = nil
		t.Requests = append(t.Requests, q)
	}
	return t, nil
}

// blockless says of a reference that its log told no prefix blocks, so that those
// of others are not looked at.
func (w workload) blockless() bool {
	return w.trace != nil && !slices.ContainsFunc(w.trace.Requests, func(r trace.Request) bool { return len(r.Blocks) > 0 })
}

func (o *compareOptions) compare(s *stdio, paths []string) (*compare.Report, error) {
	if slices.Index(paths, "-") != -1 && slices.Contains(paths[slices.Index(paths, "-")+1:], "-") {
		return nil, usagef("only one of them can be standard input")
	}
	all := make([]workload, len(paths))
	for i, p := range paths {
		var err error
		if all[i], err = s.readWorkload(p, i == 0 || !all[0].blockless()); err != nil {
			return nil, err
		}
	}
	a, b := all[0], all[1]
	c, err := o.options(a, b)
	if err != nil {
		return nil, err
	}
	var draws []*trace.Trace
	for _, w := range all[1:] {
		draws = append(draws, w.trace)
	}
	switch {
	case len(draws) > 1 && (a.trace == nil || slices.Contains(draws, nil)):
		return nil, usagef("several draws are compared only as traces, with a trace as reference")
	case a.trace != nil && b.trace != nil:
		return compare.Traces(a.trace, draws, c)
	case a.spec != nil && b.trace != nil:
		return compare.Spec(a.spec, b.trace, c)
	case a.spec != nil:
		return compare.Specs(a.spec, b.spec, c)
	}
	return nil, usagef("the reference comes first: reprise compare %s %s", paths[1], paths[0])
}

// options picks the limits by what the second is.
func (o *compareOptions) options(a, b workload) (compare.Options, error) {
	c := compare.Options{Limits: compare.Limits(o.limits), Seed: o.seed}
	switch c.Limits {
	case "":
		c.Limits = compare.Drift
		if a.trace != nil && b.trace != nil && b.trace.Header.Profile == "synthetic" {
			c.Limits = compare.Fidelity
		}
	case compare.Fidelity, compare.Drift:
	default:
		return c, usagef("--for is %q, want fidelity or drift", o.limits)
	}
	c.SameNames = sameOrigin(a, b)
	zone, err := hoursZone(o.zone)
	if err != nil {
		return c, usageError{err}
	}
	if zone != nil && a.spec != nil {
		return c, usagef("--timezone is for two traces; a spec has the zone of its hours (reprise fit --timezone)")
	}
	c.Zone = zone
	return c, nil
}

// sameOrigin says whether b was made of a, or of what a was made of: their aliases
// are the same then.
func sameOrigin(a, b workload) bool {
	if b.trace == nil || b.trace.Header.DerivedFrom == nil {
		return false
	}
	from := b.trace.Header.DerivedFrom.SHA256
	return from == a.sha256 || a.trace != nil && a.trace.Header.DerivedFrom != nil && from == a.trace.Header.DerivedFrom.SHA256
}

func (o *compareOptions) render(w io.Writer, r *compare.Report, args []string, width int) error {
	if o.json {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	return compareText(w, r, args, width)
}

// compareText prints a table for each section, in so many columns.
func compareText(w io.Writer, r *compare.Report, args []string, width int) error {
	para := func(s string) { fmt.Fprintln(w, wrapped(s, width)) }
	para(fmt.Sprintf("A  %s  (%s)", visible(args[0]), sideText(r.A)))
	para(fmt.Sprintf("B  %s  (%s)", visible(strings.Join(firstFew(args[1:], 2), ", ")), sideText(r.B)))
	fmt.Fprintln(w)
	para(r.Sentence())
	several := r.B.Draws > 1
	section := ""
	var cells [][]string
	flush := func() error {
		if cells == nil {
			return nil
		}
		return report.Grid(w, cells, 1, width)
	}
	for _, m := range r.Metrics {
		if m.Verdict == compare.Unknown && !m.A.OK {
			continue // the reference says nothing of it; --json has the row
		}
		if m.Section != section {
			if err := flush(); err != nil {
				return err
			}
			section = m.Section
			cells = [][]string{compareRow(several, section, "A", "B", "sd", "apart", "noise p95", "baseline", "limit", "verdict ")}
		}
		cells = append(cells, compareRow(several, visible(m.Name), shortValue(m.A), shortValue(m.B), shortValue(m.SD), apart(m, m.Off), apart(m, m.Noise), apart(m, m.Baseline), apart(m, m.Limit), verdictText(m)))
	}
	if err := flush(); err != nil {
		return err
	}
	for _, n := range r.Notes {
		fmt.Fprintln(w)
		para("note: " + n)
	}
	fmt.Fprintln(w)
	para("Quantiles are of type 1; apart: distances as they are, ratios and shares in %, dispersion as |ln B/A|.")
	return nil
}

// compareRow leaves the deviation of a single draw out.
func compareRow(several bool, cells ...string) []string {
	var row []string
	for i, c := range cells {
		if i != 3 || several {
			row = append(row, c)
		}
	}
	return row
}

func sideText(s compare.Side) string {
	text := fmt.Sprintf("%s, %d requests", s.Kind, s.Requests)
	if s.SpanS.OK {
		text += fmt.Sprintf(" over %.0f s", s.SpanS.V)
	}
	if s.Draws > 1 {
		text += fmt.Sprintf("; %d draws, their mean", s.Draws)
	}
	return text
}

func shortValue(v compare.Value) string {
	if !v.OK {
		return ""
	}
	return fmt.Sprintf("%.4g", v.V)
}

// apart prints how far two values are apart in the way of the metric.
func apart(m compare.Metric, v compare.Value) string {
	switch {
	case !v.OK:
		return ""
	case m.How == compare.Ratio:
		return fmt.Sprintf("%.1f %%", 100*v.V)
	case m.How == compare.Difference && slices.Contains([]string{"prefix", "sessions", "features"}, m.Section):
		return fmt.Sprintf("%.1f pt", 100*v.V)
	}
	return fmt.Sprintf("%.3f", v.V)
}

func verdictText(m compare.Metric) string {
	if strings.HasPrefix(m.Why, string(m.Verdict)) {
		return m.Why
	}
	if m.Why != "" {
		return strings.TrimSpace(string(m.Verdict) + ": " + m.Why)
	}
	if m.Verdict == compare.Pass && m.Off.V > m.Limit.V {
		return "pass, within the noise"
	}
	return string(m.Verdict)
}
