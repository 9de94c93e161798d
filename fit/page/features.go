package page

import (
	"fmt"

	"reprise/trace/spec"
)

func featureSection(s *spec.Spec) (section, error) {
	f := &s.Workload.Features
	out := section{Title: "Features"}
	b := block{Title: "What requests ask for"}
	line := func(name string, n *spec.Number, t *spec.Table) {
		if n == nil {
			return
		}
		more := ""
		if t != nil {
			more = fmt.Sprintf("; takes %s tokens (median), %s (p90)", Tokens(Quantile(t, 0.5)), Tokens(Quantile(t, 0.9)))
		}
		b.add([]cell{{Text: name}, {Text: percent(float64(n.Value)), Number: true}, bar(float64(n.Value)), {Text: of(*n) + more}})
	}
	line("streamed", f.Stream, nil)
	line("with tools", f.Tools, f.ToolTokens)
	line("with a JSON schema", f.Schema, f.SchemaTokens)
	line("several completions", f.Several, nil)
	line("chat endpoint", f.Chat, nil)
	for i := range f.Models {
		line("model "+f.Models[i].Alias, &f.Models[i].Number, nil)
	}
	for i := range f.Adapters {
		line("adapter "+f.Adapters[i].Alias, &f.Adapters[i].Number, nil)
	}
	if b.Table != nil {
		b.Table.Head = append(words("share of requests"), append(numbers(""), words("", "source")...)...)
	}
	out.keep(b)
	return out, nil
}
