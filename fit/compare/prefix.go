package compare

import (
	"fmt"
	"slices"

	"reprise/fit"
	"reprise/trace"
	"reprise/trace/spec"
)

// capacities of the cache at which hit rates are set side by side, in tokens.
var capacities = []int64{300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000}

const (
	hitTokens   = "hit rate of tokens, infinite cache"
	hitFull     = "hit rate of whole blocks, infinite cache"
	hitRequests = "requests that share a block"
)

func hitName(tokens int64) string {
	return fmt.Sprintf("hit rate of tokens at %g M", float64(tokens)/1e6)
}

// prefix notes the hit rates of a trace with blocks.
func (s *side) prefix(t *trace.Trace) error {
	var blocks [][]int32
	var input []int32
	for i := range t.Requests {
		if r := &t.Requests[i]; len(r.Blocks) > 0 && r.Input.OK {
			blocks, input = append(blocks, r.Blocks), append(input, r.Input.V)
		}
	}
	if len(blocks) == 0 {
		return nil
	}
	s.blocks = t.Header.BlockTokens
	p, err := fit.Prefix(blocks, input, s.blocks)
	if err != nil || p.Inconsistent > 0 {
		return err
	}
	for _, r := range p.Rates() {
		switch r.Name {
		case "tokens":
			s.stat(hitTokens, r.Value)
		case "full_blocks":
			s.stat(hitFull, r.Value)
		}
	}
	s.stat(hitRequests, p.AnyHit)
	d, err := fit.StackDistances(blocks, input, s.blocks)
	if err != nil {
		return err
	}
	for _, point := range d.LRUCurve(capacities) {
		s.stat(hitName(point.CapacityTokens), point.Tokens)
	}
	return nil
}

func (s *side) specPrefix(p *spec.Prefix) {
	s.blocks = p.BlockTokens
	if p.ShareRequests != nil {
		s.values[hitRequests] = float64(p.ShareRequests.Value)
	}
	for _, h := range p.HitRates {
		switch h.Name {
		case "tokens":
			s.values[hitTokens] = float64(h.Value)
		case "full_blocks":
			s.values[hitFull] = float64(h.Value)
		}
	}
	for _, c := range p.Curve {
		if tokens := int64(c.CapacityTokens); slices.Contains(capacities, tokens) {
			s.values[hitName(tokens)] = float64(c.Tokens)
		}
	}
}
