package bundle

import (
	"maps"
	"slices"

	"reprise/trace"
	"reprise/trace/spec"
)

// traceField is a column of the trace with its value as a comparable, nil when
// absent. The list is artifacts.md §1 in its order; a test holds it to what a
// trace file has.
type traceField struct {
	name, kind string
	value      func(*trace.Request) any
}

func opt[T comparable](o trace.Opt[T]) any {
	if !o.OK {
		return nil
	}
	return o.V
}

func name(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func traceFields() []traceField {
	type r = trace.Request
	return []traceField{
		{"id", "int64", func(q *r) any { return q.ID }},
		{"t_us", "int64", func(q *r) any { return opt(q.T) }},
		{"session", "int32", func(q *r) any { return opt(q.Session) }},
		{"turn", "int32", func(q *r) any { return opt(q.Turn) }},
		{"parent", "int64", func(q *r) any { return opt(q.Parent) }},
		{"client", "int32", func(q *r) any { return opt(q.Client) }},
		{"api", "enum", func(q *r) any { return q.API }},
		{"model", "alias", func(q *r) any { return name(q.Model) }},
		{"adapter", "alias", func(q *r) any { return name(q.Adapter) }},
		{"input_tokens", "int32", func(q *r) any { return opt(q.Input) }},
		{"output_tokens", "int32", func(q *r) any { return opt(q.Output) }},
		{"cached_tokens", "int32", func(q *r) any { return opt(q.Cached) }},
		{"reasoning_tokens", "int32", func(q *r) any { return opt(q.Reason) }},
		{"media_tokens", "int32", func(q *r) any { return opt(q.Media) }},
		{"max_tokens", "int32", func(q *r) any { return opt(q.Max) }},
		{"input_chars", "int32", func(q *r) any { return opt(q.InChars) }},
		{"output_chars", "int32", func(q *r) any { return opt(q.OutCh) }},
		{"tokens_from", "enum", func(q *r) any { return q.From }},
		{"blocks", "list of int32", nil}, // counted by block
		{"prefix_tokens", "int32", func(q *r) any { return opt(q.Prefix) }},
		{"stream", "bool", func(q *r) any { return opt(q.Stream) }},
		{"tools", "bool", func(q *r) any { return opt(q.Tools) }},
		{"json_schema", "bool", func(q *r) any { return opt(q.Schema) }},
		{"tool_tokens", "int32", func(q *r) any { return opt(q.ToolTok) }},
		{"schema_tokens", "int32", func(q *r) any { return opt(q.SchemaT) }},
		{"n", "int16", func(q *r) any { return q.N }},
		{"finish", "enum", func(q *r) any { return q.Finish }},
		{"status", "int16", func(q *r) any { return opt(q.Status) }},
		{"ttft_us", "int64", func(q *r) any { return opt(q.TTFT) }},
		{"duration_us", "int64", func(q *r) any { return opt(q.Dur) }},
	}
}

// tally counts values.
type tally struct {
	present int64
	groups  map[any]int64
}

func newTally() *tally { return &tally{groups: map[any]int64{}} }

func (t *tally) add(v any) {
	if v != nil {
		t.present++
		t.groups[v]++
	}
}

// smallest returns the size of the smallest group, 0 when there is none.
func (t *tally) smallest() int64 {
	var least int64
	for _, n := range t.groups {
		if least == 0 || n < least {
			least = n
		}
	}
	return least
}

func (t *tally) field(file, name, kind string) Field {
	return Field{File: file, Name: name, Type: kind, Present: t.present, Distinct: int64(len(t.groups)), SmallestGroup: t.smallest()}
}

// traceColumns describes the columns of a trace. Blocks are counted one by one.
func traceColumns(t *trace.Trace) []Field {
	var out []Field
	for _, c := range traceFields() {
		n := newTally()
		for i := range t.Requests {
			r := &t.Requests[i]
			if c.value != nil {
				n.add(c.value(r))
				continue
			}
			for _, b := range r.Blocks {
				n.add(b)
			}
		}
		out = append(out, n.field(TraceFile, c.name, c.kind))
	}
	return out
}

// specFields describes the key paths of a spec but the list of files, which is
// written later than the audit.
func specFields(s *spec.Spec) ([]Field, error) {
	tree, err := plain(s)
	if err != nil {
		return nil, err
	}
	delete(tree, "artifacts")
	kinds, tallies := map[string]string{}, map[string]*tally{}
	walkValues("", tree, func(key, kind string, v any) {
		kinds[key] = kind
		if tallies[key] == nil {
			tallies[key] = newTally()
		}
		tallies[key].add(v)
	})
	var out []Field
	for _, key := range slices.Sorted(maps.Keys(tallies)) {
		f := tallies[key].field(SpecFile, key, kinds[key])
		f.SmallestGroup = 0 // equal numbers of a spec are no group of people
		out = append(out, f)
	}
	return out, nil
}

// walkValues calls visit with every value below v that is not a container.
func walkValues(key string, v any, visit func(key, kind string, v any)) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			below := k
			if key != "" {
				below = key + "." + k
			}
			walkValues(below, v[k], visit)
		}
	case []any:
		for _, e := range v {
			walkValues(key+"[]", e, visit)
		}
	case string:
		visit(key, "text", v)
	case bool:
		visit(key, "bool", v)
	case nil:
	default:
		visit(key, "number", v)
	}
}
