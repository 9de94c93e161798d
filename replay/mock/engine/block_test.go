package engine

import (
	"math/rand/v2"
	"testing"
	"time"
)

// prompt returns a request of k shared blocks and own tokens after them.
func prompt(shared, own int, salt int32) Request {
	var tokens []int32
	for i := range shared * BlockTokens {
		tokens = append(tokens, int32(i))
	}
	for i := range own {
		tokens = append(tokens, 1_000_000*salt+int32(i))
	}
	blocks, all := HashBlocks(nil, tokens)
	return Request{Prompt: int32(len(tokens)), Blocks: blocks, MaxTokens: 2, IgnoreEOS: true, Draw: all}
}

// TestPrefixHits: a prompt that shares k blocks with an earlier one has exactly
// 16k cached tokens, and one that is wholly cached still computes its last block.
func TestPrefixHits(t *testing.T) {
	for _, k := range []int{0, 1, 5, 20} {
		s := newSim(t, testLaw(), 1)
		s.submit(0, prompt(k, 40, 1))
		s.drain()
		id := s.submit(s.now, prompt(k, 40, 2))
		same := s.submit(s.now, prompt(k, 40, 2))
		whole := s.submit(s.now+time.Second, prompt(k+1, 0, 0))
		s.drain()
		if got := s.done[id].Cached; got != int32(k*BlockTokens) {
			t.Errorf("k=%d: %d cached tokens", k, got)
		}
		if got := s.done[same].Cached; got != int32((k+2)*BlockTokens) {
			t.Errorf("k=%d: %d cached tokens of the same prompt in the same step, want %d", k, got, (k+2)*BlockTokens)
		}
		if got := s.done[whole].Cached; got != int32(k*BlockTokens) {
			t.Errorf("k=%d: %d cached tokens of a block-aligned prompt", k, got)
		}
		st := s.engine.Stats()
		if want := int64(k+k+k+2) * BlockTokens; st.PrefixHits != want || st.PrefixQueries != st.PromptTokens {
			t.Errorf("k=%d: %d hits of %d queries, want %d of %d", k, st.PrefixHits, st.PrefixQueries, want, st.PromptTokens)
		}
	}
}

// TestPrefixSaves: cached tokens cost no prefill.
func TestPrefixSaves(t *testing.T) {
	s := newSim(t, testLaw(), 1)
	cold := s.submit(0, prompt(3, 10, 1))
	s.drain()
	warm := s.submit(time.Second, prompt(3, 10, 1))
	s.drain()
	c, w := s.first[cold]-s.arrived[cold], s.first[warm]-s.arrived[warm]
	if want := micros(48 * 100); c-w != want {
		t.Errorf("TTFT %v cold, %v warm, want %v apart", c, w, want)
	}
}

// TestEviction: the cache forgets what was used longest ago, ends of chains first.
func TestEviction(t *testing.T) {
	law := testLaw()
	law.Blocks, law.MaxModelLen, law.Watermark = 12, 100, 0
	s := newSim(t, law, 1)
	for _, salt := range []int32{1, 2} {
		s.submit(s.now, prompt(0, 80, salt)) // 5 blocks and one for the outputs
		s.drain()
	}
	s.submit(s.now, prompt(0, 62, 3)) // 2 blocks never used, 2 of salt 1
	s.drain()
	old := s.submit(s.now, prompt(0, 80, 1))
	s.drain()
	if got := s.done[old].Cached; got != 3*BlockTokens {
		t.Errorf("%d cached tokens of the oldest chain, want its first 3 blocks", got)
	}
}

func TestNoPrefixCache(t *testing.T) {
	law := testLaw()
	law.PrefixCache = false
	s := newSim(t, law, 1)
	for range 2 {
		id := s.submit(s.now, prompt(4, 10, 1))
		s.drain()
		if s.done[id].Cached != 0 {
			t.Error("hits without a cache")
		}
	}
}

// TestPoolInvariant: whatever happens, held and free blocks add up, every
// findable block has its hash, and all are free in the end.
func TestPoolInvariant(t *testing.T) {
	law := testLaw()
	law.Blocks, law.MaxModelLen = 24, 300
	for seed := range uint64(20) {
		s := newSim(t, law, seed)
		rng := rand.New(rand.NewPCG(seed, 1))
		b := s.engine.model.(*batcher)
		live := []ID{}
		for range 150 {
			r := prompt(rng.IntN(6), 1+rng.IntN(60), int32(rng.IntN(4)))
			r.MaxTokens = 1 + rng.Int32N(90)
			live = append(live, s.submit(s.now+time.Duration(rng.IntN(2e8)), r))
			if rng.IntN(4) == 0 {
				s.engine.Cancel(s.now, live[rng.IntN(len(live))])
			}
			checkPool(t, b)
		}
		s.drain()
		checkPool(t, b)
		if b.pool.free != law.Blocks {
			t.Fatalf("seed %d: %d of %d blocks free at the end", seed, b.pool.free, law.Blocks)
		}
	}
}

func checkPool(t *testing.T, b *batcher) {
	t.Helper()
	refs := make([]int32, len(b.pool.refs))
	for _, s := range b.running {
		for _, x := range s.blocks {
			refs[x]++
		}
	}
	free := 0
	for i, n := range refs {
		if n != b.pool.refs[i] {
			t.Fatalf("block %d is held %d times but counts %d", i, n, b.pool.refs[i])
		}
		if n == 0 {
			free++
		}
	}
	walked := 0
	for x := b.pool.next[len(refs)]; int(x) != len(refs); x = b.pool.next[x] {
		walked++
	}
	if free != b.pool.free || walked != free {
		t.Fatalf("%d blocks are free, %d counted, %d listed", free, b.pool.free, walked)
	}
	for h, x := range b.pool.byHash {
		if b.pool.hash[x] != h {
			t.Fatalf("block %d is found by %x but has %x", x, h, b.pool.hash[x])
		}
	}
}
