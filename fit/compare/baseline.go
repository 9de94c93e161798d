package compare

import (
	"math/rand/v2"

	"reprise/trace"
)

// poisson draws what a load generator without a model would send: a Poisson
// process of the reference's rate, input and output drawn apart from each other,
// nothing shared, no sessions.
func poisson(t *trace.Trace, seed uint64) *trace.Trace {
	arrive, in, out := rand.New(rand.NewPCG(seed, 11)), rand.New(rand.NewPCG(seed, 12)), rand.New(rand.NewPCG(seed, 13))
	var inputs, outputs []int32
	for i := range t.Requests {
		if r := &t.Requests[i]; r.Input.OK && r.Output.OK {
			inputs, outputs = append(inputs, r.Input.V), append(outputs, r.Output.V)
		}
	}
	if len(inputs) == 0 {
		return nil
	}
	x := &trace.Trace{Header: t.Header, Requests: make([]trace.Request, len(t.Requests))}
	n := len(t.Requests)
	span := float64(0)
	if t.Timed() {
		span = float64(t.Requests[n-1].T.V-t.Requests[0].T.V) / float64(n)
	}
	at, block := 0.0, int32(0)
	shared := hasBlocks(t)
	for i := range x.Requests {
		r := &x.Requests[i]
		*r = trace.Request{ID: int64(i), N: 1, Input: trace.Some(inputs[in.IntN(len(inputs))]), Output: trace.Some(outputs[out.IntN(len(outputs))])}
		if span > 0 {
			at += arrive.ExpFloat64() * span
			r.T = trace.Some(int64(at))
		}
		if shared {
			for range (int(r.Input.V) + t.Header.BlockTokens - 1) / t.Header.BlockTokens {
				r.Blocks = append(r.Blocks, block)
				block++
			}
		}
	}
	return x
}

func hasBlocks(t *trace.Trace) bool {
	for i := range t.Requests {
		if len(t.Requests[i].Blocks) > 0 {
			return true
		}
	}
	return false
}
