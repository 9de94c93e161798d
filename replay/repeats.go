package replay

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"reprise/trace"
)

// Repeats is one load point that was run several times, each in a results
// directory of its own, as one run.
type Repeats struct {
	Run    *Run
	Health []HealthRow
	Server [][]ServerRow // of each repetition
	Cut    int64
	dirs   []*Dir
	shift  []int64 // ns from the first run's zero to each one's
	label  string
	point  int32
}

// JoinRepeats joins the repetitions of a load point, in their order: results
// get the number of their repetition, the endpoint's label, and, unless point
// is negative, the load point. Their clocks are laid one after the other. The
// account adds up, and the client is as good as in its worst run. The
// directories must stay open while results are read.
func JoinRepeats(dirs []*Dir, endpoint string, point int32) (*Repeats, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no results to join")
	}
	run := *dirs[0].Run
	run.Outcomes = slices.Clone(run.Outcomes)
	run.Notes = slices.Clone(run.Notes)
	j := &Repeats{Run: &run, dirs: dirs, label: endpoint, point: point, shift: make([]int64, len(dirs))}
	for i, d := range dirs {
		if d.Run.Mode != run.Mode {
			return nil, fmt.Errorf("%s is a run of another mode than %s", d.Path, dirs[0].Path)
		}
		run.Cache.join(d.Run.Cache.Sent, point, i == 0)
		if i > 0 {
			j.shift[i] = j.after(i)
			j.take(d.Run, i)
			run.Endpoint.Stated, run.Endpoint.OtherTimes = nil, nil // each repetition's own; percentiles do not add up
		}
		for h, err := range d.Health() {
			if err != nil {
				return nil, fmt.Errorf("%s: %w", d.Path, err)
			}
			h.TNS += j.shift[i]
			j.Health = append(j.Health, h)
		}
		server, err := d.Followed()
		if err != nil {
			return nil, err
		}
		for k := range server {
			server[k].TNS += j.shift[i]
		}
		j.Server = append(j.Server, server)
		j.Cut += d.Cut
	}
	return j, nil
}

// after is the zero of a run on the clock of the first: when it started, and
// not before the one above it ended.
func (j *Repeats) after(i int) int64 {
	end := j.shift[i-1] + int64(j.dirs[i-1].Run.WallS*1e9) + int64(time.Second)
	first, err1 := time.Parse(time.RFC3339, j.dirs[0].Run.StartedAt)
	this, err2 := time.Parse(time.RFC3339, j.dirs[i].Run.StartedAt)
	if err1 != nil || err2 != nil {
		return end
	}
	return max(end, int64(this.Sub(first)))
}

func (j *Repeats) take(r *Run, i int) {
	out := j.Run
	out.Planned += r.Planned
	out.WallS += r.WallS
	out.Resent += r.Resent
	if unfinished(r.Status) > unfinished(out.Status) {
		out.Status, out.AbortReason = r.Status, r.AbortReason
	}
	out.count(r)
	if worse(r.Verdict.Verdict) > worse(out.Verdict.Verdict) {
		out.Verdict = r.Verdict
		out.Verdict.Reason = fmt.Sprintf("repetition %d: %s", i+1, r.Verdict.Reason)
	}
}

// Requests yields the results of all repetitions, one after the other.
func (j *Repeats) Requests() iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		for i, d := range j.dirs {
			for r, err := range d.Requests() {
				if err != nil {
					err = fmt.Errorf("%s: %w", d.Path, err)
				}
				r.later(j.shift[i])
				r.Repeat, r.Endpoint = int32(i), j.label
				if j.point >= 0 {
					r.Point = j.point
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}

// later moves every instant of a result.
func (r *Result) later(by int64) {
	r.Sched += by
	for _, p := range []*trace.Opt[int64]{&r.Dispatch, &r.ConnReady, &r.WriteEnd, &r.FirstByte, &r.FirstEvent, &r.FirstContent, &r.FirstAnswer, &r.LastContent, &r.End} {
		if p.OK {
			p.V += by
		}
	}
}
