package replay

import (
	"cmp"
	"slices"
)

// Saturation finds how much an endpoint can do from the results of a closed
// loop: answers per second in the steady part of each level, and from which
// level on they grow no more. It is not for several goroutines at once.
type Saturation struct {
	levels map[int32][]Span
	shape  []LoadPoint
}

// NewSaturation returns one for the load points of a closed loop.
func NewSaturation(points []LoadPoint) *Saturation {
	return &Saturation{levels: map[int32][]Span{}, shape: points}
}

// Add takes a result; only answered requests count.
func (s *Saturation) Add(r *Result) {
	if r.Phase != Drain && r.Class == OK && r.End.OK {
		s.levels[r.Point] = append(s.levels[r.Point], Span{r.Sched, r.End.V, r.Phase == Warmup})
	}
}

// Level returns the steady part of a load point.
func (s *Saturation) Level(point int32) Pace {
	slots := 0
	for _, p := range s.shape {
		if p.Point == point {
			slots = p.Concurrency
		}
	}
	return PaceOf(s.levels[point], slots)
}

// Rate returns the answers per second of a load point, 0 where there were none.
func (s *Saturation) Rate(point int32) float64 { return s.Level(point).PerS }

// Grows tells whether the rate of a load point is more than share above the best
// of those before it. The first grows. One with too few answers for a steady part
// shows nothing, so it counts as growing; unless the one before had too few as
// well and neither seems to grow, or more and more would be let go without end.
func (s *Saturation) Grows(point int32, share float64) bool {
	best, before := 0.0, true
	for _, p := range s.shape {
		l := s.Level(p.Point)
		if p.Point < point && l.Enough() {
			best = max(best, l.PerS)
		}
		if p.Point == point-1 {
			before = l.Enough() || l.PerS > best*(1+share)
		}
	}
	l := s.Level(point)
	return l.PerS > best*(1+share) || !l.Enough() && before
}

// Best returns the load point with the highest rate, and that rate; 0 where
// nothing was answered. Those with too few answers for a steady part count where
// no other has one.
func (s *Saturation) Best() (LoadPoint, float64) {
	if len(s.shape) == 0 {
		return LoadPoint{}, 0
	}
	parts := map[int32]Pace{}
	for _, p := range s.shape {
		parts[p.Point] = s.Level(p.Point)
	}
	best := slices.MaxFunc(s.shape, func(a, b LoadPoint) int {
		x, y := parts[a.Point], parts[b.Point]
		if x.Enough() != y.Enough() {
			if x.Enough() {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(x.PerS, y.PerS), int(b.Point-a.Point)) // of equals the lower level
	})
	return best, parts[best.Point].PerS
}

// Few returns the load points that ran and have too few answers for a steady
// part.
func (s *Saturation) Few() (out []LoadPoint) {
	for _, p := range s.shape {
		if l := s.Level(p.Point); len(s.levels[p.Point]) > 0 && !l.Enough() {
			out = append(out, p)
		}
	}
	return out
}
