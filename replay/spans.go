package replay

import (
	"math/bits"
	"sync/atomic"
)

// Spans is a histogram of spans of time, ns. Many goroutines add to it without a
// lock. A bucket is at most 1/16 of its value wide.
type Spans struct{ counts [spanBuckets]atomic.Int64 }

const (
	spanSteps   = 16 // buckets in a doubling
	spanBuckets = 64 * spanSteps
)

// Add counts a span; a negative one counts as none.
func (s *Spans) Add(ns int64) { s.counts[spanBucket(uint64(max(ns, 0)))].Add(1) }

// Count returns the spans so far.
func (s *Spans) Count() SpanCount {
	out := SpanCount{make([]int64, len(s.counts))}
	for i := range s.counts {
		out.counts[i] = s.counts[i].Load()
	}
	return out
}

func spanBucket(v uint64) int {
	if v < spanSteps {
		return int(v)
	}
	shift := bits.Len64(v) - 5 // leaves 16 to 31
	return (shift+1)*spanSteps + int(v>>shift) - spanSteps
}

// spanUpper is the largest value of a bucket.
func spanUpper(i int) int64 {
	if i < spanSteps {
		return int64(i)
	}
	shift := i/spanSteps - 1
	return int64(i%spanSteps+spanSteps+1)<<shift - 1
}

// SpanCount is what Spans held at an instant. The zero value is empty.
type SpanCount struct{ counts []int64 }

// Since returns what came after an earlier count of the same Spans.
func (c SpanCount) Since(before SpanCount) SpanCount {
	out := SpanCount{append([]int64(nil), c.counts...)}
	for i := range before.counts {
		out.counts[i] -= before.counts[i]
	}
	return out
}

// plus returns both counts together.
func (c SpanCount) plus(o SpanCount) SpanCount {
	if len(c.counts) == 0 {
		return o
	}
	out := SpanCount{append([]int64(nil), c.counts...)}
	for i := range o.counts {
		out.counts[i] += o.counts[i]
	}
	return out
}

// N returns how many there are.
func (c SpanCount) N() (n int64) {
	for _, k := range c.counts {
		n += k
	}
	return n
}

// Quantile returns the p-quantile in ns, an upper bound at most 1/16 above the
// truth; -1 when there are none.
func (c SpanCount) Quantile(p float64) int64 {
	n, seen := c.N(), int64(0)
	if n == 0 {
		return -1
	}
	need, last := int64(p*float64(n)), int64(0)
	for i, k := range c.counts {
		if k == 0 {
			continue
		}
		last = spanUpper(i)
		if seen += k; seen > need {
			break
		}
	}
	return last
}
