package trace

import (
	"math/rand/v2"
	"testing"
)

// Hits says what a plain set of numbers says, whatever the numbers are.
func TestHitsIsASet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		h, seen := NewHits(), map[int32]bool{}
		limit := []int64{10, 1000, 1 << 20, 1 << 31}[rng.IntN(4)]
		for range 100 {
			list := make([]int32, rng.IntN(50))
			for i := range list {
				list[i] = int32(rng.Int64N(limit))
				if rng.IntN(20) == 0 {
					list[i] = -list[i]
				}
			}
			want := 0
			for want < len(list) && seen[list[want]] {
				want++
			}
			for _, b := range list[want:] {
				seen[b] = true
			}
			if got := h.Add(list); got != want {
				t.Fatalf("%d leading blocks, want %d of %v", got, want, list)
			}
		}
		if len(h.dense) > 5000+2048 {
			t.Fatalf("%d words for %d numbers", len(h.dense), len(seen))
		}
	}
}
