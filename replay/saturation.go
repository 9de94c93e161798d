package replay

import "slices"

// Saturation finds how much an endpoint can do from the results of a closed
// loop: answers per second at each level, and from which level on they grow no
// more. It is not for several goroutines at once.
type Saturation struct {
	levels map[int32]*levelSum
	shape  []LoadPoint
}

type levelSum struct {
	n           int64
	first, last int64 // instants of the first request and the last answer, ns
}

// NewSaturation returns one for the load points of a closed loop.
func NewSaturation(points []LoadPoint) *Saturation {
	return &Saturation{levels: map[int32]*levelSum{}, shape: points}
}

// Add takes a result; only answered requests of the measured phase count.
func (s *Saturation) Add(r *Result) {
	if r.Phase != Measure || r.Class != OK || !r.End.OK {
		return
	}
	l := s.levels[r.Point]
	if l == nil {
		l = &levelSum{first: r.Sched, last: r.End.V}
		s.levels[r.Point] = l
	}
	l.n++
	l.first, l.last = min(l.first, r.Sched), max(l.last, r.End.V)
}

// Rate returns the answers per second of a load point, 0 where there were none.
func (s *Saturation) Rate(point int32) float64 {
	l := s.levels[point]
	if l == nil || l.last <= l.first {
		return 0
	}
	return float64(l.n) / (float64(l.last-l.first) / 1e9)
}

// Grows tells whether the rate of a load point is more than share above the best
// of those before it. The first grows.
func (s *Saturation) Grows(point int32, share float64) bool {
	best := 0.0
	for q := range s.levels {
		if q < point {
			best = max(best, s.Rate(q))
		}
	}
	return s.Rate(point) > best*(1+share)
}

// Best returns the load point with the highest rate, and that rate; 0 where
// nothing was answered.
func (s *Saturation) Best() (LoadPoint, float64) {
	if len(s.shape) == 0 {
		return LoadPoint{}, 0
	}
	best := slices.MaxFunc(s.shape, func(a, b LoadPoint) int {
		switch d := s.Rate(a.Point) - s.Rate(b.Point); {
		case d > 0:
			return 1
		case d < 0:
			return -1
		}
		return int(b.Point - a.Point) // of equals the lower level
	})
	return best, s.Rate(best.Point)
}
