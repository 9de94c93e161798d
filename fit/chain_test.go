package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

// services is a log of models that have a beginning of their own, 5 whole blocks,
// in front of every prompt; some prompts end just behind it. A first prompt is
// continued with a chance of more, again and again. The parents are returned.
func services(models, n int, more float64) (*trace.Trace, []int32) {
	const size, common = 16, 5
	rng := rand.New(rand.NewPCG(3, 77))
	x := &trace.Trace{Header: trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: size, Tail: trace.TailFresh,
		Time: trace.Time{Calendar: trace.CalendarNone}}}
	var parent []int32
	next := int32(0)
	fresh := func(blocks []int32, k int) []int32 {
		blocks = slices.Clone(blocks)
		for range k {
			blocks, next = append(blocks, next), next+1
		}
		return blocks
	}
	beginnings := make([][]int32, models)
	open := []int32{}
	for i := range n {
		m, p := rng.IntN(models), int32(-1)
		var whole []int32
		if len(open) > 0 && rng.Float64() < more {
			k := rng.IntN(len(open))
			p, open = open[k], slices.Delete(open, k, k+1)
			q := &x.Requests[p]
			whole = q.Blocks[:q.Input.V/size]
		} else {
			if beginnings[m] == nil {
				beginnings[m] = fresh(nil, common)
			}
			whole = beginnings[m]
		}
		// A lone question may be too short for a whole block; a turn of a
		// conversation here never is.
		k := rng.IntN(4)
		if more > 0 {
			k++
		}
		rest := 1 + rng.IntN(size-1)
		blocks := fresh(fresh(whole, k), 1)
		x.Requests = append(x.Requests, trace.Request{ID: int64(i), N: 1, T: trace.Some(int64(i) * second), Model: fmt.Sprint("m", m), Blocks: blocks,
			Input: trace.Some(int32((len(blocks)-1)*size + rest)), Output: trace.Some(int32(1 + rng.IntN(60))), Finish: trace.FinishStop})
		parent = append(parent, p)
		open = append(open, int32(i))
	}
	return x, parent
}

// TestChainOfServices finds no turns where there are none, however many models
// share a log, and of conversations behind the same beginnings each one.
func TestChainOfServices(t *testing.T) {
	for _, models := range []int{1, 2, 3, 7} {
		x, _ := services(models, 3000, 0)
		if l := Link(x); slices.ContainsFunc(l.Parent, func(p int32) bool { return p >= 0 }) {
			t.Errorf("%d models: %d sessions of %d prompts that have nothing to do with each other", models, l.Count, len(x.Requests))
		}
		sp, err := Fit(x, Options{})
		check(t, err)
		if g := sp.Workload.Prefix.Generated; g != nil {
			t.Errorf("%d models: hits on generated tokens %+v, where nothing is sent back", models, g)
		}
		x, want := services(models, 3000, 0.5)
		if got := Link(x).Parent; !slices.Equal(got, want) {
			wrong := 0
			for i := range got {
				wrong += int(is(got[i] != want[i]))
			}
			t.Errorf("%d models: %d of %d prompts have another parent than they were made with", models, wrong, len(got))
		}
	}
}

// TestChainOfOne links a lone conversation, of whose prompts most begin as most
// do, and one that is asked again.
func TestChainOfOne(t *testing.T) {
	x := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	add := func(blocks ...int32) {
		i := len(x.Requests)
		x.Requests = append(x.Requests, trace.Request{ID: int64(i), T: trace.Some(int64(i) * second), Blocks: blocks, Input: trace.Some(int32(16 * len(blocks))), N: 1})
	}
	add(0, 1, 2)
	add(0, 1, 2, 3)
	add(0, 1, 2, 3, 4, 5)
	add(0, 1, 2, 3, 6) // asked again
	add(0, 1, 2, 3, 6, 7)
	l := Link(x)
	if want := []int32{-1, 0, 1, 1, 3}; l.By != spec.ByPrefix || !slices.Equal(l.Parent, want) {
		t.Errorf("parents %v by %q, want %v", l.Parent, l.By, want)
	}
}

// TestChainFanOut keeps a prompt that goes on in a handful of ways at once, as
// agents do, and does not keep one that goes on in dozens.
func TestChainFanOut(t *testing.T) {
	for _, c := range []struct {
		ways int
		want float64
	}{{mostWays, 1}, {40, 0}} {
		x := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
		next := int32(0)
		add := func(blocks ...int32) []int32 {
			i := len(x.Requests)
			blocks, next = append(slices.Clone(blocks), next, next+1, next+2), next+3
			x.Requests = append(x.Requests, trace.Request{ID: int64(i), T: trace.Some(int64(i) * second), Blocks: blocks, Input: trace.Some(int32(16 * len(blocks))), N: 1})
			return blocks
		}
		turns := 0
		for range 30 {
			first := add()
			for range c.ways {
				add(first...)
				turns++
			}
		}
		linked := 0
		for _, p := range Link(x).Parent {
			linked += int(is(p >= 0))
		}
		if got := float64(linked) / float64(turns); math.Abs(got-c.want) > 0 {
			t.Errorf("%d ways: %.2f of the turns have a parent, want %.0f", c.ways, got, c.want)
		}
	}
}
