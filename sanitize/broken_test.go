package sanitize

import (
	"math/rand/v2"
	"slices"
	"testing"

	"reprise/trace/block"
)

// unseen is how many tokens of a stretch marks may not see, at both ends.
const unseen = 2 * (markWidth + markEvery)

// cacheShares is what a cache shares of prompts in a row, without end: the tokens
// of each that one before it begins with. The first is left out.
func cacheShares(prompts [][]int32) float64 {
	seen := map[uint64]bool{}
	sum := 0
	for i, p := range prompts {
		g, n, in := uint64(0), 0, true
		for _, t := range p {
			if g = scramble(g ^ uint64(uint32(t))); in && seen[g] {
				n++
			} else {
				in = false
			}
			seen[g] = true
		}
		if i > 0 {
			sum += n
		}
	}
	return float64(sum) / float64(len(prompts)-1)
}

// TestBrokenInARow tells fields in a row one by one, and of each what a cache
// shares more once it has moved behind all that prompts have in common, and
// those before it.
func TestBrokenInARow(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 1))
	head := randomTokens(rng, 5)
	for name, lengths := range map[string][]int{
		"a long stretch, a longer one": {150, 500},
		"the first one longest":        {900, 300},
		"three":                        {400, 250, 700},
		"little between two":           {90, 600},
	} {
		var parts [][]int32
		for _, n := range lengths {
			parts = append(parts, randomTokens(rng, n))
		}
		fields := make([][][]int32, 300)
		for i := range fields {
			for range parts {
				fields[i] = append(fields[i], randomTokens(rng, 1+rng.IntN(20)))
			}
		}
		prompt := func(i, moved int) []int32 {
			p := slices.Clone(head)
			for k, part := range parts {
				if k >= moved {
					p = append(p, fields[i][k]...)
				}
				p = append(p, part...)
			}
			return append(p, randomTokens(rng, 60)...)
		}
		got := diagnosed(block.Digest{4}, func(i int) []int32 { return prompt(i, 0) })
		if len(got) != len(parts) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		at, all := 5, 0.0
		for k, b := range got {
			really := [2]float64{}
			for j := range really {
				prompts := make([][]int32, len(fields))
				for i := range prompts {
					prompts[i] = prompt(i, k+j)
				}
				really[j] = cacheShares(prompts)
			}
			off := float64(k * unseen)
			if b.Behind != (k > 0) || b.Share != 1 || float64(b.Now) > really[0]+1 || float64(b.Now) < really[0]-off-1 ||
				float64(b.Would) > really[1]+1 || float64(b.Would) < really[1]-off-unseen-1 || k == 0 && b.At != 5 || int(b.At) > at+40 || int(b.At) < at-unseen {
				t.Errorf("%s: field %d at %d shares %.0f, then %.0f: %+v", name, k, at, really[0], really[1], b)
			}
			all += b.Share * float64(b.Would-b.Now)
			at += lengths[k] + 10
			if k == len(got)-1 && all > really[1]-5 {
				t.Errorf("%s: gains are %.0f, of %.0f in all", name, all, really[1]-5)
			}
		}
	}
	// A field that some of the prompts have behind the one that all have.
	a, b := randomTokens(rng, 400), randomTokens(rng, 600)
	got := diagnosed(block.Digest{4}, func(i int) []int32 {
		second := []int32{7}
		if i%3 > 0 {
			second = randomTokens(rng, 4)
		}
		return slices.Concat(head, []int32{int32(200_000 + i)}, a, second, b, randomTokens(rng, 40))
	})
	sum := 0.0
	for _, r := range got {
		if !r.Behind {
			sum += r.Share
		}
	}
	if want := float64(400)/3*2 + float64(1000)/3 + float64(600)/3*2; len(got) != 3 || sum != 1 || saves(got) > want || saves(got) < want-2*unseen {
		t.Errorf("%+v save %v, want %v", got, saves(got), want)
	}
}

// TestBrokenValues takes a field's values that a few prompts have in common for
// what they are: what a cache shares of the prompts in a row, and what it would.
func TestBrokenValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(22, 1))
	head, text := randomTokens(rng, 4), randomTokens(rng, 500)
	for name, c := range map[string]struct {
		value func(i int) []int32
		told  bool
	}{
		"75 names over 300":        {func(int) []int32 { return []int32{rng.Int32N(75)} }, true},
		"a clock of minutes":       {func(int) []int32 { m := rng.Int32N(120); return []int32{9 + m/60, m % 60} }, true},
		"a clock of ten minutes":   {func(int) []int32 { m := rng.Int32N(120); return []int32{9 + m/60, m / 10 % 6} }, false},
		"12 names":                 {func(i int) []int32 { return []int32{int32(i % 12)} }, false},
		"a name each":              {func(i int) []int32 { return []int32{int32(i)} }, true},
		"half of one, others rare": {func(i int) []int32 { return []int32{int32(i%2) * int32(i)} }, true},
	} {
		prompts, fixed := make([][]int32, 300), make([][]int32, 300)
		for i := range prompts {
			v, q := c.value(i), randomTokens(rng, 40)
			prompts[i], fixed[i] = slices.Concat(head, v, text, q), slices.Concat(head, text, v, q)
		}
		got := diagnosed(block.Digest{5}, func(i int) []int32 { return prompts[i] })
		if len(got) != map[bool]int{true: 1}[c.told] {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		if more := cacheShares(fixed) - cacheShares(prompts); c.told && (saves(got) > more+2 || saves(got) < more-unseen || got[0].At < 4 || got[0].At > 5) {
			t.Errorf("%s: %+v save %.0f, moved it is %.0f", name, got, saves(got), more)
		}
	}
}

// TestNotBroken knows prompts that have no field before what they share.
func TestNotBroken(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 1))
	head, text, other := randomTokens(rng, 14), randomTokens(rng, 800), randomTokens(rng, 600)
	chats := func(sessions int, system func(session int) []int32) func(i int) []int32 {
		history := make([][]int32, sessions)
		return func(i int) []int32 {
			k := rng.IntN(sessions)
			if history[k] == nil {
				history[k] = system(k)
			}
			history[k] = append(history[k], randomTokens(rng, 30+rng.IntN(200))...)
			return slices.Clone(history[k])
		}
	}
	same := func(int) []int32 { return slices.Concat(head, text) }
	for name, prompt := range map[string]func(i int) []int32{
		"chats":                       chats(60, same),
		"few chats":                   chats(5, same),
		"one chat":                    chats(1, same),
		"chats without a system text": chats(60, func(int) []int32 { return randomTokens(rng, 20) }),
		"long chats with an id of their own at the top": chats(20, func(k int) []int32 { return slices.Concat(head, []int32{int32(k)}, text) }),
		"chats of two applications":                     chats(60, func(k int) []int32 { return slices.Concat(head, []int32{int32(k % 2)}, [][]int32{text, other}[k%2]) }),
		"two applications": func(i int) []int32 {
			return slices.Concat(head, []int32{int32(i % 2)}, [][]int32{text, other}[i%2], randomTokens(rng, 90))
		},
		"two applications, one text": func(i int) []int32 {
			return slices.Concat([][]int32{head, other[:200]}[i%2], text, randomTokens(rng, 90))
		},
		"eight applications, one text": func(i int) []int32 {
			return slices.Concat(other[40*(i%8):40*(i%8)+40], text, randomTokens(rng, 90))
		},
	} {
		if got := diagnosed(block.Digest{6}, prompt); len(got) > 0 {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, n := range []int{leastPrompts - 1, leastPrompts} {
		s := newSampler()
		for i := range n {
			m := marks{rank: rank(int64(i), 0)}
			m.of(block.Digest{1}, slices.Concat(head, []int32{int32(i)}, text))
			s.add(&m)
		}
		if got := s.broken(); len(got) != n-leastPrompts+1 {
			t.Errorf("%d prompts: %+v", n, got)
		}
	}
}

// TestBrokenInALongLog counts what is shared now over the log, of which the
// sample has a few of each value's prompts or one.
func TestBrokenInALongLog(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 1))
	head, text := randomTokens(rng, 20), randomTokens(rng, 500)
	chain := block.NewChain([32]byte{5})
	for name, c := range map[string]struct {
		each int // prompts of a value
		chat bool
		told bool
	}{"an id each": {1, false, true}, "three prompts of a user": {3, false, true}, "thirty of a user": {30, false, false}, "chats of ten turns": {10, true, false}} {
		s := newSampler()
		var rows []row
		var history []int32
		shared, would := 0, 0
		for i := range 6000 {
			if i%c.each == 0 || !c.chat {
				history = slices.Concat(head, []int32{int32(200_000 + i/c.each)}, text)
			}
			history = append(history, randomTokens(rng, 48)...)
			if i%c.each > 0 {
				shared += 521
			} else {
				shared += 20
			}
			would += 520
			m := marks{rank: rank(int64(i), 0)}
			m.of(block.Digest{}, history)
			var r row
			for _, d := range chain.Digests(nil, block.Digest{}, history[:len(history)/16*16], 16) {
				r.digests = append(r.digests, d[:]...)
			}
			m.blocks = r.digests[:min(len(r.digests), blockBytes*markBlocks)]
			s.add(&m)
			rows = append(rows, r)
		}
		passed := false
		err := s.look(16, func(do func(*row) error) error {
			passed = true
			for i := range rows {
				if err := do(&rows[i]); err != nil {
					return err
				}
			}
			return nil
		})
		got := s.broken()
		if err != nil || !passed || (len(got) == 1) != c.told || len(got) > 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		more := float64(would-shared) / 6000
		if c.told && (saves(got) > more*1.1 || saves(got) < more*0.85-unseen) {
			t.Errorf("%s: %+v save %.0f, moved it is %.0f", name, got, saves(got), more)
		}
	}
}
