package fit

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// Amount is a number of a brief: a mean in Value, or a range From–To, which is
// taken for the 5th to the 95th percentile of a lognormal. Sigma is the spread
// around a mean, of log tokens. Confidence is measured, estimated or guessed.
type Amount struct {
	Value      float64 `yaml:"value"`
	From       float64 `yaml:"from"`
	To         float64 `yaml:"to"`
	Sigma      float64 `yaml:"sigma"`
	Confidence string  `yaml:"confidence"`
}

// Brief is a workload as somebody writes it down, with no log behind it.
type Brief struct {
	Mix  string `yaml:"mix"`
	Rate struct {
		Mean     Amount `yaml:"mean"` // 1/s in the hours of work
		Peak     Amount `yaml:"peak"` // 1/s, at which the test runs
		Hours    string `yaml:"hours"`
		Zone     string `yaml:"timezone"`
		BurstyCV Amount `yaml:"bursty_cv"`
	} `yaml:"rate"`
	Instructions Amount     `yaml:"instructions"` // tokens with which every prompt begins, byte for byte
	Input        Amount     `yaml:"input"`        // tokens of a prompt, after the instructions
	Output       Amount     `yaml:"output"`
	JSONSchema   Amount     `yaml:"json_schema"` // shares of requests
	Stream       Amount     `yaml:"stream"`
	Tools        Amount     `yaml:"tools"`
	Jobs         []BriefJob `yaml:"jobs"`
}

// BriefJob is a batch beside the traffic.
type BriefJob struct {
	Name     string `yaml:"name"`
	Requests Amount `yaml:"requests"`
	Start    string `yaml:"start"`
	Hours    Amount `yaml:"within_hours"` // at most 24: a job runs every day
	Input    Amount `yaml:"input"`
	Output   Amount `yaml:"output"`
}

// BriefOptions say who writes the spec, and what lengths are counted with.
type BriefOptions struct {
	Tool      trace.Tool
	Tokenizer trace.Named
	WordList  string
}

const (
	assumedSigma  = 0.5 // of lengths stated by their mean alone
	assumedCV     = 2.0 // of the burstier variant
	normalAt95    = 1.6448536269514722
	askFeatures   = "one complete request, with its parameters"
	askJob        = "the log of one night of the job"
	briefDefault  = "guessed"
	maxBriefRange = 1e7
)

// FromBrief turns a brief into a spec in which every number is assumed, with the
// confidence that the brief gives it and the data request that would replace it.
// Lengths are lognormal; arrivals are Poisson at the stated peak, with a burstier
// variant beside it: gamma gaps of a CV that is assumed too.
func FromBrief(b *Brief, o BriefOptions) (*spec.Spec, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	sp := &spec.Spec{Kind: spec.Kind, Version: spec.Version, Revision: 1, Status: spec.Draft, Tool: o.Tool,
		Privacy: spec.Privacy{Profile: "none", Calendar: trace.CalendarNone},
		Synth:   spec.Synth{Tokenizer: o.Tokenizer, WordListSHA256: o.WordList},
		DataRequests: []spec.DataRequest{
			{Ask: askInput, Replaces: []string{"workload.lengths.input"}},
			{Ask: askOutput, Replaces: []string{"workload.lengths.output"}},
			{Ask: askRate, Replaces: []string{"workload.arrivals"}},
			{Ask: askPrefix, Replaces: []string{"workload.prefix"}},
			{Ask: askFeatures, Replaces: []string{"workload.features"}},
		}}
	w := &sp.Workload
	shared := b.Instructions.Value
	w.Lengths.Input = b.Input.length(shared, askInput)
	w.Lengths.Output = b.Output.length(0, askOutput)
	w.Prefix = Statement{SharedPrefix: int(shared)}.prefix()
	b.Instructions.confide(&w.Prefix)
	var err error
	if w.Arrivals, err = b.arrivals(); err != nil {
		return nil, err
	}
	w.Features = spec.Features{Schema: b.JSONSchema.share(), Stream: b.Stream.share(), Tools: b.Tools.share()}
	for _, j := range b.Jobs {
		job, err := j.job(shared, b.Rate.Zone)
		if err != nil {
			return nil, err
		}
		w.Jobs = append(w.Jobs, job)
	}
	if len(b.Jobs) > 0 {
		sp.DataRequests = append(sp.DataRequests, spec.DataRequest{Ask: askJob, Replaces: []string{"workload.jobs"}})
	}
	sp.Question.Mix = b.Mix
	sp.Question.Load = spec.Load{Value: w.Arrivals.Rate.Value, Unit: "1/s"}
	sp.Runs = b.runs(w)
	return sp, nil
}

func (b *Brief) check() error {
	if b.Mix == "" {
		return errors.New("the brief has no mix: say in a few words which traffic it is")
	}
	for _, f := range []struct {
		name string
		a    *Amount
		need bool
		max  float64
	}{
		{"rate.peak", &b.Rate.Peak, true, 1e6}, {"rate.mean", &b.Rate.Mean, false, 1e6}, {"rate.bursty_cv", &b.Rate.BurstyCV, false, 100},
		{"instructions", &b.Instructions, false, maxBriefRange}, {"input", &b.Input, true, maxBriefRange}, {"output", &b.Output, true, maxBriefRange},
		{"json_schema", &b.JSONSchema, false, 1}, {"stream", &b.Stream, false, 1}, {"tools", &b.Tools, false, 1},
	} {
		if err := f.a.check(f.need, f.max); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if b.Rate.Mean.Value > b.Rate.Peak.Value {
		return errors.New("rate.mean is above rate.peak")
	}
	if _, err := time.LoadLocation(b.Rate.Zone); err != nil || b.Rate.Zone == "Local" {
		return errors.New("rate.timezone is not a name of the time zone database such as Europe/Berlin")
	}
	for i, j := range b.Jobs {
		if j.Name == "" {
			return fmt.Errorf("jobs[%d] has no name", i)
		}
		for _, f := range []struct {
			name string
			a    *Amount
			need bool
			max  float64
		}{{"requests", &j.Requests, true, 1e9}, {"within_hours", &j.Hours, true, 24}, {"input", &j.Input, false, maxBriefRange}, {"output", &j.Output, false, maxBriefRange}} {
			if err := f.a.check(f.need, f.max); err != nil {
				return fmt.Errorf("jobs[%d].%s: %w", i, f.name, err)
			}
		}
	}
	return nil
}

func (a *Amount) check(need bool, most float64) error {
	ranged := a.From != 0 || a.To != 0
	switch {
	case a.Confidence != "" && a.Confidence != "measured" && a.Confidence != "estimated" && a.Confidence != "guessed":
		return errors.New("confidence is measured, estimated or guessed")
	case ranged && a.Value != 0:
		return errors.New("give a value or a range, not both")
	case ranged && !(a.From > 0 && a.To >= a.From && a.To <= most):
		return fmt.Errorf("a range needs 0 < from <= to <= %g", most)
	case !ranged && need && a.Value == 0:
		return errors.New("is missing: give value, or from and to")
	case !(a.Value >= 0 && a.Value <= most):
		return fmt.Errorf("value must be between 0 and %g", most)
	case !(a.Sigma >= 0 && a.Sigma <= 3):
		return errors.New("sigma must be between 0 and 3")
	}
	return nil
}

func (a Amount) stated() bool { return a.Value != 0 || a.To != 0 }

func (a Amount) confidence() string {
	if a.Confidence == "" {
		return briefDefault
	}
	return a.Confidence
}

// meanSigma are the mean and the sigma of the lognormal.
func (a Amount) meanSigma() (mean, sigma float64) {
	if a.To == 0 {
		if a.Sigma == 0 {
			return a.Value, assumedSigma
		}
		return a.Value, a.Sigma
	}
	sigma = math.Log(a.To/a.From) / (2 * normalAt95)
	return math.Exp((math.Log(a.From)+math.Log(a.To))/2 + float64(sigma*sigma)/2), sigma
}

// length is a lognormal after fixed tokens.
func (a Amount) length(fixed float64, ask string) spec.Length {
	mean, sigma := a.meanSigma()
	l := statedLength(fixed, fixed+mean, sigma, ask)
	l.Mean.Confidence, l.Quantiles.Confidence = a.confidence(), a.confidence()
	for i := range l.Families {
		if l.Families[i].Confidence = a.confidence(); a.To == 0 && a.Sigma == 0 {
			l.Families[i].Confidence = "" // the spread is ours, nobody stated it
		}
	}
	if a.To == 0 && a.Sigma == 0 {
		l.Quantiles.Confidence = ""
	}
	return l
}

func (a Amount) confide(p *spec.Prefix) {
	if p.ShareRequests != nil {
		p.ShareRequests.Confidence = a.confidence()
	}
	for i := range p.Roots {
		p.Roots[i].Confidence = a.confidence()
	}
	if p.Model != nil {
		p.Model.Confidence = a.confidence()
	}
}

func (a Amount) number(v float64, unit, ask string) spec.Number {
	n := spec.AssumedNumber(v, unit, ask)
	n.Confidence = a.confidence()
	return n
}

// share is a feature's share; absent when the brief does not speak of it.
func (a Amount) share() *spec.Number {
	if !a.stated() && a.Confidence == "" {
		return nil
	}
	n := a.number(a.Value, "1", askFeatures)
	return &n
}

func (b *Brief) arrivals() (spec.Arrivals, error) {
	r := &b.Rate
	a := spec.Arrivals{Process: spec.ProcessPoisson, Rate: r.Peak.number(r.Peak.Value, "1/s", askRate)}
	a.Notes = []string{"arrivals are Poisson at the stated peak; real ones are burstier, see the variant"}
	from := spec.Provenance{From: spec.Assumed, Ask: askRate, Confidence: r.BurstyCV.confidence()}
	cv := r.BurstyCV.Value
	if cv == 0 {
		cv = assumedCV
	}
	a.Variants = []spec.Variant{{Provenance: from, Name: "bursty", Process: spec.ProcessGamma, Rate: spec.Round(r.Peak.Value), CV: spec.Round(cv)}}
	if r.Hours == "" {
		return a, nil
	}
	hours, err := weekHours(r.Hours)
	if err != nil {
		return a, fmt.Errorf("rate.hours: %w", err)
	}
	if r.Zone == "" {
		return a, errors.New("rate.hours needs rate.timezone, for instance Europe/Berlin")
	}
	if r.Mean.Value == 0 {
		return a, errors.New("rate.hours needs rate.mean, the mean rate in those hours")
	}
	from.Confidence = r.Mean.confidence()
	a.Week = &spec.WeekProfile{Provenance: from, Zone: r.Zone, Weeks: 1, Rates: make([]spec.Num, spec.WeekHours)}
	for h, open := range hours {
		if open {
			a.Week.Rates[h] = spec.Round(r.Mean.Value)
		}
	}
	return a, nil
}

// weekHours reads "weekdays 9-18", "daily 0-24", "weekends 10-16".
func weekHours(text string) (open [spec.WeekHours]bool, err error) {
	days, clock, ok := strings.Cut(strings.ToLower(strings.TrimSpace(text)), " ")
	first, last, ok2 := strings.Cut(clock, "-")
	from, err1 := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(first), ":00"))
	to, err2 := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(last), ":00"))
	if !ok || !ok2 || err1 != nil || err2 != nil || from < 0 || to > 24 || from >= to {
		return open, errors.New(`want "weekdays 9-18", "weekends 10-16" or "daily 0-24"`)
	}
	lo, hi := 0, 7
	switch days {
	case "weekdays":
		hi = 5
	case "weekends":
		lo = 5
	case "daily":
	default:
		return open, errors.New(`want "weekdays 9-18", "weekends 10-16" or "daily 0-24"`)
	}
	for d := lo; d < hi; d++ {
		for h := from; h < to; h++ {
			open[24*d+h] = true
		}
	}
	return open, nil
}

func (j BriefJob) job(shared float64, zone string) (spec.Job, error) {
	out := spec.Job{Name: j.Name, Requests: j.Requests.number(j.Requests.Value, "requests", askJob),
		WindowS: j.Hours.number(3600*j.Hours.Value, "s", askJob)}
	if j.Start != "" {
		h, m, ok := strings.Cut(j.Start, ":")
		hour, err1 := strconv.Atoi(h)
		minute, err2 := strconv.Atoi(m)
		if !ok || err1 != nil || err2 != nil || hour < 0 || hour > 23 || minute < 0 || minute > 59 {
			return out, fmt.Errorf("job %q: start is not a time such as 22:00", j.Name)
		}
		out.StartClock, out.Zone = fmt.Sprintf("%02d:%02d", hour, minute), zone
	}
	if j.Input.stated() {
		l := j.Input.length(shared, askJob)
		out.Input = &l
	}
	if j.Output.stated() {
		l := j.Output.length(0, askJob)
		out.Output = &l
	}
	return out, nil
}

// runs is the matrix that the brief asks for: the peak as Poisson, the burstier
// variant, and each job at the rate that finishes it in its window.
func (b *Brief) runs(w *spec.Workload) []spec.Run {
	peak := spec.Load{Value: w.Arrivals.Rate.Value, Unit: "1/s"}
	out := []spec.Run{
		{Name: "peak, Poisson", Mode: "open_loop", Load: peak, LastS: 600},
		{Name: "peak, bursty", Mode: "open_loop", Load: peak, LastS: 600},
	}
	for _, j := range w.Jobs {
		rate := float64(j.Requests.Value) / float64(j.WindowS.Value)
		out = append(out, spec.Run{Name: j.Name, Mode: "open_loop", Load: spec.Load{Value: spec.Round(rate), Unit: "1/s"}, LastS: 600})
	}
	return out
}

// GammaGaps returns the shape and scale of gamma gaps with a mean of 1/rate and
// a CV: shape 1/CV², scale CV²/rate.
func GammaGaps(rate, cv float64) dist.Gamma {
	return dist.Gamma{Shape: 1 / float64(cv*cv), Scale: float64(cv*cv) / rate}
}
