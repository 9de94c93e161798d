package fitlaw

import (
	"cmp"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"
)

// terms are what a step's time is linear in: 1, decodes, tokens of context,
// tokens of prefill.
const terms = 4

// moment is a gap between two tokens of a stream and what the engine did in it,
// as far as a client can tell.
type moment struct {
	gap float64 // µs
	x   [terms]float64
}

// maxMoments bounds the regression; of more gaps every so manieth is taken.
const maxMoments = 20000

// moments reconstructs the batch from the client's times: a stream decodes from
// its first token to its last, and its prompt was computed in the step that
// ended with its first token.
func moments(obs []Observation) []moment {
	total := 0
	for k := range obs {
		total += len(obs[k].Gaps)
	}
	stride := max(1, total/maxMoments)
	byFirst := slices.Clone(obs)
	slices.SortStableFunc(byFirst, func(a, b Observation) int { return cmp.Compare(a.Sent+a.TTFT, b.Sent+b.TTFT) })
	longest := time.Duration(0)
	for k := range obs {
		longest = max(longest, obs[k].E2E-obs[k].TTFT)
	}
	var out []moment
	n := 0
	for k := range obs {
		at := obs[k].Sent + obs[k].TTFT
		for _, g := range obs[k].Gaps {
			if n++; n%stride == 0 && g > readTogether {
				out = append(out, momentAt(byFirst, longest, at, at+g))
			}
			at += g
		}
	}
	return out
}

// readTogether is the gap under which two tokens say nothing of a step: they
// were read, or sent, together.
const readTogether = 300 * time.Microsecond

// momentAt looks at the streams between two tokens of one of them. First tokens
// of the same step come to their clients at nearly the same time, so those up
// to a quarter of the gap after its end count as in it.
func momentAt(byFirst []Observation, longest, from, to time.Duration) moment {
	m := moment{gap: float64(to-from) / 1e3, x: [terms]float64{1}}
	slack := min((to-from)/4, 3*time.Millisecond)
	mid := from + (to-from)/2
	end, _ := slices.BinarySearchFunc(byFirst, to+slack, func(o Observation, t time.Duration) int {
		return cmp.Compare(o.Sent+o.TTFT, t)
	})
	for i := end - 1; i >= 0; i-- {
		o := &byFirst[i]
		first := o.Sent + o.TTFT
		switch {
		case first > from+slack:
			m.x[3] += float64(o.Prompt - o.Cached)
		case first+longest < mid:
			return m
		case o.Sent+o.E2E > mid:
			m.x[1]++
			done := float64(o.Out) * float64(mid-first) / float64(max(1, o.E2E-o.TTFT))
			m.x[2] += float64(o.Prompt) + done
		}
	}
	return m
}

// regress finds the non-negative coefficients with the least sum of absolute
// errors, by iteratively reweighted least squares: outliers are what a busy
// machine adds, and they must not set the law.
func regress(ms []moment) (c [terms]float64) {
	w := make([]float64, len(ms))
	for i := range w {
		w[i] = 1
	}
	for range 30 {
		c = nonNegative(ms, w)
		for i := range ms {
			w[i] = 1 / max(math.Abs(ms[i].gap-predicted(&c, &ms[i])), 20)
		}
	}
	return c
}

func predicted(c *[terms]float64, m *moment) float64 {
	sum := 0.0
	for j := range terms {
		sum += float64(c[j] * m.x[j])
	}
	return sum
}

// nonNegative is weighted least squares with coefficients of at least 0: of the
// subsets of terms whose own solution is not negative, the best.
func nonNegative(ms []moment, w []float64) (best [terms]float64) {
	var a [terms][terms]float64
	var b [terms]float64
	for i := range ms {
		for j := range terms {
			b[j] += w[i] * ms[i].x[j] * ms[i].gap
			for k := range terms {
				a[j][k] += w[i] * ms[i].x[j] * ms[i].x[k]
			}
		}
	}
	least := math.Inf(1)
	for set := 1; set < 1<<terms; set++ {
		c, ok := solve(&a, &b, set)
		if !ok {
			continue
		}
		loss := 0.0 // c'Ac − 2b'c, the squared error but for a constant
		for j := range terms {
			loss -= 2 * b[j] * c[j]
			for k := range terms {
				loss += c[j] * a[j][k] * c[k]
			}
		}
		if loss < least {
			least, best = loss, c
		}
	}
	return best
}

// solve solves the normal equations of a subset; false when they are singular
// or a coefficient is negative.
func solve(a *[terms][terms]float64, b *[terms]float64, set int) (c [terms]float64, ok bool) {
	var in []int
	for j := range terms {
		if set>>j&1 == 1 {
			in = append(in, j)
		}
	}
	m, v := mat.NewDense(len(in), len(in), nil), mat.NewVecDense(len(in), nil)
	for i, j := range in {
		scale := math.Sqrt(a[j][j])
		if scale == 0 {
			return c, false
		}
		v.SetVec(i, b[j]/scale)
		for k, l := range in {
			m.Set(i, k, a[j][l]/scale/math.Sqrt(max(a[l][l], 1e-300)))
		}
	}
	var x mat.VecDense
	if err := x.SolveVec(m, v); err != nil {
		return c, false
	}
	for i, j := range in {
		c[j] = x.AtVec(i) / math.Sqrt(a[j][j])
		if !(c[j] >= 0) {
			return c, false
		}
	}
	return c, true
}
