package report

import (
	"fmt"
	"strings"
)

// conclude sets the verdict, the exit code and the sentence on top.
func (r *Report) conclude() {
	switch r.Shape {
	case Single:
		s := &r.Summaries[0]
		r.Verdict, r.Reason = s.Verdict, s.Reason
		r.Headline, r.Detail = s.headline(), s.detail()
	case LoadCurve:
		r.concludeCurves()
	default:
		r.concludeComparison()
	}
	switch r.Verdict {
	case Missed:
		r.Exit = 3
	case CannotSay:
		r.Exit = 4
	}
}

// headline answers the question in one sentence.
func (s *Summary) headline() string {
	at := fmt.Sprintf("At %s (%s%s)", s.offered(), modeText(s.Source.Mode), after(", ", s.Source.Region))
	if s.Client.Withheld() {
		return "No result: the client was late, so these latencies are not the server's (" + s.Client.Reason + ")"
	}
	if len(s.SLO) == 0 {
		return at + " " + s.plainTTFT()
	}
	if len(s.SLO) > 2 {
		return at + " " + s.manyLimits()
	}
	var parts []string
	for i, x := range s.SLO {
		parts = append(parts, x.sentence(i == 0, s.Client.plusMinus()))
	}
	return at + " " + strings.Join(parts, "; ")
}

// manyLimits counts the limits that are met and gives the first that is not.
func (s *Summary) manyLimits() string {
	met, worst := 0, s.worst()
	for _, x := range s.SLO {
		met += int(one(x.Verdict == Met))
	}
	if met == len(s.SLO) {
		return fmt.Sprintf("all %d limits are met: %s", met, worst.sentence(true, s.Client.plusMinus()))
	}
	return fmt.Sprintf("%d of %d limits are met: %s", met, len(s.SLO), worst.sentence(true, s.Client.plusMinus()))
}

// worst is the first limit that was missed, or else cannot be judged, or else
// the first of all.
func (s *Summary) worst() *SLOResult {
	worst := &s.SLO[0]
	for i := range s.SLO {
		x := &s.SLO[i]
		if worst.Verdict == Met && x.Verdict != Met || worst.Verdict == CannotSay && x.Verdict == Missed {
			worst = x
		}
	}
	return worst
}

// plainTTFT is the headline of a run without limits.
func (s *Summary) plainTTFT() string {
	for _, l := range s.Latency {
		if l.Metric != "ttft" || l.Clock != "sched" {
			continue
		}
		best := ""
		for _, p := range l.Percentiles {
			if p.MS != nil && p.P <= 99 {
				best = fmt.Sprintf("%s TTFT is %s%s; no limit was agreed", pName(p.P), msText(*p.MS), s.Client.plusMinus())
			}
		}
		if best != "" {
			return best
		}
	}
	return "there are too few answers to give a percentile of TTFT"
}

// sentence says how one limit came out; only the first has a verb.
func (x *SLOResult) sentence(first bool, plusMinus string) string {
	name := pName(x.Percentile) + " " + strings.ToUpper(x.Metric)
	limit := fmt.Sprintf("(limit %s)", msText(x.ThresholdMS))
	if x.MS == nil {
		return fmt.Sprintf("%s %s cannot be said: %s", name, limit, x.Reason)
	}
	is := " "
	if first {
		is = " is "
	}
	if x.Verdict == CannotSay {
		return fmt.Sprintf("%s%s%s%s %s, but cannot be judged: %s", name, is, msText(*x.MS), plusMinus, limit, x.Reason)
	}
	over := ""
	if x.Verdict == Missed && *x.MarginMS >= 0 {
		over = fmt.Sprintf(" over answered requests, but %s got no answer", plural(x.Failed, "request"))
	}
	return fmt.Sprintf("%s%s%s%s%s %s: %s", name, is, msText(*x.MS), plusMinus, over, limit, x.Verdict.word())
}

// plusMinus stands beside latencies of a client that was a little late.
func (c Client) plusMinus() string {
	if c.Verdict == "usable" {
		return fmt.Sprintf(" ±%v ms", c.PlusMinusMS)
	}
	return ""
}

// detail is the second sentence: goodput and what became of the requests.
func (s *Summary) detail() string {
	fate := fmt.Sprintf("Of %s, %s were answered", plural(s.Load.Planned, "planned request"), count(s.Load.OK))
	if s.Load.Failed > 0 {
		fate += fmt.Sprintf(" and %s not", count(s.Load.Failed))
		if s.Load.RateLimited > 0 {
			fate += fmt.Sprintf(" (%s by HTTP 429)", count(s.Load.RateLimited))
		}
	}
	if len(s.Goodput.Limits) == 0 || s.Client.Withheld() {
		return fate + "."
	}
	return fmt.Sprintf("Goodput is %s requests/s: %s of the planned requests met every limit. %s.", rateText(s.Goodput.PerS), shareText(s.Goodput.Share), fate)
}

func after(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + s
}

// concludeCurves says up to which rate the limits hold. The answer is no only
// when they hold at none.
func (r *Report) concludeCurves() {
	var parts []string
	seen := map[Verdict]bool{}
	for _, c := range r.curves() {
		for _, s := range c.points {
			seen[s.Verdict] = true
		}
		parts = append(parts, c.sentence())
	}
	for _, v := range []Verdict{NoLimits, Met, Missed, CannotSay} {
		if seen[v] {
			r.Verdict = v
			break
		}
	}
	r.Headline = strings.Join(parts, " ")
	r.Detail = fmt.Sprintf("%d load points. Every number below stands at its own offered rate.", len(r.Summaries))
	r.Reason = map[Verdict]string{Met: "the limits hold at one load point at least", Missed: "the limits hold at no load point",
		CannotSay: "no load point can be judged", NoLimits: "no limit was agreed"}[r.Verdict]
}

// sentence says up to which rate one curve holds, and what came after it.
func (c curve) sentence() string {
	name := ""
	if c.name != "" {
		name = c.name + ": "
	}
	var held *Summary
	for _, s := range c.points {
		if s.Verdict != Met {
			break
		}
		held = s
	}
	first, last := c.points[0], c.points[len(c.points)-1]
	span := fmt.Sprintf("%s to %s requests/s", rateText(first.Load.OfferedPerS), rateText(last.Load.OfferedPerS))
	switch {
	case first.Verdict == NoLimits:
		return fmt.Sprintf("%sLatency at %s offered; no limit was agreed.", name, span)
	case held == nil:
		return fmt.Sprintf("%sNo limits hold from %s requests/s offered on: %s.", name, rateText(first.Load.OfferedPerS), first.short())
	case held == last:
		return fmt.Sprintf("%sAll limits hold at every rate offered, %s.", name, span)
	}
	next := c.points[0]
	for i, s := range c.points {
		if s == held {
			next = c.points[i+1]
		}
	}
	return fmt.Sprintf("%sAll limits hold up to %s requests/s offered; at %s requests/s %s.", name, rateText(held.Load.OfferedPerS), rateText(next.Load.OfferedPerS), next.short())
}

// short says how the worst limit came out.
func (s *Summary) short() string {
	if s.Client.Withheld() || len(s.SLO) == 0 {
		return s.Reason
	}
	return s.worst().sentence(true, s.Client.plusMinus())
}

// concludeComparison joins the verdicts of runs side by side.
func (r *Report) concludeComparison() {
	rank := map[Verdict]int{NoLimits: 0, Met: 1, CannotSay: 2, Missed: 3}
	r.Verdict = NoLimits
	var parts, who []string
	at := r.figureSLO()
	for i := range r.Summaries {
		s := &r.Summaries[i]
		if rank[s.Verdict] > rank[r.Verdict] {
			r.Verdict, r.Reason = s.Verdict, s.Name+": "+s.Reason
		}
		parts = append(parts, s.Name+" "+s.figure(at))
		who = append(who, s.Name)
	}
	if r.Verdict == NoLimits || r.Verdict == Met {
		r.Reason = r.Summaries[0].Reason
	}
	r.Headline = r.figureName(at) + ": " + strings.Join(parts, "; ")
	r.Detail = fmt.Sprintf("%d runs side by side: %s. Offered %s requests/s (%s).", len(who), strings.Join(who, ", "), r.rates(), modeText(r.Summaries[0].Source.Mode))
}

func (r *Report) rates() string {
	var out []string
	for i := range r.Summaries {
		out = append(out, rateText(r.Summaries[i].Load.OfferedPerS))
	}
	return strings.Join(out, " and ")
}

// figureSLO is the limit by which runs are compared on top: the first that a
// run missed, or the first of all.
func (r *Report) figureSLO() int {
	for i := range r.Summaries {
		for j, x := range r.Summaries[i].SLO {
			if x.Verdict == Missed {
				return j
			}
		}
	}
	return 0
}

// figureName names the one number by which runs are compared on top.
func (r *Report) figureName(i int) string {
	if s := r.Summaries[0]; i < len(s.SLO) {
		return fmt.Sprintf("%s %s (limit %s)", pName(s.SLO[i].Percentile), strings.ToUpper(s.SLO[i].Metric), msText(s.SLO[i].ThresholdMS))
	}
	return "p95 TTFT"
}

// figure is that number of one run.
func (s *Summary) figure(i int) string {
	switch {
	case s.Client.Withheld():
		return "withheld, the client was late"
	case i < len(s.SLO) && s.SLO[i].MS == nil:
		return "cannot say"
	case i < len(s.SLO):
		return fmt.Sprintf("%s, %s", msText(*s.SLO[i].MS), s.SLO[i].Verdict.word())
	}
	if v := s.latency("ttft", "sched").percentile(95); v != nil {
		return msText(*v)
	}
	return "n/a"
}

// latency finds a metric, an empty one when it was not measured.
func (s *Summary) latency(metric, clock string) Latency {
	for _, l := range s.Latency {
		if l.Metric == metric && l.Clock == clock {
			return l
		}
	}
	return Latency{Metric: metric, Clock: clock}
}

func (l Latency) percentile(p float64) *float64 {
	for _, x := range l.Percentiles {
		if x.P == p {
			return x.MS
		}
	}
	return nil
}
