package main

import (
	"fmt"
	"io"
	"iter"
	"path/filepath"

	"reprise/replay"
)

// shownPart is one table of a results folder besides its requests: the health of
// the client or the server's own metrics.
type shownPart struct {
	title string
	table rowSource
	say   func() ([][2]string, error)
}

// recognisePart tells a table of a results folder by its name; nil: it is none of
// those that can be shown by themselves.
func recognisePart(path string) (shown, func(), error) {
	dir, name := within(path), filepath.Base(path)
	if dir == "" || name != "health.parquet" && name != "server.parquet" && name != "requests.parquet" {
		return nil, nil, nil
	}
	d, err := replay.OpenDir(dir)
	if err != nil {
		return nil, func() {}, ofResults(err, path)
	}
	done := func() { d.Close() }
	switch name {
	case "health.parquet":
		return &shownPart{"health of the client, a row a second (--csv prints them)", tableOf(replay.HealthColumns(), d.Health(), replay.HealthCells), func() ([][2]string, error) { return healthLines(d.Health()) }}, done, nil
	case "server.parquet":
		return &shownPart{"metrics of the server as they were scraped (--csv prints them)", tableOf(replay.ServerColumns(), d.Server(), replay.ServerCells), func() ([][2]string, error) { return serverLines(d.Server()) }}, done, nil
	}
	return &shownRun{d}, done, nil
}

func tableOf[T any](columns []string, rows iter.Seq2[T, error], cells func(*T) []any) rowSource {
	return rowSource{columns, func(yield func([]any, error) bool) {
		for r, err := range rows {
			if !yield(cells(&r), err) || err != nil {
				return
			}
		}
	}}
}

func (a *shownPart) rows() (rowSource, error) { return a.table, nil }

// value is what --json prints: the lines of the text by name.
func (a *shownPart) value() any {
	lines, err := a.say()
	out := map[string]string{"kind": a.title}
	if err != nil {
		out["error"] = err.Error()
	}
	for _, l := range lines {
		out[l[0]] = l[1]
	}
	return out
}

func (a *shownPart) text(w io.Writer) error {
	lines, err := a.say()
	if err != nil {
		return err
	}
	folded(w, a.title, lines...)
	return nil
}

// worst follows the largest of something over the seconds of a run.
type worst struct {
	v, at float64
	known bool
}

func (x *worst) add(v, at float64) {
	if v >= 0 && (!x.known || v > x.v) {
		*x = worst{v, at, true}
	}
}

func (x *worst) text(format string) string {
	if !x.known {
		return "not measured"
	}
	if x.v == 0 {
		return "0"
	}
	return fmt.Sprintf(format+", in the second to %.0f s", x.v, x.at)
}

// healthLines are the worst seconds of a run.
func healthLines(rows iter.Seq2[replay.HealthRow, error]) ([][2]string, error) {
	var lag, kernel, heart, stall, cpu, throttled, steal, flying worst
	var n, gc int64
	for h, err := range rows {
		if err != nil {
			return nil, err
		}
		n, gc = n+1, gc+h.GCCycles
		at := float64(h.TNS) / 1e9
		for _, x := range []struct {
			to *worst
			v  float64
		}{{&lag, float64(h.LagP99US) / 1e3}, {&kernel, float64(h.KernelP99US) / 1e3}, {&heart, float64(h.HeartP99US) / 1e3}, {&stall, float64(h.HeartMaxUS) / 1e3},
			{&cpu, h.CPU}, {&throttled, float64(h.Throttled)}, {&steal, h.Steal * 100}, {&flying, float64(h.InFlight)}} {
			x.to.add(x.v, at)
		}
	}
	return [][2]string{
		{"seconds", fmt.Sprint(n)},
		{"send lag p99, worst", lag.text("%.3f ms")}, {"kernel to reader p99, worst", kernel.text("%.3f ms")},
		{"heartbeat late p99, worst", heart.text("%.3f ms")}, {"longest stall", stall.text("%.3f ms")},
		{"CPU, most", cpu.text("%.2f cores")}, {"throttled periods, most", throttled.text("%.0f")}, {"CPU stolen, most", steal.text("%.1f %%")},
		{"in flight, most", flying.text("%.0f")}, {"garbage collections", fmt.Sprint(gc)}}, nil
}

// serverLines say what was scraped.
func serverLines(rows iter.Seq2[replay.ServerRow, error]) ([][2]string, error) {
	names, n, scrapes, last := map[string]bool{}, 0, 0, int64(-1)
	for r, err := range rows {
		if err != nil {
			return nil, err
		}
		n++
		names[r.Name] = true
		if n == 1 || r.TNS != last {
			scrapes, last = scrapes+1, r.TNS
		}
	}
	return [][2]string{{"values", fmt.Sprint(n)}, {"metrics", fmt.Sprint(len(names))}, {"scrapes", fmt.Sprint(scrapes)}}, nil
}
