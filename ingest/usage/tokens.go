package usage

import (
	"fmt"
	"slices"
	"strings"

	"reprise/trace"
)

// Tokens is the token counts of a row as the log gives them. Products disagree
// on what input and output include: OpenAI counts cached tokens in the input,
// Anthropic beside it; OpenAI counts reasoning in the output, Vertex beside it.
type Tokens struct {
	Input, Output, Total       trace.Opt[int64]
	Cached, Written, Reasoning trace.Opt[int64]
	CachedBeside, ReasonBeside bool   // as the mapping says of these columns
	Source                     string // provider and column, in whose votes it counts
}

// placement is where the parts of a row's counts stand, as the row itself shows.
type placement struct{ cached, reasoning verdict }

type verdict uint8

const (
	unknown verdict = iota
	inside
	beside
)

// place decides by the identity total = input + output (+ cached) (+ reasoning),
// and by the fact that a part is no larger than its whole.
func (u *Tokens) place() placement {
	var p placement
	cache, reason := u.Cached.V+u.Written.V, u.Reasoning.V
	if u.Input.OK && u.Cached.V > u.Input.V {
		p.cached = beside
	}
	if u.Output.OK && reason > u.Output.V {
		p.reasoning = beside
	}
	if !u.Input.OK || !u.Output.OK || !u.Total.OK || u.Total.V == 0 {
		return p
	}
	rest := u.Total.V - u.Input.V - u.Output.V
	fits := func(c, r verdict) bool {
		sum := int64(0)
		if c == beside {
			sum += cache
		}
		if r == beside {
			sum += reason
		}
		return sum == rest
	}
	var found []placement
	for _, c := range []verdict{inside, beside} {
		for _, r := range []verdict{inside, beside} {
			if (cache == 0 && c == beside) || (reason == 0 && r == beside) || !fits(c, r) ||
				(p.cached == beside && c == inside) || (p.reasoning == beside && r == inside) {
				continue
			}
			found = append(found, placement{c, r})
		}
	}
	if len(found) != 1 {
		return p // cache and reasoning of the same size, or a total that fits nothing
	}
	if cache > 0 {
		p.cached = found[0].cached
	}
	if reason > 0 {
		p.reasoning = found[0].reasoning
	}
	return p
}

// Votes counts what the first rows of a source show, by provider and column.
type Votes map[string]*[2]struct{ inside, beside int }

// Add counts what the counts of a row show, if anything.
func (v Votes) Add(u *Tokens) {
	p := u.place()
	n := v[u.Source]
	if n == nil {
		n = &[2]struct{ inside, beside int }{}
		v[u.Source] = n
	}
	for i, w := range []verdict{p.cached, p.reasoning} {
		switch w {
		case inside:
			n[i].inside++
		case beside:
			n[i].beside++
		}
	}
}

// say is what all votes agree on; where they do not, the mapping's word stands.
func (v Votes) say(source string, part int, otherwise bool) bool {
	n := v[source]
	switch {
	case n == nil || (n[part].inside > 0) == (n[part].beside > 0):
		return otherwise
	default:
		return n[part].beside > 0
	}
}

// Settle makes the input of everything that was read, cached or not, and the
// output of everything that was generated.
func (u *Tokens) Settle(v Votes, rest bool) (counted Notes) {
	if u.Cached.V+u.Written.V+u.Reasoning.V == 0 { // there are no parts
		u.derive(rest, &counted)
		return counted
	}
	p := u.place()
	cached, reasoning := p.cached == beside, p.reasoning == beside
	if p.cached == unknown {
		cached = v.say(u.Source, 0, u.CachedBeside)
	}
	if p.reasoning == unknown {
		reasoning = v.say(u.Source, 1, u.ReasonBeside)
	}
	if cached && u.Input.OK && u.Cached.V+u.Written.V > 0 {
		u.Input.V += u.Cached.V + u.Written.V
		counted.cached++
	}
	if reasoning && u.Output.OK && u.Reasoning.V > 0 {
		u.Output.V += u.Reasoning.V
		counted.reasoning++
	}
	u.derive(rest, &counted)
	return counted
}

// derive fills one missing count from the others, and takes what a total has
// beyond its parts as reasoning where the mapping says so.
func (u *Tokens) derive(rest bool, counted *Notes) {
	if !u.Total.OK || u.Total.V == 0 {
		return
	}
	switch {
	case u.Input.OK && !u.Output.OK && u.Total.V > u.Input.V:
		u.Output = trace.Some(u.Total.V - u.Input.V)
		counted.derived++
	case u.Output.OK && !u.Input.OK && u.Total.V > u.Output.V:
		u.Input = trace.Some(u.Total.V - u.Output.V)
		counted.derived++
	case rest && u.Input.OK && u.Output.OK && u.Total.V > u.Input.V+u.Output.V && u.Reasoning.V == 0:
		more := u.Total.V - u.Input.V - u.Output.V
		u.Output.V += more
		u.Reasoning = trace.Some(more)
		counted.rest++
	}
}

// Notes counts rows in which something was added up or inferred.
type Notes struct{ cached, reasoning, derived, rest, Zeroes int64 }

// Add takes in what was counted elsewhere.
func (n *Notes) Add(o Notes) {
	n.cached += o.cached
	n.reasoning += o.reasoning
	n.derived += o.derived
	n.rest += o.rest
	n.Zeroes += o.Zeroes
}

// Lines are what a person should know of them.
func (n Notes) Lines() []string {
	var out []string
	for _, l := range []struct {
		n    int64
		what string
	}{
		{n.cached, "rows count cached input tokens beside the input; they were added to it"},
		{n.reasoning, "rows count reasoning tokens beside the output; they were added to it"},
		{n.derived, "rows lack input or output tokens; the total less the other was taken"},
		{n.rest, "rows have a total above input and output; the rest was taken as reasoning"},
		{n.Zeroes, "rows have zeroes where usage was not recorded; they count as missing"},
	} {
		if l.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", l.n, l.what))
		}
	}
	return out
}

// Provider is the family of a provider's or model's name. Names of a row go no
// further than into the key of its votes.
func Provider(name, model string) string {
	s := strings.ToLower(name + " " + model)
	families := []string{"anthropic", "claude", "bedrock", "vertex", "gemini", "google", "azure", "openai", "gpt"}
	i := slices.IndexFunc(families, func(f string) bool { return strings.Contains(s, f) })
	if i < 0 {
		return ""
	}
	return families[i]
}
