package compare

import (
	"maps"
	"math/rand/v2"
	"slices"

	"reprise/fit/dist"
	"reprise/trace"
)

// Noise is told from resamples of the reference: blocks of a minute drawn with
// replacement and laid end to end, so that bursts inside a minute stay. Neither
// sessions nor the hours of the day survive that: whole sessions are drawn with
// replacement for the ones, minutes within their hour for the others. Prefix
// sharing and the course of the rate have no floor.
const (
	noiseTimes = 20
	noiseBlock = 60_000_000 // µs
	// maxNoise bounds the requests of a resample; from there on the noise of
	// lengths is far below every limit.
	maxNoise = 200_000
)

// pieces cuts requests into blocks of a minute; a trace without times, or of
// under ten minutes, into a hundred parts of equal size.
func pieces(t *trace.Trace) [][]trace.Request {
	rows := t.Requests
	if n := len(rows); !t.Timed() || rows[n-1].T.V-rows[0].T.V < 10*noiseBlock {
		var out [][]trace.Request
		for i := range 100 {
			out = append(out, rows[i*n/100:(i+1)*n/100])
		}
		return out
	}
	zero := rows[0].T.V
	out := make([][]trace.Request, (rows[len(rows)-1].T.V-zero)/noiseBlock+1)
	for from := 0; from < len(rows); {
		k := (rows[from].T.V - zero) / noiseBlock
		to := from
		for to < len(rows) && (rows[to].T.V-zero)/noiseBlock == k {
			to++
		}
		out[k], from = rows[from:to], to
	}
	return out
}

// resample draws a trace of the same length out of pieces.
func resample(t *trace.Trace, from [][]trace.Request, rng *rand.Rand) *trace.Trace {
	out := &trace.Trace{Header: t.Header}
	zero := t.Requests[0].T.V
	timed := t.Timed()
	for i := 0; i < len(from) && len(out.Requests) < maxNoise; i++ {
		k := rng.IntN(len(from))
		for _, r := range from[k] {
			if timed {
				r.T = trace.Some(r.T.V + int64(i-k)*noiseBlock)
			}
			r.Blocks, r.Session = nil, trace.Opt[int32]{}
			out.Requests = append(out.Requests, r)
		}
	}
	if timed && len(from) == 100 && t.Requests[len(t.Requests)-1].T.V-zero < 10*noiseBlock {
		for i := range out.Requests {
			out.Requests[i].T = trace.Opt[int64]{}
		}
	}
	return out
}

// noise returns the 95th percentile of how far resamples lie from the reference
// in each metric.
func noise(t *trace.Trace, ref *side, limits Limits, seed uint64) (map[string]float64, error) {
	rng := rand.New(rand.NewPCG(seed, 7))
	from := pieces(t)
	off := map[string][]float64{}
	for range noiseTimes {
		x := resample(t, from, rng)
		if len(x.Requests) == 0 {
			continue
		}
		s, err := fromTrace(x)
		if err != nil {
			return nil, err
		}
		s.week = nil
		for _, m := range append(metrics(ref, s, limits, true), rankNoise(ref, s)...) {
			if m.Off.OK && m.Section != sectionPrefix && m.Section != sectionSessions && m.Name != courseName && m.Name != busiestName {
				off[m.Name] = append(off[m.Name], m.Off.V)
			}
		}
	}
	if ref.talk != nil {
		maps.Copy(off, ref.talk.noise(ref.values, rng))
	}
	return p95(off), nil
}

// p95 is the 95th percentile of each list.
func p95(off map[string][]float64) map[string]float64 {
	out := map[string]float64{}
	for name, v := range off {
		slices.Sort(v)
		out[name] = dist.NewValues(v).Quantile(0.95)
	}
	return out
}
