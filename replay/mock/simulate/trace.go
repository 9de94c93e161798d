package simulate

import (
	"errors"
	"fmt"
	"time"

	"reprise/replay/mock/engine"
	"reprise/trace"
)

// FromTrace makes the load of a simulation from a trace with arrival times and
// token counts: every answer has exactly its recorded length, and prompts share
// what their blocks share. It adds no template tokens.
func FromTrace(t *trace.Trace) ([]Timed, error) {
	if !t.Timed() {
		return nil, errors.New("the trace has no arrival times, so there is nothing to simulate: give it times with `reprise fit` and `reprise synth`")
	}
	out := make([]Timed, len(t.Requests))
	for i := range t.Requests {
		r := &t.Requests[i]
		if !r.Input.OK || !r.Output.OK {
			return nil, fmt.Errorf("row %d of the trace has no token counts, and a simulation needs them", r.ID)
		}
		prompt := max(1, r.Input.V)
		out[i] = Timed{At: time.Duration(r.T.V) * time.Microsecond, Request: engine.Request{
			Prompt: prompt, Blocks: chain(r.Blocks, t.Header.BlockTokens, int(prompt)),
			MaxTokens: max(1, r.Output.V), IgnoreEOS: true, Draw: uint64(r.ID),
		}}
	}
	return out, nil
}

// chain gives the full blocks of BlockTokens of a prompt their hashes. Block k
// ends inside the trace's block that holds its last token, and that block's id
// stands for everything before it.
func chain(ids []int32, size, prompt int) []uint64 {
	if size < 1 {
		return nil
	}
	var out []uint64
	for k := range prompt / engine.BlockTokens {
		j := ((k+1)*engine.BlockTokens - 1) / size
		if j >= len(ids) {
			break
		}
		out = append(out, engine.Mix(uint64(uint32(ids[j]))<<24^uint64(k))|1)
	}
	return out
}
