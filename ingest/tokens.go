package ingest

import (
	"fmt"
	"slices"
	"strings"

	"reprise/trace"
)

// usage is the token counts of a row as the log gives them. Products disagree
// on what input and output include: OpenAI counts cached tokens in the input,
// Anthropic beside it; OpenAI counts reasoning in the output, Vertex beside it.
type usage struct {
	input, output, total       trace.Opt[int64]
	cached, written, reasoning trace.Opt[int64]
	cachedBeside, reasonBeside bool   // as the mapping says of these columns
	source                     string // provider and column, in whose votes it counts
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
func (u *usage) place() placement {
	var p placement
	cache, reason := u.cached.V+u.written.V, u.reasoning.V
	if u.input.OK && u.cached.V > u.input.V {
		p.cached = beside
	}
	if u.output.OK && reason > u.output.V {
		p.reasoning = beside
	}
	if !u.input.OK || !u.output.OK || !u.total.OK || u.total.V == 0 {
		return p
	}
	rest := u.total.V - u.input.V - u.output.V
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

// votes counts what the first rows of a source show, by provider and column.
type votes map[string]*[2]struct{ inside, beside int }

func (v votes) add(source string, p placement) {
	n := v[source]
	if n == nil {
		n = &[2]struct{ inside, beside int }{}
		v[source] = n
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
func (v votes) say(source string, part int, otherwise bool) bool {
	n := v[source]
	switch {
	case n == nil || (n[part].inside > 0) == (n[part].beside > 0):
		return otherwise
	default:
		return n[part].beside > 0
	}
}

// settle makes the input of everything that was read, cached or not, and the
// output of everything that was generated.
func (u *usage) settle(v votes, rest bool) (counted usageNotes) {
	if u.cached.V+u.written.V+u.reasoning.V == 0 { // there are no parts
		u.derive(rest, &counted)
		return counted
	}
	p := u.place()
	cached, reasoning := p.cached == beside, p.reasoning == beside
	if p.cached == unknown {
		cached = v.say(u.source, 0, u.cachedBeside)
	}
	if p.reasoning == unknown {
		reasoning = v.say(u.source, 1, u.reasonBeside)
	}
	if cached && u.input.OK && u.cached.V+u.written.V > 0 {
		u.input.V += u.cached.V + u.written.V
		counted.cached++
	}
	if reasoning && u.output.OK && u.reasoning.V > 0 {
		u.output.V += u.reasoning.V
		counted.reasoning++
	}
	u.derive(rest, &counted)
	return counted
}

// derive fills one missing count from the others, and takes what a total has
// beyond its parts as reasoning where the mapping says so.
func (u *usage) derive(rest bool, counted *usageNotes) {
	if !u.total.OK || u.total.V == 0 {
		return
	}
	switch {
	case u.input.OK && !u.output.OK && u.total.V > u.input.V:
		u.output = trace.Some(u.total.V - u.input.V)
		counted.derived++
	case u.output.OK && !u.input.OK && u.total.V > u.output.V:
		u.input = trace.Some(u.total.V - u.output.V)
		counted.derived++
	case rest && u.input.OK && u.output.OK && u.total.V > u.input.V+u.output.V && u.reasoning.V == 0:
		more := u.total.V - u.input.V - u.output.V
		u.output.V += more
		u.reasoning = trace.Some(more)
		counted.rest++
	}
}

// usageNotes counts rows in which something was added up or inferred.
type usageNotes struct{ cached, reasoning, derived, rest, zeroes int64 }

func (n *usageNotes) add(o usageNotes) {
	n.cached += o.cached
	n.reasoning += o.reasoning
	n.derived += o.derived
	n.rest += o.rest
	n.zeroes += o.zeroes
}

func (n usageNotes) lines() []string {
	var out []string
	for _, l := range []struct {
		n    int64
		what string
	}{
		{n.cached, "rows count cached input tokens beside the input; they were added to it"},
		{n.reasoning, "rows count reasoning tokens beside the output; they were added to it"},
		{n.derived, "rows lack input or output tokens; the total less the other was taken"},
		{n.rest, "rows have a total above input and output; the rest was taken as reasoning"},
		{n.zeroes, "rows have zeroes where usage was not recorded; they count as missing"},
	} {
		if l.n > 0 {
			out = append(out, fmt.Sprintf("%d %s", l.n, l.what))
		}
	}
	return out
}

// provider is the family of a provider's or model's name. Names of a row go no
// further than into the key of its votes.
func provider(name, model string) string {
	s := strings.ToLower(name + " " + model)
	families := []string{"anthropic", "claude", "bedrock", "vertex", "gemini", "google", "azure", "openai", "gpt"}
	i := slices.IndexFunc(families, func(f string) bool { return strings.Contains(s, f) })
	if i < 0 {
		return ""
	}
	return families[i]
}
