package fit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// Options say who writes the spec and with which word list synthetic text is
// made.
type Options struct {
	Tool     trace.Tool
	WordList string // SHA-256
	Order    string // of several traces: OrderNamed, OrderWeek, or empty where both are one
	// Zone is that of the hours of the day and the week, by a name of the tz
	// database; nil for UTC.
	Zone *time.Location
}

func (o Options) zone() *time.Location {
	if o.Zone == nil {
		return time.UTC
	}
	return o.Zone
}

var errEmpty = errors.New("the trace has no requests, so there is nothing to measure")

// Fit measures a trace and returns a draft spec: the workload with the
// provenance of every number, and the data requests for what the log could not
// tell. The question is left open.
func Fit(t *trace.Trace, o Options) (*spec.Spec, error) {
	if len(t.Requests) == 0 {
		return nil, errEmpty
	}
	var r rows
	if err := r.add(t.Requests); err != nil {
		return nil, err
	}
	return assemble(t.Header, &r, Features(t), o, func(w *spec.Workload) error { return related(w, t) })
}

// assemble makes the spec of rows; rest fills in prefix sharing and sessions.
func assemble(h trace.Header, r *rows, f spec.Features, o Options, rest func(*spec.Workload) error) (*spec.Spec, error) {
	sp := &spec.Spec{
		Kind: spec.Kind, Version: spec.Version, Revision: 1, Status: spec.Draft, Tool: o.Tool,
		Privacy: spec.Privacy{Profile: "local", Calendar: h.Time.Calendar},
		Synth:   spec.Synth{Tokenizer: h.Tokenizer, WordListSHA256: o.WordList},
	}
	w := &sp.Workload
	var err error
	if w.Lengths, err = lengthSection(r); err != nil {
		return nil, err
	}
	if w.Arrivals, err = arrivalSection(h.Time, r, o.zone()); err != nil {
		return nil, err
	}
	clockChange(&w.Arrivals, h)
	if err = rest(w); err != nil {
		return nil, err
	}
	broken(&w.Prefix, h)
	w.Features = f
	sp.DataRequests = requests(w)
	if h := w.Arrivals.PeakHour; h != nil {
		sp.Question.Load = spec.Load{Value: h.Rate, Unit: "1/s"}
	}
	return sp, nil
}

// related fills in what requests have to do with each other.
func related(w *spec.Workload, t *trace.Trace) error {
	links := Link(t)
	var err error
	if w.Prefix, err = prefixSection(t, links); err != nil {
		return err
	}
	if w.Sessions = sessionSection(t, links); w.Sessions != nil && links.By != spec.ByPrefix {
		w.Sessions.FirstReuse, err = firstReuse(t, links)
	}
	return err
}

// Times returns the arrivals of a timed trace in µs.
func Times(t *trace.Trace) []int64 {
	out := make([]int64, len(t.Requests))
	for i := range t.Requests {
		out[i] = t.Requests[i].T.V
	}
	return out
}

// Notes returns what the numbers of a spec could not carry, for a person.
func Notes(sp *spec.Spec) []string {
	out := slices.Concat(sp.Workload.Arrivals.Notes, sp.Workload.Prefix.Notes)
	if s := sp.Workload.Sessions; s != nil {
		out = append(out, s.Notes...)
	}
	for _, b := range sp.Workload.Prefix.AllBroken() {
		out = append(out, b.Sentence())
	}
	if g := sp.Workload.Arrivals.Gamma; g != nil && g.Warning != "" {
		out = append(out, g.Warning)
	}
	return out
}

// Failed tells requests that brought no answer; their lengths are not lengths
// of the workload, their arrivals are arrivals.
func Failed(r *trace.Request) bool {
	return r.Finish == trace.FinishError || r.Status.OK && r.Status.V >= 400
}

func lengthSection(r *rows) (spec.Lengths, error) {
	in, out := known(r.input), known(r.output)
	if len(in) == 0 || len(out) == 0 {
		return spec.Lengths{}, errors.New("the trace has no prompt tokens or no output tokens: ingest it with a tokenizer, or map the columns that hold them")
	}
	from := r.provenance()
	pairIn, pairOut := r.pairs()
	l := spec.Lengths{Input: length(in, nil, from), Output: length(out, r.cut, from), Dependence: dependence(pairIn, pairOut, from),
		Drift: drift(pairIn, pairOut, from), Classes: classes(r), Between: between(r)}
	if s := Spearman(pairIn, pairOut); s.OK() {
		n := spec.MeasuredNumber(s.Value, "1", int64(len(pairIn)))
		l.Spearman = &n
	}
	strata, err := Strata(sixDigits(pairIn), pairOut)
	if err != nil || len(strata) < 2 {
		return l, err
	}
	l.Joint = &spec.Joint{Provenance: spec.Provenance{From: from, N: int64(len(pairIn))}}
	for _, s := range strata {
		l.Joint.Strata = append(l.Joint.Strata, spec.Stratum{Upto: spec.Round(float64(s.Upto)), N: s.N,
			P: spec.Nums(s.Output.P), Output: spec.Nums(s.Output.X)})
	}
	return l, nil
}

// length describes one variable; cut are those values that max_tokens cut.
func length(x, cut []int32, from spec.From) spec.Length {
	v := dist.FromInts(x, 1)
	d := Describe(v)
	table := dist.NewTable(v, dist.Grid(100))
	mean := spec.MeasuredNumber(d.Mean, "tokens", d.N)
	mean.From = from
	l := spec.Length{Mean: mean, Quantiles: spec.Table{
		Provenance: spec.Provenance{From: from, N: d.N}, P: spec.Nums(table.P), Values: spec.Nums(table.X)}}
	if d.SD.OK() {
		sd := spec.MeasuredNumber(d.SD.Value, "tokens", d.N)
		sd.From = from
		l.SD = &sd
	}
	fits, _ := FitFamilies(v) // a family that does not fit is absent
	for _, f := range fits {
		fam := spec.Family{Provenance: l.Quantiles.Provenance, Name: f.Family.Name(), LogL: spec.Round(f.LogL), BIC: spec.Round(f.BIC), KS: spec.Round(f.KS), Label: f.Label}
		fam.Params = params(f.Family)
		l.Families = append(l.Families, fam)
	}
	more(&l, v, from, dist.FromInts(cut, 1))
	return l
}

// requests lists what to ask for, each with the rows that it would fill.
func requests(w *spec.Workload) []spec.DataRequest {
	var out []spec.DataRequest
	ask := func(missing bool, what string, rows ...string) {
		if missing {
			out = append(out, spec.DataRequest{Ask: what, Replaces: rows})
		}
	}
	ask(w.Arrivals.Process == spec.ProcessUnknown, "the arrival time of each request, in milliseconds or finer, for a whole day", "workload.arrivals")
	coarse := slices.ContainsFunc(w.Arrivals.Notes, func(n string) bool { return strings.Contains(n, stampsAt) })
	ask(coarse, "arrival times in milliseconds or finer, as stamped on arrival", "workload.arrivals")
	ask(slices.Contains(w.Arrivals.Notes, noteShort), "a log of a whole day, for its peak hour", "workload.arrivals.peak_hour")
	ask(len(w.Prefix.HitRates) == 0, "the prompts themselves (they are read on your machine and do not leave it), or their prefix block digests", "workload.prefix")
	ask(w.Sessions == nil || w.Sessions.Identity == spec.ByPrefix, "the session or conversation id of each request", "workload.sessions")
	if what, rows := untold(&w.Features); len(rows) > 0 {
		ask(true, "of each request, "+strings.Join(what, ", "), rows...)
	}
	return out
}

// untold lists the features of requests that the log does not tell, and their rows.
func untold(f *spec.Features) (what, rows []string) {
	for _, x := range []struct {
		told      *spec.Number
		what, row string
	}{{f.Stream, "whether it streamed", "stream"}, {f.Tools, "whether it carried tools", "tools"},
		{f.Schema, "whether a JSON schema bound its answer", "json_schema"}, {f.Several, "how many completions it asked for (n)", "several_completions"}} {
		if x.told == nil {
			what, rows = append(what, x.what), append(rows, "workload.features."+x.row)
		}
	}
	return what, rows
}

// labelled is the trace's calendar label of an offset, empty without calendar.
func labelled(t *trace.Trace, offset int64) string { return label(t.Header.Time, offset) }

func why(list *[]string, what string, s Stat) {
	if s.OK() {
		return
	}
	note := fmt.Sprintf("%s: n/a (%s)", what, s.Why)
	if !slices.Contains(*list, note) {
		*list = append(*list, note)
	}
}
