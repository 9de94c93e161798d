package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// beyond is how many samples must lie beyond a percentile for it to be given.
const beyond = 10

// standard are the percentiles of every latency table. Those above p99 are
// shown only where enough requests support them.
func standard() []float64 { return []float64{50, 90, 95, 99, 99.9} }

// rank returns the 1-based rank of percentile p (0…100) among n values by
// type 1, the smallest k with k/n >= p/100 (Hyndman and Fan 1996). It counts
// in millionths of a percent, so that no rounding error moves the rank.
func rank(p float64, n int64) int64 {
	q := int64(math.Round(min(max(p, 0), 100) * 1e6))
	hi, lo := n/1e8, n%1e8 // n*q without overflow
	k := hi*q + (lo*q+1e8-1)/1e8
	return min(max(k, 1), n)
}

// supported reports whether n values support percentile p.
func supported(p float64, n int64) bool {
	return n > 0 && (p >= 100 || n-rank(p, n) >= beyond)
}

// needed returns the smallest n that supports p.
func needed(p float64) int64 {
	n := int64(math.Ceil(beyond / (1 - p/100)))
	for n > beyond && supported(p, n-1) {
		n--
	}
	for !supported(p, n) {
		n++
	}
	return n
}

// sorted is a column of values in ascending order.
type sorted []int64

func sortedOf(v []int64) sorted {
	slices.Sort(v)
	return v
}

func (s sorted) len() int64 { return int64(len(s)) }

// nth returns the k-th smallest value, from 1.
func (s sorted) nth(k int64) int64 { return s[k-1] }

// within returns how many values are at most limit.
func (s sorted) within(limit int64) int64 {
	i, _ := slices.BinarySearch(s, limit+1)
	return int64(i)
}

// distribution is what sorted columns and counted gaps have in common.
type distribution interface {
	len() int64
	nth(k int64) int64 // the k-th smallest, 1 <= k <= len
	within(limit int64) int64
}

// at returns percentile p of d; ok is false when there is no value.
func at(d distribution, p float64) (v int64, ok bool) {
	if d.len() == 0 {
		return 0, false
	}
	return d.nth(rank(p, d.len())), true
}

// Percentile is one percentile of a metric. MS is nil when it cannot be given,
// and Why then says so.
type Percentile struct {
	P      float64  `json:"p"`
	MS     *float64 `json:"ms"`
	LessMS float64  `json:"less_by_up_to_ms,omitempty"` // what the client may have added to it
	MoreMS float64  `json:"more_by_up_to_ms,omitempty"` // and what it may have taken away
	Why    string   `json:"why,omitempty"`
}

// percentiles finishes d at the standard percentiles; unit is the number of
// nanoseconds in one unit of d.
func percentiles(d distribution, unit int64) []Percentile {
	out := make([]Percentile, 0, 5)
	for _, p := range standard() {
		if p > 99 && !supported(p, d.len()) {
			continue
		}
		out = append(out, percentile(d, p, unit))
	}
	return out
}

func percentile(d distribution, p float64, unit int64) Percentile {
	if n := d.len(); !supported(p, n) {
		return Percentile{P: p, Why: tooFew(p, n)}
	}
	v, _ := at(d, p)
	return Percentile{P: p, MS: ms(v * unit)}
}

func tooFew(p float64, n int64) string {
	if n == 0 {
		return "none measured"
	}
	return fmt.Sprintf("not enough requests for %s (n=%d, needs %d)", pName(p), n, needed(p))
}

// pName writes a percentile as p95 or p99.9.
func pName(p float64) string { return "p" + strconv.FormatFloat(p, 'f', -1, 64) }

// ms turns nanoseconds into milliseconds.
func ms(ns int64) *float64 {
	v := float64(ns) / 1e6
	return &v
}
