package fit

import (
	"reprise/fit/dist"
	"reprise/trace"
	"reprise/trace/spec"
)

// Turns is what the turns of sessions show. Gaps are in µs, from the arrival of
// the turn that is continued to that of the one that continues it, of a turn that
// continues none from the turn before in its session.
type Turns struct {
	Counts    []int64 // turns by session
	Gaps      []int64
	Settled   []int64 // those of Gaps that begin so early that the end of the log cuts none short
	SettledOf []int32 // the session of each
	GapP95    int64   // µs
	Truncated []bool  // by session: it may have begun before the log
	Late      []bool  // by request: what continues it may lie behind the log
	links     *Links
}

// TurnsOf counts the turns of sessions, and tells what an end of the log may
// have cut: sessions whose first turn lies within the 95th percentile of gaps of
// the beginning, and turns that lie within it of the end. Without times nothing
// is told to be cut, but sessions whose log begins with a later turn. In a log
// shorter than four such gaps few sessions would be left, and only the end counts.
func TurnsOf(t *trace.Trace, l *Links) Turns {
	c := Turns{Counts: make([]int64, l.Count), Truncated: make([]bool, l.Count), Late: make([]bool, len(t.Requests)), links: l}
	copy(c.Truncated, l.Before)
	timed := t.Timed()
	after := l.after()
	for i := range t.Requests {
		s := l.Session[i]
		if s < 0 {
			continue
		}
		c.Counts[s]++
		if p := after[i]; timed && p >= 0 {
			c.Gaps = append(c.Gaps, t.Requests[i].T.V-t.Requests[p].T.V)
		}
	}
	if len(c.Gaps) == 0 {
		return c
	}
	c.GapP95 = int64(dist.FromInts(c.Gaps, 1).Quantile(0.95))
	end := t.Requests[len(t.Requests)-1].T.V
	for i := range t.Requests {
		at := t.Requests[i].T.V
		c.Late[i] = at > end-c.GapP95
		if p := after[i]; p >= 0 && !c.Late[p] {
			c.Settled, c.SettledOf = append(c.Settled, at-t.Requests[p].T.V), append(c.SettledOf, l.Session[i])
		}
		if s := l.Session[i]; s >= 0 && l.Turn[i] == 0 && at < c.GapP95 && 4*c.GapP95 < end {
			c.Truncated[s] = true
		}
	}
	return c
}

// after is the request from which a turn's gap is measured, −1 for first turns.
func (l *Links) after() []int32 {
	last := make([]int32, l.Count)
	out := make([]int32, len(l.Session))
	for i, s := range l.Session {
		out[i] = -1
		if s < 0 {
			continue
		}
		if out[i] = l.Parent[i]; out[i] < 0 && l.Turn[i] > 0 {
			out[i] = last[s]
		}
		last[s] = int32(i)
	}
	return out
}

// Censored is how many sessions may go on after the log.
func (c Turns) Censored() (n int) {
	for i, s := range c.links.Session {
		if s >= 0 && int64(c.links.Turn[i])+1 == c.Counts[s] && c.Late[i] {
			n++
		}
	}
	return n
}

// Hazard is how often sessions that reach a turn go on: Next of AtRisk. AndLater
// pools all turns from Turn on.
type Hazard struct {
	Turn         int
	AndLater     bool
	Next, AtRisk int64
}

// Value is the hazard.
func (h Hazard) Value() float64 { return float64(h.Next) / float64(h.AtRisk) }

// minHazard is how many sessions must be at risk for a turn to stand alone.
const minHazard = 20

// Hazards are h_k = P(turns > k | turns >= k) for k = 1, 2, … after Kaplan and
// Meier, of the sessions whose beginning the log has. A turn near the end of the
// log is not at risk, whether or not one that continues it is still inside: to
// drop only those that do not go on would make sessions too long. Past
// spec.MaxHazard, or where fewer than minHazard are at risk, turns are pooled.
func (c Turns) Hazards() []Hazard {
	most := int64(0)
	for _, n := range c.Counts {
		most = max(most, n)
	}
	next, risk := make([]int64, most+2), make([]int64, most+2)
	for i, s := range c.links.Session {
		if s < 0 || c.Truncated[s] || c.Late[i] {
			continue
		}
		k := int64(c.links.Turn[i]) + 1
		risk[k]++
		if k < c.Counts[s] {
			next[k]++
		}
	}
	var out []Hazard
	for k := 1; k <= int(most); k++ {
		if k <= spec.MaxHazard && risk[k] >= minHazard {
			out = append(out, Hazard{Turn: k, Next: next[k], AtRisk: risk[k]})
			continue
		}
		pooled := Hazard{Turn: k, AndLater: true}
		for ; k <= int(most); k++ {
			pooled.Next, pooled.AtRisk = pooled.Next+next[k], pooled.AtRisk+risk[k]
		}
		if pooled.AtRisk > 0 {
			out = append(out, pooled)
		}
	}
	return out
}
