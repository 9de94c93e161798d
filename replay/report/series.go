package report

import (
	"slices"

	"reprise/replay"
)

const second = int64(1e9)

// maxBins bounds the series over time.
const maxBins = 300

// fullBin requests make a percentile of a bin worth looking at, and someBins is
// the least number of bins that waiting for them may leave.
const (
	fullBin  = 20
	someBins = 30
)

// binWidth returns the width of a bin in seconds for n requests: one, or the
// next round number that needs at most maxBins bins and gives them about
// fullBin requests each, as long as there are some bins to look at.
func binWidth(spanS, n int64) int64 {
	w := spanS/maxBins + 1
	for _, round := range []int64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600} {
		if round < w {
			continue
		}
		if w > spanS/maxBins && w != spanS/maxBins+1 && (n*w >= fullBin*spanS || spanS/round < someBins) {
			break
		}
		w = round
	}
	return w
}

// overTime cuts the run's clock into bins.
func overTime(samples []sample) (binS int64, bins []Bin) {
	lo, hi, ok := extent(samples)
	if !ok {
		return 1, []Bin{}
	}
	binS = binWidth((hi-lo)/second, int64(len(samples)))
	w := binS * second
	first := floorDiv(lo, w)
	bins = make([]Bin, floorDiv(hi, w)-first+1)
	ttft, lag := make([][]int64, len(bins)), make([][]int64, len(bins))
	for i := range samples {
		s := &samples[i]
		b := floorDiv(s.sched, w) - first
		bins[b].Offered++
		if s.isOK() && s.first != absent {
			ttft[b] = append(ttft[b], s.ttft())
		}
		if s.sent() {
			lag[b] = append(lag[b], s.lag())
		}
		bins[floorDiv(max(s.sched, s.end), w)-first].count(s)
	}
	flying := inFlight(samples)
	for i := range bins {
		bins[i].TS = (first + int64(i)) * binS
		bins[i].InFlight = flying.at((first + int64(i) + 1) * w)
		bins[i].finish(sortedOf(ttft[i]), sortedOf(lag[i]))
	}
	return binS, bins
}

// count puts the outcome of a request into the bin where it ended, or where it
// was planned when it never began.
func (b *Bin) count(s *sample) {
	switch s.class {
	case replay.OK:
		b.Completed++
	case replay.HTTP429:
		b.RateLimited++
		b.Failed++
	default:
		b.Failed++
	}
}

func (b *Bin) finish(ttft, lag sorted) {
	b.N = ttft.len()
	b.TTFTP50, b.TTFTP99 = msAt(ttft, 50), msAt(ttft, 99)
	b.LagP50, b.LagP99, b.LagMax = msAt(lag, 50), msAt(lag, 99), msAt(lag, 100)
}

// msAt is a percentile in ms whatever the count, nil for none.
func msAt(s sorted, p float64) *float64 {
	v, ok := at(s, p)
	if !ok {
		return nil
	}
	return ms(v)
}

// extent returns the first and the last instant of the samples.
func extent(samples []sample) (lo, hi int64, ok bool) {
	for i := range samples {
		s := &samples[i]
		if i == 0 {
			lo, hi = s.sched, s.sched
		}
		lo = min(lo, s.sched)
		hi = max(hi, s.sched, s.end)
	}
	return lo, hi, len(samples) > 0
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// flights are the instants at which requests left and came back. A request is
// in flight from its sending up to but not including its end.
type flights struct{ begun, ended sorted }

func inFlight(samples []sample) flights {
	var f flights
	for i := range samples {
		s := &samples[i]
		if !s.sent() {
			continue
		}
		f.begun = append(f.begun, s.send)
		if s.end != absent {
			f.ended = append(f.ended, max(s.end, s.send))
		}
	}
	slices.Sort(f.begun)
	slices.Sort(f.ended)
	return f
}

func (f flights) at(t int64) int64 { return f.begun.within(t) - f.ended.within(t) }

// peak returns the largest number in flight at once.
func (f flights) peak() (most int64) {
	j := 0
	for i, t := range f.begun {
		for j < len(f.ended) && f.ended[j] <= t {
			j++
		}
		most = max(most, int64(i+1-j))
	}
	return most
}

// cdf returns the distribution at each per cent and the far tail.
func cdf(metric, clock string, v sorted) CDF {
	c := CDF{Metric: metric, Clock: clock, N: v.len(), Points: []CDFPoint{}}
	if len(v) == 0 {
		return c
	}
	shares := []float64{}
	for i := range 100 {
		shares = append(shares, float64(i))
	}
	shares = append(shares, 99.5, 99.9, 99.95, 99.99, 100)
	last := int64(0)
	for _, p := range shares {
		k := rank(p, v.len())
		if k == last {
			continue
		}
		last = k
		c.Points = append(c.Points, CDFPoint{MS: *ms(v[k-1]), Share: float64(k) / float64(len(v))})
	}
	return c
}
