package sanitize

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"reprise/trace"
	"reprise/trace/block"
)

func randomTokens(rng *rand.Rand, n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = rng.Int32N(100_000)
	}
	return out
}

// TestWinnow holds marks to what winnowing promises: a stretch of
// markWidth+markEvery-1 tokens has a mark, and the same stretch the same marks,
// wherever it stands and whatever the key.
func TestWinnow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		stretch := randomTokens(rng, markWidth+markEvery-1+rng.IntN(300))
		if rng.IntN(4) == 0 { // repeated text
			for i := range stretch {
				stretch[i] = int32(i % (1 + rng.IntN(3)))
			}
		}
		var found [2][]mark
		for k := range found {
			before := rng.IntN(100)
			var m marks
			m.of(block.Digest{7}, slices.Concat(randomTokens(rng, before), stretch, randomTokens(rng, rng.IntN(100))))
			for _, w := range m.windows {
				if at := int(w.at) - before; at >= markEvery-1 && at+markWidth+markEvery-1 <= len(stretch) {
					found[k] = append(found[k], mark{w.digest, int32(at)})
				}
			}
		}
		if !slices.Equal(found[0], found[1]) {
			t.Fatalf("a stretch of %d has marks %v and %v", len(stretch), found[0], found[1])
		}
	}
	for n := 2 * (markWidth + markEvery); n < 300; n += 7 { // a changed token changes the links over it, and none but those near it
		tokens := randomTokens(rng, n)
		k := rng.IntN(n)
		other := slices.Clone(tokens)
		other[k] = 200_000
		var a, b marks
		a.of(block.Digest{1}, tokens)
		b.of(block.Digest{1}, other)
		for i, l := range a.links {
			if i > 0 && l.from >= a.links[i-1].to {
				t.Fatal("links have gaps")
			}
			over, near := int(l.from) <= k && k < int(l.to), int(l.from) < k+2*markEvery+markWidth && k < int(l.to)+2*markEvery+markWidth
			if kept := slices.Contains(b.links, l); kept && over || !kept && !near {
				t.Errorf("token %d of %d changed: link %d-%d kept %v", k, n, l.from, l.to, kept)
			}
		}
	}
	for n := markWidth + markEvery - 1; n < 100; n++ {
		var m, other marks
		tokens := randomTokens(rng, n)
		m.of(block.Digest{1}, tokens)
		other.of(block.Digest{2}, tokens)
		if len(m.windows) == 0 {
			t.Fatalf("%d tokens have no mark", n)
		}
		for i := range m.windows {
			if m.windows[i].at != other.windows[i].at || m.windows[i].digest == other.windows[i].digest {
				t.Fatal("the key chooses places, or does not show in digests")
			}
		}
	}
}

// diagnosed is the diagnosis of 300 prompts.
func diagnosed(root block.Digest, prompt func(i int) []int32) []trace.BrokenPrefix {
	s := newSampler()
	for i := range 300 {
		m := marks{rank: rank(int64(i), 0)}
		m.of(root, prompt(i))
		s.add(&m)
	}
	return s.broken()
}

// TestBroken knows where prompts part and what they have in common.
func TestBroken(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	head, block2000 := randomTokens(rng, 14), randomTokens(rng, 2000)
	dated := func(i int) []int32 {
		return slices.Concat(head, []int32{int32(200_000 + i)}, block2000, randomTokens(rng, 300))
	}
	for _, root := range []block.Digest{{1}, {9, 9}} {
		all := diagnosed(root, dated)
		if len(all) != 1 {
			t.Fatalf("%+v is told", all)
		}
		if b := all[0]; b.At != 14 || b.Now != 14 || b.Share != 1 || b.Would < 14+1930 || b.Would > 14+2000 || b.Sampled != 300 {
			t.Errorf("%+v", b)
		}
		if half := diagnosed(root, func(i int) []int32 {
			if i%2 == 0 {
				return randomTokens(rng, 500)
			}
			return dated(i)
		}); len(half) != 1 || half[0].Share != 0.5 || half[0].At != 14 || half[0].Now != 14 {
			t.Errorf("of half the prompts: %+v", half)
		}
	}
	for name, prompt := range map[string]func(i int) []int32{
		"healthy": func(int) []int32 { return slices.Concat(head, block2000, randomTokens(rng, 300)) },
		"a date of a day": func(i int) []int32 {
			return slices.Concat(head, []int32{int32(i / 150)}, block2000, randomTokens(rng, 300))
		},
		"nothing in common":   func(int) []int32 { return randomTokens(rng, 2000) },
		"long content before": func(int) []int32 { return slices.Concat(head, randomTokens(rng, 900), block2000) },
		"little in common": func(i int) []int32 {
			return slices.Concat(head, []int32{int32(i)}, block2000[:80], randomTokens(rng, 300))
		},
		"short": func(i int) []int32 { return []int32{int32(i)} },
		"empty": func(int) []int32 { return nil },
	} {
		if b := diagnosed(block.Digest{3}, prompt); len(b) > 0 {
			t.Errorf("%s: %+v", name, b)
		}
	}
}

// TestBrokenSeveral tells fields of different prompts apart, by their stretches
// and by their places, and counts no prompt twice.
func TestBrokenSeveral(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	headA, headB, headC := randomTokens(rng, 14), randomTokens(rng, 30), randomTokens(rng, 47)
	stretchA, stretchB := randomTokens(rng, 2000), randomTokens(rng, 800)
	stretchMixed := slices.Concat(stretchA[:300], stretchB[:600]) // the least part of it is of A
	with := func(head []int32, field int, stretch []int32) []int32 {
		return slices.Concat(head, randomTokens(rng, field), stretch, randomTokens(rng, 200))
	}
	dated := func(i int, head, stretch []int32) []int32 { // day, hour, minute and second; one hour has a fifth of all
		hour := int32(i % 5)
		return slices.Concat(head, []int32{7, hour, int32(i % 60), int32(i)}, stretch, randomTokens(rng, 200))
	}
	type want struct {
		at, gain int64
		share    float64
	}
	for name, c := range map[string]struct {
		prompt func(i int) []int32
		want   []want
	}{
		"a date in one application's prompts, an id in another's": {func(i int) []int32 {
			if i%5 < 2 {
				return with(headA, 6, stretchA)
			}
			return with(headB, 12, stretchB)
		}, []want{{14, 2000, 0.4}, {30, 800, 0.6}}},
		"the same instructions behind two heads": {func(i int) []int32 {
			if i%10 < 3 {
				return with(headA, 6, stretchA)
			}
			return with(headC, 3, stretchA)
		}, []want{{47, 2000, 0.7}, {14, 2000, 0.3}}},
		"three applications, one of them whole": {func(i int) []int32 {
			switch {
			case i%4 == 0:
				return with(headA, 1, stretchA)
			case i%4 == 1:
				return with(headB, 1, stretchB)
			}
			return slices.Concat(headC, stretchMixed, randomTokens(rng, 100))
		}, []want{{14, 2000, 0.25}, {30, 800, 0.25}}},
		"a boilerplate in two instruction blocks": {func(i int) []int32 {
			if i%2 == 0 {
				return with(headA, 4, stretchB)
			}
			return with(headB, 4, stretchMixed)
		}, []want{{30, 900, 0.5}, {14, 800, 0.5}}},
		"a long head before the date":           {func(int) []int32 { return with(stretchB[:640], 5, stretchA) }, []want{{640, 2000, 1}}},
		"a question before a few closing words": {func(int) []int32 { return with(stretchA, 20, stretchB[:200]) }, nil},
		"a date whose hours many share":         {func(i int) []int32 { return dated(i, headA, stretchA) }, []want{{15, 1999, 1}}},
		"too few of one": {func(i int) []int32 {
			if i%20 == 0 {
				return with(headB, 4, stretchB)
			}
			return with(headA, 4, stretchA)
		}, []want{{14, 2000, 0.95}}},
	} {
		got := diagnosed(block.Digest{8}, c.prompt)
		if len(got) != len(c.want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		sum := 0.0
		for k, b := range got {
			w := c.want[k]
			sum += b.Share
			if gain := b.Would - b.Now; b.At < w.at || b.At > w.at+1 || math.Abs(b.Share-w.share) > 1e-9 || gain > w.gain || gain < w.gain-2*(markWidth+markEvery) {
				t.Errorf("%s: %+v, want %+v", name, b, w)
			}
		}
		if sum > 1+1e-9 {
			t.Errorf("%s: prompts count twice: %+v", name, got)
		}
	}
}

// TestBrokenOfTwoAdapters: the same instructions behind the same field, for two
// adapters, are told once; two of one adapter are two, and so are those of which
// one has its tools before the field.
func TestBrokenOfTwoAdapters(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	head, other, stretch, second, tools := randomTokens(rng, 14), randomTokens(rng, 14), randomTokens(rng, 2000), randomTokens(rng, 2000), randomTokens(rng, 300)
	for name, c := range map[string]struct {
		prompt func(i int) (adapter byte, tokens []int32)
		want   []float64 // shares
	}{
		"two adapters": {func(i int) (byte, []int32) {
			return byte(i % 3 / 2), slices.Concat(head, randomTokens(rng, 3), stretch, randomTokens(rng, 50))
		}, []float64{1}},
		"one adapter": {func(i int) (byte, []int32) {
			if i%3 == 0 {
				return 0, slices.Concat(other, randomTokens(rng, 3), second, randomTokens(rng, 50))
			}
			return 0, slices.Concat(head, randomTokens(rng, 3), stretch, randomTokens(rng, 50))
		}, []float64{2. / 3, 1. / 3}},
		"tools before the field": {func(i int) (byte, []int32) {
			if i%3 == 0 {
				return 1, slices.Concat(tools, head, randomTokens(rng, 3), stretch, randomTokens(rng, 50))
			}
			return 0, slices.Concat(head, randomTokens(rng, 3), stretch, randomTokens(rng, 50))
		}, []float64{2. / 3, 1. / 3}},
	} {
		s := newSampler()
		for i := range 300 {
			m := marks{rank: rank(int64(i), 0)}
			adapter, p := c.prompt(i)
			m.of(block.Digest{3, adapter}, p)
			s.add(&m)
		}
		var got []float64
		for _, b := range s.broken() {
			got = append(got, b.Share)
			if gain := b.Would - b.Now; gain < 1900 || gain > 2000 {
				t.Errorf("%s: %+v", name, b)
			}
		}
		if !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }) {
			t.Errorf("%s: shares %v, want %v", name, got, c.want)
		}
	}
}

// TestSampler is bounded, takes late prompts as it takes early ones, and the same
// whatever the order.
func TestSampler(t *testing.T) {
	var first []marks
	for turn := range 2 {
		s := newSampler()
		for i := range 20_000 {
			row := i
			if turn == 1 {
				row = 19_999 - i
			}
			if r := rank(int64(row), 0); s.wants(r) {
				s.add(&marks{rank: r, tokens: 1, lead: []uint64{uint64(row)}})
			} else {
				s.add(&marks{rank: r, tokens: 1})
			}
		}
		late := 0
		for _, m := range s.kept {
			if m.lead[0] >= 10_000 {
				late++
			}
		}
		if len(s.kept) != sampleMarks || s.seen != 20_000 || late < sampleMarks*2/5 || late > sampleMarks*3/5 {
			t.Errorf("%d kept of %d, %d of the second half", len(s.kept), s.seen, late)
		}
		if turn == 0 {
			first = s.kept
		} else if !reflect.DeepEqual(first, s.kept) {
			t.Error("the sample hangs on the order")
		}
	}
}

// BenchmarkMarks is what a prompt of 4096 tokens costs.
func BenchmarkMarks(b *testing.B) {
	tokens := randomTokens(rand.New(rand.NewPCG(1, 1)), markTokens)
	var m marks
	for b.Loop() {
		m.of(block.Digest{1}, tokens)
	}
}
