package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"reprise/replay"
	"reprise/replay/mock/engine"
	"reprise/replay/mock/fitlaw"
	"reprise/replay/mock/simulate"
)

// fitOptions make a law from a measured run, and forecasts from a law.
type fitOptions struct {
	results string
	predict []string
	maxSeqs int
	asJSON  bool
	output  string
}

func (o *fitOptions) register(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.results, "fit", "", "results folder of a replay, or its server.parquet for the server's own metrics: fit the law to it, write the law and end")
	f.StringArrayVar(&o.predict, "predict", nil, "trace, or results folder: simulate its load under the law and end; may be repeated")
	f.IntVar(&o.maxSeqs, "max-seqs", 0, "with --fit: places in the engine's batch, where they are known")
	f.BoolVar(&o.asJSON, "json", false, "with --fit or --predict: print what was found as JSON")
	f.StringVarP(&o.output, "output", "o", "", "with --fit: law file to write (default stdout, unless something else is printed)")
}

func (o *fitOptions) asked() bool { return o.results != "" || len(o.predict) > 0 }

// found is what --json prints.
type found struct {
	Law      engine.Law     `json:"law"`
	Fit      *fitlaw.Report `json:"fit,omitempty"`
	Forecast []forecast     `json:"forecasts,omitempty"`
}

// forecast is what a law says of a load, beside what was measured where it was.
type forecast struct {
	Of       string            `json:"of"`
	Measured bool              `json:"is_measured"`
	Check    *fitlaw.Check     `json:"check,omitempty"`
	Alone    simulate.Forecast `json:"predicted"`
}

// run fits or takes the law, and predicts.
func (o *fitOptions) run(s *stdio, law func() (engine.Law, error), seed uint64, fleet engine.FleetConfig) error {
	var f found
	var err error
	if o.results != "" {
		err = o.fit(&f, seed)
	} else {
		f.Law, err = law()
	}
	if err != nil {
		return err
	}
	for _, path := range o.predict {
		p, err := predict(s, f.Law, path, seed, fleet)
		if err != nil {
			return err
		}
		f.Forecast = append(f.Forecast, p)
	}
	return o.print(s, &f)
}

func (o *fitOptions) fit(f *found, seed uint64) error {
	if filepath.Base(o.results) == "server.parquet" {
		return o.fitMetrics(f)
	}
	obs, left, run, err := observations(o.results)
	if err != nil {
		return err
	}
	source := fmt.Sprintf("fitted to %d answers of model %s in results %s, begun %s", len(obs), run.Endpoint.Model, filepath.Base(o.results), run.StartedAt)
	law, report, err := fitlaw.Fit(obs, left, fitlaw.Options{Name: "fitted", Source: source, MaxSeqs: o.maxSeqs, Seed: seed})
	if err != nil {
		return fmt.Errorf("%s: %w", o.results, err)
	}
	f.Law, f.Fit = law, &report
	return nil
}

// fitMetrics fits to what a replay scraped of the server.
func (o *fitOptions) fitMetrics(f *found) error {
	dir := filepath.Dir(o.results)
	d, err := replay.OpenDir(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	source := fmt.Sprintf("fitted to the server's metrics in results %s, begun %s", filepath.Base(dir), d.Run.StartedAt)
	law, report, err := fitlaw.FromMetrics(d.Server(), fitlaw.Options{Name: "fitted", Source: source, MaxSeqs: o.maxSeqs})
	if err != nil {
		return fmt.Errorf("%s: %w", o.results, err)
	}
	f.Law, f.Fit = law, &report
	return nil
}

func observations(dir string) ([]fitlaw.Observation, int, *replay.Run, error) {
	d, err := openRun(dir)
	if err != nil {
		return nil, 0, nil, err
	}
	defer d.Close()
	obs, left, err := fitlaw.Observe(d.Requests())
	if err != nil {
		return nil, 0, nil, fmt.Errorf("%s: %w", dir, err)
	}
	return obs, left, d.Run, nil
}

// predict simulates the load of a trace, or that of a run, with the token
// counts and cache hits that the run had.
func predict(s *stdio, law engine.Law, path string, seed uint64, fleet engine.FleetConfig) (forecast, error) {
	f := forecast{Of: path}
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		obs, _, _, err := observations(path)
		if err != nil {
			return f, err
		}
		c, err := fitlaw.Predict(law, obs, seed)
		if err != nil {
			return f, fmt.Errorf("%s: %w", path, err)
		}
		f.Measured, f.Check, f.Alone = true, &c, c.Predicted
		return f, nil
	}
	t, _, err := s.readTrace(path)
	if err != nil {
		return f, err
	}
	in, err := simulate.FromTrace(t)
	if err != nil {
		return f, fmt.Errorf("%s: %w", path, err)
	}
	out, _, err := simulate.RunFleet(law, seed, fleet, in, nil)
	if err != nil {
		return f, err
	}
	f.Alone = simulate.Sum(in, out)
	return f, nil
}

func (o *fitOptions) print(s *stdio, f *found) error {
	if f.Fit != nil {
		data, err := engine.EncodeLaw(f.Law)
		if err != nil {
			return err
		}
		if o.output != "" || !o.asJSON && len(f.Forecast) == 0 {
			if err := s.writeBytes(o.output, data); err != nil {
				return err
			}
		}
		talkFit(s, f.Fit)
	}
	if o.asJSON {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(f)
	}
	if len(f.Forecast) > 0 {
		return forecasts(s.out, f.Forecast)
	}
	return nil
}

func talkFit(s *stdio, r *fitlaw.Report) {
	s.talk("fitted to %d answers (%d left out) and %d gaps between tokens: R² %.2f, median error %.1f of %.1f ms", r.Requests, r.Left, r.Gaps, r.R2, r.MedianErrUS/1e3, r.MedianGapUS/1e3)
	c := r.Regression
	if r.Taken == "searched" {
		c = r.Searched
	}
	if r.Taken != "metrics" {
		s.talk("it tells the run's TTFT to %+.0f %% at p50 and %+.0f %% at p90, its TPOT to %+.0f %% and %+.0f %% (%s)", 100*c.TTFTP50, 100*c.TTFTP90, 100*c.TPOTP50, 100*c.TPOTP90, r.Taken)
	}
	for _, w := range r.Warnings {
		s.talk("warning: %s", w)
	}
}

// forecasts prints a row for each load, and for a measured one its own figures
// and the error.
func forecasts(w io.Writer, list []forecast) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.AppendHeader(table.Row{"load", "", "requests/s", "cached", "TTFT p50 ms", "p90", "p99", "TPOT p50 ms", "p90", "p99", "refused"})
	row := func(name, what string, f *simulate.Forecast) {
		num := func(v float64) string { return fmt.Sprintf("%.1f", v) }
		t.AppendRow(table.Row{name, what, fmt.Sprintf("%.2f", f.RequestsPerS), fmt.Sprintf("%.0f %%", 100*f.CachedShare),
			num(f.TTFT.P50), num(f.TTFT.P90), num(f.TTFT.P99), num(f.TPOT.P50), num(f.TPOT.P90), num(f.TPOT.P99), f.Refused})
	}
	for i := range list {
		f := &list[i]
		row(f.Of, "predicted", &f.Alone)
		if c := f.Check; c != nil {
			row("", "measured", &c.Measured)
			pc := func(v float64) string { return fmt.Sprintf("%+.0f %%", 100*v) }
			t.AppendRow(table.Row{"", "error", "", "", pc(c.TTFTP50), pc(c.TTFTP90), "", pc(c.TPOTP50), pc(c.TPOTP90), "", ""})
		}
	}
	_, err := fmt.Fprintln(w, trimmed(t))
	return err
}
