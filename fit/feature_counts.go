package fit

import (
	"cmp"
	"maps"
	"slices"

	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// featureCounts counts the uses of features; counts of parts add up. A trace has
// n = 1 both where one completion was asked for and where the log says nothing of
// n. So n is told by rows that ask for more, and by those of which the log has
// what was asked for: it says whether they had tools or a schema.
type featureCounts struct {
	n                                    int64
	stream, tools, schema, several, chat useCount
	models, adapters                     map[string]int64
	toolTokens, schemaTokens             map[int64]int64 // requests by tokens that tools, or the schema, add
}

// useCount counts the requests that use a feature among those whose log says.
type useCount struct{ yes, known int64 }

func (u *useCount) add(yes, known bool) {
	if known {
		u.known++
		u.yes += int64(is(yes))
	}
}

// number is the share; nil where no log says.
func (u useCount) number() *spec.Number {
	if u.known == 0 {
		return nil
	}
	return ptr(spec.MeasuredNumber(float64(u.yes)/float64(u.known), "1", u.known))
}

func (f *featureCounts) add(requests []trace.Request) {
	if f.models == nil {
		f.models, f.adapters = map[string]int64{}, map[string]int64{}
		f.toolTokens, f.schemaTokens = map[int64]int64{}, map[int64]int64{}
	}
	f.n += int64(len(requests))
	for i := range requests {
		r := &requests[i]
		f.stream.add(r.Stream.V, r.Stream.OK)
		f.tools.add(r.Tools.V, r.Tools.OK)
		f.schema.add(r.Schema.V, r.Schema.OK)
		f.several.add(r.N > 1, r.N > 1 || r.Tools.OK || r.Schema.OK)
		f.chat.add(r.API == trace.Chat, r.API != trace.APIUnknown)
		if r.Tools.V && r.ToolTok.OK {
			f.toolTokens[int64(r.ToolTok.V)]++
		}
		if r.Schema.V && r.SchemaT.OK {
			f.schemaTokens[int64(r.SchemaT.V)]++
		}
		if r.Model != "" {
			f.models[r.Model]++
		}
		if r.Adapter != "" {
			f.adapters[r.Adapter]++
		}
	}
}

func (f *featureCounts) features() spec.Features {
	if f.several.yes > 0 {
		f.several.known = f.n // it names n where it is asked for
	}
	return spec.Features{Stream: f.stream.number(), Tools: f.tools.number(), Schema: f.schema.number(),
		Several: f.several.number(), Chat: f.chat.number(), Models: f.shares(f.models), Adapters: f.shares(f.adapters),
		ToolTokens: tokenTable(f.toolTokens), SchemaTokens: tokenTable(f.schemaTokens)}
}

// tokenTable is a table of counts by length; nil of none.
func tokenTable(counts map[int64]int64) *spec.Table {
	v := dist.FromCounts(counts, 1)
	if v.Len() == 0 {
		return nil
	}
	t := dist.NewTable(v, dist.Grid(20))
	return &spec.Table{Provenance: spec.Provenance{From: spec.Measured, N: v.Len()}, P: spec.Nums(t.P), Values: spec.Nums(t.X)}
}

// shares lists the names in use, most used first.
func (f *featureCounts) shares(counts map[string]int64) []spec.Share {
	names := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var out []spec.Share
	for _, n := range names {
		out = append(out, spec.Share{Alias: n, Number: spec.MeasuredNumber(float64(counts[n])/float64(f.n), "1", counts[n])})
	}
	return out
}
