package report

import (
	"math"
	"strings"
	"testing"

	"reprise/replay"
)

// TestAnsweredNoFasterThanOffered: few quick answers are not counted over less
// time than the plan has for them, and the words say over which.
func TestAnsweredNoFasterThanOffered(t *testing.T) {
	for _, n := range []int{2, 7, 50} {
		var rs []replay.Result
		for i := range n {
			rs = append(rs, answered(float64(i)*500, 0, 10, 10, 1)) // 2 requests/s, answered at once
		}
		r := build(t, Input{Run: testRun(slo("ttft", 50, 800)), Results: seq(rs)})
		l := r.Summaries[0].Load
		if *l.OfferedPerS != 2 || *l.DonePerS != 2 {
			t.Errorf("%d requests: %v/s offered, %v/s completed, want 2 and 2", n, *l.OfferedPerS, *l.DonePerS)
		}
		if g := r.Summaries[0].Goodput.PerS; g != nil && *g > *l.OfferedPerS {
			t.Errorf("%d requests: goodput of %v/s is more than was offered", n, *g)
		}
		if text := l.over(); !strings.HasSuffix(text, "to one gap past the last planned instant") {
			t.Errorf("%d requests: %s", n, text)
		}
	}
}

// TestNumbersSideBySideHaveTheirRegion: tables over several runs say where the
// runs were, and when they were not at one place.
func TestNumbersSideBySideHaveTheirRegion(t *testing.T) {
	var rs []replay.Result
	for i, slow := range []float64{1, 2, 8, 16} {
		rs = append(rs, paced(400, 1000/float64(i+1), slow, int32(i))...)
	}
	r := build(t, Input{Run: testRun(), Results: seq(rs)})
	html := pageOf(t, r)
	for _, want := range []string{"<small>ms, from the planned instant; eu-west-1</small>", "from the planned instant (eu-west-1)", "TTFT p95", "TTFT p99"} {
		if !strings.Contains(html, want) {
			t.Errorf("the page of a load curve lacks %q", want)
		}
	}
	if strings.Contains(html, "percentages are") {
		t.Error("the page of a load curve speaks of percentages, and has none")
	}
	var text strings.Builder
	if err := r.Text(&text); err != nil {
		t.Fatal(err)
	}
	if want := "Side by side (ms, from the planned instant; eu-west-1)"; !strings.Contains(text.String(), want) {
		t.Errorf("the text lacks %q", want)
	}
	other := testRun()
	other.Region = ""
	r = build(t, Input{Run: testRun(), Results: seq(paced(400, 100, 1, 0)), Label: "a"}, Input{Run: other, Results: seq(paced(400, 100, 1, 0)), Label: "b"})
	if got := r.sideTitle(); got != "ms; regions differ: see what ran; percentages are against the first" {
		t.Errorf("side by side: %s", got)
	}
}

// TestPrintedTablesAreWhole: on paper nothing scrolls, so tables get narrow and
// are never cut.
func TestPrintedTablesAreWhole(t *testing.T) {
	_, print, ok := strings.Cut(pageOf(t, build(t, Input{Run: testRun(), Results: seq(paced(40, 100, 1, 0))})), "@media print")
	if !ok || !strings.Contains(print, ".scroll { overflow: visible; }") {
		t.Error("the printed page cuts off what would scroll")
	}
}

// TestRatesOfPartialBins: a constant rate is drawn constant, though the measured
// phase begins and ends within a bin.
func TestRatesOfPartialBins(t *testing.T) {
	var rs []replay.Result
	for i := range 300 { // 10 requests/s from 1 s to 31 s, in bins of 2 s
		rs = append(rs, answered(1000+float64(i)*100, 0, 10, 10, 1))
	}
	s := build(t, Input{Run: testRun(), Results: seq(rs)}).Summaries[0]
	if s.BinS != 2 || s.Bins[0].TS != 0 || s.Bins[0].Offered != 10 {
		t.Fatalf("bins of %d s from %d s with %d requests: the test asks nothing", s.BinS, s.Bins[0].TS, s.Bins[0].Offered)
	}
	drawn := 0
	for _, p := range s.perSecond(s.span.planned, func(b *Bin) int64 { return b.Offered }) {
		if math.IsNaN(p.Y) {
			continue
		}
		drawn++
		if math.Abs(p.Y-10) > 1.2 {
			t.Errorf("at %v s %v requests/s are drawn, want about 10", p.X, p.Y)
		}
	}
	if drawn < 15 {
		t.Errorf("%d bins are drawn", drawn)
	}
}
