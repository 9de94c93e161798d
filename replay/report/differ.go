package report

import (
	"slices"
	"strings"

	"reprise/replay"
)

// difference is a condition in which runs side by side are not alike, so that
// their latencies may differ for it alone; of has what each run had.
type difference struct {
	name string
	of   []string
}

// differ lists the conditions in which runs are not alike: the trace, the load,
// what the cache held, the limits, fields that a user added, the place, and whether the client was late.
// The server, its model and the rate are what runs are compared for.
func (r *Report) differ() (out []difference) {
	for _, c := range []struct {
		name string
		of   func(*Summary) string
	}{
		{"Trace", func(s *Summary) string { return short(s.Source.Trace.SHA256) }},
		{"Load", (*Summary).arrivals},
		{"Prefix cache", func(s *Summary) string { return s.Cache.Mode }},
		{"Limits", (*Summary).limitsText},
		{"Extra fields of requests", func(s *Summary) string { return stated(s.Source.Endpoint.Extra, "none") }},
		{"Region", func(s *Summary) string { return stated(s.Source.Region, "not stated") }},
		{"Client", (*Summary).believed},
	} {
		d := difference{name: c.name}
		for i := range r.Summaries {
			d.of = append(d.of, c.of(&r.Summaries[i]))
		}
		if slices.ContainsFunc(d.of, func(v string) bool { return v != d.of[0] }) {
			out = append(out, d)
		}
	}
	return out
}

func stated(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

// arrivals is the load without its rate.
func (s *Summary) arrivals() string {
	text := modeText(s.Source.Mode)
	sh := s.Source.Shape
	if sh == nil {
		return text
	}
	if s.Source.Mode == replay.ClosedLoop {
		return text + after(", ", s.underWay())
	}
	if len(sh.Points) == 0 {
		return text + after(", instants of the ", sh.Arrivals)
	}
	return text + ", " + sh.Process()
}

// limitsText lists the limits of a run.
func (s *Summary) limitsText() string {
	var out []string
	for _, x := range s.SLO {
		out = append(out, x.Text)
	}
	return stated(strings.Join(out, "; "), "none")
}

// believed says whether latencies of a run are withheld.
func (s *Summary) believed() string {
	if s.Client.Withheld() {
		return strings.ReplaceAll(s.Client.Verdict, "_", "-")
	}
	return "believed"
}

// differCells are the rows of the table side by side that say what differs.
func (r *Report) differCells() (out [][]string) {
	for _, d := range r.differ() {
		if d.name != "Client" { // has a row always
			out = append(out, append([]string{"Differs: " + d.name}, d.of...))
		}
	}
	return out
}
