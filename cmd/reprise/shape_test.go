package main

import (
	"math"
	"strings"
	"testing"

	"reprise/trace"
)

// feedOf is a trace of n requests, ten a second.
func feedOf(n int) *feed {
	t := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	for i := range int64(n) {
		t.Requests = append(t.Requests, trace.Request{ID: i, N: 1, T: trace.Some(i * 100_000), Input: trace.Some[int32](10), Output: trace.Some[int32](2)})
	}
	return &feed{name: "a trace", trace: t}
}

// Rates and steps beyond any use are refused by their flag, before anything is
// drawn or made.
func TestExtremesAreRefusedByTheirFlag(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		o     shapeFlags
		given string
		says  string
	}{
		{shapeFlags{rate: 1e9}, "rate", "--rate: a rate of 1e+09 requests/s is not between"},
		{shapeFlags{rate: nan}, "rate", "--rate is a number"},
		{shapeFlags{rate: math.Inf(1)}, "rate", "--rate: a rate of +Inf"},
		{shapeFlags{rate: -1}, "rate", "--rate is a number"},
		{shapeFlags{ramp: "1..1e308", length: 1e9}, "ramp", "--ramp: a rate of 1e+308"},
		{shapeFlags{ramp: "NaN..2", length: 1e9}, "ramp", "--ramp is FROM..TO"},
		{shapeFlags{ramp: "1..2", length: 1e9, steps: 1e9}, "ramp", "--steps is at most 10000"},
	} {
		c.o.sessions, c.o.given = "schedule", map[string]bool{c.given: true, "steps": c.o.steps > 0}
		if err := c.o.settle(); err == nil || !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s: %v", c.says, err)
		}
	}
}
