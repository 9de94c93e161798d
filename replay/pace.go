package replay

import "slices"

// Span is an answered request of a closed loop, ns: from when its slot was free
// to the end of its answer.
type Span struct {
	From, To int64
	Warmup   bool
}

// Pace is that of the part of a level of a closed loop in which all its slots go on:
// from the answer with which each has had one, on average, and from the end of
// the warm-up, to the last request let go. What comes after is the drain, in
// which fewer and fewer requests are under way.
type Pace struct {
	PerS    float64 // answers a second; those under way at either end count by their share in the part
	LastS   float64 // its length, s
	Answers int64   // that ended in it
	Need    int64   // answers that it must hold for the rate to be that of the level
}

// leastSteady is the least number of answers of a steady part; a level must have
// another for each of its slots besides.
const leastSteady = 10

// PaceOf finds the steady part of a level with so many slots. Where it holds
// too few answers (Enough), the rate is that of all the time until the last
// request was let go: the best that is known, and no rate of the level.
func PaceOf(spans []Span, slots int) Pace {
	s := Pace{Need: int64(max(slots, leastSteady))}
	if len(spans) == 0 {
		return s
	}
	first, last, warm, ends := spans[0].From, spans[0].From, int64(-1), make([]int64, len(spans))
	for i, x := range spans {
		first, last, ends[i] = min(first, x.From), max(last, x.From), x.To
		if !x.Warmup && (warm < 0 || x.From < warm) {
			warm = x.From
		}
	}
	slices.Sort(ends)
	if slots > 0 && slots <= len(ends) {
		s.over(spans, max(ends[slots-1], warm), last)
	}
	if s.Enough() {
		return s
	}
	n := s.Answers
	if s.over(spans, first, last); s.PerS == 0 { // none let another go
		s.over(spans, first, ends[len(ends)-1])
	}
	s.Answers = n
	return s
}

// Enough tells whether the part holds enough answers for its rate to stand.
func (s *Pace) Enough() bool { return s.Need > 0 && s.Answers >= s.Need }

// over counts the answers between two instants. A request under way at either
// counts by the share of its time that lies between: of slots that are always
// taken that is the rate at which they answer, without the noise of the ends.
func (s *Pace) over(spans []Span, from, to int64) {
	s.PerS, s.LastS, s.Answers = 0, 0, 0
	if to <= from {
		return
	}
	sum := 0.0
	for _, x := range spans {
		if x.To > from && x.To <= to {
			s.Answers++
		}
		if in := min(x.To, to) - max(x.From, from); in > 0 {
			sum += float64(in) / float64(x.To-x.From)
		}
	}
	s.LastS = float64(to-from) / 1e9
	s.PerS = sum / s.LastS
}
