package report

import (
	"fmt"
	"math"
	"strings"
)

// figure is a chart with what the page writes around it.
type figure struct {
	chart
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
func (s *Summary) line(f func(*Bin) float64) []xy {
	out := make([]xy, len(s.Bins))
	for i := range s.Bins {
		b := &s.Bins[i]
		out[i] = xy{X: float64(b.TS) + float64(s.BinS)/2, Y: f(b)}
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

func (s *Summary) perSecond(f func(*Bin) int64) []xy {
	return s.line(func(b *Bin) float64 { return float64(f(b)) / float64(s.BinS) })
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
func (s *Summary) rulesFor(metric string, vertical bool) []rule {
	var out []rule
	for _, x := range s.SLO {
		if x.Metric == metric {
			out = append(out, rule{at: x.ThresholdMS, label: pName(x.Percentile) + " limit " + msText(x.ThresholdMS), vertical: vertical})
		}
	}
	return out
}

func (s *Summary) ttftOverTime(id string) figure {
	p50 := s.line(func(b *Bin) float64 { return value(b.TTFTP50) })
	p99 := s.line(func(b *Bin) float64 { return value(b.TTFTP99) })
	c := chart{id: id + "-ttft", title: "TTFT over time, ms", xunit: " s", xmin: s.begin(), bands: []band{{1, p50, p99}}, rules: s.rulesFor("ttft", false),
		lines: []series{{name: "p50", colour: 1, points: p50}, {name: "p99", colour: 2, points: p99}}}
	c.desc = fmt.Sprintf("Time to first token from the planned instant, median and 99th percentile of %s, by planned instant.", s.bins())
	return figure{chart: c, note: fmt.Sprintf("From the planned instant, %s (%s). With fewer than 100 requests in a bin, p99 is its slowest.", s.bins(), s.where()),
		cells: s.binCells([]string{"n", "p50, ms", "p99, ms"}, func(b *Bin) []string { return []string{count(b.N), msOr(b.TTFTP50), msOr(b.TTFTP99)} })}
}

func (s *Summary) loadOverTime(id string) figure {
	c := chart{id: id + "-load", title: "Offered and completed per second, and in flight", xunit: " s", xmin: s.begin(), lines: []series{
		{name: "in flight", colour: 3, points: s.line(func(b *Bin) float64 { return float64(b.InFlight) }), fill: true},
		{name: "offered/s", colour: 1, points: s.perSecond(func(b *Bin) int64 { return b.Offered })},
		{name: "completed/s", colour: 4, points: s.perSecond(func(b *Bin) int64 { return b.Completed }), dashed: true}}}
	c.desc = "Requests planned and answered per second, and requests in flight at the end of each bin."
	return figure{chart: c, note: fmt.Sprintf("%s; offered by planned instant, completed by end. Most in flight at once: %s.", upper(s.bins()), count(s.Load.PeakInFlight)),
		cells: s.binCells([]string{"offered", "completed", "failed", "in flight"}, func(b *Bin) []string {
			return []string{count(b.Offered), count(b.Completed), count(b.Failed), count(b.InFlight)}
		})}
}

func (s *Summary) errorsOverTime(id string) figure {
	c := chart{id: id + "-errors", title: "Requests not answered, per second", xunit: " s", xmin: s.begin(), lines: []series{
		{name: "all failures", colour: 2, points: s.perSecond(func(b *Bin) int64 { return b.Failed }), fill: true},
		{name: "HTTP 429", colour: 5, points: s.perSecond(func(b *Bin) int64 { return b.RateLimited })}}}
	c.desc = "Requests of every class but ok, and those answered with HTTP 429, per second."
	return figure{chart: c, note: fmt.Sprintf("%s, by end. %s of %s planned.", upper(s.bins()), count(s.Load.Failed), count(s.Load.Planned)),
		cells: s.binCells([]string{"failed", "of them 429"}, func(b *Bin) []string { return []string{count(b.Failed), count(b.RateLimited)} })}
}

func (s *Summary) lagOverTime(id string) figure {
	p99 := s.line(func(b *Bin) float64 { return value(b.LagP99) })
	c := chart{id: id + "-lag", title: "Send lag of the client, ms", xunit: " s", xmin: s.begin(), height: 140, lines: []series{
		{name: "max", colour: 3, points: s.line(func(b *Bin) float64 { return value(b.LagMax) })},
		{name: "p99", colour: 2, points: p99},
		{name: "p50", colour: 1, points: s.line(func(b *Bin) float64 { return value(b.LagP50) })}}}
	c.rules = []rule{{at: 1, label: "clean up to 1 ms"}}
	if v := s.Client.LagP99MS; v != nil && *v > 1 {
		c.rules = []rule{{at: 5, label: "usable up to 5 ms"}}
	}
	c.desc = "How late the client handed each request to the kernel: median, 99th percentile and maximum."
	return figure{chart: c, note: fmt.Sprintf("Planned instant to bytes handed over, %s. Whole run: p99 %s ms, verdict %s.", s.bins(), msOr(s.Client.LagP99MS), clientWord(s.Client.Verdict)),
		cells: s.binCells([]string{"p50, ms", "p99, ms", "max, ms"}, func(b *Bin) []string { return []string{msOr(b.LagP50), msOr(b.LagP99), msOr(b.LagMax)} })}
}

func clientWord(v string) string { return strings.ReplaceAll(v, "_", "-") }

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// line is the distribution from its first per cent on.
func (c CDF) line() []xy {
	var out []xy
	for _, p := range c.Points {
		if p.Share < 0.01 && len(c.Points) > 50 {
			continue // a few fast answers would stretch a logarithmic axis
		}
		out = append(out, xy{X: max(p.MS, 1e-3), Y: p.Share})
	}
	return out
}

// distribution draws the CDF of a metric, with the one from sending beside it.
func (s *Summary) distribution(id, metric, title string) figure {
	c := chart{id: id + "-cdf-" + metric, title: title + ": share of requests within, by ms", xunit: " ms", xlog: true, yshare: true, ymax: 1, rules: s.rulesFor(metric, true)}
	cells := [][]string{{title, "n", "p50", "p90", "p95", "p99", "max"}}
	names := map[string]string{"sched": "from the planned instant", "write_end": "from sending", "": "requests"}
	for _, d := range s.CDFs {
		if d.Metric == metric {
			c.lines = append(c.lines, series{name: names[d.Clock], colour: 1 + len(c.lines), points: d.line(), dashed: len(c.lines) > 0})
		}
	}
	for _, l := range s.Latency {
		if l.Metric == metric {
			cells = append(cells, []string{l.name(), count(l.N), or(l.percentile(50), "too few"), or(l.percentile(90), "too few"), or(l.percentile(95), "too few"), or(l.percentile(99), "too few"), msOr(l.MaxMS)})
		}
	}
	c.desc = "Cumulative distribution of " + metricName(metric) + " over answered requests, on a logarithmic axis."
	return figure{chart: c, note: fmt.Sprintf("Answered requests, logarithmic axis (%s).", s.where()), cells: cells}
}

// sideFigures are the charts over all summaries: latency against load where
// the rates are apart, otherwise the distributions on top of each other.
func (r *Report) sideFigures() []figure {
	if r.Shape == LoadCurve {
		return []figure{r.against("TTFT", "ttft", "sched"), r.against("TPOT", "tpot", ""), r.goodputAgainst()}
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
	c := chart{id: "curve-" + metric, title: name + " by offered rate, ms", xunit: "/s", xmin: new(float64), rules: r.Summaries[0].rulesFor(metric, false)}
	for _, k := range curves {
		for _, p := range ps {
			line := series{name: strings.TrimSpace(k.name + " " + pName(p)), colour: 1 + len(c.lines)%5, dots: true}
			for _, s := range k.points {
				line.points = append(line.points, xy{X: *orZero(s.Load.OfferedPerS), Y: value(s.latency(metric, clock).percentile(p))})
			}
			c.lines = append(c.lines, line)
		}
	}
	c.desc = name + " against the offered rate; the numbers are in the table of runs."
	cells := [][]string{{"offered requests/s", "p50", "p95", "p99"}}
	for _, s := range r.ordered() {
		l := s.latency(metric, clock)
		cells = append(cells, []string{rateText(s.Load.OfferedPerS), or(l.percentile(50), "too few"), or(l.percentile(95), "too few"), or(l.percentile(99), "too few")})
	}
	return figure{chart: c, note: "Answered requests of each load point; a point is missing where too few requests support it.", cells: cells}
}

func (r *Report) goodputAgainst() figure {
	c := chart{id: "curve-goodput", title: "Goodput by offered rate, requests/s", xunit: "/s", xmin: new(float64)}
	cells := [][]string{{"offered", "completed", "goodput", "share"}}
	most := 0.0
	for _, k := range r.curves() {
		line := series{name: strings.TrimSpace(k.name + " goodput"), colour: 1 + len(c.lines)%5, dots: true}
		for _, s := range k.points {
			x := *orZero(s.Load.OfferedPerS)
			line.points = append(line.points, xy{X: x, Y: value(s.Goodput.PerS)})
			most = max(most, x)
		}
		c.lines = append(c.lines, line)
	}
	for _, s := range r.ordered() {
		cells = append(cells, []string{rateText(s.Load.OfferedPerS), rateText(s.Load.DonePerS), rateText(s.Goodput.PerS), shareText(s.Goodput.Share)})
	}
	c.lines = append(c.lines, series{name: "all that was offered", colour: 3, points: []xy{{X: 0, Y: 0}, {X: most, Y: most}}, dashed: true})
	c.desc = "Requests per second that met every limit, against the offered rate."
	return figure{chart: c, note: "Requests within every limit; failed requests are not.", cells: cells}
}

// overlay draws the distribution of a metric in every run.
func (r *Report) overlay(metric, title string) figure {
	c := chart{id: "all-" + metric, title: title + ": share of requests within, by ms", xunit: " ms", xlog: true, yshare: true, ymax: 1, rules: r.Summaries[0].rulesFor(metric, true)}
	cells := [][]string{{title, "offered /s", "p50", "p95", "p99"}}
	for i := range r.Summaries {
		s := &r.Summaries[i]
		for _, d := range s.CDFs {
			if d.Metric == metric && d.Clock != "write_end" {
				c.lines = append(c.lines, series{name: s.Name, colour: 1 + i%5, points: d.line(), dashed: i > 0})
				l := s.latency(metric, d.Clock)
				cells = append(cells, []string{s.Name, rateText(s.Load.OfferedPerS), or(l.percentile(50), "too few"), or(l.percentile(95), "too few"), or(l.percentile(99), "too few")})
			}
		}
	}
	c.desc = "Cumulative distributions of " + title + ", one line a run, on a logarithmic axis."
	return figure{chart: c, note: "Answered requests of each run, logarithmic axis.", cells: cells}
}
