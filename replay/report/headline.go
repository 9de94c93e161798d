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
	r.shorten()
	switch r.Verdict {
	case Missed:
		r.Exit = 3
	case CannotSay:
		r.Exit = 4
	}
}

// longHeadline is the length from which a headline of several runs is no longer
// one: what it says then stands below a short one.
const longHeadline = 200

// shorten puts a long headline of several runs below the verdict in short.
func (r *Report) shorten() {
	if r.Shape == Single || len(r.Headline) <= longHeadline {
		return
	}
	said := map[Verdict]string{Met: "The limits are met", Missed: "A limit is missed", CannotSay: "It cannot be said whether the limits hold", NoLimits: "No limit was agreed"}[r.Verdict]
	what := "load points"
	if r.Shape == Comparison {
		what = "runs side by side"
	} else if r.Verdict == Met {
		said = "The limits hold at one load point or more of every endpoint and row"
	}
	r.Headline, r.Detail = fmt.Sprintf("%s (%d %s)", said, len(r.Summaries), what), r.Headline+" "+r.Detail
}

// headline answers the question in one sentence.
func (s *Summary) headline() string {
	at := fmt.Sprintf("At %s (%s%s)", s.offered(), modeText(s.Source.Mode), after(", ", s.Source.Region))
	if ramp := s.ramped(); ramp != "" {
		at = fmt.Sprintf("Over a %s (%s on average%s)", ramp, s.offered(), after(", ", s.Source.Region))
	}
	if s.Client.Withheld() {
		return "No result: " + s.Client.fault() + ", so these latencies are not the server's"
	}
	if d := s.doubt(); d != "" {
		return at + " nothing can be concluded: " + d
	}
	if len(s.SLO) == 0 {
		return at + " " + s.plainTTFT() + s.hint()
	}
	if len(s.SLO) > 2 {
		return at + " " + s.manyLimits() + s.hint()
	}
	var parts []string
	for i, x := range s.SLO {
		parts = append(parts, x.sentence(i == 0))
	}
	return at + " " + strings.Join(parts, "; ") + s.hint()
}

// manyLimits counts the limits that are met and gives the first that is not.
func (s *Summary) manyLimits() string {
	met, worst := 0, s.worst()
	for _, x := range s.SLO {
		met += int(one(x.Verdict == Met))
	}
	if met == len(s.SLO) {
		return fmt.Sprintf("all %d limits are met: %s", met, worst.sentence(true))
	}
	return fmt.Sprintf("%d of %d limits are met: %s", met, len(s.SLO), worst.sentence(true))
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
				best = fmt.Sprintf("%s TTFT is %s%s; no limit was agreed", pName(p.P), msText(*p.MS), unsureText(*p.MS, p.LessMS, p.MoreMS))
			}
		}
		if best != "" {
			return best
		}
	}
	return "there are too few answers to give a percentile of TTFT"
}

// sentence says how one limit came out; only the first has a verb.
func (x *SLOResult) sentence(first bool) string {
	name := pName(x.Percentile) + " " + strings.ToUpper(x.Metric)
	limit := fmt.Sprintf("(limit %s)", msText(x.ThresholdMS))
	if x.MS == nil && x.Verdict == Missed {
		return fmt.Sprintf("%s %s: missed, %s", name, limit, x.Reason)
	}
	if x.MS == nil {
		return fmt.Sprintf("%s %s cannot be said: %s", name, limit, x.Reason)
	}
	is, plusMinus := " ", unsureText(*x.MS, x.LessMS, x.MoreMS)
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

// detail is the second sentence: goodput and what became of the requests.
func (s *Summary) detail() string {
	fate := fmt.Sprintf("Of %s, %s were answered", plural(s.Load.Planned, "planned request"), count(s.Load.OK))
	if s.Load.Failed > 0 {
		fate += fmt.Sprintf(" and %s not", count(s.Load.Failed))
		if s.Load.RateLimited > 0 {
			fate += fmt.Sprintf(" (%s by HTTP 429)", count(s.Load.RateLimited))
		}
	}
	if s.Load.Missing > 0 {
		fate += "; " + s.have()
	}
	fate += "." + s.mismatch()
	if len(s.Goodput.Limits) == 0 || s.Goodput.Good == nil {
		return strings.TrimSpace(fate + " " + s.noGoodput())
	}
	return fmt.Sprintf("Goodput is %s requests/s %s: %s of the planned requests met every limit. %s", rateText(s.Goodput.PerS), s.Load.over(), shareText(s.Goodput.Share), fate)
}

// noGoodput says why there is none, where the first sentence has not.
func (s *Summary) noGoodput() string {
	if s.Client.Withheld() || s.doubt() != "" || s.Goodput.Note == "" || len(s.Goodput.Limits) == 0 {
		return ""
	}
	return "Goodput is " + s.Goodput.Note + "."
}

func after(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + s
}
