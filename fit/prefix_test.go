package fit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// prompts draws n block lists from a trie: each starts at a root or continues a
// part of an earlier list, and adds blocks of its own.
func prompts(r *rand.Rand, n, longest int) (blocks [][]int32, input []int32) {
	next := int32(0)
	for range n {
		var list []int32
		if len(blocks) > 0 && r.IntN(4) > 0 {
			from := blocks[len(blocks)-1-r.IntN(min(len(blocks), 50))]
			list = slices.Clone(from[:r.IntN(len(from)+1)])
		}
		for range r.IntN(longest) {
			list = append(list, next)
			next++
		}
		blocks = append(blocks, list)
		tokens := int32(len(list)) * 16
		input = append(input, tokens-min(tokens, r.Int32N(16)))
	}
	return blocks, input
}

// bruteLRU is a cache of c blocks as a list, most recent first.
func bruteLRU(blocks [][]int32, input []int32, c int) (hitBlocks, hitTokens int64) {
	var cache []int32
	for i, list := range blocks {
		h := 0
		for h < len(list) && slices.Contains(cache, list[h]) {
			h++
		}
		hitBlocks += int64(h)
		hitTokens += int64(min(int32(16*h), input[i]))
		for k := len(list) - 1; k >= 0; k-- {
			if j := slices.Index(cache, list[k]); j >= 0 {
				cache = slices.Delete(cache, j, j+1)
			}
			cache = slices.Insert(cache, 0, list[k])
		}
		cache = cache[:min(len(cache), c)]
	}
	return hitBlocks, hitTokens
}

func TestLRUAgainstList(t *testing.T) {
	for seed := range uint64(4) {
		blocks, input := prompts(rand.New(rand.NewPCG(seed, 1)), 300, 8)
		r, err := StackDistances(blocks, input, 16)
		check(t, err)
		caps := []int64{5000, 0, 1, 16, 50, 400, 1600, 1 << 40}
		for i, p := range r.LRUCurve(caps) {
			b, tok := bruteLRU(blocks, input, int(min(caps[i]/16, 1<<20)))
			if p.HitBlocks != b || p.HitTokens != tok || p.CapacityTokens != caps[i] {
				t.Errorf("seed %d, %d tokens: %d blocks and %d tokens hit, a list says %d and %d", seed, caps[i], p.HitBlocks, p.HitTokens, b, tok)
			}
		}
		inf, err := Prefix(blocks, input, 16)
		check(t, err)
		for i, h := range inf.Hits {
			if (h == 0) != (r.Distance[i] < 0) || r.RootDistance[i] > r.Distance[i] {
				t.Fatalf("request %d hits %d blocks at distance %d, root %d", i, h, r.Distance[i], r.RootDistance[i])
			}
		}
	}
}

// TestRecency checks the order of touches against a list over many times the
// room it starts with, so that it compacts.
func TestRecency(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	const n = 3000
	s := newRecency(n)
	var order []int32 // most recent last
	for range 2000 {
		list := make([]int32, r.IntN(30))
		for i := range list {
			list[i] = r.Int32N(n)
		}
		s.touch(list)
		for k := len(list) - 1; k >= 0; k-- {
			if slices.Contains(list[k+1:], list[k]) {
				continue // named twice: the later place counts
			}
			if j := slices.Index(order, list[k]); j >= 0 {
				order = slices.Delete(order, j, j+1)
			}
			order = append(order, list[k])
		}
		id := order[max(r.IntN(len(order)+1)-1, 0)]
		if got, want := int(s.above(s.pos[id])), len(order)-1-slices.Index(order, id); got != want {
			t.Fatalf("%d blocks above, want %d", got, want)
		}
	}
}

func TestPrefixIdentityAndNumbers(t *testing.T) {
	blocks, input := prompts(rand.New(rand.NewPCG(9, 1)), 500, 6)
	p, err := Prefix(blocks, input, 16)
	check(t, err)
	if p.Inconsistent != 0 || p.HitBlocks != p.TotalBlocks-p.DistinctBlocks {
		t.Errorf("hits %d, total %d, distinct %d, inconsistent %d", p.HitBlocks, p.TotalBlocks, p.DistinctBlocks, p.Inconsistent)
	}
	odd := make([][]int32, len(blocks)) // the same chains by other numbers
	for i, list := range blocks {
		for _, id := range list {
			odd[i] = append(odd[i], 1<<30-3*id)
		}
	}
	q, err := Prefix(odd, input, 16)
	check(t, err)
	if !slices.Equal(p.Hits, q.Hits) || p.HitTokens != q.HitTokens || p.DistinctBlocks != q.DistinctBlocks {
		t.Error("other block numbers change the hits")
	}
	unchained, err := Prefix([][]int32{{0, 1}, {2, 1}}, []int32{32, 32}, 16)
	check(t, err)
	if unchained.Inconsistent != 1 {
		t.Error("a block after another predecessor is not noticed")
	}
}

func TestPrefixRefuses(t *testing.T) {
	for _, c := range []struct {
		blocks [][]int32
		input  []int32
		size   int
	}{{[][]int32{{0}}, nil, 16}, {[][]int32{{0}}, []int32{1}, 0}, {[][]int32{{0}}, []int32{-1}, 16}} {
		if _, err := Prefix(c.blocks, c.input, c.size); err == nil {
			t.Errorf("Prefix takes %+v", c)
		}
		if _, err := StackDistances(c.blocks, c.input, c.size); err == nil {
			t.Errorf("StackDistances takes %+v", c)
		}
	}
	p, err := Prefix(nil, nil, 16)
	if err != nil || p.AnyHit.OK() || p.Rates()[0].Value.OK() {
		t.Errorf("no requests give rates: %+v, %v", p, err)
	}
}

func TestRoots(t *testing.T) {
	var blocks [][]int32
	next := int32(100)
	add := func(n int, root ...int32) {
		for range n {
			next++
			blocks = append(blocks, append(slices.Clone(root), next))
		}
	}
	add(50, 0, 1)       // half begin with two blocks
	add(30, 0, 1, 2, 3) // and 30 of those go on with two more
	add(15, 7, 8, 9)
	add(5)
	got := Roots(blocks, 16, 0.1)
	want := []Root{{32, 80, 0.8}, {64, 30, 0.3}, {48, 15, 0.15}}
	if !slices.Equal(got, want) {
		t.Errorf("roots %+v, want %+v", got, want)
	}
	s := load(t, "mooncake_conversation")
	if r := Roots(s.blocks, 512, 0.5); !slices.Equal(r, []Root{{512, 12031, 1}}) {
		t.Errorf("the root of Mooncake-conversation is %+v, want one block of 512 in all", r)
	}
}

func BenchmarkPrefix(b *testing.B) {
	blocks, input := prompts(rand.New(rand.NewPCG(1, 1)), 1_000_000, 20)
	var n int
	for _, l := range blocks {
		n += len(l)
	}
	b.Run("infinite", func(b *testing.B) {
		for b.Loop() {
			if _, err := Prefix(blocks, input, 16); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(n), "blocks")
	})
	b.Run("stack", func(b *testing.B) {
		for b.Loop() {
			if _, err := StackDistances(blocks, input, 16); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("roots", func(b *testing.B) {
		for b.Loop() {
			Roots(blocks, 16, 0.01)
		}
	})
}
