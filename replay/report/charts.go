package report

import (
	"fmt"
	"math"
	"strings"

	"reprise/fit/chart"
	"reprise/replay"
)

// figure is a chart with what the page writes around it.
type figure struct {
	chart.Chart
	note  string
	cells [][]string // the numbers behind the chart
}

// tableRows is how many rows of numbers stand under a chart over time.
const tableRows = 30

// figures draws one summary; few leaves out the distributions.
func (s *Summary) figures(id string, few bool) []figure {
	out := []figure{s.ttftOverTime(id), s.loadOverTime(id)}
	if s.Load.Failed > 0 {
		out = append(out, s.errorsOverTime(id))
	}
	out = append(out, s.lagOverTime(id))
	if !few {
		out = append(out, s.distribution(id, "ttft", "TTFT on both clocks"))
		if s.Source.Endpoint.Streaming {
			out = append(out, s.distribution(id, "tpot", "TPOT"))
		}
		out = append(out, s.distribution(id, "e2e", "E2E"))
	}
	return out
}

// line reads one value of each bin, at the bin's middle.
func (s *Summary) line(f func(*Bin) float64) []chart.XY {
	out := make([]chart.XY, len(s.Bins))
	for i := range s.Bins {
		b := &s.Bins[i]
		out[i] = chart.XY{X: float64(b.TS) + float64(s.BinS)/2, Y: f(b)}
	}
	return out
}

// begin is the start of the first bin.
func (s *Summary) begin() *float64 {
	v := 0.0
	if len(s.Bins) > 0 {
		v = float64(s.Bins[0].TS)
	}
	return &v
}

func value(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// perSecond is a count of each bin over the part of the bin that was measured: the
// first begins before the measured phase and the last goes on after it. One that
// was measured for less than its half is left out.
func (s *Summary) perSecond(until float64, f func(*Bin) int64) []chart.XY {
	return s.line(func(b *Bin) float64 {
		if s.Repeats > 1 { // each has its own beginning and end
			return float64(f(b)) / float64(s.BinS)
		}
		part := min(float64(b.TS+s.BinS), until) - max(float64(b.TS), s.span.first)
		if part < float64(s.BinS)/2 {
			return math.NaN()
		}
		return float64(f(b)) / part
	})
}

// binCells writes every k-th bin, so that a table has at most tableRows rows.
func (s *Summary) binCells(head []string, row func(*Bin) []string) [][]string {
	out := [][]string{append([]string{"from, s"}, head...)}
	step := (len(s.Bins) + tableRows - 1) / tableRows
	for i := 0; i < len(s.Bins); i += step {
		out = append(out, append([]string{count(s.Bins[i].TS)}, row(&s.Bins[i])...))
	}
	return out
}

func (s *Summary) bins() string {
	if s.BinS == 1 {
		return "each second"
	}
	return fmt.Sprintf("each %d s", s.BinS)
}

// rulesFor are the agreed limits on a metric, as lines across a chart.
func (s *Summary) rulesFor(metric string, vertical bool) []chart.Rule {
	var out []chart.Rule
	for _, x := range s.SLO {
		if x.Metric == metric {
			out = append(out, chart.Rule{At: x.ThresholdMS, Label: pName(x.Percentile) + " limit " + msText(x.ThresholdMS), Vertical: vertical})
		}
	}
	return out
}

func (s *Summary) ttftOverTime(id string) figure {
	p50 := s.line(func(b *Bin) float64 { return value(b.TTFTP50) })
	p99 := s.line(func(b *Bin) float64 { return value(b.TTFTP99) })
	c := chart.Chart{ID: id + "-ttft", Title: "TTFT over time, ms", XUnit: " s", XMin: s.begin(), Bands: []chart.Band{{Colour: 1, Lo: p50, Hi: p99}}, Rules: s.rulesFor("ttft", false),
		Lines: []chart.Series{{Name: "p50", Colour: 1, Points: p50}, {Name: "p99", Colour: 2, Points: p99}}}
	c.Desc = fmt.Sprintf("Time to first token from the %[2]s, median and 99th percentile of %[1]s, by that instant.", s.bins(), s.planned())
	return figure{Chart: c, note: fmt.Sprintf("From the %[3]s, %[1]s (%[2]s). With fewer than 100 requests in a bin, p99 is its slowest.", s.bins(), s.where(), s.planned()),
		cells: s.binCells([]string{"n", "p50, ms", "p99, ms"}, func(b *Bin) []string { return []string{count(b.N), msOr(b.TTFTP50), msOr(b.TTFTP99)} })}
}

func (s *Summary) loadOverTime(id string) figure {
	c := chart.Chart{ID: id + "-load", Title: "Offered and completed per second, and in flight", XUnit: " s", XMin: s.begin(), Lines: []chart.Series{
		{Name: "in flight", Colour: 3, Points: s.line(func(b *Bin) float64 { return float64(b.InFlight) }), Fill: true},
		{Name: "offered/s", Colour: 1, Points: s.perSecond(s.span.planned, func(b *Bin) int64 { return b.Offered })},
		{Name: "completed/s", Colour: 4, Points: s.perSecond(s.span.end, func(b *Bin) int64 { return b.Completed }), Dashed: true}}}
	c.Desc = "Requests planned and answered per second, and requests in flight at the end of each bin."
	return figure{Chart: c, note: fmt.Sprintf("%s, at the ends the part that was measured; offered by the %s, completed by end. Most in flight at once: %s.", upper(s.bins()), s.planned(), count(s.Load.PeakInFlight)),
		cells: s.binCells([]string{"offered", "completed", "failed", "in flight"}, func(b *Bin) []string {
			return []string{count(b.Offered), count(b.Completed), count(b.Failed), count(b.InFlight)}
		})}
}

func (s *Summary) errorsOverTime(id string) figure {
	c := chart.Chart{ID: id + "-errors", Title: "Requests not answered, per second", XUnit: " s", XMin: s.begin(), Lines: []chart.Series{
		{Name: "all failures", Colour: 2, Points: s.perSecond(s.span.end, func(b *Bin) int64 { return b.Failed }), Fill: true},
		{Name: "HTTP 429", Colour: 5, Points: s.perSecond(s.span.end, func(b *Bin) int64 { return b.RateLimited })}}}
	c.Desc = "Requests of every class but ok, and those answered with HTTP 429, per second."
	return figure{Chart: c, note: fmt.Sprintf("%s, by end. %s of %s planned.", upper(s.bins()), count(s.Load.Failed), count(s.Load.Planned)),
		cells: s.binCells([]string{"failed", "of them 429"}, func(b *Bin) []string { return []string{count(b.Failed), count(b.RateLimited)} })}
}

func (s *Summary) lagOverTime(id string) figure {
	p99 := s.line(func(b *Bin) float64 { return value(b.LagP99) })
	c := chart.Chart{ID: id + "-lag", Title: "Send lag of the client, ms", XUnit: " s", XMin: s.begin(), Height: 140, Lines: []chart.Series{
		{Name: "max", Colour: 3, Points: s.line(func(b *Bin) float64 { return value(b.LagMax) })},
		{Name: "p99", Colour: 2, Points: p99},
		{Name: "p50", Colour: 1, Points: s.line(func(b *Bin) float64 { return value(b.LagP50) })}}}
	c.Rules = []chart.Rule{{At: 1, Label: "clean up to 1 ms"}}
	if v := s.Client.LagP99MS; v != nil && *v > 1 {
		c.Rules = []chart.Rule{{At: 5, Label: "usable up to 5 ms"}}
	}
	c.Desc = "How late the client handed each request to the kernel: median, 99th percentile and maximum."
	return figure{Chart: c, note: fmt.Sprintf("Planned instant to bytes handed over, %s. Whole run: p99 %s ms, verdict %s.", s.bins(), msOr(s.Client.LagP99MS), clientWord(s.Client.Verdict)),
		cells: s.binCells([]string{"p50, ms", "p99, ms", "max, ms"}, func(b *Bin) []string { return []string{msOr(b.LagP50), msOr(b.LagP99), msOr(b.LagMax)} })}
}

func clientWord(v string) string { return strings.ReplaceAll(v, "_", "-") }

func upper(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// line is the distribution from its first per cent on.
func (c CDF) line() []chart.XY {
	var out []chart.XY
	for _, p := range c.Points {
		if p.Share < 0.01 && len(c.Points) > 50 {
			continue // a few fast answers would stretch a logarithmic axis
		}
		out = append(out, chart.XY{X: max(p.MS, 1e-3), Y: p.Share})
	}
	return out
}

// distribution draws the CDF of a metric, with the one from sending beside it.
func (s *Summary) distribution(id, metric, title string) figure {
	c := chart.Chart{ID: id + "-cdf-" + metric, Title: title + ": share of requests within, by ms", XUnit: " ms", XLog: true, YShare: true, YMax: 1, Rules: s.rulesFor(metric, true)}
	cells := [][]string{{title, "n", "p50", "p90", "p95", "p99", "max"}}
	closed := s.Source.Mode == replay.ClosedLoop
	names := map[string]string{"sched": clockName("sched", closed), "write_end": clockName("write_end", closed), "": "requests"}
	for _, d := range s.CDFs {
		if d.Metric == metric {
			c.Lines = append(c.Lines, chart.Series{Name: names[d.Clock], Colour: 1 + len(c.Lines), Points: d.line(), Dashed: len(c.Lines) > 0})
		}
	}
	for _, l := range s.Latency {
		if l.Metric == metric {
			cells = append(cells, []string{l.name(), count(l.N), or(l.percentile(50), "too few"), or(l.percentile(90), "too few"), or(l.percentile(95), "too few"), or(l.percentile(99), "too few"), msOr(l.MaxMS)})
		}
	}
	c.Desc = "Cumulative distribution of " + metricName(metric) + " over answered requests, on a logarithmic axis."
	return figure{Chart: c, note: fmt.Sprintf("Answered requests, logarithmic axis (%s).", s.where()), cells: cells}
}

// sideFigures are the charts over all summaries: latency against load where
// the rates are apart, otherwise the distributions on top of each other.
func (r *Report) sideFigures() []figure {
	if r.Shape == LoadCurve {
		return []figure{r.against("TTFT", "ttft", "sched"), r.against("TPOT", "tpot", ""), r.goodputAgainst(), r.queuesAgainst()}
	}
	return []figure{r.overlay("ttft", "TTFT"), r.overlay("tpot", "TPOT"), r.overlay("e2e", "E2E")}
}

// against draws percentiles of a metric by offered rate: three of them for one
// curve, p95 alone for several.
func (r *Report) against(name, metric, clock string) figure {
	curves := r.curves()
	ps := []float64{50, 95, 99}
	if len(curves) > 1 {
		ps = []float64{95}
	}
	c := chart.Chart{ID: "curve-" + metric, Title: name + " by rate " + r.byRate() + ", ms", XUnit: "/s", XMin: new(float64), Rules: r.Summaries[0].rulesFor(metric, false)}
	for _, k := range curves {
		for _, p := range ps {
			line := chart.Series{Name: strings.TrimSpace(k.name + " " + pName(p)), Colour: 1 + len(c.Lines)%5, Dots: true}
			for _, s := range k.points {
				line.Points = append(line.Points, chart.XY{X: *orZero(s.Load.OfferedPerS), Y: value(s.latency(metric, clock).percentile(p))})
			}
			c.Lines = append(c.Lines, line)
		}
	}
	c.Desc = name + " against the offered rate; the numbers are in the table of runs."
	cells := [][]string{{r.byRate() + " requests/s", "p50", "p95", "p99"}}
	for _, s := range r.ordered() {
		l := s.latency(metric, clock)
		cells = append(cells, []string{rateText(s.Load.OfferedPerS), or(l.percentile(50), "too few"), or(l.percentile(95), "too few"), or(l.percentile(99), "too few")})
	}
	return figure{Chart: c, note: fmt.Sprintf("Answered requests of each load point%s (%s); a point is missing where too few requests support it.", after(", ", clockName(clock, r.closed())), r.region()), cells: cells}
}

func (r *Report) goodputAgainst() figure {
	c := chart.Chart{ID: "curve-goodput", Title: "Goodput by rate " + r.byRate() + ", requests/s", XUnit: "/s", XMin: new(float64)}
	cells := [][]string{{r.byRate(), "completed", "goodput", "share"}}
	most := 0.0
	for _, k := range r.curves() {
		line := chart.Series{Name: strings.TrimSpace(k.name + " goodput"), Colour: 1 + len(c.Lines)%5, Dots: true}
		for _, s := range k.points {
			x := *orZero(s.Load.OfferedPerS)
			line.Points = append(line.Points, chart.XY{X: x, Y: value(s.Goodput.PerS)})
			most = max(most, x)
		}
		c.Lines = append(c.Lines, line)
	}
	for _, s := range r.ordered() {
		cells = append(cells, []string{rateText(s.Load.OfferedPerS), rateText(s.Load.DonePerS), rateText(s.Goodput.PerS), shareText(s.Goodput.Share)})
	}
	c.Lines = append(c.Lines, chart.Series{Name: "all that was " + r.byRate(), Colour: 3, Points: []chart.XY{{X: 0, Y: 0}, {X: most, Y: most}}, Dashed: true})
	c.Desc = "Requests per second that met every limit, against the offered rate."
	return figure{Chart: c, note: fmt.Sprintf("Requests within every limit; failed requests are not (%s).", r.region()), cells: cells}
}

// queuesAgainst draws the most requests that the server had running and waiting,
// by its own metrics.
func (r *Report) queuesAgainst() figure {
	c := chart.Chart{ID: "curve-queues", Title: "Running and waiting at the server, by rate " + r.byRate(), XUnit: "/s", XMin: new(float64)}
	for _, k := range r.curves() {
		running := chart.Series{Name: strings.TrimSpace(k.name + " running"), Colour: 1 + len(c.Lines)%5, Dots: true}
		waiting := chart.Series{Name: strings.TrimSpace(k.name + " waiting"), Colour: 1 + (len(c.Lines)+1)%5, Dots: true, Dashed: true}
		for _, s := range k.points {
			if v := s.Server; v != nil && v.Running != nil && v.Waiting != nil {
				x := *orZero(s.Load.OfferedPerS)
				running.Points = append(running.Points, chart.XY{X: x, Y: float64(*v.Running)})
				waiting.Points = append(waiting.Points, chart.XY{X: x, Y: float64(*v.Waiting)})
			}
		}
		if len(running.Points) > 0 {
			c.Lines = append(c.Lines, running, waiting)
		}
	}
	c.Desc = "The most requests in the server's batch and in its queue, scraped once a second, against the offered rate."
	return figure{Chart: c, note: fmt.Sprintf("The most seen at once, scraped once a second (%s).", r.region()), cells: r.sideServer()}
}

// overlay draws the distribution of a metric in every run.
func (r *Report) overlay(metric, title string) figure {
	c := chart.Chart{ID: "all-" + metric, Title: title + ": share of requests within, by ms", XUnit: " ms", XLog: true, YShare: true, YMax: 1, Rules: r.Summaries[0].rulesFor(metric, true)}
	cells := [][]string{{title, "offered /s", "p50", "p95", "p99"}}
	for i := range r.Summaries {
		s := &r.Summaries[i]
		for _, d := range s.CDFs {
			if d.Metric == metric && d.Clock != "write_end" {
				c.Lines = append(c.Lines, chart.Series{Name: s.Name, Colour: 1 + i%5, Points: d.line(), Dashed: i > 0})
				l := s.latency(metric, d.Clock)
				cells = append(cells, []string{s.Name, rateText(s.Load.OfferedPerS), or(l.percentile(50), "too few"), or(l.percentile(95), "too few"), or(l.percentile(99), "too few")})
			}
		}
	}
	c.Desc = "Cumulative distributions of " + title + ", one line a run, on a logarithmic axis."
	return figure{Chart: c, note: fmt.Sprintf("Answered requests of each run, logarithmic axis (%s).", r.region()), cells: cells}
}
