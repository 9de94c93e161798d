package fit

import (
	"cmp"
	"maps"
	"slices"

	"reprise/trace"
	"reprise/trace/spec"
)

// Features measures the shares of requests that use each feature, of those whose
// log says.
func Features(t *trace.Trace) spec.Features {
	f := spec.Features{
		Stream: share(t, func(r *trace.Request) (bool, bool) { return r.Stream.V, r.Stream.OK }),
		Tools:  share(t, func(r *trace.Request) (bool, bool) { return r.Tools.V, r.Tools.OK }),
		Schema: share(t, func(r *trace.Request) (bool, bool) { return r.Schema.V, r.Schema.OK }),
		Chat:   share(t, func(r *trace.Request) (bool, bool) { return r.API == trace.Chat, r.API != trace.APIUnknown }),
	}
	f.Several = share(t, func(r *trace.Request) (bool, bool) { return r.N > 1, true })
	f.Models = aliases(t, func(r *trace.Request) string { return r.Model })
	f.Adapters = aliases(t, func(r *trace.Request) string { return r.Adapter })
	return f
}

// share is the share of the requests that use a feature among those whose log
// says; absent when none says.
func share(t *trace.Trace, uses func(*trace.Request) (yes, known bool)) *spec.Number {
	var n, all int64
	for i := range t.Requests {
		yes, known := uses(&t.Requests[i])
		if !known {
			continue
		}
		all++
		if yes {
			n++
		}
	}
	if all == 0 {
		return nil
	}
	v := spec.MeasuredNumber(float64(n)/float64(all), "1", all)
	return &v
}

// aliases lists the names in use, most used first.
func aliases(t *trace.Trace, name func(*trace.Request) string) []spec.Share {
	counts := map[string]int64{}
	for i := range t.Requests {
		if n := name(&t.Requests[i]); n != "" {
			counts[n]++
		}
	}
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var out []spec.Share
	for _, n := range names {
		out = append(out, spec.Share{Alias: n, Number: spec.MeasuredNumber(float64(counts[n])/float64(len(t.Requests)), "1", counts[n])})
	}
	return out
}
