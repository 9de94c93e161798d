package main

import "reprise/trace"

// feedOf is a trace of n requests, ten a second.
func feedOf(n int) *feed {
	t := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	for i := range int64(n) {
		t.Requests = append(t.Requests, trace.Request{ID: i, N: 1, T: trace.Some(i * 100_000), Input: trace.Some[int32](10), Output: trace.Some[int32](2)})
	}
	return &feed{name: "a trace", trace: t}
}
