package bundle

import (
	"fmt"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

// Turns that few sessions reach are pooled, and the pool says no more than k.
func TestHazards(t *testing.T) {
	hazard := func(turn int, v spec.Num, n int) spec.Hazard {
		return spec.Hazard{Provenance: measured(n), Turn: turn, Value: v}
	}
	for name, c := range map[string]struct {
		in   []spec.Hazard
		want string
	}{
		"enough":       {[]spec.Hazard{hazard(1, 0.5, 1000), hazard(2, 0.5, 500)}, "1 0.5 false, 2 0.5 false"},
		"few go on":    {[]spec.Hazard{hazard(1, 0.5, 1000), hazard(2, 0.01, 500), hazard(3, 0.5, 100)}, "1 0.5 false, 2 0.0916667 true"},
		"few are left": {[]spec.Hazard{hazard(1, 0.5, 1000), hazard(2, 0.5, 12)}, "1 0.5 false"},
	} {
		s := &spec.Sessions{Hazards: c.in}
		(&holder{k: 20}).hazards(s)
		var got []string
		for _, h := range s.Hazards {
			got = append(got, fmt.Sprintf("%d %v %v", h.Turn, float64(h.Value), h.AndLater))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// A clock hour told from the zero of the trace tells that zero: it is told from
// the full hour, and without a calendar not at all.
func TestClockHour(t *testing.T) {
	for calendar, want := range map[string]string{trace.CalendarNone: "", trace.CalendarHourOfWeek: "7200 Thu 20:00:00.000000"} {
		s := sampleSpec(sampleTrace(1, 300))
		s.Workload.Arrivals.ClockHour = &spec.PeakWindow{Provenance: measured(300), StartS: 5327.25, WidthS: 3600, Rate: 0.1, Label: "Thu 20:00"}
		s.Workload.Arrivals.Week = &spec.WeekProfile{Provenance: measured(300), Zone: "UTC"}
		held := cutLabels(s, calendar)
		a, got := &s.Workload.Arrivals, ""
		if a.ClockHour != nil {
			got = fmt.Sprint(float64(a.ClockHour.StartS), " ", a.ClockHour.Label)
		}
		if got != want || (a.Week == nil) != (calendar == trace.CalendarNone) || len(held) == 0 {
			t.Errorf("%s: %q, week %v, held %v; want %q", calendar, got, a.Week, held, want)
		}
	}
}

// Exact lengths of what prompts share are rounded up to 16, and a share that
// singles out a few requests goes.
func TestSharing(t *testing.T) {
	w := &spec.Workload{Prefix: spec.Prefix{BlockTokens: 16,
		Identical: []spec.CommonPrefix{{Provenance: measured(1000), Kind: spec.KindAll, Tokens: 2003, Share: 0.9, Exact: true},
			{Provenance: measured(1000), Kind: spec.KindModel, Alias: "model9", Tokens: 64, Share: 0.9},
			{Provenance: measured(1000), Kind: spec.KindAll, Tokens: 64, Share: 0.999}},
		Broken:  &spec.Broken{Provenance: measured(1000), Share: 0.6, Now: 14, Would: 2001, At: 14},
		Further: []spec.Broken{{Provenance: measured(1000), Share: 0.01, Now: 14, Would: 901, At: 14}, {Provenance: measured(1000), Share: 0.2, Now: 30, Would: 801, At: 30}}}}
	h := &holder{k: 20}
	if err := h.sharing(w); err != nil {
		t.Fatal(err)
	}
	p := w.Prefix
	if len(p.Identical) != 1 || p.Identical[0].Tokens != 2016 || p.Identical[0].Exact || p.Broken.Would != 2016 || p.Broken.At != 16 ||
		len(p.Further) != 1 || p.Further[0].Would != 816 || p.Further[0].At != 32 {
		t.Errorf("%+v, %+v, %+v", p.Identical, p.Broken, p.Further)
	}
	w.Prefix.SetBroken([]spec.Broken{{Provenance: measured(1000), Share: 0.999}, {Provenance: measured(1000), Share: 0.6, Behind: true},
		{Provenance: measured(1000), Share: 0.5}, {Provenance: measured(1000), Share: 0.4, Behind: true},
		{Provenance: measured(1000), Share: 0.395, Behind: true}, {Provenance: measured(1000), Share: 0.3, Behind: true}})
	err := h.sharing(w)
	if p = w.Prefix; err != nil || len(p.Further) != 1 || p.Broken.Share != 0.5 || p.Further[0].Share != 0.4 {
		t.Errorf("a further field stays without the one before it: %+v, %+v, %v", p.Broken, p.Further, err)
	}
}
