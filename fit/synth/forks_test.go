package synth_test

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/fit"
	"reprise/fit/synth"
	"reprise/trace"
	"reprise/trace/spec"
)

// forked is a log of conversations in which about part of the continued requests
// are continued twice: the second time the person asks again, behind the same
// answer (40 tokens: two whole blocks and a part of the next).
func forked(part float64) *trace.Trace {
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: 16, Tail: trace.TailFresh, Time: trace.Time{ResolutionUS: 1, Calendar: trace.CalendarNone}}}
	rng := rand.New(rand.NewPCG(11, 11))
	type turn struct {
		at      int64
		session int32
		parent  int // in turns, -1 for none
		blocks  []int32
	}
	var turns []turn
	next := int32(8)
	more := func(blocks []int32, n int) []int32 {
		blocks = append([]int32(nil), blocks...)
		for range n {
			blocks, next = append(blocks, next), next+1
		}
		return blocks
	}
	for s := range int32(1200) {
		at := int64(rng.Float64() * 3600e6)
		last := -1
		blocks := []int32{0, 1, 2, 3, 4, 5, 6, 7}
		for n := 1 + rng.IntN(5); n > 0; n-- {
			if last >= 0 {
				blocks = more(blocks, 2) // the answer
			}
			turns = append(turns, turn{at, s, last, more(blocks, 1+rng.IntN(10))})
			me := len(turns) - 1
			if last >= 0 && rng.Float64() < part { // asked again, a little later
				turns = append(turns, turn{at + int64(5e6+rng.Float64()*20e6), s, last, more(blocks, 1+rng.IntN(10))})
				me = len(turns) - 1
			}
			last, blocks, at = me, turns[me].blocks, turns[me].at+int64(10e6+rng.Float64()*60e6)
		}
	}
	order := make([]int, len(turns))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(turns[a].at, turns[b].at) })
	place := make([]int64, len(turns)) // by turn: its row
	for row, i := range order {
		place[i] = int64(row)
		r := trace.Request{ID: int64(row), N: 1, T: trace.Some(turns[i].at), Session: trace.Some(turns[i].session), Output: trace.Some(int32(40)),
			Blocks: turns[i].blocks, Input: trace.Some(int32(16 * len(turns[i].blocks)))}
		if p := turns[i].parent; p >= 0 {
			r.Parent = trace.Some(place[p])
		}
		x.Requests = append(x.Requests, r)
	}
	zero := x.Requests[0].T.V
	for i := range x.Requests {
		x.Requests[i].T.V -= zero
	}
	return x
}

// TestForks draws as many forks as the log has, keeps gaps, turns and hits, and
// draws none where there are none.
func TestForks(t *testing.T) {
	for _, part := range []float64{0, 0.2} {
		src := forked(part)
		sp, err := fit.Fit(src, fit.Options{})
		check(t, err)
		a := sp.Workload.Sessions
		told := slices.ContainsFunc(a.Notes, func(n string) bool { return strings.HasPrefix(n, "conversations branch") })
		if told != (part > 0) {
			t.Errorf("part %v: notes %q", part, a.Notes)
		}
		for seed := range uint64(2) {
			x, err := synth.Trace(sp, synth.Options{Seed: seed})
			check(t, err)
			chained(t, x)
			again, err := fit.Fit(x, fit.Options{})
			check(t, err)
			b := again.Workload.Sessions
			have, want := float64(b.Branched.Value), float64(a.Branched.Value)
			t.Logf("part %v, seed %d: branched %.4f, want %.4f; turns %.3f, want %.3f; hits %.4f, want %.4f", part, seed, have, want,
				float64(b.MeanTurns.Value), float64(a.MeanTurns.Value), hitRate(again), hitRate(sp))
			if part == 0 && have != 0 || math.Abs(have-want) > 0.01 {
				t.Errorf("part %v: %.4f of the continued requests fork, want %.4f", part, have, want)
			}
			if e := float64(b.MeanTurns.Value)/float64(a.MeanTurns.Value) - 1; math.Abs(e) > 0.05 {
				t.Errorf("part %v: turns are off by %.3f", part, e)
			}
			if e := hitRate(again) - hitRate(sp); math.Abs(e) > 0.01 {
				t.Errorf("part %v: hits are off by %.4f", part, e)
			}
			if ka, kb := middle(a.Between), middle(b.Between); math.Abs(kb/ka-1) > 0.05 {
				t.Errorf("part %v: the median gap is %.2f s, want %.2f s", part, kb, ka)
			}
		}
	}
}

func hitRate(sp *spec.Spec) float64 {
	for _, h := range sp.Workload.Prefix.HitRates {
		if h.Name == "tokens" {
			return float64(h.Value)
		}
	}
	return math.NaN()
}

// middle is the middle value of a table.
func middle(t *spec.Table) float64 { return float64(t.Values[len(t.Values)*10/25]) }
