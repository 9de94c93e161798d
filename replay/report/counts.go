package report

import (
	"maps"
	"slices"
)

// counts is an exact multiset of gaps in microseconds. Gaps under a second sit
// in pages that are made when first used, so a long run of hundreds of millions
// of gaps costs a few megabytes; longer ones are rare and sit in a map.
type counts struct {
	n     int64
	pages [pageCount]*[pageSize]int64
	far   map[int32]int64
}

const (
	pageSize  = 4096
	pageCount = 256 // pages cover 1.05 s
)

func (c *counts) add(us int32, n int64) {
	us = max(us, 0)
	c.n += n
	if p := us / pageSize; p < pageCount {
		if c.pages[p] == nil {
			c.pages[p] = new([pageSize]int64)
		}
		c.pages[p][us%pageSize] += n
		return
	}
	if c.far == nil {
		c.far = map[int32]int64{}
	}
	c.far[us] += n
}

func (c *counts) merge(o *counts) {
	for p, page := range o.pages {
		if page == nil {
			continue
		}
		if c.pages[p] == nil {
			c.pages[p] = new([pageSize]int64)
		}
		for i, n := range page {
			c.pages[p][i] += n
		}
	}
	for us, n := range o.far {
		c.add(us, n)
		c.n -= n
	}
	c.n += o.n
}

func (c *counts) len() int64 { return c.n }

// each calls f with every value and its count in ascending order until f
// returns false.
func (c *counts) each(f func(us, n int64) bool) {
	for p, page := range c.pages {
		if page == nil {
			continue
		}
		for i, n := range page {
			if n > 0 && !f(int64(p*pageSize+i), n) {
				return
			}
		}
	}
	for _, us := range slices.Sorted(maps.Keys(c.far)) {
		if !f(int64(us), c.far[us]) {
			return
		}
	}
}

// nth returns the k-th smallest gap, from 1, in µs.
func (c *counts) nth(k int64) (v int64) {
	seen := int64(0)
	c.each(func(us, n int64) bool {
		seen += n
		v = us
		return seen < k
	})
	return v
}

// within returns how many gaps are at most limit µs.
func (c *counts) within(limit int64) int64 {
	var seen int64
	c.each(func(us, n int64) bool {
		if us > limit {
			return false
		}
		seen += n
		return true
	})
	return seen
}
