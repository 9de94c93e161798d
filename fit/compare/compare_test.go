package compare

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace"
)

// azure reads a public log, or skips the test.
func azure(t testing.TB, name string) *trace.Trace {
	t.Helper()
	path := filepath.Join("..", "..", "..", "shared", "data", "azure", "AzureLLMInferenceTrace_"+name+".csv")
	f, err := os.Open(path)
	if err != nil {
		t.Skipf("SKIPPED: %s is not here, so comparisons are not checked against it", path)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	check(t, err)
	out := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Time: trace.Time{Calendar: trace.CalendarNone}, Profile: "local"}}
	var zero int64
	for i, row := range rows[1:] {
		at, err := time.Parse("2006-01-02 15:04:05.9999999", row[0])
		check(t, err)
		in, err := strconv.Atoi(row[1])
		check(t, err)
		gen, err := strconv.Atoi(row[2])
		check(t, err)
		if i == 0 {
			zero = at.UnixMicro()
		}
		out.Requests = append(out.Requests, trace.Request{ID: int64(i), T: trace.Some(at.UnixMicro() - zero),
			Input: trace.Some(int32(in)), Output: trace.Some(int32(gen)), N: 1})
	}
	n := int64(len(out.Requests))
	out.Header.Counts = trace.Counts{Read: n, Kept: n}
	return out
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func find(t testing.TB, r *Report, name string) Metric {
	t.Helper()
	for _, m := range r.Metrics {
		if strings.HasPrefix(m.Name, name) {
			return m
		}
	}
	t.Fatalf("no metric %q", name)
	return Metric{}
}

// TestQueueProbe holds the waits of the source and of a Poisson process to the
// values of the reference, statistics/reference.json fidelity_arrivals: its own
// service draws, so within their standard deviations.
func TestQueueProbe(t *testing.T) {
	for _, c := range []struct {
		name           string
		servers        int
		mean, meanSD   float64
		p99, p99SD     float64
		poisson, maxim float64 // p99 of the Poisson process and what it must stay below
	}{
		{"conv", 33, 3.19296, 0.906761, 22.3858, 4.27907, 0.853583, 2},
		{"code", 4, 36.1407, 1.73621, 130.3, 8.23353, 3.0, 5},
	} {
		ref, err := fromTrace(azure(t, c.name))
		check(t, err)
		if got := servers(ref); got != c.servers {
			t.Errorf("%s: %d servers, the reference has %d", c.name, got, c.servers)
		}
		w := probe(ref.times, ref, c.servers)
		// The mean of 20 draws against the mean of 20 others: four standard errors.
		if d := math.Abs(w.mean - c.mean); d > 4*c.meanSD*math.Sqrt(2.0/20) {
			t.Errorf("%s: mean wait %.3f s, the reference has %.3f", c.name, w.mean, c.mean)
		}
		if d := math.Abs(w.p99 - c.p99); d > 4*c.p99SD*math.Sqrt(2.0/20) {
			t.Errorf("%s: p99 wait %.2f s, the reference has %.2f", c.name, w.p99, c.p99)
		}
		base, err := fromTrace(poisson(azure(t, c.name), 1))
		check(t, err)
		if p := probe(base.times, ref, c.servers); p.p99 > c.maxim || p.p99 < c.poisson/3 {
			t.Errorf("%s: p99 wait of a Poisson process is %.2f s, the reference has %.2f", c.name, p.p99, c.poisson)
		}
	}
}

// TestQueue sends three requests through known queues.
func TestQueue(t *testing.T) {
	times := []int64{0, 1_000_000, 2_000_000, 10_000_000}
	for servers, want := range map[int][]float64{1: {0, 3, 6, 2}, 2: {0, 0, 2, 0}, 3: {0, 0, 0, 0}} {
		got := make([]float64, len(times))
		queue(got, times, servers, func() float64 { return 4 })
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-12 {
				t.Errorf("%d servers: waits %v, want %v", servers, got, want)
				break
			}
		}
	}
}

// TestSame finds a trace equal to itself in every metric.
func TestSame(t *testing.T) {
	x := azure(t, "conv")
	r, err := Traces(x, []*trace.Trace{x}, Options{Limits: Fidelity, Seed: 1})
	check(t, err)
	if len(r.Misses()) > 0 || r.Judged() < 20 {
		t.Errorf("%d of %d metrics miss", len(r.Misses()), r.Judged())
	}
	for _, m := range r.Metrics {
		if m.Off.OK && m.Off.V != 0 {
			t.Errorf("%s is %v apart from itself", m.Name, m.Off.V)
		}
	}
}

// TestPower holds the baseline to the published distances: total variation .45
// on the rank grid, IDC at 60 s of 16.4 against 1, and waits 20 times too short.
func TestPower(t *testing.T) {
	x := azure(t, "conv")
	r, err := Traces(x, []*trace.Trace{poisson(x, 5)}, Options{Limits: Fidelity, Seed: 1})
	check(t, err)
	for _, name := range []string{jointName, idcName(60), peakName(60), "mean wait", "p99 wait"} {
		if m := find(t, r, name); m.Verdict != Miss {
			t.Errorf("a Poisson process of independent lengths passes %s", name)
		}
	}
	if m := find(t, r, jointName); math.Abs(m.Off.V-0.45) > 0.02 {
		t.Errorf("the dependence is %.3f apart, the published distance is 0.45", m.Off.V)
	}
	if m := find(t, r, "input KS"); m.Verdict != Pass {
		t.Errorf("the same input lengths miss: %.4f", m.Off.V)
	}
}

// TestSynthetic finds three draws of the spec faithful, and one hour's spec not
// that of another service.
func TestSynthetic(t *testing.T) {
	x := azure(t, "conv")
	sp, err := fit.Fit(x, fit.Options{})
	check(t, err)
	var draws []*trace.Trace
	for seed := range uint64(3) {
		d, err := synth.Trace(sp, synth.Options{Seed: seed})
		check(t, err)
		draws = append(draws, d)
	}
	r, err := Traces(x, draws, Options{Limits: Fidelity, Seed: 1})
	check(t, err)
	for _, m := range r.Misses() {
		t.Errorf("%s misses: %.4g apart, limit %.4g", m.Name, m.Off.V, m.Limit.V)
	}
	r, err = Spec(sp, x, Options{Limits: Drift, Seed: 1})
	check(t, err)
	if len(r.Misses()) > 0 {
		t.Errorf("a log has drifted from its own spec: %+v", r.Misses())
	}
	r, err = Spec(sp, azure(t, "code"), Options{Limits: Drift, Seed: 1})
	check(t, err)
	for _, name := range []string{"input KS", "output KS", "output mean", "rate", peakName(1)} {
		if m := find(t, r, name); m.Verdict != Miss {
			t.Errorf("another service has not drifted in %s", name)
		}
	}
}

// TestHalves sees nothing but the drift between the halves of a log: KS .082 of
// inputs is published.
func TestHalves(t *testing.T) {
	x := azure(t, "conv")
	n := len(x.Requests)
	a, b := *x, *x
	a.Requests, b.Requests = x.Requests[:n/2], x.Requests[n/2:]
	r, err := Traces(&a, []*trace.Trace{&b}, Options{Limits: Drift, Seed: 1})
	check(t, err)
	if m := find(t, r, "input KS"); math.Abs(m.Off.V-0.082) > 0.0015 {
		t.Errorf("the halves' inputs are %.4f apart, the published KS is .082", m.Off.V)
	}
}

// TestHazards counts how sessions of 1, 1, 2 and 3 turns go on; without times
// none is cut.
func TestHazards(t *testing.T) {
	s := &side{values: map[string]float64{}}
	x := &trace.Trace{}
	for i := range int32(minAtRisk) {
		for k, turns := range []int{1, 1, 2, 3} {
			for range turns {
				x.Requests = append(x.Requests, trace.Request{ID: int64(len(x.Requests)), Session: trace.Some(4*i + int32(k)), N: 1})
			}
		}
	}
	s.sessions(x)
	for k, want := range map[int]float64{1: 0.5, 2: 0.5, 3: 0} {
		if got, ok := s.values[hazardName(k)]; !ok || got != want {
			t.Errorf("turn %d continues in %v, want %v", k, got, want)
		}
	}
	if _, ok := s.values[hazardName(4)]; ok {
		t.Error("a hazard is told of a turn that no session reached")
	}
}

// TestJSON writes absent values as null.
func TestJSON(t *testing.T) {
	b, err := json.Marshal(Metric{Name: "x", Off: some(math.NaN()), A: some(2)})
	check(t, err)
	if !strings.Contains(string(b), `"off":null`) || !strings.Contains(string(b), `"a":2`) {
		t.Error(string(b))
	}
}

// TestUntimed compares logs without times by their lengths alone.
func TestUntimed(t *testing.T) {
	x := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	for i := range 1000 {
		x.Requests = append(x.Requests, trace.Request{ID: int64(i), N: 1, Input: trace.Some(int32(100 + i%37)), Output: trace.Some(int32(10 + i%11))})
	}
	r, err := Traces(x, []*trace.Trace{x}, Options{Limits: Drift})
	check(t, err)
	if len(r.Misses()) > 0 || r.Judged() < 10 {
		t.Errorf("%d judged, %d miss", r.Judged(), len(r.Misses()))
	}
	for _, m := range r.Metrics {
		if m.Section == sectionArrivals && m.Verdict != Unknown {
			t.Errorf("%s of a log without times is %s", m.Name, m.Verdict)
		}
	}
	empty := &trace.Trace{}
	if _, err := Traces(empty, []*trace.Trace{x}, Options{Limits: Drift}); err == nil {
		t.Error("an empty reference is taken")
	}
}

// TestFew judges nothing on a handful of requests.
func TestFew(t *testing.T) {
	x := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	for i := range minRequests - 1 {
		x.Requests = append(x.Requests, trace.Request{ID: int64(i), N: 1, Input: trace.Some(int32(100 + i)), Output: trace.Some(int32(10))})
	}
	r, err := Traces(x, []*trace.Trace{x}, Options{Limits: Drift})
	check(t, err)
	if r.Judged() != 0 || len(r.Misses()) != 0 || !strings.Contains(r.Sentence(), "too few") {
		t.Errorf("%d of %d requests' metrics are judged: %s", r.Judged(), len(x.Requests), r.Sentence())
	}
}
