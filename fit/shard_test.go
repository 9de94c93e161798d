package fit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"reprise/trace"
	"reprise/trace/spec"
)

// written returns the trace as a file.
func written(t testing.TB, x *trace.Trace) *trace.File {
	t.Helper()
	x.Header.Counts = trace.Counts{Read: int64(len(x.Requests)), Kept: int64(len(x.Requests))}
	var b bytes.Buffer
	check(t, trace.Write(&b, x.Header, x.All()))
	f, err := trace.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	check(t, err)
	return f
}

// traffic draws n requests of a day with two models, a client or none, sessions
// with their blocks, failures and cut answers.
func traffic(rng *rand.Rand, n int) *trace.Trace {
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh,
		Time: trace.Time{ResolutionUS: 1, Calendar: trace.CalendarDate, Zero: "2026-11-02T10:00:00.000000Z"}}}
	blocks, input := prompts(rng, n, 12)
	at := int64(0)
	for i := range n {
		if i > 0 && rng.IntN(3) > 0 { // some arrive at one time
			at += int64(rng.ExpFloat64() * 4e5)
		}
		r := trace.Request{ID: int64(i), T: trace.Some(at), Model: []string{"", "a", "a", "b"}[rng.IntN(4)], N: int16(1 + rng.IntN(2)),
			Input: trace.Some(input[i]), Output: trace.Some(rng.Int32N(400)), Blocks: blocks[i], API: trace.Chat}
		if rng.IntN(20) == 0 {
			r.Status, r.Output = trace.Some[int16](500), trace.Opt[int32]{}
		}
		if rng.IntN(9) == 0 {
			r.Finish = trace.FinishLength
		}
		if rng.IntN(2) == 0 {
			r.Stream, r.Tools = trace.Some(rng.IntN(3) > 0), trace.Some(rng.IntN(3) > 0)
		}
		if i > 0 && rng.IntN(2) == 0 {
			back := rng.IntN(min(i, 20))
			r.Parent = trace.Some(int64(i - 1 - back))
		}
		x.Requests = append(x.Requests, r)
	}
	return x
}

// section is a part of a spec as JSON.
func section(t *testing.T, sp *spec.Spec, blank func(*spec.Workload)) string {
	t.Helper()
	blank(&sp.Workload)
	data, err := spec.Encode(sp)
	check(t, err)
	return string(data)
}

// alone keeps what shards fitted apart have in full.
func alone(w *spec.Workload) {
	w.Prefix, w.Sessions = spec.Prefix{BlockTokens: w.Prefix.BlockTokens}, nil
}

// TestMergeIsWhole cuts a trace in time or deals its rows out, and holds the
// merged spec against that of the whole, byte by byte.
func TestMergeIsWhole(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for round := range 3 {
		x := traffic(rng, 400+rng.IntN(700))
		whole, err := Fit(x, Options{})
		check(t, err)
		want := section(t, whole, alone)
		for _, cut := range []func(*rand.Rand, *trace.Trace) []*trace.Trace{inTime, dealt} {
			var shards []Shard
			for i, part := range cut(rng, x) {
				shards = append(shards, Shard{Name: fmt.Sprintf("part %d", i), File: written(t, part)})
			}
			rng.Shuffle(len(shards), func(i, j int) { shards[i], shards[j] = shards[j], shards[i] })
			for _, l := range []Limits{DefaultLimits(), {Rows: 100, Blocks: 500, Sample: 200}} {
				sp, err := FitShards(shards, Options{}, l, nil)
				check(t, err)
				sp.DataRequests = whole.DataRequests // asks for what is lost between shards
				notes := strings.Join(Notes(sp), "\n")
				if len(shards) > 1 && !strings.Contains(notes, "lower bounds") {
					t.Errorf("round %d: nothing is said of sharing between %d shards: %s", round, len(shards), notes)
				}
				if got := section(t, sp, alone); got != want {
					t.Fatalf("round %d: %d shards give another spec than the whole:\n%s", round, len(shards), firstDiff(want, got))
				}
			}
		}
	}
}

func firstDiff(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return fmt.Sprintf("line %d: want %s, have %s", i, x[i], y[i])
		}
	}
	return "one is longer"
}

// inTime cuts at random times.
func inTime(rng *rand.Rand, x *trace.Trace) []*trace.Trace {
	last := x.Requests[len(x.Requests)-1].T.V + 1
	var out []*trace.Trace
	for from := int64(0); from < last; {
		to := min(from+1+rng.Int64N(last), last)
		w, err := x.Window(from, to)
		if err != nil {
			panic(err)
		}
		if len(w.Requests) > 0 {
			out = append(out, w)
		}
		from = to
	}
	return out
}

// dealt gives each arrival time to one of three shards, as gateways side by
// side would have them.
func dealt(rng *rand.Rand, x *trace.Trace) []*trace.Trace {
	out := make([]*trace.Trace, 3)
	for i := range out {
		out[i] = &trace.Trace{Header: x.Header}
	}
	k, ids, at := 0, map[int64][2]int64{}, int64(-1)
	for _, r := range x.Requests {
		if r.T.V != at {
			k, at = rng.IntN(3), r.T.V
		}
		own := int64(len(out[k].Requests))
		ids[r.ID] = [2]int64{int64(k), own}
		r.ID = own
		if p := ids[r.Parent.V]; r.Parent.OK {
			r.Parent = trace.Opt[int64]{V: p[1], OK: p[0] == int64(k)}
		}
		out[k].Requests = append(out[k].Requests, r)
	}
	for i := range out { // each from a zero of its own
		shift := out[i].Requests[0].T.V
		zero, err := x.Header.Time.Label(shift)
		if err != nil {
			panic(err)
		}
		out[i].Header.Time.Zero = zero
		for j := range out[i].Requests {
			out[i].Requests[j].T.V -= shift
		}
	}
	return out
}

// TestOneShard: a file is measured as the trace in memory is.
func TestOneShard(t *testing.T) {
	x := traffic(rand.New(rand.NewPCG(6, 6)), 3000)
	for i := range x.Requests {
		x.Requests[i].Client = trace.Some(int32(i % 7))
	}
	f := written(t, x)
	want, err := Fit(x, Options{})
	check(t, err)
	got, err := FitShards([]Shard{{Name: "x", File: f}}, Options{}, DefaultLimits(), nil)
	check(t, err)
	a, err := spec.Encode(want)
	check(t, err)
	b, err := spec.Encode(got)
	check(t, err)
	if !bytes.Equal(a, b) {
		t.Error(firstDiff(string(a), string(b)))
	}
}

// TestLongTrace holds what is measured on parts against the whole.
func TestLongTrace(t *testing.T) {
	x := traffic(rand.New(rand.NewPCG(7, 7)), 10_000)
	f := written(t, x)
	want, err := Fit(x, Options{})
	check(t, err)
	got, err := FitShards([]Shard{{Name: "x", File: f}}, Options{}, Limits{Rows: 4000, Blocks: 1 << 30, Sample: 30_000}, nil)
	check(t, err)
	w, g := &want.Workload, &got.Workload
	for i, h := range w.Prefix.HitRates {
		if g.Prefix.HitRates[i] != h {
			t.Errorf("hit rate %s is %+v, want %+v", h.Name, g.Prefix.HitRates[i], h)
		}
	}
	for i, c := range w.Prefix.Curve {
		if d := float64(g.Prefix.Curve[i].Tokens - c.Tokens); d < -0.02 || d > 0.02 {
			t.Errorf("at %v tokens %v of the sample, want %v", c.CapacityTokens, g.Prefix.Curve[i].Tokens, c.Tokens)
		}
	}
	if g.Sessions.Count != w.Sessions.Count || fmt.Sprint(g.Sessions.Starts) != fmt.Sprint(w.Sessions.Starts) && fmt.Sprint(*g.Sessions.Starts.Rates) != fmt.Sprint(*w.Sessions.Starts.Rates) {
		t.Errorf("%+v sessions, want %+v", g.Sessions.Count, w.Sessions.Count)
	}
	if d := float64(g.Sessions.MeanTurns.Value - w.Sessions.MeanTurns.Value); d > 0.4 || d < -0.4 {
		t.Errorf("mean turns %v of some, %v of all", g.Sessions.MeanTurns.Value, w.Sessions.MeanTurns.Value)
	}
	notes := strings.Join(Notes(got), "\n")
	for _, what := range []string{"sessions rest on 1 in 5 of them", "within ±", "rest on the first 2000"} {
		if !strings.Contains(notes, what) {
			t.Errorf("nothing says %q in %s", what, notes)
		}
	}
}

func TestAlignment(t *testing.T) {
	part := func(edit func(*trace.Header)) Shard {
		x := traffic(rand.New(rand.NewPCG(8, 8)), 300)
		edit(&x.Header)
		return Shard{Name: x.Header.Time.Zero, File: written(t, x)}
	}
	same := part(func(*trace.Header) {})
	for want, other := range map[string]Shard{
		"different tokenizers": part(func(h *trace.Header) { h.Tokenizer.Name = "other" }),
		"different kinds":      part(func(h *trace.Header) { h.BlockTokens = 512 }),
		"calendar":             part(func(h *trace.Header) { h.Time.Calendar, h.Time.Zero = trace.CalendarNone, "" }),
		"label of time zero":   part(func(h *trace.Header) { h.Time.Zero = "" }),
	} {
		if _, err := FitShards([]Shard{same, other}, Options{}, DefaultLimits(), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error that says %q, have %v", want, err)
		}
	}
	none := func(h *trace.Header) { h.Time.Calendar, h.Time.Zero = trace.CalendarNone, "" }
	if _, err := FitShards([]Shard{part(none), part(none)}, Options{}, DefaultLimits(), nil); err == nil || !strings.Contains(err.Error(), "ingest all logs at once") {
		t.Errorf("times that nothing relates are merged: %v", err)
	}
	week := func(zero string) Shard {
		return part(func(h *trace.Header) { h.Time.Calendar, h.Time.Zero = trace.CalendarHourOfWeek, zero })
	}
	a, err := align([]Shard{week("Sat 23:00:00.000000"), week("Sun 23:00:00.000000"), week("Tue 01:00:00.000000")}, "")
	check(t, err)
	if a.shift[1] != 24*time.Hour.Microseconds() || a.shift[2] != 50*time.Hour.Microseconds() || a.header.Time.Zero[:3] != "Sat" {
		t.Errorf("shards lie at %v from %s", a.shift, a.header.Time.Zero)
	}
}

func BenchmarkFitShards(b *testing.B) {
	f := written(b, traffic(rand.New(rand.NewPCG(9, 9)), 1_000_000))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := FitShards([]Shard{{Name: "x", File: f}}, Options{}, Limits{Rows: 200_000, Blocks: 2_000_000, Sample: 1_000_000}, nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(1e6*float64(b.N)/b.Elapsed().Seconds(), "requests/s")
}
