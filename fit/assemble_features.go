package fit

import (
	"fmt"

	"reprise/trace"
	"reprise/trace/spec"
)

// Features measures the shares of requests that use each feature, of those whose
// log says.
func Features(t *trace.Trace) spec.Features {
	var f featureCounts
	f.add(t.Requests)
	return f.features()
}

// Lacking lists the features that are in use and of which a trace has no
// request: what a run of it cannot show. A short window and a rare feature make
// it likely.
func Lacking(f *spec.Features, t *trace.Trace) []string {
	have := Features(t)
	var out []string
	for _, x := range []struct {
		name      string
		want, got *spec.Number
	}{{"streaming", f.Stream, have.Stream}, {"tools", f.Tools, have.Tools}, {"a JSON schema", f.Schema, have.Schema},
		{"n above 1", f.Several, have.Several}, {"chat", f.Chat, have.Chat}} {
		if x.want == nil || x.want.Value <= 0 {
			continue
		}
		if x.got == nil || x.got.Value == 0 {
			out = append(out, fmt.Sprintf("%s (%.3g %% of the workload)", x.name, 100*float64(x.want.Value)))
		}
	}
	for _, x := range []struct {
		kind      string
		want, got []spec.Share
	}{{"model", f.Models, have.Models}, {"adapter", f.Adapters, have.Adapters}} {
		got := map[string]bool{}
		for _, s := range x.got {
			got[s.Alias] = true
		}
		for _, s := range x.want {
			if s.Value > 0 && !got[s.Alias] {
				out = append(out, fmt.Sprintf("%s %s (%.3g %% of the workload)", x.kind, s.Alias, 100*float64(s.Value)))
			}
		}
	}
	return out
}
