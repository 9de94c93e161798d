package replay

import (
	"fmt"
	"iter"
	"math"
)

// pass returns the i-th job of a plan that runs through its rows over and over.
func (p *Plan) pass(i int) Job {
	j := p.Jobs[i%p.rows]
	j.Pass = int32(i / p.rows)
	j.Row += int64(j.Pass) * p.stride
	return j
}

// dress gives a job of a later pass prefixes of its own: blocks shared within
// the pass as the trace shares them, and none with another pass, which would
// find every prompt in the cache. When the numbers run out, they begin anew.
func (p *Plan) dress(j Job) Job {
	if j.Pass == 0 || p.Keep || len(j.Request.Blocks) == 0 {
		return j
	}
	shift := j.Pass % (math.MaxInt32 / max(p.blocks, 1)) * p.blocks
	own := make([]int32, len(j.Request.Blocks))
	for i, b := range j.Request.Blocks {
		own[i] = b + shift
	}
	j.Request.Blocks = own
	return j
}

func (p *Plan) notePasses(jobs int) {
	if n := (jobs + p.rows - 1) / p.rows; n > 1 {
		p.Notes = append(p.Notes, p.passes(fmt.Sprint(n)))
	}
}

func (p *Plan) passes(n string) string {
	shared := "prompts of one pass share nothing with another's"
	if p.Keep {
		shared = "prompts of later passes are those of the first, so the cache has them"
	}
	return fmt.Sprintf("the %d requests of the trace are sent over again, %s times in all; %s, and rows go on counting", p.rows, n, shared)
}

// source yields the jobs in the order in which they are prepared: those that
// wait for nothing but their instant, or for a free slot. The jobs of a closed
// loop by time never end.
func (p *Plan) source() iter.Seq[*Job] {
	switch {
	case len(p.levels) > 0:
		return p.turnsOfLevels
	case p.turns != nil:
		return p.firstTurns
	}
	return func(yield func(*Job) bool) {
		for i := range p.Jobs {
			if !yield(&p.Jobs[i]) {
				return
			}
		}
	}
}

// turnsOfLevels yields the jobs of a closed loop; with counted levels each has
// one pass, which is its load point.
func (p *Plan) turnsOfLevels(yield func(*Job) bool) {
	for i := 0; p.timed() || i < p.rows*len(p.levels); i++ {
		j := p.pass(i)
		if !p.timed() {
			j.Point = j.Pass
		}
		if !yield(&j) {
			return
		}
	}
}

// Planned is the number of jobs, -1 when only the run tells.
func (p *Plan) Planned() int64 {
	switch {
	case p.timed():
		return -1
	case len(p.levels) > 0:
		return int64(p.rows) * int64(len(p.levels))
	}
	return int64(len(p.Jobs))
}
