package synth

import (
	"cmp"
	"math"
	"slices"

	"reprise/trace/spec"
)

// sparse says whether arrivals are so rare that a turn seldom finds one near to
// when it is due: fewer than fewNear within one part in nearSlot of a gap. Dealing
// turns over arrivals then stretches the gaps, so sessions are drawn first and
// arrivals are what they are made of (fromStarts). Not where minutes differ
// wildly, as where a quiet day has one rush: that rush makes the queue, and its
// arrivals are kept.
func sparse(sp *spec.Spec, times []int64) bool {
	s := sp.Workload.Sessions
	if s.Starts == nil || sp.Workload.Arrivals.Process == spec.ProcessUnknown || len(times) < 2 {
		return false
	}
	for _, v := range sp.Workload.Arrivals.IDC {
		if v.WidthS == 60 && v.Value > wildMinute {
			return false
		}
	}
	span := float64(times[len(times)-1]-times[0]) / 1e6
	gap := table(s.Between.P, s.Between.Values).At(0.5)
	return float64(len(times))*2*gap/nearSlot < fewNear*span
}

const fewNear = 2

// wildMinute is the dispersion of counts a minute from which on they are kept.
const wildMinute = 10

// ofStarts is the spec with the arrivals of first turns in the place of all.
func ofStarts(sp *spec.Spec) *spec.Spec {
	out := *sp
	a := &out.Workload.Arrivals
	s := sp.Workload.Sessions
	part := 0.0
	if n := a.Rate.Value; n > 0 {
		part = min(float64(s.Starts.Rate.Value)/float64(n), 1)
	}
	if a.Week != nil {
		week := *a.Week
		week.Rates = slices.Clone(week.Rates)
		for i, r := range week.Rates {
			if r > 0 {
				week.Rates[i] = spec.Num(float64(r) * part)
			}
		}
		a.Week = &week
	}
	series := startSeries(s, a.Rates)
	a.Rate, a.Rates, a.Split = s.Starts.Rate, series, startSplit(series, s.Starts.IDC)
	if a.Rates == nil {
		a.Process = spec.ProcessPoisson
	}
	return &out
}

// startSeries is the series of first turns. Where a bundle held a part of it back,
// since so few sessions begin in a bin, it is that of all requests with a request
// in so many as a session has turns.
func startSeries(s *spec.Sessions, all *spec.RateSeries) *spec.RateSeries {
	own := s.Starts.Rates
	if all == nil || own != nil && float64(spanOf(own)) > 0.95*float64(spanOf(all)) {
		return own
	}
	out := *all
	out.Counts = make([]int64, len(all.Counts))
	owed := 0.0
	for i, n := range all.Counts {
		owed += float64(n) / max(float64(s.MeanTurns.Value), 1)
		out.Counts[i] = int64(min(math.Floor(owed+0.5), 1<<62))
		owed -= float64(out.Counts[i])
	}
	return &out
}

// startSplit is the chain of dispersions of first turns, as fit.SplitRho has it
// of all arrivals: the sums of n(n-1) at 60, 10 and 1 s follow from the index of
// dispersion there, that of the bins of the series from their counts.
func startSplit(s *spec.RateSeries, idc []spec.ScaleValue) *spec.Split {
	if s == nil {
		return nil
	}
	var out spec.Split
	var n, above float64
	for _, c := range s.Counts {
		n, above = n+float64(c), above+float64(c)*float64(c-1)
	}
	wide, span := s.WidthS, float64(spanOf(s))/1e6
	for _, w := range []spec.Num{60, 10, 1} {
		i := slices.IndexFunc(idc, func(v spec.ScaleValue) bool { return v.WidthS == w })
		if i < 0 || wide < w || us(wide)%us(w) != 0 {
			return &out
		}
		mean := n * float64(w) / span
		below := n * (float64(idc[i].Value) + mean - 1)
		if m := float64(wide / w); m > 1 {
			rho := 0.0
			if above > 0 {
				rho = (float64(m*below)/above - 1) / (m - 1)
			}
			out.Steps = append(out.Steps, spec.SplitStep{ParentS: wide, ChildS: w, Rho: spec.Num(min(max(rho, 0), 1))})
		}
		wide, above = w, max(below, 0)
	}
	return &out
}

// fromStarts draws first turns as arrivals of their own, and from each the turns
// of its session, every gap as the table has it. What falls behind the end is
// not in the trace, as it is not in a log. The number of requests varies.
func fromStarts(sp *spec.Spec, o Options) (*talks, []int64, error) {
	starts, err := arrivals(ofStarts(sp), o)
	if err != nil {
		return nil, nil, err
	}
	end := lengthOf(sp, o).Microseconds()
	if float64(len(starts))*turnsOf(sp.Workload.Sessions, end) > maxRequests {
		return nil, nil, errTooMany
	}
	g := newGrower(sp.Workload.Sessions, o.Seed)
	for s, at := range starts {
		g.session(int32(s), at, end)
		if len(g.times) > maxRequests {
			return nil, nil, errTooMany
		}
	}
	g.talks.inOrder(g.times)
	slices.Sort(g.times)
	return &g.talks, g.times, nil
}

// turnsOf is how many turns a session has on average, at most as many as fit
// into the trace.
func turnsOf(s *spec.Sessions, end int64) float64 {
	mean, reach := 1.0, 1.0
	for _, h := range s.Hazards {
		p := float64(h.Value)
		reach *= p
		mean += reach
		if h.AndLater && p < 1 {
			mean += float64(reach*p) / (1 - p)
		} else if h.AndLater && reach > 0 {
			mean = math.Inf(1)
		}
	}
	t, gap := table(s.Between.P, s.Between.Values), 0.0
	const points = 100
	for i := range points {
		gap += max(t.At((float64(i)+0.5)/points), 0) / points
	}
	return min(mean, float64(end)/1e6/gap+1)
}

// grower makes sessions one after the other.
type grower struct {
	talks
	times                     []int64
	gaps, first, growth, part *hand
	on                        *ons
	fork                      *forks
}

func newGrower(s *spec.Sessions, seed uint64) *grower {
	rng, lengths := stream(seed, streamSessions), stream(seed, streamGrowth)
	return &grower{gaps: newHand(s.Between, rng), first: newHand(s.First, lengths), growth: newHand(s.Growth, lengths),
		part: newHand(s.Kept, lengths), on: newOns(s.Hazards, rng), fork: newForks(s.Branched, 0, seed)}
}

// session appends the turns of a session that begins at a time and whose turns
// behind the end are left out.
func (g *grower) session(number int32, at, end int64) {
	last := g.append(at, number, 0, -1, -1, max(g.first.draw(), 0), 0)
	for turn := int32(1); len(g.times) <= maxRequests && g.on.draw(int(turn), true); turn++ {
		gap := int64(g.gaps.draw() * 1e6)
		from := g.fork.from(g.parent, g.times, int(last), gap)
		if at = g.times[from] + gap; at >= end {
			return
		}
		g.fork.took(from)
		last = g.append(at, number, turn, last, from, max(g.input[from]+g.growth.draw(), 1), g.part.draw())
	}
}

func (g *grower) append(at int64, session, turn, before, parent int32, input, kept float64) int32 {
	k := &g.talks
	g.times = append(g.times, at)
	k.session, k.turn = append(k.session, session), append(k.turn, turn)
	k.before, k.parent = append(k.before, before), append(k.parent, parent)
	k.input, k.kept = append(k.input, input), append(k.kept, kept)
	if g.fork.share > 0 {
		g.fork.children = append(g.fork.children, 0)
	}
	return int32(len(g.times) - 1)
}

// inOrder puts requests into the order of their times.
func (k *talks) inOrder(times []int64) {
	order := make([]int32, len(times))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(times[a], times[b]) })
	place := make([]int32, len(times))
	for to, from := range order {
		place[from] = int32(to)
	}
	out := talks{}
	moved := func(i int32) int32 {
		if i < 0 {
			return i
		}
		return place[i]
	}
	for _, i := range order {
		out.session, out.turn = append(out.session, k.session[i]), append(out.turn, k.turn[i])
		out.before, out.parent = append(out.before, moved(k.before[i])), append(out.parent, moved(k.parent[i]))
		out.input, out.kept = append(out.input, k.input[i]), append(out.kept, k.kept[i])
	}
	*k = out
}
