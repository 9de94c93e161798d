package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"reprise/replay"
)

// concludeCurves says up to which rate the limits hold. The answer for a curve is
// no only when they hold at none of its points; that for several is the worst.
func (r *Report) concludeCurves() {
	var parts []string
	rank := map[Verdict]int{NoLimits: 0, Met: 1, CannotSay: 2, Missed: 3}
	r.Verdict = NoLimits
	for _, c := range r.curves() {
		if v := c.verdict(); rank[v] > rank[r.Verdict] {
			r.Verdict = v
		}
		parts = append(parts, c.sentence())
	}
	r.Headline = strings.Join(parts, " ")
	r.Detail = fmt.Sprintf("%d load points. Every number below stands at its own rate.", len(r.Summaries))
	r.Reason = map[Verdict]string{Met: "the limits hold at one load point at least", Missed: "the limits hold at no load point",
		CannotSay: r.unsure(), NoLimits: "no limit was agreed"}[r.Verdict]
}

// verdict joins those of the points of a curve: that the limits hold at one
// counts first, then that they are missed, then that it cannot be said. A point
// without limits says nothing.
func (c curve) verdict() Verdict {
	for _, v := range []Verdict{Met, Missed, CannotSay} {
		if slices.ContainsFunc(c.points, func(s *Summary) bool { return s.Verdict == v }) {
			return v
		}
	}
	return NoLimits
}

// unsure says why no point can be judged, by the first that cannot.
func (r *Report) unsure() string {
	for i := range r.Summaries {
		if s := &r.Summaries[i]; s.Verdict == CannotSay {
			return s.Name + ": " + s.Reason
		}
	}
	return "no load point can be judged"
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
	case first.Source.Mode == replay.ClosedLoop:
		most := slices.MaxFunc(c.points, func(a, b *Summary) int { return cmp.Compare(*orZero(a.Load.DonePerS), *orZero(b.Load.DonePerS)) })
		return fmt.Sprintf("%sThe most in a closed loop is %s answers/s, with %s.", name, rateText(most.Load.DonePerS), cmp.Or(most.underWay(), "more under way than below"))
	case first.Verdict == NoLimits && c.verdict() != NoLimits:
		odd := c.points[slices.IndexFunc(c.points, func(s *Summary) bool { return s.Verdict == c.verdict() })]
		return fmt.Sprintf("%sLatency at %s offered; not every run has limits, and at %s requests/s %s.", name, span, rateText(odd.Load.OfferedPerS), odd.short())
	case first.Verdict == NoLimits:
		return fmt.Sprintf("%sLatency at %s offered; no limit was agreed.", name, span)
	case held == nil && first.Verdict == CannotSay:
		return fmt.Sprintf("%sIt cannot be said up to which rate the limits hold: at %s requests/s offered %s.", name, rateText(first.Load.OfferedPerS), first.short())
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
	if unlike := r.unlike(); unlike != "" {
		r.Verdict, r.Reason = CannotSay, unlike
		parts = []string{"no comparison: " + unlike}
	}
	r.Headline = r.figureName(at) + ": " + strings.Join(parts, "; ")
	r.Detail = fmt.Sprintf("%d runs side by side: %s. Offered %s requests/s (%s).", len(who), strings.Join(who, ", "), r.rates(), modeText(r.Summaries[0].Source.Mode))
}

// unlike says why runs must not be compared by their latencies: answers that
// came out shorter in one of them are less work.
func (r *Report) unlike() string {
	lo, hi := -1, -1
	attained := func(i int) float64 { return 1 + r.Summaries[i].Tokens.OutAsked.off() }
	for i := range r.Summaries {
		if r.Summaries[i].Tokens.OutAsked.N == 0 {
			continue
		}
		if lo < 0 || attained(i) < attained(lo) {
			lo = i
		}
		if hi < 0 || attained(i) > attained(hi) {
			hi = i
		}
	}
	if lo < 0 || attained(hi)-attained(lo) <= loudOut {
		return ""
	}
	a, b := attained(lo), attained(hi)
	return fmt.Sprintf("answers reached %s of the output length asked for in %s and %s in %s, so it was not the same work", shareText(&a), r.Summaries[lo].Name, shareText(&b), r.Summaries[hi].Name)
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
		return "withheld, " + s.Client.fault()
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
