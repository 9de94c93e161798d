package compare

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
)

// mixed is a log of n requests, of which the first has the first name, and others
// each name by its share.
func mixed(n int, seed uint64, first string, names map[string]float64) *trace.Trace {
	rng := rand.New(rand.NewPCG(seed, 1))
	x := &trace.Trace{Header: trace.Header{BlockTokens: 16, Time: trace.Time{Calendar: trace.CalendarNone}}}
	at := int64(0)
	for i := range n {
		name, u := first, rng.Float64()
		if i > 0 {
			for _, m := range []string{"a", "b", "model1", "model2", "model-00000000aa", "model-00000000bb", "model-00000000cc"} {
				if u -= names[m]; names[m] > 0 {
					if name = m; u < 0 {
						break
					}
				}
			}
		}
		at += int64(rng.ExpFloat64() * 1e6)
		x.Requests = append(x.Requests, trace.Request{ID: int64(i), T: trace.Some(at), N: 1, Model: name,
			Input: trace.Some(int32(100 + rng.IntN(300))), Output: trace.Some(int32(10 + rng.IntN(80)))})
	}
	return x
}

// drift compares b with the spec of a, and with a itself; both say the same.
func drift(t *testing.T, a, b *trace.Trace) *Report {
	t.Helper()
	sp, err := fit.Fit(a, fit.Options{})
	check(t, err)
	r, err := Spec(sp, b, Options{Limits: Drift, Seed: 1})
	check(t, err)
	two, err := Traces(a, []*trace.Trace{b}, Options{Limits: Drift, Seed: 1})
	check(t, err)
	if x, y := missed(r, sectionFeatures), missed(two, sectionFeatures); x != y {
		t.Errorf("against the spec %q miss, against its trace %q", x, y)
	}
	return r
}

func missed(r *Report, section string) string {
	var out []string
	for _, m := range r.Misses() {
		if m.Section == section {
			out = append(out, m.Name)
		}
	}
	return strings.Join(out, "; ")
}

// TestNames holds the mix of two models to what their names tell: by first
// appearance an alias of one log says nothing of the same alias of another.
func TestNames(t *testing.T) {
	const keyA, keyB, keyC = "model-00000000aa", "model-00000000bb", "model-00000000cc"
	for _, c := range []struct {
		what          string
		a, b          *trace.Trace
		miss, unknown bool
	}{
		{"names, the same mix", mixed(1000, 1, "a", map[string]float64{"a": .8, "b": .2}), mixed(1000, 2, "b", map[string]float64{"a": .8, "b": .2}), false, false},
		{"names, swapped", mixed(1000, 1, "a", map[string]float64{"a": .8, "b": .2}), mixed(1000, 2, "b", map[string]float64{"a": .2, "b": .8}), true, false},
		{"aliases, the same mix, the other first", mixed(1000, 1, "model1", map[string]float64{"model1": .8, "model2": .2}), mixed(1000, 2, "model1", map[string]float64{"model1": .2, "model2": .8}), false, true},
		{"aliases, another mix", mixed(1000, 1, "model1", map[string]float64{"model1": .8, "model2": .2}), mixed(1000, 2, "model1", map[string]float64{"model1": .5, "model2": .5}), true, true},
		{"one key, the same mix", mixed(1000, 1, keyA, map[string]float64{keyA: .8, keyB: .2}), mixed(1000, 2, keyB, map[string]float64{keyA: .8, keyB: .2}), false, false},
		{"one key, swapped", mixed(1000, 1, keyA, map[string]float64{keyA: .8, keyB: .2}), mixed(1000, 2, keyB, map[string]float64{keyA: .2, keyB: .8}), true, false},
		{"one key, one replaced", mixed(1000, 1, keyA, map[string]float64{keyA: .8, keyB: .2}), mixed(1000, 2, keyA, map[string]float64{keyA: .8, keyC: .2}), true, false},
		{"two keys, the same mix", mixed(1000, 1, keyA, map[string]float64{keyA: 1}), mixed(1000, 2, keyB, map[string]float64{keyB: 1}), false, true},
		{"a name here, an alias there", mixed(1000, 1, "a", map[string]float64{"a": .8, "b": .2}), mixed(1000, 2, "a", map[string]float64{"a": .8, "model1": .2}), false, true},
	} {
		r := drift(t, c.a, c.b)
		if got := missed(r, sectionFeatures) != ""; got != c.miss {
			t.Errorf("%s: misses %q", c.what, missed(r, sectionFeatures))
		}
		if got := len(r.Unmatched) > 0; got != c.unknown {
			t.Errorf("%s: unmatched %v", c.what, r.Unmatched)
		}
		if told := strings.Contains(strings.Join(r.Notes, "\n"), "changed places would not be seen"); told != c.unknown {
			t.Errorf("%s: notes %q", c.what, r.Notes)
		}
		if c.unknown && strings.Contains(r.Sentence(), "mix still holds") {
			t.Errorf("%s: says that the mix holds, which it cannot know: %s", c.what, r.Sentence())
		}
	}
}

// TestRareNames compares the names that a spec pools with all that it does not
// name.
func TestRareNames(t *testing.T) {
	share := func(alias string, v float64) spec.Share {
		return spec.Share{Alias: alias, Number: spec.MeasuredNumber(v, "1", 100)}
	}
	a := []spec.Share{share("a", .7), share("b", .1), share("other", .2)}
	b := []spec.Share{share("a", .7), share("x", .12), share("y", .08), share("z", .1)}
	one := &side{names: map[string][]spec.Share{"model": a}}
	two := &side{names: map[string][]spec.Share{"model": b}}
	want := map[string][2]float64{"share of model a": {.7, .7}, "share of model b": {.1, 0}, "share of rare models": {.2, .3}}
	got := nameMetrics("model", one, two, false)
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for _, m := range got {
		if w := want[m.Name]; math.Abs(m.A.V-w[0]) > 1e-9 || math.Abs(m.B.V-w[1]) > 1e-9 {
			t.Errorf("%s: %v and %v, want %v", m.Name, m.A.V, m.B.V, w)
		}
	}
	hidden := &side{names: map[string][]spec.Share{"model": {share("model1", .1), share("model2", .6), share("model3", .15), share("model4", .15)}}}
	pooled := &side{names: map[string][]spec.Share{"model": {share("model1", .7), share("other", .3)}}}
	got = nameMetrics("model", pooled, hidden, false)
	if len(got) != 2 || got[0].B.V != .6 || math.Abs(got[1].B.V-.4) > 1e-9 || got[1].A.V != .3 {
		t.Errorf("%+v", got)
	}
}

// TestUntoldFeatures judges no feature that the second log says nothing of, and
// says of none that it is never used.
func TestUntoldFeatures(t *testing.T) {
	a := mixed(2000, 1, "a", map[string]float64{"a": 1})
	for i := range a.Requests {
		r := &a.Requests[i]
		r.Stream, r.Tools, r.Schema, r.API = trace.Some(true), trace.Some(i%2 == 0), trace.Some(false), trace.Chat
		if i%10 == 0 {
			r.N = 2
		}
	}
	b := mixed(2000, 2, "", map[string]float64{})
	r := drift(t, a, b)
	if r.Misses() != nil {
		t.Errorf("misses %q", missed(r, sectionFeatures))
	}
	if m := find(t, r, "share with n > 1"); m.Verdict != Unknown || m.B.OK {
		t.Errorf("the share of n > 1 in a log without n is %v, %s", m.B.V, m.Verdict)
	}
	if s := strings.Join(r.Notes, "\n"); strings.Contains(s, "has no request") {
		t.Errorf("what the log does not tell is taken for none: %s", s)
	}
	for i := range b.Requests {
		b.Requests[i].Stream, b.Requests[i].Tools = trace.Some(false), trace.Some(false)
	}
	r = drift(t, a, b)
	if m := find(t, r, "share with n > 1"); m.Verdict != Miss || m.Off.V != 0.1 {
		t.Errorf("n > 1 is gone from a log of requests: %v, %s", m.Off.V, m.Verdict)
	}
	if s := strings.Join(r.Notes, "\n"); !strings.Contains(s, "has no request streamed") {
		t.Errorf("nothing says that streaming is gone: %s", s)
	}
	if s := strings.Join(drift(t, a, mixed(2000, 2, "", map[string]float64{})).Notes, "\n"); !strings.Contains(s, "does not tell") || !strings.Contains(s, "with n > 1 (10 % of the reference)") || !strings.Contains(s, "of each model") {
		t.Errorf("nothing says what the second log does not tell: %s", s)
	}
	untold := fit.Features(mixed(100, 1, "", map[string]float64{}))
	if untold.Several != nil {
		t.Errorf("n of a log without n is told: %+v", untold.Several)
	}
}

// TestLimitCanFail judges nothing that no difference would miss, such as the
// shape of lengths that a brief states.
func TestLimitCanFail(t *testing.T) {
	b := &fit.Brief{Mix: "contract review", Input: fit.Amount{Value: 9000}, Output: fit.Amount{Value: 700}}
	b.Rate.Peak.Value = 8
	sp, err := fit.FromBrief(b, fit.BriefOptions{})
	check(t, err)
	far := mixed(500, 1, "", map[string]float64{})
	r, err := Spec(sp, far, Options{Limits: Drift, Seed: 1})
	check(t, err)
	for _, m := range r.Metrics {
		if (m.Verdict == Pass || m.Verdict == Miss) && m.How != LogRatio && m.allowed() >= 1 {
			t.Errorf("%s is judged by a limit of %.3g, noise %.3g", m.Name, m.Limit.V, m.Noise.V)
		}
	}
	if m := find(t, r, "input KS"); m.Verdict != Told || m.Limit.V > 0.2 || !strings.Contains(m.Why, "assumed") {
		t.Errorf("the distance from a stated table: %s, limit %.3g, %q", m.Verdict, m.Limit.V, m.Why)
	}
	if m := find(t, r, "input mean"); m.Verdict != Miss {
		t.Errorf("a mean far from the stated one: %s", m.Verdict)
	}
}

// workdays is a log of whole days from a Monday on, with requests from an hour of
// the day on for nine hours, in UTC.
func workdays(days int, from int64, seed uint64, perHour int) *trace.Trace {
	rng := rand.New(rand.NewPCG(seed, 3))
	x := &trace.Trace{Header: trace.Header{BlockTokens: 16, Time: trace.Time{ResolutionUS: 1, Calendar: trace.CalendarDate, Zero: "2026-10-05T00:00:00.000000Z"}}}
	const hour = int64(3600e6)
	for at := int64(0); at < int64(days)*24*hour; at += hour {
		n := 4
		if h := (at / hour) % 24; (h-from+24)%24 < 9 {
			n = perHour
		}
		for i := range n {
			t := at + int64(i)*hour/int64(n) + rng.Int64N(hour/int64(n))
			x.Requests = append(x.Requests, trace.Request{ID: int64(len(x.Requests)), T: trace.Some(t), N: 1,
				Input: trace.Some(int32(100 + rng.IntN(300))), Output: trace.Some(int32(10 + rng.IntN(80)))})
		}
	}
	return x
}

// TestHoursOfDay sees the load move from day to night, all else equal, and no
// more than chance between two weeks, or between a week and its Monday.
func TestHoursOfDay(t *testing.T) {
	a := workdays(7, 9, 1, 40)
	for _, c := range []struct {
		what string
		b    *trace.Trace
		want Verdict
		low  float64
	}{{"another week", workdays(7, 9, 2, 40), Pass, 0}, {"nights", workdays(7, 18, 3, 40), Miss, 0.6}, {"its Monday", workdays(1, 9, 4, 40), Pass, 0},
		{"busier hours", workdays(7, 9, 5, 66), Pass, 0}} {
		r := drift(t, a, c.b)
		m := find(t, r, hoursName)
		if m.Verdict != c.want || m.Off.V < c.low || !m.Noise.OK {
			t.Errorf("%s: %.3f apart, noise %.3f, %s", c.what, m.Off.V, m.Noise.V, m.Verdict)
		}
		if busy := find(t, r, busiestName); (busy.Verdict == Miss) != (c.what == "busier hours") {
			t.Errorf("%s: the busiest hour is %.3f off, noise %.3f: %s", c.what, busy.Off.V, busy.Noise.V, busy.Verdict)
		}
	}
	short := workdays(7, 9, 1, 40)
	short.Requests = short.Requests[:400]
	short.Header.Time = trace.Time{Calendar: trace.CalendarNone}
	if s := strings.Join(drift(t, a, short).Notes, "\n"); !strings.Contains(s, "other hours of the day is not told") {
		t.Errorf("nothing says that hours are not compared: %s", s)
	}
}

// TestHoursOfWinter compares weeks on both sides of a change of the clocks by the
// clock of Berlin, where nothing has moved, and in UTC, where all has by an hour.
func TestHoursOfWinter(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	check(t, err)
	summer, winter := workdays(7, 7, 1, 40), workdays(7, 8, 2, 40)
	winter.Header.Time.Zero = "2026-11-02T00:00:00.000000Z"
	sp, err := fit.Fit(summer, fit.Options{Zone: berlin})
	check(t, err)
	if sp.Workload.Arrivals.Week.Zone != "Europe/Berlin" {
		t.Fatalf("the zone is %q", sp.Workload.Arrivals.Week.Zone)
	}
	r, err := Spec(sp, winter, Options{Limits: Drift, Seed: 1})
	check(t, err)
	if m := find(t, r, hoursName); m.Verdict != Pass || m.Off.V > 0.05 {
		t.Errorf("by its own clock: %.3f apart, %s", m.Off.V, m.Verdict)
	}
	for _, zone := range []*time.Location{nil, berlin} {
		r, err = Traces(summer, []*trace.Trace{winter}, Options{Limits: Drift, Seed: 1, Zone: zone})
		check(t, err)
		if m := find(t, r, hoursName); (m.Off.V > 0.08) != (zone == nil) {
			t.Errorf("in %v: %.3f apart", zone, m.Off.V)
		}
	}
}

// TestSessionNoise gives every judged row of sessions the noise of their number.
func TestSessionNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	x := &trace.Trace{Header: trace.Header{BlockTokens: 16, Time: trace.Time{Calendar: trace.CalendarNone}}}
	type turn struct {
		at      int64
		session int32
	}
	var all []turn
	for s := range int32(600) {
		at := rng.Int64N(int64(7200e6))
		for {
			all = append(all, turn{at, s})
			if rng.Float64() < 0.4 {
				break
			}
			at += int64(30e6 * rng.ExpFloat64())
		}
	}
	for i := range all {
		for k := i; k > 0 && all[k].at < all[k-1].at; k-- {
			all[k], all[k-1] = all[k-1], all[k]
		}
	}
	for i, u := range all {
		x.Requests = append(x.Requests, trace.Request{ID: int64(i), T: trace.Some(u.at), Session: trace.Some(u.session), N: 1,
			Input: trace.Some(int32(100 + rng.IntN(300))), Output: trace.Some(int32(10 + rng.IntN(80)))})
	}
	r, err := Traces(x, []*trace.Trace{x}, Options{Limits: Fidelity, Seed: 1})
	check(t, err)
	n := 0
	for _, m := range r.Metrics {
		if m.Section != sectionSessions {
			continue
		}
		n++
		if !m.Noise.OK || m.Noise.V <= 0 {
			t.Errorf("%s has no noise floor", m.Name)
		}
	}
	if n < 3 {
		t.Errorf("%d rows of sessions", n)
	}
	// A hazard of 0.6 among n sessions has a standard deviation of sqrt(.24/n);
	// the 95th percentile of its absolute value is 1.96 of them.
	m := find(t, r, hazardName(1))
	if want := 1.96 * math.Sqrt(0.24/600); m.Noise.V < want/2 || m.Noise.V > 2*want {
		t.Errorf("noise of the first hazard is %.4f, want about %.4f", m.Noise.V, want)
	}
}

// TestHoursOfOneDay holds the log of a night to the spec of a day, each from
// midnight to midnight: the shift is seen of the spec as of the trace.
func TestHoursOfOneDay(t *testing.T) {
	day := workdays(1, 9, 1, 40)
	sp, err := fit.Fit(day, fit.Options{})
	check(t, err)
	for from, want := range map[int64]Verdict{9: Pass, 18: Miss} {
		r, err := Spec(sp, workdays(1, from, 2, 40), Options{Limits: Drift, Seed: 1})
		check(t, err)
		if m := find(t, r, hoursName); m.Verdict != want {
			t.Errorf("busy from %d on: %.3f apart, limit %.3f, %s", from, m.Off.V, m.Limit.V, m.Verdict)
		}
	}
}
