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
	if s.Client.Withheld() {
		return s.Client.fault()
	}
	if len(s.SLO) == 0 {
		return s.Reason
	}
	return s.worst().sentence(true) + s.placeholder(s.worst().Metric)
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
		parts = append(parts, s.Name+" "+s.figure(at, at != nil && !r.oneLimit(at)))
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
	if d := r.differ(); len(d) > 0 {
		var names []string
		for _, row := range d {
			names = append(names, strings.ToLower(row.name[:1])+row.name[1:])
		}
		r.Detail += fmt.Sprintf(" They differ in more than what is measured: %s.", strings.Join(names, ", "))
	}
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
// run missed, or the first of all; nil where no run has one.
func (r *Report) figureSLO() (first *SLOResult) {
	for i := range r.Summaries {
		for j := range r.Summaries[i].SLO {
			x := &r.Summaries[i].SLO[j]
			if x.Verdict == Missed {
				return x
			}
			if first == nil {
				first = x
			}
		}
	}
	return first
}

// alike finds the limit of a run on the same percentile of the same metric, nil
// where it has none.
func (s *Summary) alike(at *SLOResult) *SLOResult {
	for i := range s.SLO {
		if x := &s.SLO[i]; x.Metric == at.Metric && x.Percentile == at.Percentile && x.MeasuredAt == at.MeasuredAt {
			return x
		}
	}
	return nil
}

// oneLimit tells whether all runs have that limit, so that it stands once.
func (r *Report) oneLimit(at *SLOResult) bool {
	for i := range r.Summaries {
		if x := r.Summaries[i].alike(at); x == nil || x.ThresholdMS != at.ThresholdMS {
			return false
		}
	}
	return true
}

// figureName names the one number by which runs are compared on top.
func (r *Report) figureName(at *SLOResult) string {
	if at == nil {
		return "p95 TTFT"
	}
	name := pName(at.Percentile) + " " + strings.ToUpper(at.Metric)
	if r.oneLimit(at) {
		return fmt.Sprintf("%s (limit %s)", name, msText(at.ThresholdMS))
	}
	return name
}

// figure is that number of one run; own says its limit beside it.
func (s *Summary) figure(at *SLOResult, own bool) string {
	if s.Client.Withheld() {
		return "withheld, " + s.Client.fault()
	}
	if at == nil {
		at = &SLOResult{Metric: "ttft", Percentile: 95}
	}
	clock := "sched"
	if at.Metric == "tpot" || at.Metric == "itl" {
		clock = ""
	}
	x := s.alike(at)
	if x == nil {
		text := "n/a"
		if v := s.latency(at.Metric, clock).percentile(at.Percentile); v != nil {
			text = msText(*v) + s.placeholder(at.Metric)
		}
		if own {
			text += " (no such limit)"
		}
		return text
	}
	limit := ""
	if own {
		limit = fmt.Sprintf(" (limit %s)", msText(x.ThresholdMS))
	}
	if x.MS == nil {
		return "cannot say" + limit
	}
	return fmt.Sprintf("%s%s, %s%s", msText(*x.MS), limit, x.Verdict.word(), s.placeholder(at.Metric))
}
