package fit

import (
	"math"
	"strings"
	"testing"

	"reprise/trace/spec"
)

// contract is the brief of a contract-review service.
func contract() *Brief {
	b := &Brief{Mix: "contract review", Instructions: Amount{Value: 3000, Confidence: "measured"},
		Input: Amount{From: 6000, To: 14000, Confidence: "estimated"}, Output: Amount{From: 400, To: 1200},
		JSONSchema: Amount{Value: 1, Confidence: "measured"},
		Jobs:       []BriefJob{{Name: "nightly", Requests: Amount{Value: 40000}, Start: "22:00", Hours: Amount{Value: 8}}}}
	b.Rate.Mean, b.Rate.Peak = Amount{Value: 3, Confidence: "estimated"}, Amount{Value: 8}
	b.Rate.Hours, b.Rate.Zone = "weekdays 9-18", "Europe/Berlin"
	return b
}

// TestBrief holds the lognormal of a range to its definition: 5 % below 6,000,
// 5 % above 14,000 and half below their geometric mean, after the instructions.
func TestBrief(t *testing.T) {
	sp, err := FromBrief(contract(), BriefOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at := func(q spec.Table, p float64) float64 {
		for i := range q.P {
			if math.Abs(float64(q.P[i])-p) < 1e-9 {
				return float64(q.Values[i])
			}
		}
		t.Fatalf("no quantile at %v", p)
		return 0
	}
	in := sp.Workload.Lengths.Input
	for p, want := range map[float64]float64{0.05: 9000, 0.95: 17000, 0.5: 3000 + math.Sqrt(6000*14000)} {
		if got := at(in.Quantiles, p); math.Abs(got-want) > 1 {
			t.Errorf("input at %v is %v, want %v", p, got, want)
		}
	}
	a := sp.Workload.Arrivals
	if a.Rate.Value != 8 || a.Process != spec.ProcessPoisson || len(a.Variants) != 1 || a.Variants[0].CV != assumedCV {
		t.Errorf("arrivals %+v", a)
	}
	open := 0
	for h, r := range a.Week.Rates {
		if r == 3 {
			open++
			if d, hour := h/24, h%24; d > 4 || hour < 9 || hour >= 18 {
				t.Errorf("hour %d of the week has traffic", h)
			}
		}
	}
	if open != 5*9 {
		t.Errorf("%d hours of the week have traffic, want 45", open)
	}
	if j := sp.Workload.Jobs[0]; j.Requests.Value != 40000 || j.WindowS.Value != 8*3600 || j.StartClock != "22:00" {
		t.Errorf("job %+v", j)
	}
	raw, err := spec.Encode(sp)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), `"from": "measured"`) {
		t.Error("a number of a brief is labelled measured")
	}
	for _, c := range []string{`"confidence": "measured"`, `"confidence": "estimated"`, `"confidence": "guessed"`} {
		if !strings.Contains(string(raw), c) {
			t.Errorf("no number has %s", c)
		}
	}
	if _, err := spec.Decode(raw); err != nil {
		t.Error(err)
	}
}

// TestBriefSpread: a spread that the brief does not state is ours, whatever its
// mean rests on; one that it states, or a range, has the brief's confidence.
func TestBriefSpread(t *testing.T) {
	b := contract()
	b.Input = Amount{Value: 2000, Confidence: "estimated"}
	b.Output = Amount{Value: 300, Sigma: 0.7, Confidence: "estimated"}
	sp, err := FromBrief(b, BriefOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in, out := sp.Workload.Lengths.Input, sp.Workload.Lengths.Output
	if f := in.Families[0]; f.Params[1].Value != assumedSigma || f.From != spec.Assumed || f.Confidence != "" || in.Quantiles.Confidence != "" || in.Mean.Confidence != "estimated" {
		t.Errorf("input %+v, mean %+v", f, in.Mean)
	}
	if f := out.Families[0]; f.Params[1].Value != 0.7 || f.Confidence != "estimated" || out.Quantiles.Confidence != "estimated" {
		t.Errorf("output %+v", f)
	}
}

// TestBadBriefs refuses what cannot be meant.
func TestBadBriefs(t *testing.T) {
	for want, edit := range map[string]func(*Brief){
		"no mix":              func(b *Brief) { b.Mix = "" },
		"rate.peak":           func(b *Brief) { b.Rate.Peak = Amount{} },
		"above rate.peak":     func(b *Brief) { b.Rate.Mean.Value = 9 },
		"not both":            func(b *Brief) { b.Input.Value = 5 },
		"0 < from <= to":      func(b *Brief) { b.Output.From = 5000 },
		"confidence is":       func(b *Brief) { b.Output.Confidence = "sure" },
		"rate.timezone":       func(b *Brief) { b.Rate.Zone = "" },
		"rate.hours":          func(b *Brief) { b.Rate.Hours = "weekdays nine to six" },
		"between 0 and 1":     func(b *Brief) { b.JSONSchema.Value = 2 },
		"start is not a time": func(b *Brief) { b.Jobs[0].Start = "midnight" },
		"time zone database":  func(b *Brief) { b.Rate.Zone = "Europe/Berlinn" },
		"between 0 and 24":    func(b *Brief) { b.Jobs[0].Hours.Value = 30 },
		"jobs[0].requests":    func(b *Brief) { b.Jobs[0].Requests = Amount{} },
	} {
		b := contract()
		edit(b)
		if _, err := FromBrief(b, BriefOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
