package fitlaw

import (
	"fmt"
	"math"

	"reprise/replay/mock/engine"
)

// warn says what the run does not show of the law.
func (r *Report) warn(law engine.Law, obs []Observation, ms []moment, o Options) {
	add := func(format string, a ...any) { r.Warnings = append(r.Warnings, fmt.Sprintf(format, a...)) }
	if r.PeakDecoding < 4 {
		add("at most %d streams ran at once: what a batch costs (decode_us, kv_token_us) is hardly to be seen, replay at a higher rate", r.PeakDecoding)
	} else if c := correlation(ms, 1, 2); c > 0.95 {
		add("decodes and context grow together (correlation %.2f): decode_us and kv_token_us are only known together, replay prompts of other lengths", c)
	}
	if o.MaxSeqs == 0 && law.MaxSeqs > r.PeakDecoding {
		add("the run does not show where the batch ends: max_num_seqs is set to %d", law.MaxSeqs)
	}
	pieces := 0
	for k := range obs {
		if obs[k].whole() && obs[k].Out > 1 {
			pieces++
		}
	}
	if pieces*10 > len(obs) {
		add("%d of %d answers came in one piece, so their TTFT is their end and they have no TPOT: something between engine and client was late", pieces, len(obs))
	}
	prefilled := 0
	for i := range ms {
		if ms[i].x[3] > 0 {
			prefilled++
		}
	}
	if prefilled < fewest {
		add("only %d gaps had a prompt computed in them: prefill_token_us rests on TTFT", prefilled)
	}
	if r.R2 < 0.3 {
		add("the step law tells %.0f %% of the variance of the gaps: something else held up the tokens, such as a busy machine", 100*max(r.R2, 0))
	}
	if law.JitterSigma > 0.4 {
		add("step times spread by a factor of %.1f about the law (one sigma): tails are rough", math.Exp(law.JitterSigma))
	}
	var asked, got float64
	for k := range obs {
		asked, got = asked+float64(obs[k].Asked), got+float64(obs[k].Prompt)
	}
	if f := got / max(asked, 1); math.Abs(f-1) > 0.02 {
		add("the server counts %.2f prompt tokens for each of the trace's: predict from results, or from a trace in its own tokens", f)
	}
}

// correlation of two terms over the moments.
func correlation(ms []moment, a, b int) float64 {
	var sa, sb, saa, sbb, sab float64
	n := float64(len(ms))
	for i := range ms {
		x, y := ms[i].x[a], ms[i].x[b]
		sa, sb, saa, sbb, sab = sa+x, sb+y, saa+x*x, sbb+y*y, sab+x*y
	}
	v := (saa - sa*sa/n) * (sbb - sb*sb/n)
	if v <= 0 {
		return 0
	}
	return (sab - sa*sb/n) / math.Sqrt(v)
}
