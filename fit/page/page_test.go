package page

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
)

// TestLine draws known heights.
func TestLine(t *testing.T) {
	for want, in := range map[string][]float64{"▁▄█": {1, 4, 8}, "  ": {0, 0}, "█·": {2, -1}, "": nil} {
		if got := Line(in, 10); got != want {
			t.Errorf("%v is drawn as %q, want %q", in, got, want)
		}
	}
	long := make([]float64, 1440)
	for i := range long {
		long[i] = float64(i)
	}
	if got := []rune(Line(long, 60)); len(got) != 60 || got[59] != '█' || got[0] == '█' {
		t.Errorf("a day is drawn as %q", string(got))
	}
}

// TestDensity adds up to one and puts the mass where the table has it.
func TestDensity(t *testing.T) {
	table := &spec.Table{P: spec.Nums([]float64{0, 0.5, 1}), Values: spec.Nums([]float64{10, 100, 1000})}
	mass, lo, hi := Density(table, 20)
	sum, low := 0.0, 0.0
	for i, m := range mass {
		sum += m
		if i < 10 {
			low += m
		}
	}
	if lo != 10 || hi != 1000 || math.Abs(sum-1) > 1e-9 || math.Abs(low-0.5) > 1e-9 {
		t.Errorf("from %v to %v, %v in all, %v below 100", lo, hi, sum, low)
	}
	one := &spec.Table{P: spec.Nums([]float64{0, 1}), Values: spec.Nums([]float64{7, 7})}
	if mass, _, _ := Density(one, 20); len(mass) > 1 && math.Abs(mass[0]-1) > 1e-9 {
		t.Errorf("a constant is spread out: %v", mass)
	}
}

// TestHTML writes a page without script and with what the spec says, escaped.
func TestHTML(t *testing.T) {
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Time: trace.Time{Calendar: trace.CalendarNone}}}
	for i := range 2000 {
		x.Requests = append(x.Requests, trace.Request{ID: int64(i), N: 1, T: trace.Some(int64(i * 731_000)), Input: trace.Some(int32(100 + i%900)), Output: trace.Some(int32(10 + i%77)), Model: "model-1"})
	}
	sp, err := fit.Fit(x, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sp.Question.Mix = "support <script>alert(1)</script> chat"
	var b bytes.Buffer
	if err := HTML(&b, sp); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	for _, want := range []string{"<svg", "Lengths", "Arrivals", "Features", "model model-1", "cannot be signed yet", "&lt;script&gt;"} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(got, "<script") || strings.Contains(got, "NaN") {
		t.Error("the page has a script, or a number that is none")
	}
	again := bytes.Buffer{}
	if err := HTML(&again, sp); err != nil || again.String() != got {
		t.Error("the same spec gives another page")
	}
}
