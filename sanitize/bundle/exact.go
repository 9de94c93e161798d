package bundle

import (
	"errors"
	"iter"
	"math"
	"regexp"

	"reprise/trace"
	"reprise/trace/spec"
)

// exact lets every request go, without client and without what names the log
// files. The spec leaves in full; only its calendar labels are cut.
func exact(in *Input, out *leaving) error {
	if in.Trace == nil {
		return errors.New("it sends the trace: give the trace, or choose aggregate")
	}
	out.held = cutLabels(out.spec, in.Calendar)
	h := in.Trace.Header
	zone, err := cutTime(h.Time, in.Calendar)
	if err != nil {
		return err
	}
	h.Time = zone
	h.Tool, h.Profile, h.Leaves, h.Sources = in.Tool, in.Profile, true, nil
	h.Counts = plainCounts(h.Counts)
	h.DerivedFrom = &trace.Derived{SHA256: in.TraceSHA256, Verb: "bundle", Args: []string{"--profile", in.Profile}}
	out.header, out.rows = h, exactRows(in.Trace)
	return nil
}

// exactRows yields the requests with sessions and blocks renumbered by first
// appearance; the source keeps its own.
func exactRows(t *trace.Trace) iter.Seq2[trace.Request, error] {
	return func(yield func(trace.Request, error) bool) {
		sessions, blocks := numbering{}, numbering{}
		for i := range t.Requests {
			r := t.Requests[i]
			r.Client = trace.Opt[int32]{}
			if r.Session.OK {
				r.Session.V = sessions.of(r.Session.V)
			}
			own := r.Blocks
			r.Blocks = make([]int32, len(own))
			for j, b := range own {
				r.Blocks[j] = blocks.of(b)
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// numbering gives numbers from 0 by first appearance.
type numbering map[int32]int32

func (n numbering) of(old int32) int32 {
	v, ok := n[old]
	if !ok {
		v = int32(len(n))
		n[old] = v
	}
	return v
}

// plainCounts keeps reasons and rules that are plain words; a rule that a
// person named in another way is counted as "other", so no free text leaves.
func plainCounts(c trace.Counts) trace.Counts {
	c.Rejected, c.Excluded = plainKeys(c.Rejected), plainKeys(c.Excluded)
	return c
}

func plainKeys(m map[string]int64) map[string]int64 {
	word := regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	out := map[string]int64{}
	for k, v := range m {
		if !word.MatchString(k) {
			k = "other"
		}
		out[k] += v
	}
	return out
}

// cutTime keeps of a trace's clock what the calendar policy allows: the
// weekday and the full hour, or the date and the full hour, or nothing.
func cutTime(t trace.Time, policy string) (trace.Time, error) {
	calendar := coarser(t.Calendar, policy)
	label, err := cutLabel(t, calendar)
	if err != nil {
		return trace.Time{}, err
	}
	return trace.Time{ResolutionUS: t.ResolutionUS, Calendar: calendar, Zero: label}, nil
}

// coarser returns the calendar that says less.
func coarser(a, b string) string {
	rank := map[string]int{trace.CalendarNone: 0, trace.CalendarHourOfWeek: 1, trace.CalendarDate: 2}
	if rank[a] < rank[b] {
		return a
	}
	return b
}

// cutLabel rewrites a label under a calendar, down to the full hour, in the
// layout that trace.Time reads.
func cutLabel(t trace.Time, calendar string) (string, error) {
	at, ok, err := t.ZeroTime()
	if err != nil || !ok {
		return "", err
	}
	return trace.ZeroLabel(calendar, fullHour(at)), nil
}

// cutLabels cuts what a spec says of the calendar, and returns what it held
// back. A label that cannot be read is dropped. Where a clock hour starts is told
// from the full hour of the zero, since from the zero itself it would tell that
// to the microsecond.
func cutLabels(s *spec.Spec, calendar string) (held []string) {
	a := &s.Workload.Arrivals
	if a.Rates != nil {
		a.Rates.Zero = specLabel(a.Rates.Zero, calendar)
	}
	if x := s.Workload.Sessions; x != nil && x.Starts != nil && x.Starts.Rates != nil {
		x.Starts.Rates.Zero = specLabel(x.Starts.Rates.Zero, calendar)
	}
	if a.PeakHour != nil {
		a.PeakHour.Label = specLabel(a.PeakHour.Label, calendar)
	}
	if p := a.ClockHour; p != nil && counted(p.From) {
		if calendar == trace.CalendarNone {
			a.ClockHour = nil
			held = append(held, arrivalsKey+".peak_clock_hour: no calendar leaves")
		} else {
			p.Label = specLabel(p.Label, calendar)
			p.StartS = spec.Round(math.Ceil(float64(p.StartS)/3600) * 3600)
			held = append(held, arrivalsKey+".peak_clock_hour.start_s: minutes")
		}
	}
	if p := a.Week; p != nil && counted(p.From) && calendar == trace.CalendarNone {
		a.Week = nil
		held = append(held, arrivalsKey+".week_profile: no calendar leaves")
	}
	return held
}
