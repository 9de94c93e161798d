package spec

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"unicode"

	"reprise/trace"
)

// Validate returns the first problem that makes a spec unusable, by the path
// of its key.
func (s *Spec) Validate() error {
	switch {
	case s.Kind != Kind:
		return fmt.Errorf("kind is %q, want %q", s.Kind, Kind)
	case s.Version != Version:
		return fmt.Errorf("version is %d, this build reads version %d", s.Version, Version)
	case s.Revision < 1:
		return fmt.Errorf("revision is %d, want 1 or more", s.Revision)
	case !slices.Contains([]string{Draft, Proposed, Withdrawn}, s.Status):
		return fmt.Errorf("status is %q, want draft, proposed or withdrawn", s.Status)
	}
	for _, check := range []func() error{s.checkSupersedes, s.Question.check, s.Workload.check, s.Privacy.check, s.checkRuns, s.checkArtifacts, s.checkApprovals} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s *Spec) checkSupersedes() error {
	if s.Supersedes == nil {
		if s.Revision > 1 {
			return fmt.Errorf("revision %d must say what it supersedes", s.Revision)
		}
		return nil
	}
	if s.Supersedes.Revision >= s.Revision {
		return fmt.Errorf("supersedes.revision %d is not below revision %d", s.Supersedes.Revision, s.Revision)
	}
	return checkSHA("supersedes.sha256", s.Supersedes.SHA256)
}

func checkSHA(key, v string) error {
	if b, err := hex.DecodeString(v); err != nil || len(b) != 32 || v != strings.ToLower(v) {
		return fmt.Errorf("%s is not 64 lower-case hex digits", key)
	}
	return nil
}

// Metrics are the latency metrics that an SLO may limit.
func Metrics() []string { return []string{"ttft", "tpot", "itl", "e2e"} }

// Places are where an SLO may be measured.
func Places() []string { return []string{"client", "server"} }

func (q Question) check() error {
	for i, s := range q.SLO {
		if err := s.check(); err != nil {
			return fmt.Errorf("question.slo[%d]: %w", i, err)
		}
	}
	if err := q.Today.check(); err != nil {
		return fmt.Errorf("question.%w", err)
	}
	if !finite(q.Load.Value) || q.Load.Value < 0 {
		return errors.New("question.load.value is not a rate")
	}
	if q.Load.Value > 0 && q.Load.Unit != "1/s" {
		return fmt.Errorf("question.load.unit is %.20q, want 1/s", q.Load.Unit)
	}
	for _, text := range append([]string{q.Sentence, q.Mix, q.DateLabel, q.Region, q.Comparison, q.ClientRunBy, q.Handoff}, q.OutOfScope...) {
		if strings.ContainsFunc(text, unicode.IsControl) {
			return errors.New("question: a text has control characters")
		}
	}
	return nil
}

// Profiles are the leakage profiles; local and none say that nothing was
// published yet.
func Profiles() []string { return []string{"none", "local", "exact", "rounded", "binned", "aggregate"} }

func (p Privacy) check() error {
	switch {
	case !slices.Contains(Profiles(), p.Profile):
		return fmt.Errorf("privacy.profile is %.20q, want one of %s", p.Profile, strings.Join(Profiles(), ", "))
	case !slices.Contains([]string{trace.CalendarNone, trace.CalendarHourOfWeek, trace.CalendarDate}, p.Calendar):
		return fmt.Errorf("privacy.calendar is %.20q, want none, hour_of_week or date", p.Calendar)
	case p.K < 0 || p.U < 0:
		return errors.New("privacy: k or u is negative")
	}
	return nil
}

func (s SLO) check() error {
	switch {
	case !slices.Contains(Metrics(), s.Metric):
		return fmt.Errorf("metric is %q, want one of %s", s.Metric, strings.Join(Metrics(), ", "))
	case !(s.Percentile > 0 && s.Percentile < 100):
		return fmt.Errorf("percentile is %v, want above 0 and below 100", s.Percentile)
	case !finite(s.ThresholdMS) || s.ThresholdMS <= 0:
		return fmt.Errorf("threshold_ms is %v, want above 0", s.ThresholdMS)
	case !slices.Contains(Places(), s.MeasuredAt):
		return fmt.Errorf("measured_at is %q, want client or server", s.MeasuredAt)
	}
	return nil
}

func finite(v Num) bool { return !math.IsNaN(float64(v)) && !math.IsInf(float64(v), 0) }

func (w *Workload) check() error {
	if err := checkProvenance(w); err != nil {
		return err
	}
	if err := w.checkShares(); err != nil {
		return fmt.Errorf("workload.%w", err)
	}
	for _, l := range []struct {
		key string
		l   *Length
	}{{"input", &w.Lengths.Input}, {"output", &w.Lengths.Output}} {
		if err := l.l.check(); err != nil {
			return fmt.Errorf("workload.lengths.%s: %w", l.key, err)
		}
	}
	if err := w.Lengths.Joint.check(); err != nil {
		return fmt.Errorf("workload.lengths.joint: %w", err)
	}
	if err := w.Arrivals.check(); err != nil {
		return fmt.Errorf("workload.arrivals: %w", err)
	}
	if err := w.Prefix.check(); err != nil {
		return fmt.Errorf("workload.prefix: %w", err)
	}
	if err := w.Sessions.check(); err != nil {
		return fmt.Errorf("workload.sessions: %w", err)
	}
	if err := w.Features.check(); err != nil {
		return fmt.Errorf("workload.features: %w", err)
	}
	for i := range w.Jobs {
		if err := w.Jobs[i].check(); err != nil {
			return fmt.Errorf("workload.jobs: %w", err)
		}
	}
	return nil
}

func (l *Length) check() error {
	return checkTable("quantiles", l.Quantiles.P, l.Quantiles.Values, maxTokens)
}

// checkTable holds quantile tables to what sampling relies on.
func checkTable(key string, p, v []Num, most Num) error {
	if len(p) == 0 || len(p) != len(v) {
		return fmt.Errorf("%s has %d probabilities and %d values", key, len(p), len(v))
	}
	for i := range p {
		switch {
		case !(p[i] >= 0 && p[i] <= 1) || i > 0 && p[i] <= p[i-1]:
			return fmt.Errorf("%s: probability %d is out of order", key, i)
		case !finite(v[i]) || v[i] < 0 || i > 0 && v[i] < v[i-1]:
			return fmt.Errorf("%s: value %d is out of order", key, i)
		case v[i] > most:
			return fmt.Errorf("%s: value %d is more than %v", key, i, most)
		}
	}
	return nil
}

// maxTokens bounds lengths, so that a hostile spec cannot ask for gigabytes.
// Distances count the blocks of many prompts.
const (
	maxTokens   = 100e6
	maxDistance = 1e12
)

func (j *Joint) check() error {
	if j == nil {
		return nil
	}
	for i, s := range j.Strata {
		if !finite(s.Upto) || i > 0 && s.Upto <= j.Strata[i-1].Upto {
			return fmt.Errorf("strata[%d].input_upto is out of order", i)
		}
		if err := checkTable(fmt.Sprintf("strata[%d]", i), s.P, s.Output, maxTokens); err != nil {
			return err
		}
	}
	if len(j.Strata) == 0 {
		return errors.New("no strata")
	}
	return nil
}

// The arrival processes.
const (
	ProcessCounts  = "counts"
	ProcessPoisson = "poisson"
	ProcessGamma   = "gamma"   // of a variant: gaps are independent and gamma
	ProcessUnknown = "unknown" // a log without times
)

func (a *Arrivals) check() error {
	switch a.Process {
	case ProcessCounts:
		if a.Rates == nil || len(a.Rates.Counts) == 0 {
			return errors.New("process counts needs rate_series")
		}
	case ProcessPoisson, ProcessUnknown:
	default:
		return fmt.Errorf("process is %q, want counts, poisson or unknown", a.Process)
	}
	if a.Rate.Value < 0 {
		return errors.New("rate is negative")
	}
	if err := a.Week.check(); err != nil {
		return err
	}
	for i := range a.Variants {
		if err := a.Variants[i].check(); err != nil {
			return err
		}
	}
	if r := a.Rates; r != nil {
		if err := r.check(); err != nil {
			return err
		}
	}
	return a.Split.check()
}

func (r *RateSeries) check() error {
	if !(r.WidthS >= minWidth && r.WidthS <= maxWidth) || !(r.LastS >= 0 && r.LastS <= r.WidthS) {
		return fmt.Errorf("rate_series: width_s is not within %v to %v, or last_s is not within it", Num(minWidth), Num(maxWidth))
	}
	for i, c := range r.Counts {
		if c < 0 || c > 1e9 {
			return fmt.Errorf("rate_series.counts[%d] is %d", i, c)
		}
	}
	return nil
}

// Bins are from a microsecond, the unit of time stamps, to a week wide.
const (
	minWidth = 1e-6
	maxWidth = 7 * 86400
)

// maxChildren bounds the children of one step, which are drawn together.
const maxChildren = 3600

func (s *Split) check() error {
	if s == nil {
		return nil
	}
	for i, st := range s.Steps {
		if !(st.ParentS > st.ChildS) || !(st.ChildS > 0) || i > 0 && st.ParentS != s.Steps[i-1].ChildS {
			return fmt.Errorf("split.steps[%d] does not follow the step before", i)
		}
		m := float64(st.ParentS) / float64(st.ChildS)
		if !(st.ChildS >= minWidth) || !(m > 1.5 && m <= maxChildren) || math.Abs(m-math.Round(m)) > 1e-3*m {
			return fmt.Errorf("split.steps[%d] does not cut its parent into 2 to %d equal children", i, maxChildren)
		}
		if !finite(st.Rho) {
			return fmt.Errorf("split.steps[%d].rho is not a number", i)
		}
	}
	return nil
}

func (p *Prefix) check() error {
	if p.BlockTokens < 1 {
		return fmt.Errorf("block_tokens is %d", p.BlockTokens)
	}
	if err := p.checkSharing(); err != nil {
		return err
	}
	if p.Model == nil {
		return nil
	}
	return p.Model.check("reuse")
}

func (m *Reuse) check(at string) error {
	if len(m.Strata) == 0 {
		return fmt.Errorf("%s: no strata", at)
	}
	if c := m.Continued; c != nil {
		if err := c.check(); err != nil {
			return fmt.Errorf("%s.continued: %w", at, err)
		}
		if c.Value < 0 || c.Value > 1 {
			return fmt.Errorf("%s.continued is %v, want a share", at, c.Value)
		}
	}
	for i, s := range m.Strata {
		key := fmt.Sprintf("%s.strata[%d]", at, i)
		if !finite(s.Upto) || i > 0 && s.Upto <= m.Strata[i-1].Upto {
			return fmt.Errorf("%s.input_upto is out of order", key)
		}
		if err := checkTable(key+".hit_blocks", m.P, s.HitBlocks, maxTokens); err != nil {
			return err
		}
		if len(s.Distance) > 0 {
			if err := checkTable(key+".distance", m.P, s.Distance, maxDistance); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *Features) check() error {
	for _, t := range []struct {
		key string
		t   *Table
	}{{"tool_tokens", f.ToolTokens}, {"schema_tokens", f.SchemaTokens}} {
		if t.t != nil {
			if err := checkTable(t.key, t.t.P, t.t.Values, maxTokens); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Spec) checkRuns() error {
	for i, r := range s.Runs {
		if !slices.Contains([]string{"closed_loop", "open_loop", "replay", "ramp"}, r.Mode) {
			return fmt.Errorf("runs[%d].mode is %q", i, r.Mode)
		}
	}
	return nil
}

func (s *Spec) checkArtifacts() error {
	seen := map[string]bool{}
	for i, a := range s.Artifacts {
		if !validName(a.Path) || seen[a.Path] {
			return fmt.Errorf("artifacts[%d].path is not a new plain relative path", i)
		}
		seen[a.Path] = true
		if a.Bytes < 0 {
			return fmt.Errorf("artifacts[%d].bytes is negative", i)
		}
		if err := checkSHA(fmt.Sprintf("artifacts[%d].sha256", i), a.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// validName keeps a spec from pointing outside its bundle, or at itself.
func validName(p string) bool {
	return p != "" && p == path.Clean(p) && !path.IsAbs(p) && p != ".." && !strings.HasPrefix(p, "../") &&
		!strings.ContainsAny(p, "\\:\x00") && p != "spec.json" && p != "README.txt" && !strings.HasPrefix(p, "signatures/")
}

// Roles are the parties that may have to sign.
func Roles() []string { return []string{"customer", "vendor"} }

func (s *Spec) checkApprovals() error {
	seen := map[string]bool{}
	for i, a := range s.Approvals {
		if !slices.Contains(Roles(), a.Role) || seen[a.Role] {
			return fmt.Errorf("approvals_required[%d].role is %q, want customer and vendor, once each", i, a.Role)
		}
		seen[a.Role] = true
		if a.Principal == "" || strings.ContainsAny(a.Principal, " \t\r\n\"*?!,#") {
			return fmt.Errorf("approvals_required[%d].principal is empty or has a space, comma, quote or wildcard", i)
		}
	}
	return nil
}
