package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"reprise/fit/chart"
	"reprise/replay"
)

// msText writes a time with about three digits, for instance 0.214 ms, 41.5 ms
// or 1,240 ms.
func msText(v float64) string { return msNumber(v) + " ms" }

func msNumber(v float64) string {
	a := max(v, -v)
	switch {
	case a == 0:
		return "0"
	case a < 1:
		return strconv.FormatFloat(v, 'f', 3, 64)
	case a < 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a < 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return chart.Thousands(strconv.FormatFloat(v, 'f', 0, 64))
}

func count(n int64) string { return chart.Thousands(strconv.FormatInt(n, 10)) }

// rateText writes a rate with three digits.
func rateText(v *float64) string {
	if v == nil {
		return "n/a"
	}
	switch {
	case *v >= 100:
		return chart.Thousands(strconv.FormatFloat(*v, 'f', 0, 64))
	case *v >= 10:
		return strconv.FormatFloat(*v, 'f', 1, 64)
	}
	return strconv.FormatFloat(*v, 'f', 2, 64)
}

func msOr(v *float64) string {
	if v == nil {
		return "n/a"
	}
	return msNumber(*v)
}

// shareText writes a share as a percentage. It never rounds to 100 % or 0 %
// what is not.
func shareText(v *float64) string {
	if v == nil {
		return "n/a"
	}
	s := strconv.FormatFloat(*v*100, 'f', 1, 64)
	switch {
	case s == "100.0" && *v < 1:
		return "> 99.9 %"
	case s == "0.0" && *v > 0:
		return "< 0.1 %"
	}
	return strings.TrimSuffix(s, ".0") + " %"
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return count(n) + " " + what + "s"
}

// modeText is the run's mode as people say it.
func modeText(mode string) string { return strings.ReplaceAll(mode, "_", " ") }

// word is the verdict as people say it.
func (v Verdict) word() string { return strings.ReplaceAll(string(v), "_", " ") }

// metricName is the name of a metric in tables.
func metricName(key string) string {
	if key == "ttfa" {
		return "TTFT, first answer after reasoning"
	}
	return strings.ToUpper(key)
}

// planned is the instant that a latency of this run starts at: a closed loop
// plans none, and its requests go when a slot is free.
func (s *Summary) planned() string {
	if s.Source.Mode == replay.ClosedLoop {
		return "instant its slot was free"
	}
	return "planned instant"
}

// clockName says where a latency starts; closed: in a closed loop.
func clockName(clock string, closed bool) string {
	switch {
	case clock == "sched" && closed:
		return "from its slot being free"
	case clock == "sched":
		return "from the planned instant"
	case clock == "write_end":
		return "from sending"
	}
	return ""
}

// short is the start of a digest.
func short(sha string) string {
	if len(sha) > 16 {
		return sha[:16]
	}
	return sha
}

// offered is the rate in words. A closed loop offers nothing: its rate follows
// from the answers.
func (s *Summary) offered() string {
	if s.Source.Mode == replay.ClosedLoop {
		return rateText(s.Load.OfferedPerS) + " requests/s" + after(", ", s.underWay())
	}
	return rateText(s.Load.OfferedPerS) + " requests/s offered"
}

// underWay is the concurrency of a closed loop in words, empty of another.
func (s *Summary) underWay() string {
	if s.Source.Shape == nil {
		return ""
	}
	for _, p := range s.Source.Shape.Points {
		if p.Point == s.Point && p.Concurrency > 0 {
			return fmt.Sprintf("%d under way", p.Concurrency)
		}
	}
	return ""
}

// ramped says from which rate to which a ramp of one load point went, empty of
// any other load.
func (s *Summary) ramped() string {
	if sh := s.Source.Shape; s.Source.Mode == replay.Ramp && sh != nil && len(sh.Points) == 1 {
		return fmt.Sprintf("ramp from %.6g to %.6g requests/s", sh.Points[0].FromPerS, sh.Points[0].ToPerS)
	}
	return ""
}

// mode says what load it was, where the rate stands beside it.
func (s *Summary) mode() string { return cmp.Or(s.ramped(), modeText(s.Source.Mode)) }

// step is the planned rate of a load point of a ramp in steps.
func (s *Summary) step() string {
	sh := s.Source.Shape
	if sh == nil || s.Source.Mode != replay.Ramp {
		return ""
	}
	for _, p := range sh.Points {
		if p.Point == s.Point && p.FromPerS == p.ToPerS {
			return fmt.Sprintf("%.3g/s", p.FromPerS)
		}
	}
	return ""
}

// byRate is what load points are told apart by: rates that were offered, or of
// a closed loop those that came about.
func (r *Report) byRate() string {
	if r.Summaries[0].Source.Mode == replay.ClosedLoop {
		return "sent"
	}
	return "offered"
}

// closed tells that all runs are closed loops.
func (r *Report) closed() bool {
	for i := range r.Summaries {
		if r.Summaries[i].Source.Mode != replay.ClosedLoop {
			return false
		}
	}
	return true
}

// where names the place and the load of a summary, to stand at its numbers.
func (s *Summary) where() string {
	r := s.offered()
	if s.Source.Region != "" {
		return fmt.Sprintf("%s, %s, %s", r, s.mode(), s.Source.Region)
	}
	return r + ", " + s.mode()
}

// versionLine names a build.
func versionLine(name, version, commit string) string {
	return clean(strings.TrimSpace(name + " " + version + after(" ", short(commit))))
}

// clean drops what could steer a terminal, since labels, models and server
// names come from outside.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == '\u2028' || r == '\u2029' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
}
