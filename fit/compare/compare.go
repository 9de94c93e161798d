package compare

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
)

// Options choose the limits and the seed of resamples.
type Options struct {
	Limits Limits
	Seed   uint64
	// SameNames says that the aliases of models and adapters are the same in all
	// workloads, as in a trace and a cut of it.
	SameNames bool
	// Zone is that of the hours of two traces, UTC where nil; a spec has its own.
	Zone *time.Location
}

// Traces compares b with the reference a; several are draws of the same, for
// instance under several seeds.
func Traces(a *trace.Trace, b []*trace.Trace, o Options) (*Report, error) {
	ref, err := fromTrace(a)
	if err != nil {
		return nil, fmt.Errorf("the reference: %w", err)
	}
	others := make([]*side, len(b))
	shared := hasBlocks(a)
	for i := range b {
		if others[i], err = measured(sameClock(a, b[i]), shared); err != nil {
			return nil, fmt.Errorf("the second: %w", err)
		}
	}
	o.SameNames = sameNames(b[0], o)
	r, err := against(ref, others, o)
	if err != nil {
		return nil, err
	}
	if err := r.floor(a, ref, o); err != nil {
		return nil, err
	}
	r.floorHours(o, ref, others[0])
	if err := r.power(a, ref, others, o); err != nil {
		return nil, err
	}
	r.lacking()
	r.judge()
	return r, nil
}

// against sets every draw against the reference.
func against(ref *side, others []*side, o Options) (*Report, error) {
	if len(others) == 0 {
		return nil, errors.New("nothing to compare with the reference")
	}
	all := make([][]Metric, len(others))
	if ref.week != nil {
		ref.week.zone = o.Zone
	}
	for i, s := range others {
		all[i] = metrics(ref, s, o.Limits, o.SameNames)
	}
	r := &Report{A: ref.Side, B: others[0].Side, Limits: o.Limits, Metrics: mean(all)}
	r.A.Draws, r.B.Draws = 1, len(others)
	r.unmatched(ref, others[0], o.SameNames)
	r.untoldHours(ref, others[0])
	return r, nil
}

// Spec compares a trace with a spec, the reference: does the agreed mix still
// hold? The noise floor is that of the trace.
func Spec(sp *spec.Spec, t *trace.Trace, o Options) (*Report, error) {
	ref, err := fromSpec(sp)
	if err != nil {
		return nil, err
	}
	other, err := fromTrace(t)
	if err != nil {
		return nil, err
	}
	r, err := against(ref, []*side{other}, o)
	if err != nil {
		return nil, err
	}
	if err := r.floor(t, other, o); err != nil {
		return nil, err
	}
	r.floorHours(o, ref, other)
	r.Notes = append(r.Notes, "the noise floor is that of the log; a spec cannot be resampled")
	r.lacking()
	r.judge()
	return r, nil
}

// Specs compares two specs, the first the reference.
func Specs(a, b *spec.Spec, o Options) (*Report, error) {
	ref, err := fromSpec(a)
	if err != nil {
		return nil, fmt.Errorf("the reference: %w", err)
	}
	other, err := fromSpec(b)
	if err != nil {
		return nil, fmt.Errorf("the second: %w", err)
	}
	r, err := against(ref, []*side{other}, o)
	if err != nil {
		return nil, err
	}
	r.Notes = append(r.Notes, "two specs have no noise floor")
	r.judge()
	return r, nil
}

// lacking says which features of the reference the second never uses, of those
// that it tells, and which it does not tell.
func (r *Report) lacking() {
	var never, untold []string
	for _, m := range r.Metrics {
		if m.Section != sectionFeatures || !m.A.OK || m.A.V == 0 || strings.Contains(m.Name, " by share") {
			continue
		}
		use := fmt.Sprintf("%s (%.3g %% of the reference)", strings.TrimPrefix(m.Name, featurePrefix), 100*m.A.V)
		switch {
		case !m.B.OK:
			for _, kind := range kinds {
				if strings.HasPrefix(m.Name, featurePrefix+"of "+kind+" ") {
					use = "of each " + kind
				}
			}
			if !slices.Contains(untold, use) {
				untold = append(untold, use)
			}
		case m.Off.OK && m.B.V == 0:
			never = append(never, use)
		}
	}
	if len(untold) > 0 {
		r.Notes = append(r.Notes, "the second does not tell the shares of requests "+strings.Join(untold, ", ")+": whether they changed is not judged")
	}
	if len(never) > 0 {
		r.Notes = append(r.Notes, "the second has no request "+strings.Join(never, ", "))
	}
}

// floor adds the noise of a trace to each metric.
func (r *Report) floor(t *trace.Trace, s *side, o Options) error {
	n, err := noise(t, s, o.Limits, o.Seed)
	if err != nil {
		return err
	}
	// A second of fewer requests than were resampled varies by more.
	fewer := math.Sqrt(max(float64(len(t.Requests))/float64(max(r.B.Requests, 1)), 1))
	for i := range r.Metrics {
		if v, ok := n[r.Metrics[i].Name]; ok {
			if r.Metrics[i].Section == sectionLengths {
				v *= fewer
			}
			r.Metrics[i].Noise = some(v)
		}
	}
	if t.Timed() && len(t.Requests) > maxNoise {
		r.Notes = append(r.Notes, fmt.Sprintf("the noise floor is that of %d requests", maxNoise))
	}
	return nil
}

// floorHours adds the noise of the hours: the larger one, since either may be
// the shorter log.
func (r *Report) floorHours(o Options, sides ...*side) {
	_, _, zone, err := both(sides[0], sides[1])
	if err != nil {
		return
	}
	noise := map[string]float64{}
	for _, s := range sides {
		if s.week.profile != nil {
			continue
		}
		for name, v := range p95(weekNoise(s, zone, rand.New(rand.NewPCG(o.Seed, 8)))) {
			noise[name] = max(noise[name], v)
		}
	}
	for i := range r.Metrics {
		if v, ok := noise[r.Metrics[i].Name]; ok {
			r.Metrics[i].Noise = some(v)
		}
	}
}

// power adds the baseline and the queue probe.
func (r *Report) power(a *trace.Trace, ref *side, others []*side, o Options) error {
	x := poisson(a, o.Seed)
	if x == nil {
		return errors.New("the reference has no request with both lengths")
	}
	base, err := fromTrace(sameClock(a, x))
	if err != nil {
		return err
	}
	of := map[string]Value{}
	for _, m := range metrics(ref, base, o.Limits, true) {
		of[m.Name] = m.Off
	}
	for i := range r.Metrics {
		r.Metrics[i].Baseline = of[r.Metrics[i].Name]
	}
	r.Metrics = append(r.Metrics, queueMetrics(ref, others, base, o)...)
	return nil
}

// noiseRoom is how far above its noise a difference still passes: of dozens of
// metrics some are always above their 95th percentile.
const noiseRoom = 1.5

// room is how many times its noise a difference may be. That of the queue is two
// standard deviations, which is all that statistics.md §6 allows.
func (m *Metric) room() float64 {
	if m.Section == sectionQueue {
		return 1
	}
	return noiseRoom
}

// minRequests is how many requests either side needs to be judged.
const minRequests = 100

// judge gives each metric its verdict.
func (r *Report) judge() {
	least := min(r.A.Requests, r.B.Requests)
	if r.A.Requests == 0 && r.A.Kind == "spec" {
		least = r.B.Requests // a stated spec rests on no requests
	}
	if least < minRequests {
		for i := range r.Metrics {
			r.Metrics[i].Verdict, r.Metrics[i].Why = Told, "told only: too few requests to judge"
		}
		r.Notes = append(r.Notes, fmt.Sprintf("%d requests are too few to judge; it takes %d on either side", least, minRequests))
		return
	}
	for i := range r.Metrics {
		m := &r.Metrics[i]
		if m.Name == jointName && m.Noise.OK && m.Limit.OK {
			m.Limit.V += m.Noise.V // a resample of the source has a distance of its own
		}
		if allowed := m.allowed(); m.Why == "" && m.Off.OK && m.How != LogRatio && m.Name != courseName && allowed >= 1 {
			m.Why = "told only: the noise is as large as the value"
		}
		switch {
		case !m.Off.OK:
			m.Verdict = Unknown
			if m.Why != "" && m.A.OK && m.B.OK {
				m.Verdict = Told
			}
		case m.Why != "" || !m.Limit.OK:
			m.Verdict = Told
		case m.Off.V <= m.allowed():
			m.Verdict = Pass
		default:
			m.Verdict = Miss
		}
	}
}

// allowed is how far a metric may be off. Where that is all of it, so that
// nothing at all would pass too, there is nothing to judge.
func (m *Metric) allowed() float64 {
	if !m.Limit.OK {
		return 0
	}
	if m.Noise.OK {
		return max(m.Limit.V, m.room()*m.Noise.V)
	}
	return m.Limit.V
}

// sameClock gives b the time stamps that the clock of a would have given it,
// where that is a second or coarser: counts depend on it.
func sameClock(a, b *trace.Trace) *trace.Trace {
	if !a.Timed() || !b.Timed() {
		return b
	}
	step := fit.DetectResolution(fit.Gaps(fit.Times(a))).StepUS
	if step < 1_000_000 || fit.DetectResolution(fit.Gaps(fit.Times(b))).StepUS >= step {
		return b
	}
	out := *b
	out.Requests = make([]trace.Request, len(b.Requests))
	for i, r := range b.Requests {
		r.T = trace.Some(r.T.V - r.T.V%step)
		out.Requests[i] = r
	}
	return &out
}
