package page

import (
	"fmt"
	"strings"

	"reprise/trace/spec"
)

// statedSection lists the numbers that nobody measured, with how sure who stated
// them is and what would replace them.
func statedSection(s *spec.Spec) (section, error) {
	w := &s.Workload
	out := section{Title: "Stated, not measured"}
	b := block{Title: "What was stated, and how sure it is"}
	counts := map[string]int{}
	add := func(name, value string, from spec.From, confidence, ask string) {
		if from != spec.Assumed || value == "" {
			return
		}
		if confidence == "" {
			confidence = "not said"
		}
		counts[confidence]++
		b.add([]cell{{Text: name}, {Text: value, Number: true}, {Text: confidence}, {Text: ask}})
	}
	number := func(name, value string, n *spec.Number) {
		if n != nil {
			add(name, value, n.From, n.Confidence, n.Ask)
		}
	}
	share := func(name string, n *spec.Number) {
		if n != nil {
			number(name, percent(float64(n.Value)), n)
		}
	}
	number("prompt, mean", Tokens(float64(w.Lengths.Input.Mean.Value))+" tokens", &w.Lengths.Input.Mean)
	number("answer, mean", Tokens(float64(w.Lengths.Output.Mean.Value))+" tokens", &w.Lengths.Output.Mean)
	for _, x := range []struct {
		name string
		l    *spec.Length
	}{{"prompt", &w.Lengths.Input}, {"answer", &w.Lengths.Output}} {
		for _, f := range x.l.Families {
			for _, p := range f.Params {
				if p.Name != "sigma" {
					continue
				}
				name := x.name + ", spread (sigma of log tokens)"
				if f.Confidence != x.l.Mean.Confidence {
					name = x.name + ", spread (sigma of log tokens; nobody stated one)"
				}
				add(name, Short(float64(p.Value)), f.From, f.Confidence, f.Ask)
			}
		}
	}
	if a := &w.Arrivals; a.Process != spec.ProcessUnknown {
		number("rate", Short(float64(a.Rate.Value))+" /s", &a.Rate)
		for _, v := range a.Variants {
			add("variant "+v.Name, fmt.Sprintf("CV %.3g", float64(v.CV)), v.From, v.Confidence, v.Ask)
		}
		if p := a.Week; p != nil {
			top := 0.0
			for _, r := range p.Rates {
				top = max(top, float64(r))
			}
			add("hours of the week", "up to "+Short(top)+" /s", p.From, p.Confidence, p.Ask)
		}
	}
	for _, r := range w.Prefix.Roots {
		add("shared beginning", Tokens(float64(r.Tokens))+" tokens", r.From, r.Confidence, r.Ask)
	}
	share("requests with a shared beginning", w.Prefix.ShareRequests)
	f := &w.Features
	for _, x := range []struct {
		name string
		n    *spec.Number
	}{{"streamed", f.Stream}, {"with tools", f.Tools}, {"with a JSON schema", f.Schema}, {"several completions", f.Several}} {
		share(x.name, x.n)
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		number("job "+j.Name, Tokens(float64(j.Requests.Value))+" requests", &j.Requests)
		number("job "+j.Name+", time for it", Seconds(float64(j.WindowS.Value)), &j.WindowS)
	}
	if b.Table == nil {
		return out, nil
	}
	b.Table.Head = append(words("number"), append(numbers("value"), words("how sure", "what would replace it")...)...)
	var parts []string
	for _, c := range append(spec.Confidences(), "not said") {
		if n := counts[c]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, c))
		}
	}
	b.Lead = fmt.Sprintf("%s of this spec rest on no log: %s, by who stated them.", plural(len(b.Table.Rows), "number"), strings.Join(parts, ", "))
	out.keep(b)
	return out, nil
}

// agreedSection is what both sides sign beside the workload.
func agreedSection(s *spec.Spec) (section, error) {
	q := &s.Question
	out := section{Title: "Agreement"}
	b := block{Title: "What is asked, and by whom"}
	say := func(name, text string) {
		if text != "" {
			b.add(words(name, text))
		}
	}
	if q.Load.Value > 0 {
		say("offered load", q.Load.String())
	}
	for _, x := range q.SLO {
		say("limit", x.Sentence())
	}
	if q.Today != nil {
		say("today", q.Today.Sentence())
	}
	say("region", q.Region)
	say("compared with", q.Comparison)
	say("out of scope", strings.Join(q.OutOfScope, "; "))
	say("client run by", q.ClientRunBy)
	for _, a := range s.Approvals {
		say("must sign", a.Role+": "+a.Principal)
	}
	out.keep(b)
	if len(s.Runs) == 0 {
		return out, nil
	}
	r := block{Title: "Which runs", Table: &table{Head: append(words("run", "kind"), numbers("load", "for")...)}}
	for _, x := range s.Runs {
		r.add(append(words(x.Name, strings.ReplaceAll(x.Mode, "_", " ")), numbers(x.Load.String(), Seconds(float64(x.LastS)))...))
	}
	out.keep(r)
	return out, nil
}
