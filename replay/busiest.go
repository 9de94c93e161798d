package replay

import "time"

// Busiest returns the part of a schedule of length d in which the most tokens
// are asked for, as a plan of its own that begins at its first request: an open
// loop, for a short test that has the load's shape. Turns that would wait for an
// answer go at their recorded instants. It is nil for a closed loop, which has
// no schedule.
func (p *Plan) Busiest(d time.Duration) *Plan {
	if len(p.levels) > 0 || len(p.Jobs) == 0 {
		return nil
	}
	weight := func(j *Job) int64 { return int64(j.Request.Output.Or(1)) + 1 }
	var sum, most int64
	from, best, end := 0, 0, 0
	for i := range p.Jobs {
		sum += weight(&p.Jobs[i])
		for p.Jobs[i].Sched-p.Jobs[from].Sched >= d.Nanoseconds() {
			sum -= weight(&p.Jobs[from])
			from++
		}
		if sum > most {
			most, best, end = sum, from, i+1
		}
	}
	q := &Plan{Keep: p.Keep, mode: OpenLoop, rows: p.rows, stride: p.stride, blocks: p.blocks,
		Shape: Shape{Arrivals: p.Shape.Arrivals, Absolute: int64(end - best)}}
	zero := p.Jobs[best].Sched
	for _, j := range p.Jobs[best:end] {
		j.Sched, j.Phase, j.Point = j.Sched-zero, Measure, 0
		q.Jobs = append(q.Jobs, j)
	}
	return q
}

// Faster makes a schedule run so many times as fast.
func (p *Plan) Faster(by float64) {
	for i := range p.Jobs {
		p.Jobs[i].Sched = int64(float64(p.Jobs[i].Sched) / by)
	}
}

// Asked returns how many tokens of output a plan asks for: about the events of
// its answers.
func (p *Plan) Asked() (n int64) {
	for i := range p.Jobs {
		n += int64(p.Jobs[i].Request.Output.Or(1))
	}
	return n
}
