package block

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// tree returns token lists that branch off one another at random points, as
// the prompts of sessions, templates and retries do; some are equal.
func tree(rng *rand.Rand, n int) [][]int32 {
	var lists [][]int32
	for range n {
		var ids []int32
		if len(lists) > 0 && rng.IntN(5) > 0 {
			old := lists[rng.IntN(len(lists))]
			cut := rng.IntN(len(old) + 1)
			switch rng.IntN(4) {
			case 0:
				cut = len(old) // a longer turn
			case 1:
				cut -= cut % 64 // at the edge of a block
			}
			ids = slices.Clone(old[:cut])
		}
		if rng.IntN(10) > 0 {
			for range rng.IntN(1500) {
				ids = append(ids, int32(rng.IntN(3))) // few ids: accidental agreement too
			}
		}
		lists = append(lists, ids)
	}
	return lists
}

// number runs lists through chain and interner in the order given by arrive,
// then renumbers in order of arrival.
func number(t *testing.T, lists [][]int32, size int, input []int) [][]int32 {
	t.Helper()
	c := NewChain(NewKey())
	root := c.Root(Scope{Model: "m"})
	in := NewInterner()
	out := make([][]int32, len(lists))
	for _, i := range input {
		digests := c.Digests(nil, root, lists[i], size)
		var err error
		if out[i], err = in.Append(nil, digests, len(lists[i])%size > 0); err != nil {
			t.Fatal(err)
		}
	}
	n, err := Renumber(slices.Values(out))
	if err != nil || n != in.Len() {
		t.Fatalf("%d distinct, interner %d, %v", n, in.Len(), err)
	}
	return out
}

// TestSharedBlocksAreKept is the promise of the package: for any two prompts
// the numbers share as many leading blocks as the tokens do.
func TestSharedBlocksAreKept(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	lists := tree(rng, 150)
	for _, size := range []int{1, 16, 64, 512} {
		out := number(t, lists, size, rng.Perm(len(lists)))
		for i := range lists {
			if want := (len(lists[i]) + size - 1) / size; len(out[i]) != want {
				t.Fatalf("size %d: %d blocks, want %d", size, len(out[i]), want)
			}
			for j := range i {
				if got, want := Shared(out[i], out[j]), Shared(lists[i], lists[j])/size; got != want {
					t.Fatalf("size %d: %d blocks shared, want %d", size, got, want)
				}
			}
		}
		firstAppearance(t, out)
	}
}

// firstAppearance checks that numbers appear as 0, 1, 2, ….
func firstAppearance(t *testing.T, lists [][]int32) {
	t.Helper()
	next := int32(0)
	for _, list := range lists {
		for _, id := range list {
			if id > next || id < 0 {
				t.Fatalf("%d appears before %d", id, next)
			}
			if id == next {
				next++
			}
		}
	}
}

// TestNumbersDoNotDependOnKeyOrInput: other keys and another input order give
// the same numbers once they are in order of arrival.
func TestNumbersDoNotDependOnKeyOrInput(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	lists := tree(rng, 60)
	a := number(t, lists, 16, rng.Perm(len(lists)))
	b := number(t, lists, 16, rng.Perm(len(lists)))
	for i := range a {
		if !slices.Equal(a[i], b[i]) {
			t.Fatalf("list %d: %v and %v", i, a[i], b[i])
		}
	}
}

// TestCoarsen compares coarsened lists with those that hashing in large blocks
// gives.
func TestCoarsen(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	lists := tree(rng, 120)
	order := rng.Perm(len(lists))
	for _, c := range [][2]int{{16, 1}, {16, 2}, {16, 32}, {1, 16}, {64, 8}} {
		fine := number(t, lists, c[0], order)
		want := number(t, lists, c[0]*c[1], order)
		coarse, err := NewCoarsener(c[1], true)
		if err != nil {
			t.Fatal(err)
		}
		for i := range fine {
			got, err := coarse.Append(nil, fine[i])
			if err != nil || !slices.Equal(got, want[i]) {
				t.Fatalf("%d·%d: list %d is %v, want %v (%v)", c[0], c[1], i, got, want[i], err)
			}
		}
	}
}

func TestCoarsenTails(t *testing.T) {
	for fresh, want := range map[bool][][]int32{
		true:  {{0, 1}, {0, 2}, {3}, {0}},
		false: {{0, 1}, {0, 1}, {2}, {0}},
	} {
		c, err := NewCoarsener(2, fresh)
		if err != nil {
			t.Fatal(err)
		}
		for i, list := range [][]int32{{5, 6, 7}, {5, 6, 7}, {8}, {5, 6}} {
			if got, err := c.Append(nil, list); err != nil || !slices.Equal(got, want[i]) {
				t.Errorf("fresh %v: %v is %v, want %v (%v)", fresh, list, got, want[i], err)
			}
		}
	}
	if _, err := NewCoarsener(0, true); err == nil {
		t.Error("factor 0: no error")
	}
}

func TestRenumber(t *testing.T) {
	lists := [][]int32{{9, 4, -7}, {}, {9, 4, 2}, nil, {2147483647, -2147483648, 9}}
	n, err := Renumber(slices.Values(lists))
	want := [][]int32{{0, 1, 2}, {}, {0, 1, 3}, nil, {4, 5, 0}}
	for i := range lists {
		if !slices.Equal(lists[i], want[i]) {
			t.Errorf("list %d is %v, want %v", i, lists[i], want[i])
		}
	}
	if n != 6 || err != nil {
		t.Errorf("%d distinct, %v", n, err)
	}
}

// TestTooManyBlocks lowers the limit of 2^31.
func TestTooManyBlocks(t *testing.T) {
	if maxBlocks != 1<<31 {
		t.Errorf("limit %d", int64(maxBlocks))
	}
	in := NewInterner()
	in.count.limit = 3
	ids, err := in.Append(nil, []Digest{{1}, {2}, {1}}, true)
	if err != nil || !slices.Equal(ids, []int32{0, 1, 0, 2}) {
		t.Fatalf("%v, %v", ids, err)
	}
	if _, err := in.Append(nil, []Digest{{1}, {3}}, false); err == nil {
		t.Error("fourth digest: no error")
	}
	if _, err := in.Append(nil, []Digest{{1}}, true); err == nil {
		t.Error("fourth number, a tail: no error")
	}
	if _, err := renumber(slices.Values([][]int32{{1, 2}, {3}}), 2); err == nil {
		t.Error("third distinct number: no error")
	}
	c, _ := NewCoarsener(1, true)
	c.count.limit = 1
	if _, err := c.Append(nil, []int32{1, 2}); err == nil {
		t.Error("second coarse block: no error")
	}
	last := counter{next: maxBlocks - 1, limit: maxBlocks}
	if id, err := last.take(); id != 1<<31-1 || err != nil {
		t.Errorf("the last number is %d, %v", id, err)
	}
}

func TestShared(t *testing.T) {
	for _, c := range []struct {
		a, b []int32
		want int
	}{{nil, nil, 0}, {[]int32{1}, nil, 0}, {[]int32{1, 2, 3}, []int32{1, 2}, 2}, {[]int32{1, 2, 3}, []int32{1, 5, 3}, 1}, {[]int32{1}, []int32{2}, 0}} {
		if got := Shared(c.a, c.b); got != c.want {
			t.Errorf("%v and %v share %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// FuzzShared splits bytes into two token lists at every block size.
func FuzzShared(f *testing.F) {
	f.Add([]byte("aaaaabbb"), []byte("aaaaaccc"), uint8(2))
	f.Fuzz(func(t *testing.T, a, b []byte, size uint8) {
		n := max(int(size), 1)
		lists := [][]int32{widen(a), widen(b)}
		out := number(t, lists, n, []int{1, 0})
		if got, want := Shared(out[0], out[1]), Shared(lists[0], lists[1])/n; got != want {
			t.Fatalf("%d blocks of %d shared, want %d", got, n, want)
		}
	})
}

func widen(b []byte) []int32 {
	var out []int32
	for _, c := range b {
		out = append(out, int32(c))
	}
	return out
}
