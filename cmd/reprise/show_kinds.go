package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"reprise/replay"
	"reprise/sanitize/bundle"
	"reprise/trace"
	"reprise/trace/spec"
)

var errNoRows = errors.New("this artifact has no rows; a trace and a results folder have")

// screen is the widest line of what show prints, in columns: that of a report.
const screen = 100

// pairs prints names and values in two columns, a line each.
func pairs(w io.Writer, title string, rows ...[2]string) { twoColumns(w, title, 0, rows) }

// folded is pairs whose long values go on in the next line.
func folded(w io.Writer, title string, rows ...[2]string) { twoColumns(w, title, screen, rows) }

// screened is folded in the lines of a spec's screen.
func screened(w io.Writer, title string, rows ...[2]string) { twoColumns(w, title, oneScreen, rows) }

func twoColumns(w io.Writer, title string, width int, rows [][2]string) {
	t := plain()
	names := 0
	for _, r := range rows {
		if r[1] != "" {
			t.AppendRow(table.Row{r[0], visible(r[1])})
			names = max(names, len(r[0]))
		}
	}
	if width > 0 {
		t.SetColumnConfigs([]table.ColumnConfig{{Number: 2, WidthMax: width - names - 4, WidthMaxEnforcer: text.WrapSoft}})
	}
	fmt.Fprintf(w, "%s\n%s\n", title, trimmed(t))
}

// trimmed is a table without the blanks that fill its lines.
func trimmed(t table.Writer) string {
	lines := strings.Split(t.Render(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

type shownTrace struct {
	f  *trace.File
	in *artifact
}

func (a *shownTrace) value() any               { return a.f.Header }
func (a *shownTrace) rows() (rowSource, error) { return traceRows(a.f), nil }

func (a *shownTrace) text(w io.Writer) error {
	h := a.f.Header
	var span int64
	var in, out, blocks int64
	for r, err := range a.f.Requests() {
		if err != nil {
			return err
		}
		span = max(span, r.T.Or(0))
		in, out, blocks = in+int64(r.Input.Or(0)), out+int64(r.Output.Or(0)), blocks+int64(len(r.Blocks))
	}
	leaves := "no: it stays with the customer"
	if h.Leaves {
		leaves = "yes"
	}
	folded(w, "trace, version 1, "+a.in.name,
		[2]string{"requests", fmt.Sprint(h.Counts.Kept)},
		[2]string{"span", fmt.Sprintf("%.3f s from %s", float64(span)/1e6, orNone(h.Time.Zero))},
		[2]string{"time stamps", resolution(h.Time)},
		[2]string{"tokens", fmt.Sprintf("%d in, %d out", in, out)},
		[2]string{"prefix blocks", fmt.Sprintf("%d of %d tokens, tail %s", blocks, h.BlockTokens, h.Tail)},
		[2]string{"tokenizer", tokenizerName(h.Tokenizer)},
		[2]string{"read", account(h.Counts)},
		[2]string{"profile", h.Profile},
		[2]string{"leaves", leaves},
		[2]string{"made by", made(h.Tool)},
		[2]string{"derived from", derived(h.DerivedFrom)},
		[2]string{"broken prefixes", brokenPrefixes(h)},
		[2]string{"sources", sources(h.Sources)},
		[2]string{"sha256", a.in.sha256})
	return nil
}

// brokenPrefixes says in short what keeps prompts from sharing; the spec says it
// in full.
func brokenPrefixes(h trace.Header) string {
	if h.Counting == nil {
		return ""
	}
	var out []string
	for _, b := range h.Counting.Broken {
		without := "it"
		if b.Behind {
			without = "that and the one before"
		}
		out = append(out, fmt.Sprintf("%.0f %% of prompts: a field at token %d or so, %d tokens shared, %d without %s", 100*b.Share, b.At, b.Now, b.Would, without))
	}
	return strings.Join(out, "; ")
}

func orNone(s string) string {
	if s == "" {
		return "an unnamed zero"
	}
	return s
}

func resolution(t trace.Time) string {
	if t.ResolutionUS == 0 {
		return "none"
	}
	return fmt.Sprintf("at %d µs, calendar %s", t.ResolutionUS, t.Calendar)
}

func tokenizerName(n trace.Named) string {
	if n.Name == "" {
		return "none"
	}
	return fmt.Sprintf("%s (sha256 %.12s…)", n.Name, n.SHA256)
}

func made(t trace.Tool) string { return fmt.Sprintf("%s %s, commit %s", t.Name, t.Version, t.Commit) }

func derived(d *trace.Derived) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("sha256 %.12s… by %s %s", d.SHA256, d.Verb, strings.Join(d.Args, " "))
}

func sources(list []trace.Source) string {
	var out []string
	for _, s := range list {
		out = append(out, fmt.Sprintf("%d bytes, sha256 %.12s…", s.Bytes, s.SHA256))
	}
	return strings.Join(out, "; ")
}

func account(c trace.Counts) string {
	s := fmt.Sprintf("%d rows = %d kept", c.Read, c.Kept)
	for _, m := range []map[string]int64{c.Rejected, c.Excluded} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			s += fmt.Sprintf(" + %d %s", m[k], k)
		}
	}
	return s
}

type shownSpec struct{ s *spec.Spec }

func (a *shownSpec) value() any               { return a.s }
func (a *shownSpec) rows() (rowSource, error) { return rowSource{}, errNoRows }
func (a *shownSpec) text(w io.Writer) error   { return specText(w, a.s) }

type shownBundle struct{ b *bundle.Bundle }

func (a *shownBundle) value() any               { return a.b.Spec }
func (a *shownBundle) rows() (rowSource, error) { return rowSource{}, errNoRows }

func (a *shownBundle) text(w io.Writer) error {
	sp := a.b.Spec
	rows := [][2]string{{"revision", fmt.Sprintf("%d, %s", sp.Revision, sp.Status)},
		{"profile", fmt.Sprintf("%s (k %d, u %d)", sp.Privacy.Profile, sp.Privacy.K, sp.Privacy.U)},
		{"leaves", strings.Join(leavingFiles(sp.Privacy.Leaves), ", ")}}
	for _, f := range sp.Artifacts {
		rows = append(rows, [2]string{f.Path, fmt.Sprintf("%d bytes, sha256 %.12s…", f.Bytes, f.SHA256)})
	}
	for _, p := range sp.Approvals {
		state := "has not signed"
		if _, err := os.Stat(filepath.Join(a.b.Dir(), bundle.SignatureFile(p.Role))); err == nil {
			state = "a signature is here, not checked by show"
		}
		rows = append(rows, [2]string{"must sign", fmt.Sprintf("%s: %s, %s", p.Role, p.Principal, state)})
	}
	folded(w, "bundle, version 1 (reprise verify checks it)", rows...)
	fmt.Fprintln(w)
	return specText(w, sp)
}

type shownRun struct{ d *replay.Dir }

func (a *shownRun) value() any               { return a.d.Run }
func (a *shownRun) rows() (rowSource, error) { return resultRows(a.d), nil }

func (a *shownRun) text(w io.Writer) error {
	r := a.d.Run
	rows := [][2]string{
		{"status", strings.TrimSpace(string(r.Status) + " " + r.AbortReason)},
		{"started", r.StartedAt},
		{"endpoint", fmt.Sprintf("%s (%s, model %s)", r.Endpoint.URL, r.Endpoint.API, r.Endpoint.Model)},
		{"trace", fmt.Sprintf("%s, sha256 %.12s…", r.Trace.Name, r.Trace.SHA256)},
		{"mode", r.Mode}, {"cache", r.Cache.Mode},
		{"planned", fmt.Sprintf("%d requests over %.3f s, %d results here", r.Planned, r.PlannedS, a.d.Rows)}}
	for _, o := range r.Outcomes {
		if o.N > 0 {
			rows = append(rows, [2]string{"  " + o.Class, fmt.Sprint(o.N)})
		}
	}
	rows = append(rows, [2]string{"client", r.Verdict.Verdict + ": " + r.Verdict.Reason}, [2]string{"made by", made(r.Tool)})
	folded(w, "results, version 1 (reprise report reads them)", rows...)
	return nil
}

// shownJSON is an artifact that is JSON for people already.
type shownJSON struct {
	kind string
	v    any
}

func (a *shownJSON) value() any               { return a.v }
func (a *shownJSON) rows() (rowSource, error) { return rowSource{}, errNoRows }

func (a *shownJSON) text(w io.Writer) error {
	fmt.Fprintf(w, "%s, version 1\n", a.kind)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(a.v)
}

// shownSweep is the folder of a sweep.
type shownSweep struct{ x *sweepIndex }

func (a *shownSweep) value() any               { return a.x }
func (a *shownSweep) rows() (rowSource, error) { return rowSource{}, errNoRows }

func (a *shownSweep) text(w io.Writer) error {
	x := a.x
	n := 0
	for i := range x.Runs {
		if x.Runs[i].has() {
			n++
		}
	}
	rows := [][2]string{
		{"status", strings.TrimSpace(string(x.Status) + " " + x.Reason)},
		{"started", x.StartedAt},
		{"plan", fmt.Sprintf("%s, sha256 %.12s…", x.Plan.Name, x.Plan.SHA256)}}
	for _, e := range x.Endpoints {
		rows = append(rows, [2]string{"endpoint", strings.TrimSpace(e.Name + " " + e.URL)})
	}
	for _, s := range x.Saturation {
		most := fmt.Sprintf("%s: %.3g answers/s, with %d under way", s.Endpoint, s.RatePerS, s.Concurrency)
		if s.AtLeast != "" {
			most += "; it may do more: " + s.AtLeast
		}
		rows = append(rows, [2]string{"saturation", most})
	}
	rows = append(rows, [2]string{"runs", fmt.Sprintf("%d of %d have results", n, len(x.Runs))}, [2]string{"made by", made(x.Tool)})
	folded(w, "sweep, version 1 (reprise report reads it)", rows...)
	t := plain()
	t.AppendHeader(table.Row{"run", "mode", "asked, requests/s", "status", "client"})
	for _, l := range x.Runs {
		rate := ""
		switch {
		case l.RatePerS > 0:
			rate = fmt.Sprintf("%.4g", l.RatePerS)
		case l.OfSaturation > 0:
			rate = fmt.Sprintf("%.4g of saturation", l.OfSaturation)
		}
		t.AppendRow(table.Row{l.Dir, l.Mode, rate, strings.TrimSpace(l.Status + " " + l.Reason), l.Verdict})
	}
	_, err := fmt.Fprintf(w, "\n%s\n", trimmed(t))
	return err
}
