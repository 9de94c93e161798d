package page

import (
	"fmt"

	"reprise/fit/chart"
	"reprise/trace/spec"
)

func sessionSection(s *spec.Spec) (section, error) {
	x := s.Workload.Sessions
	out := section{Title: "Sessions"}
	if x == nil {
		return out, nil
	}
	out.Notes = x.Notes
	b, err := turns(x)
	if err != nil {
		return out, err
	}
	out.keep(b)
	out.keep(pauses(x))
	out.keep(grows(x))
	out.keep(branching(x))
	return out, nil
}

// identity says what tells the turns of a session.
func identity(by string) string {
	switch by {
	case spec.BySession:
		return "the log's session ids"
	case spec.ByParent:
		return "the log's links between requests"
	case spec.ByPrefix:
		return "prompts that begin with an earlier one whole, which is a guess"
	}
	return "what was stated"
}

// turns are how many a session has and how many go on after each.
func turns(x *spec.Sessions) (block, error) {
	b := block{Title: "How long conversations are", Lead: fmt.Sprintf("%s of %s sessions have several turns", percent(float64(x.ShareMultiple.Value)), Tokens(float64(x.Count.Value)))}
	if x.Requests != nil {
		b.Lead += fmt.Sprintf("; they make %s of the requests", percent(float64(x.Requests.Value)))
	}
	b.Lead += "."
	for _, p := range []struct {
		name string
		p    spec.Num
	}{{"turns, median", 0.5}, {"turns, p90", 0.9}, {"turns, p99.5", 0.995}} {
		b.add(row(p.name, Short(Quantile(&x.Turns, p.p)), by(x.Turns.Provenance)))
	}
	b.number("turns, mean", "", &x.MeanTurns)
	b.number("turns, most", "", x.MostTurns)
	b.share("requests of sessions with several turns", x.Requests)
	b.share("prompt tokens of them", x.Tokens)
	b.share("sessions that began before the log", x.Truncated)
	b.share("sessions that may go on after it", x.Censored)
	if x.Identity != "" {
		b.Notes = append(b.Notes, "Turns of one session are known by "+identity(x.Identity)+".")
	}
	if len(x.Hazards) < 2 {
		return b, nil
	}
	var points []chart.XY
	last := "."
	for _, h := range x.Hazards {
		points = append(points, chart.XY{X: float64(h.Turn), Y: float64(h.Value)})
		if h.AndLater {
			last = "; the last point pools all later turns."
		}
	}
	return b, b.draw(chart.Chart{ID: "hazard", Title: "Sessions that go on after each turn", YShare: true, YMax: 1, XMin: new(float64), Desc: "Share of the sessions that reached a turn and went on.",
		Lines: []chart.Series{{Name: "go on", Colour: 1, Dots: true, Points: points}}},
		"Of the sessions that reached the turn, by Kaplan-Meier for those that the log cuts"+last)
}

// spread is a table of quantiles, one row for each variable that there is.
func (b *block) spread(unit string, write func(float64) string, rows ...spreadRow) {
	b.Table = nil
	for _, r := range rows {
		if r.t == nil {
			continue
		}
		if b.Table == nil {
			b.Table = &table{Head: append(words(unit), append(numbers("p10", "p50", "p90", "p99.5"), words("source")...)...)}
		}
		line := words(r.name)
		for _, p := range []spec.Num{0.1, 0.5, 0.9, 0.995} {
			line = append(line, numbers(write(Quantile(r.t, p)))...)
		}
		b.add(append(line, words(by(r.t.Provenance))...))
	}
}

type spreadRow struct {
	name string
	t    *spec.Table
}

// pauses are the times between turns.
func pauses(x *spec.Sessions) block {
	b := block{Title: "How long people and tools take between turns"}
	b.spread("time", Seconds, spreadRow{"a person, from the answer to the next turn", x.ThinkHuman}, spreadRow{"a tool, from the call to its result", x.ThinkTool},
		spreadRow{"either, from the answer on", x.Think}, spreadRow{"from one request to the next", x.Between})
	switch {
	case x.ThinkHuman != nil && x.ThinkTool != nil:
		b.Lead = fmt.Sprintf("A person takes %s in the median, a tool %s.", Seconds(Quantile(x.ThinkHuman, 0.5)), Seconds(Quantile(x.ThinkTool, 0.5)))
	case x.Think != nil:
		b.Lead = fmt.Sprintf("The next turn comes %s after the answer in the median.", Seconds(Quantile(x.Think, 0.5)))
	case x.Between != nil:
		b.Lead = fmt.Sprintf("The next turn comes %s after the request before it in the median; when answers ended is not known.", Seconds(Quantile(x.Between, 0.5)))
	}
	return b
}

// grows are the prompts of first turns and how later ones grow.
func grows(x *spec.Sessions) block {
	b := block{Title: "How prompts grow from turn to turn"}
	b.spread("tokens", Tokens, spreadRow{"prompt of a first turn", x.First}, spreadRow{"growth from turn to turn", x.Growth})
	if x.Growth != nil {
		b.Lead = fmt.Sprintf("A further turn adds %s tokens to the prompt in the median.", Tokens(Quantile(x.Growth, 0.5)))
	}
	if x.Kept != nil {
		b.Notes = append(b.Notes, fmt.Sprintf("In the median a turn begins with %s of the prompt before it, in nine of ten with %s or more (%s).", percent(Quantile(x.Kept, 0.5)), percent(Quantile(x.Kept, 0.1)), by(x.Kept.Provenance)))
	}
	return b
}

// branching is what a session does other than grow in a line.
func branching(x *spec.Sessions) block {
	b := block{Title: "Whether conversations branch or are cut"}
	b.share("requests that are continued more than once", x.Branched)
	b.share("turns that continue a prompt, with a shorter one", x.Compacted)
	if x.Branched != nil && x.Compacted != nil {
		b.Lead = "Most go on in a line."
		if x.Branched.Value == 0 && x.Compacted.Value == 0 {
			b.Lead = "They do neither: each turn continues the last one, and prompts grow."
			if shorter(x) {
				b.Lead = "They do neither, but some turns begin anew, with a shorter prompt than the one before them in the session."
			}
		}
	}
	return b
}

// Shrank says how often a turn that continues a prompt has a shorter one. A turn
// that begins anew in its session continues none: where such turns have a shorter
// prompt than the one before, the growth of prompts shows it and this does not.
func Shrank(x *spec.Sessions) string {
	if x.Compacted == nil {
		return ""
	}
	text := fmt.Sprintf("shrank in %.1f %% of turns that continue one", 100*float64(x.Compacted.Value))
	if x.Compacted.From == spec.Assumed {
		text += "*"
	}
	if x.Compacted.Value == 0 && shorter(x) {
		text += " (others begin anew, some with a shorter one)"
	}
	return text
}

// shorter tells whether some turn has a shorter prompt than the one before it.
func shorter(x *spec.Sessions) bool {
	return x.Growth != nil && len(x.Growth.Values) > 0 && Quantile(x.Growth, 0) < 0
}
