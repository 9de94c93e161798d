package spec

import (
	"errors"
	"fmt"
	"strings"
)

// Missing returns the parts of the question that nobody has answered yet, by
// key. A spec is ready to be bundled and signed when there are none.
func (q Question) Missing() []string {
	var out []string
	for _, p := range []struct {
		key   string
		empty bool
	}{
		{"mix", q.Mix == ""},
		{"date_label", q.DateLabel == ""},
		{"load", q.Load.Value <= 0 || q.Load.Unit == ""},
		{"slo", len(q.SLO) == 0},
		{"region", q.Region == ""},
		{"comparison", q.Comparison == ""},
		{"out_of_scope", len(q.OutOfScope) == 0},
		{"client_run_by", q.ClientRunBy == ""},
		{"sentence", q.Sentence == ""},
	} {
		if p.empty {
			out = append(out, p.key)
		}
	}
	return out
}

// Unanswered says why the question cannot be bundled or signed, by key: parts
// that are missing, or a sentence that says something else than they do. Nil
// when it can be.
func (q Question) Unanswered() error {
	if missing := q.Missing(); len(missing) > 0 {
		return fmt.Errorf("the question is not complete: %s missing", strings.Join(missing, ", "))
	}
	if q.Sentence != q.Build() {
		return errors.New("the question's sentence is not the one that its parts give (mix, date_label, load, slo, region, today)")
	}
	return nil
}

// Build returns the question's sentence, made of its parts and fit to be read
// aloud. Both sides' builds must make the same one: other words ask for another
// version of the format.
func (q Question) Build() string {
	limits := make([]string, len(q.SLO))
	for i, s := range q.SLO {
		limits[i] = s.Sentence()
	}
	text := fmt.Sprintf("Does one replica in %s, offered %s of %s (%s) open loop, keep %s?",
		q.Region, q.Load, q.Mix, q.DateLabel, join(limits))
	if q.Today != nil {
		text += fmt.Sprintf(" Today it is said to be %s.", q.Today.Sentence())
	}
	return text
}

func upper(metric string) string { return strings.ToUpper(metric) }

// join puts commas and a final "and" between the parts.
func join(parts []string) string {
	switch n := len(parts); n {
	case 0:
		return ""
	case 1:
		return parts[0]
	default:
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
}

// Sentence says the limit in words, for instance "the 95th percentile of TTFT
// at the client at or below 800 ms".
func (s SLO) Sentence() string {
	return fmt.Sprintf("the %s percentile of %s at the %s at or below %s", ordinal(s.Percentile), upper(s.Metric), s.MeasuredAt, spoken(s.ThresholdMS))
}

// String is the short form, for instance "p95 TTFT <= 800 ms (client)".
func (s SLO) String() string {
	return fmt.Sprintf("p%v %s <= %v ms (%s)", s.Percentile, upper(s.Metric), s.ThresholdMS, s.MeasuredAt)
}

// spoken is a time as one says it: from a second on in seconds.
func spoken(ms Num) string {
	if ms >= 1000 {
		return fmt.Sprintf("%v s", float64(Round(float64(ms)/1000)))
	}
	return fmt.Sprintf("%v ms", float64(Round(float64(ms))))
}

func ordinal(p Num) string {
	s := fmt.Sprint(float64(Round(float64(p))))
	if strings.Contains(s, ".") || strings.HasSuffix(s, "11") || strings.HasSuffix(s, "12") || strings.HasSuffix(s, "13") {
		return s + "th"
	}
	switch s[len(s)-1] {
	case '1':
		return s + "st"
	case '2':
		return s + "nd"
	case '3':
		return s + "rd"
	}
	return s + "th"
}

// String gives the load as "5.53 requests per second".
func (l Load) String() string {
	value := float64(Round(float64(l.Value)))
	if l.Unit == "1/s" {
		return fmt.Sprintf("%v requests per second", value)
	}
	return fmt.Sprintf("%v %s", value, l.Unit)
}
