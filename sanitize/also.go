package sanitize

import (
	"math"

	"reprise/ingest"
	"reprise/trace"
)

// twoCounts are the tokens of one text by the trace's tokenizer and by the
// second; absent where there is no second one, or no text.
type twoCounts struct {
	input, inputAlso, output, outputAlso trace.Opt[int32]
}

// Also counts every text by a second tokenizer too, with a template of its own,
// which may be nil: what the same requests cost another model.
func (c *Counting) Also(second *Counting) { c.also = second }

// countInput counts a prompt by the second tokenizer.
func (c *cleaner) countInput(r *ingest.Record, it *item, tokens int) {
	second := c.second()
	if second == nil || len(r.PromptTokens) > 0 {
		return
	}
	p := render(second, r, c.other)
	c.other = p.tokens
	it.two.input, it.two.inputAlso = trace.Some(int32(tokens)), trace.Some(int32(len(p.tokens)))
}

// countOutput counts an answer by both.
func (c *cleaner) countOutput(r *ingest.Record, it *item) {
	second := c.second()
	if second == nil || !r.HasOutput {
		return
	}
	c.other = c.tok.Encode(c.other[:0], r.Output)
	it.two.output = trace.Some(int32(len(c.other)))
	c.other = second.Encode(c.other[:0], r.Output)
	it.two.outputAlso = trace.Some(int32(len(c.other)))
}

func (c *cleaner) second() *Counting {
	if first, ok := c.tok.(*Counting); ok {
		return first.also
	}
	return nil
}

// ratioSteps is the resolution of the quantiles of ratios: steps of 1/1000 up
// to 32, where all above stand.
const (
	ratioStep  = 1000
	ratioSteps = 32*ratioStep + 1
)

// sums adds up one side of the comparison over the rows that were kept.
type sums struct {
	c      trace.Compared
	ratios []int64 // requests by ratio in steps
}

func (s *sums) add(own, also trace.Opt[int32]) {
	if !own.OK || !also.OK {
		return
	}
	s.c.Requests++
	s.c.Tokens += int64(own.V)
	s.c.Also += int64(also.V)
	if own.V == 0 {
		return // an empty text has no ratio
	}
	if s.ratios == nil {
		s.ratios = make([]int64, ratioSteps)
	}
	step := math.Round(float64(float64(also.V)*ratioStep) / float64(own.V))
	s.ratios[int(min(step, ratioSteps-1))]++
}

// compared gives the sums with quantiles of type 1, to a thousandth.
func (s *sums) compared() trace.Compared {
	out := s.c
	out.Ratios = []trace.Ratio{}
	n := int64(0)
	for _, k := range s.ratios {
		n += k
	}
	for _, p := range []float64{0.05, 0.25, 0.5, 0.75, 0.95} {
		need, seen := int64(math.Ceil(float64(p*float64(n)))), int64(0)
		for step, k := range s.ratios {
			if seen += k; k > 0 && seen >= need {
				out.Ratios = append(out.Ratios, trace.Ratio{P: p, Value: float64(step) / ratioStep})
				break
			}
		}
	}
	return out
}

// comparing sums up both sides while the rows are read.
type comparing struct{ input, output sums }

func (c *comparing) add(t *twoCounts) {
	c.input.add(t.input, t.inputAlso)
	c.output.add(t.output, t.outputAlso)
}

// fill writes what came together so far.
func (c *comparing) fill(a *trace.Also) { a.Input, a.Output = c.input.compared(), c.output.compared() }
