package report

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"reprise/replay"
	"reprise/trace"
)

// Kind and Version identify the JSON report.
const (
	Kind    = "reprise.report"
	Version = 1
)

// Input is one results directory. Label names it beside others, for instance
// "from the trace"; it may be empty when there is one. Inputs of equal labels are
// points of one curve.
type Input struct {
	Run     *replay.Run
	Results iter.Seq2[replay.Result, error]
	Health  []replay.HealthRow
	Server  [][]replay.ServerRow // as scraped, in order of time, of each repetition; on the clock of the results
	Label   string
	Named   bool  // the label was given by hand: those of equal ones are one curve, those of others never
	Cut     int64 // bytes at the end of a partial run's spool that could not be read
}

// The shapes of a report.
const (
	Single     = "single"     // one load point of one run
	LoadCurve  = "load_curve" // the same at several offered rates
	Comparison = "comparison" // several runs side by side
)

// Report is what all inputs came to. Exit is the command's exit code: 0, 3
// when a limit was missed, 4 when the limits cannot be judged.
type Report struct {
	Kind        string       `json:"kind"`
	Version     int          `json:"version"`
	Tool        trace.Tool   `json:"tool"` // that made the report; each run names its own
	Headline    string       `json:"headline"`
	Detail      string       `json:"detail"`
	Verdict     Verdict      `json:"verdict"`
	Reason      string       `json:"reason"`
	Exit        int          `json:"exit"`
	Shape       string       `json:"shape"`
	Summaries   []Summary    `json:"runs"`
	Definitions []Definition `json:"definitions"`
}

// Build reads every input to its end and returns the report. It fails on the
// first error of an input and when there is nothing to report.
func Build(tool trace.Tool, inputs ...Input) (*Report, error) {
	r := &Report{Kind: Kind, Version: Version, Tool: tool, Definitions: definitions()}
	for i, in := range inputs {
		s, err := summaries(in)
		if err != nil {
			return nil, fmt.Errorf("results %d%s: %w", i+1, named(in.Label), err)
		}
		r.Summaries = append(r.Summaries, s...)
	}
	if len(r.Summaries) == 0 {
		return nil, errors.New("no results to report: give at least one results directory")
	}
	r.nameAll()
	r.Shape = r.shape()
	r.conclude()
	return r, nil
}

func named(label string) string {
	if label == "" {
		return ""
	}
	return " (" + label + ")"
}

// group is one load point at one endpoint; its repetitions are taken together.
type group struct {
	endpoint string
	point    int32
}

// collect reads results to their end, apart by load point and endpoint.
func collect(results iter.Seq2[replay.Result, error]) (map[group]*Metrics, error) {
	by := map[group]*Metrics{}
	for q, err := range results {
		if err != nil {
			return nil, err
		}
		g := group{q.Endpoint, q.Point}
		if by[g] == nil {
			by[g] = new(Metrics)
		}
		by[g].Add(q)
	}
	return by, nil
}

// inOrder are the metrics of groups.
func inOrder(by map[group]*Metrics, keys []group) []*Metrics {
	var out []*Metrics
	for _, k := range keys {
		out = append(out, by[k])
	}
	return out
}

func summaries(in Input) ([]Summary, error) {
	if in.Run == nil || in.Results == nil {
		return nil, errors.New("run.json or the results are missing")
	}
	by, err := collect(in.Results)
	if err != nil {
		return nil, err
	}
	if len(by) == 0 {
		by[group{}] = new(Metrics)
	}
	keys := slices.SortedFunc(maps.Keys(by), func(a, b group) int {
		return cmp.Or(strings.Compare(a.endpoint, b.endpoint), cmp.Compare(a.point, b.point))
	})
	out, points := make([]Summary, len(keys)), make([]*Summary, len(keys))
	var rows int64
	for i, k := range keys {
		for _, n := range by[k].phases {
			rows += n
		}
		out[i] = by[k].summary(in.Run)
		points[i] = &out[i]
		s := points[i]
		s.named = in.Named
		s.Label, s.Point, s.Source.Name, s.Client.Health = in.Label, k.point, k.endpoint, health(in.Health)
	}
	spare(points)
	if keys[0].endpoint == keys[len(keys)-1].endpoint { // it is of one endpoint that the metrics are
		in.besides(points, inOrder(by, keys))
	}
	missing := in.missing(points, rows)
	for _, s := range points {
		s.conclude()
		if in.Cut > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("%s of the spool %s damaged or cut: results in them are lost.", plural(in.Cut, "byte"), are(in.Cut)))
		}
		if missing != "" {
			s.Notes = append(s.Notes, missing)
		}
	}
	return out, nil
}

// nameAll gives every summary a name that tells it from the others.
func (r *Report) nameAll() {
	labels, endpoints, points := map[string]bool{}, map[string]bool{}, map[int32]bool{}
	for i := range r.Summaries {
		s := &r.Summaries[i]
		labels[s.Label], endpoints[s.Source.Name], points[s.Point] = true, true, true
	}
	same := map[string]int{}
	for i := range r.Summaries {
		s := &r.Summaries[i]
		var parts []string
		if s.Label != "" && (len(labels) > 1 || len(r.Summaries) == 1 || s.named) {
			parts = append(parts, s.Label)
		}
		if len(endpoints) > 1 {
			parts = append(parts, s.Source.Name)
		}
		if len(points) > 1 {
			parts = append(parts, fmt.Sprintf("point %d%s", s.Point+1, because(cmp.Or(s.underWay(), s.step()))))
		}
		s.Name = strings.Join(parts, ", ")
		same[s.Name]++
	}
	seen := map[string]int{}
	for i := range r.Summaries {
		s := &r.Summaries[i]
		if seen[s.Name]++; same[s.Name] > 1 || s.Name == "" && len(r.Summaries) > 1 {
			s.Name = strings.TrimPrefix(fmt.Sprintf("%s run %d", s.Name, seen[s.Name]), " ")
		}
	}
}

// curve is one line of latency against load: summaries by ascending offered
// rate.
type curve struct {
	name   string
	points []*Summary
}

// apart is the ratio of offered rates from which two runs of different inputs
// are points of one curve and not a comparison.
const apart = 1.2

// minCurve is the number of runs under different labels from which they may be
// one curve: two, say of a trace and of its synthetic twin, are a comparison.
const minCurve = 3

// alike tells that two runs belong to one curve though their labels differ: the
// same work at the same endpoint, and nobody named them apart.
func alike(a, b *Summary) bool {
	s, t := &a.Source, &b.Source
	work := s.Trace.SHA256 == t.Trace.SHA256 || s.Spec != nil && t.Spec != nil && s.Spec.SHA256 == t.Spec.SHA256
	return work && !a.named && !b.named && s.Mode == t.Mode && s.Endpoint.URL == t.Endpoint.URL && s.Endpoint.Model == t.Endpoint.Model
}

// curves groups the summaries by label and endpoint. Where each has one point,
// all are alike and their rates are apart, all of them are one curve. It is empty
// when there is no curve to draw.
func (r *Report) curves() []curve {
	var out []curve
	index := map[[2]string]int{}
	longest := 0
	for i := range r.Summaries {
		s := &r.Summaries[i]
		k := [2]string{s.Label, s.Source.Name}
		j, ok := index[k]
		if !ok {
			j = len(out)
			index[k] = j
			out = append(out, curve{name: strings.TrimSuffix(strings.TrimPrefix(s.Label+", "+s.Source.Name, ", "), ", ")})
		}
		out[j].points = append(out[j].points, s)
		longest = max(longest, len(out[j].points))
	}
	if longest < 2 {
		if len(r.Summaries) < minCurve {
			return nil
		}
		all := curve{}
		for i := range r.Summaries {
			if !alike(&r.Summaries[0], &r.Summaries[i]) {
				return nil
			}
			all.points = append(all.points, &r.Summaries[i])
		}
		out = []curve{all}
	}
	if len(out) == 1 {
		out[0].name = "" // there is no other to tell it from
	}
	for _, c := range out {
		slices.SortStableFunc(c.points, func(a, b *Summary) int {
			return cmp.Compare(*orZero(a.Load.OfferedPerS), *orZero(b.Load.OfferedPerS))
		})
		if n := len(c.points); n > 1 {
			lo, hi := *orZero(c.points[0].Load.OfferedPerS), *orZero(c.points[n-1].Load.OfferedPerS)
			if hi > lo*apart {
				return out
			}
		}
	}
	return nil
}

func (r *Report) shape() string {
	switch {
	case len(r.Summaries) == 1:
		return Single
	case len(r.curves()) > 0:
		return LoadCurve
	}
	return Comparison
}
