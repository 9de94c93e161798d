package report

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"reprise/fit/chart"
	"reprise/replay"
)

// The tables of a summary as cells, the header first, for text and HTML alike.

func (s *Summary) sloCells() [][]string {
	out := [][]string{{"Limit", "measured, ms", "margin, ms", "within", "with failures", "verdict ", "why "}}
	for _, x := range s.SLO {
		within := fmt.Sprintf("%s of %s", count(x.Within), count(x.N))
		if s.Client.Withheld() {
			within = "-"
		}
		out = append(out, []string{x.Text, msOr(x.MS), signed(x.MarginMS), within, x.failuresText(), strings.ToUpper(x.Verdict.word()), x.Reason})
	}
	return out
}

func signed(v *float64) string {
	if v == nil || *v < 0 {
		return msOr(v)
	}
	return "+" + msNumber(*v)
}

// failuresText is the percentile with failures as infinitely late.
func (x *SLOResult) failuresText() string {
	switch {
	case x.Infinite:
		return "infinite"
	case x.WithFailures != nil:
		return msNumber(*x.WithFailures)
	case x.Failed == 0:
		return "no failures"
	}
	return "n/a"
}

func (s *Summary) latencyCells() [][]string {
	head := []string{"Metric", "n"}
	ps := map[float64]bool{}
	for _, l := range s.Latency {
		for _, p := range l.Percentiles {
			ps[p.P] = true
		}
	}
	var cols []float64
	for _, p := range standard() {
		if ps[p] {
			cols = append(cols, p)
			head = append(head, pName(p))
		}
	}
	out := [][]string{append(head, "max", "client error, p99")}
	for _, l := range s.Latency {
		row := []string{l.name(), count(l.N)}
		for _, p := range cols {
			if v := l.percentile(p); v != nil {
				row = append(row, msNumber(*v))
			} else {
				row = append(row, "too few")
			}
		}
		out = append(out, append(row, msOr(l.MaxMS), errText(l.LessMS, l.MoreMS)))
	}
	return out
}

func (l Latency) name() string {
	return metricName(l.Metric) + after(" ", clockName(l.Clock, l.closed))
}

// tooFew explains the percentiles that are not given, once for each.
func (s *Summary) tooFew() []string {
	var out []string
	for _, l := range s.Latency {
		for _, p := range l.Percentiles {
			if p.Why != "" {
				out = append(out, l.name()+": "+p.Why)
			}
		}
	}
	if len(out) > 3 {
		return []string{fmt.Sprintf("%s; “too few” stands for %d percentiles that fewer than %d requests lie beyond", out[0], len(out), beyond)}
	}
	return out
}

func (s *Summary) outcomeCells() [][]string {
	out := [][]string{{"Outcome", "requests", "share"}}
	for _, o := range s.Outcomes {
		if o.N > 0 || o.Class == "ok" || o.Class == "http_429" {
			out = append(out, []string{o.Class, count(o.N), shareText(ratio(o.N, s.Load.Planned))})
		}
	}
	if rest := s.zeroClasses(); len(rest) > 0 {
		out = append(out, []string{"each of " + strings.Join(rest, ", "), "0", "0 %"})
	}
	if s.Load.Missing > 0 {
		out = append(out, []string{"without a result", count(s.Load.Missing), shareText(ratio(s.Load.Missing, s.Load.Planned))})
	}
	return s.reasons(append(out, []string{"planned", count(s.Load.Planned), "= the sum"}))
}

// reasons adds a column of why a request of each class failed, when there is any
// reason.
func (s *Summary) reasons(cells [][]string) [][]string {
	why := map[string]string{}
	for _, o := range s.Outcomes {
		if o.Reason != "" {
			why[o.Class] = o.Reason
		}
	}
	if len(why) == 0 {
		return cells
	}
	for i, row := range cells {
		cells[i] = append(row, why[row[0]])
	}
	cells[0][3] = "for instance "
	return cells
}

// zeroClasses are the other classes that no request ended in.
func (s *Summary) zeroClasses() (none []string) {
	for _, o := range s.Outcomes {
		if o.N == 0 && o.Class != "ok" && o.Class != "http_429" {
			none = append(none, o.Class)
		}
	}
	return none
}

func (s *Summary) loadCells() [][]string {
	out := [][]string{{"Load", "value", "of "}}
	add := func(name, value, of string) { out = append(out, []string{name, value, of}) }
	offered := "Offered, requests/s"
	if s.Source.Mode == replay.ClosedLoop {
		offered = "Sent, requests/s"
	}
	if p := s.asked(); p != nil && s.Source.Mode != replay.ClosedLoop {
		rate := (p.FromPerS + p.ToPerS) / 2
		add("Asked for, requests/s", rateText(&rate), fmt.Sprintf("%s for %s s", s.Source.Shape.Process(), seconds(p.LastS)))
	}
	add(offered, rateText(s.Load.OfferedPerS), s.Load.gaps(s.instants()))
	add("Completed, requests/s", rateText(s.Load.DonePerS), fmt.Sprintf("%s answered; %s", count(s.Load.OK), s.Load.over()))
	if len(s.Goodput.Limits) > 0 && s.Goodput.Good != nil {
		add("Goodput, requests/s", rateText(s.Goodput.PerS), fmt.Sprintf("%s planned met every limit: %s", count(*s.Goodput.Good)+" of "+count(s.Load.Planned), shareText(s.Goodput.Share))+"; over the same time")
		add("Limits on a request", count(int64(len(s.Goodput.Limits))), strings.Join(s.Goodput.Limits, ", ")+after("; ", s.Goodput.Note))
	}
	add("Most in flight at once", count(s.Load.PeakInFlight), "")
	t := &s.Tokens
	add("Input tokens/s", rateText(t.InPerS), "by usage of "+plural(t.InN, "answer"))
	if t.Doubt == "" {
		add("Output tokens/s", rateText(t.OutPerS), "by usage of "+plural(t.OutN, "answer"))
		add("Output length as asked", shareText(ratio(t.OutAsked.Equal, t.OutAsked.N)), fmt.Sprintf("share of the answers; %s tokens asked, %s received", count(t.OutAsked.Asked), count(t.OutAsked.Got)))
	} else {
		add("Output tokens/s", "n/a", "withheld: "+t.Doubt)
		add("Output length as asked", "n/a", fmt.Sprintf("%s tokens asked, %s claimed by usage, and our own count is too far from that", count(t.OutAsked.Asked), count(t.OutAsked.Got)))
	}
	if t.UsageN > 0 {
		add("Output tokens, usage as counted here", shareText(ratio(t.UsageEqual, t.UsageN)), fmt.Sprintf("%s tokens by usage, %s by our tokenizer; share of %s", count(t.UsageSum), count(t.LocalSum), plural(t.UsageN, "answer")))
	}
	add("Input length as planned", shareText(ratio(t.InAsked.Equal, t.InAsked.N)), fmt.Sprintf("share of the prompts; %s tokens planned, %s by usage", count(t.InAsked.Asked), count(t.InAsked.Got)))
	expected := s.Cache.Expected
	add("Prefix cache hit rate", shareText(s.Cache.Measured), fmt.Sprintf("of prompt tokens; %s expected (cache: %s)", shareText(&expected), s.Cache.Mode))
	if s.Streams.TokensPerEvent != nil {
		add("Tokens per event", rateText(s.Streams.TokensPerEvent), fmt.Sprintf("%s events per read; %s of %s streams buffered", rateText(s.Streams.EventsPerRead), count(s.Streams.Buffered), count(s.Streams.N)))
	}
	if s.Load.RetryAfterN > 0 {
		add("Retry-After, longest, ms", count(s.Load.RetryAfterMS), "asked for by "+plural(s.Load.RetryAfterN, "answer")+"; nothing was retried")
	}
	return out
}

// gaps says what the offered rate is made of.
func (l *Load) gaps(instants string) string {
	if l.OfferedPerS == nil {
		return fmt.Sprintf("%s planned, too few for a rate", count(l.Planned))
	}
	return fmt.Sprintf("%s of %s %s in %s s", plural(int64(math.Round(*l.OfferedPerS*l.WindowS)), "gap"), count(l.Planned), instants, seconds(l.WindowS))
}

// instants are what the rate is counted by.
func (s *Summary) instants() string {
	if s.Source.Mode == replay.ClosedLoop {
		return "instants of sending"
	}
	return "planned instants"
}

// over says over which time answers, goodput and tokens are counted.
func (l *Load) over() string {
	if l.SteadyS > 0 {
		return fmt.Sprintf("over the %s s in which all slots went on", seconds(l.SteadyS))
	}
	if l.byPlan {
		return fmt.Sprintf("over the %s s to one gap past the last planned instant", seconds(l.SpanS))
	}
	return fmt.Sprintf("over the %s s to the last answer", seconds(l.SpanS))
}

// load says what load the run made.
func (x *Source) load() string {
	if x.Shape == nil {
		return modeText(x.Mode)
	}
	return x.Shape.Sentence(x.Mode)
}

func seconds(v float64) string {
	if v >= 100 {
		return chart.Thousands(fmt.Sprintf("%.0f", v))
	}
	return fmt.Sprintf("%.1f", v)
}

// sourceLines say what ran: no secret is among them, since run.json has none.
func (s *Summary) sourceLines() []string {
	x := &s.Source
	e := &x.Endpoint
	out := []string{
		"Tool: " + versionLine(x.Tool.Name, x.Tool.Version, x.Tool.Commit),
		fmt.Sprintf("Run: %s%s, started %s, %s", x.Status, because(x.AbortReason), x.StartedAt, x.load()),
		fmt.Sprintf("Trace: %s, sha256 %s", x.Trace.Name, short(x.Trace.SHA256)),
	}
	if x.Spec != nil {
		out = append(out, fmt.Sprintf("Spec: %s, sha256 %s", x.Spec.Name, short(x.Spec.SHA256)))
	}
	out = append(out,
		fmt.Sprintf("Endpoint: %s%s, %s, model %s%s%s", e.URL, because(x.Name), e.API, e.Model, after(", server ", e.Server), after(", by ", e.Protocols())),
		"Region: "+cmp.Or(x.Region, "not stated"),
		fmt.Sprintf("Client: %s/%s, %d CPUs, %s; %s schedule, %s, %s stamps", x.Environment.OS, x.Environment.Arch, x.Environment.CPUs, x.Environment.Go, x.Clock.Schedule, x.Clock.Wait, x.Clock.Stamps))
	if len(x.Flags) > 0 {
		out = append(out, "Flags: "+strings.Join(x.Flags, " "))
	}
	if s.Repeats > 1 {
		out = append(out, fmt.Sprintf("Repetitions: %d, taken together", s.Repeats))
	}
	return out
}

// sideTitle says what the numbers side by side are of.
func (r *Report) sideTitle() string {
	title := "ms, " + clockName("sched", r.closed()) + "; " + r.region()
	if len(r.Summaries) <= 4 && r.Shape != LoadCurve {
		return "ms; " + r.region() + "; percentages are against the first"
	}
	return title
}

// region is that of all runs, where they have one.
func (r *Report) region() string {
	first := r.Summaries[0].Source.Region
	for i := range r.Summaries {
		if r.Summaries[i].Source.Region != first {
			return "regions differ: see what ran"
		}
	}
	return cmp.Or(first, "region not stated")
}

// sideCells puts summaries beside each other, one column each; with more than
// four, one row each.
func (r *Report) sideCells() [][]string {
	if len(r.Summaries) > 4 || r.Shape == LoadCurve {
		return r.sideRows()
	}
	head := []string{"ms unless it says otherwise"}
	for i := range r.Summaries {
		head = append(head, r.Summaries[i].Name)
	}
	out := [][]string{head}
	add := func(name string, f func(*Summary) string) {
		row := []string{name}
		for i := range r.Summaries {
			row = append(row, f(&r.Summaries[i]))
		}
		out = append(out, row)
	}
	out = append(out, r.differCells()...)
	add("Offered, requests/s", func(s *Summary) string { return rateText(s.Load.OfferedPerS) })
	add("Planned / not answered", func(s *Summary) string { return count(s.Load.Planned) + " / " + count(s.Load.Failed) })
	for _, m := range [][2]string{{"ttft", "sched"}, {"ttft", "write_end"}, {"tpot", ""}, {"itl", ""}, {"e2e", "sched"}} {
		for _, p := range []float64{50, 95, 99} {
			first := r.Summaries[0].latency(m[0], m[1]).percentile(p)
			add(pName(p)+" "+Latency{Metric: m[0], Clock: m[1], closed: r.closed()}.name(), func(s *Summary) string {
				sure := !s.Client.Withheld() && !r.Summaries[0].Client.Withheld()
				return against(first, s.latency(m[0], m[1]).percentile(p), s == &r.Summaries[0], sure)
			})
		}
	}
	add("Goodput, requests/s", func(s *Summary) string { return rateText(s.Goodput.PerS) + " (" + shareText(s.Goodput.Share) + ")" })
	add("Prefix cache hit rate", func(s *Summary) string { return shareText(s.Cache.Measured) })
	add("Output tokens/s", func(s *Summary) string { return rateText(s.Tokens.OutPerS) })
	add("Client", func(s *Summary) string { return strings.ReplaceAll(s.Client.Verdict, "_", "-") })
	add("Verdict", func(s *Summary) string { return s.Verdict.word() })
	return out
}

// against writes a value with its difference from the first column; there is none
// to speak of where a client was late on either side.
func against(first, v *float64, isFirst, sure bool) string {
	if v == nil {
		return "too few"
	}
	if isFirst || first == nil || *first == 0 {
		return msNumber(*v)
	}
	if !sure {
		return msNumber(*v) + " (n/a)"
	}
	return fmt.Sprintf("%s (%+.1f %%)", msNumber(*v), (*v / *first - 1)*100)
}

func (r *Report) sideRows() [][]string {
	out := [][]string{{"Run", r.byRate() + " /s", "TTFT p50", "TTFT p95", "TTFT p99", "TPOT p95", "goodput /s", "failed", "verdict "}}
	for _, c := range r.ordered() {
		p := func(metric, clock string, p float64) string {
			return or(c.latency(metric, clock).percentile(p), "too few")
		}
		out = append(out, []string{c.Name, rateText(c.Load.OfferedPerS), p("ttft", "sched", 50), p("ttft", "sched", 95), p("ttft", "sched", 99),
			p("tpot", "", 95), rateText(c.Goodput.PerS), count(c.Load.Failed), c.shortVerdict()})
	}
	if d := r.differ(); r.Shape == Comparison && len(d) > 0 {
		out[0] = append(out[0], "differs from the first ")
		for i := range r.Summaries { // in order: there are no curves
			var names []string
			for _, x := range d {
				if x.of[i] != x.of[0] {
					names = append(names, x.name+" "+x.of[i])
				}
			}
			out[i+1] = append(out[i+1], strings.Join(names, "; "))
		}
	}
	return out
}

func (s *Summary) shortVerdict() string {
	if s.Client.Withheld() {
		return "client-limited"
	}
	return s.Verdict.word()
}

func or(v *float64, none string) string {
	if v == nil {
		return none
	}
	return msNumber(*v)
}

// ordered returns the summaries in the order of their curves.
func (r *Report) ordered() []*Summary {
	var out []*Summary
	for _, c := range r.curves() {
		out = append(out, c.points...)
	}
	if out == nil {
		for i := range r.Summaries {
			out = append(out, &r.Summaries[i])
		}
	}
	return out
}
