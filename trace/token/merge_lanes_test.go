package token

import (
	"math/rand/v2"
	"testing"
)

// TestLanesMatchHeap merges pieces together, every whole token and random ones,
// in queues of all lengths, and compares each with the heap.
func TestLanesMatchHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 62))
	for _, name := range Names() {
		tok, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		v := rankVocab(tok)
		m := &merger{vocab: v}
		var pieces []string
		for id := range v.size() {
			pieces = append(pieces, string(v.token(id)))
		}
		for range 20000 {
			piece := runPiece(rng, v)
			pieces = append(pieces, piece[:min(len(piece), 1+rng.IntN(lanePiece+3))])
		}
		for len(pieces) > 0 {
			n := min(1+rng.IntN(40), len(pieces))
			var text []byte
			var queue []miss
			for _, piece := range pieces[:n] {
				queue = append(queue, miss{start: uint32(len(text)), size: uint32(len(piece))})
				text = append(text, piece...)
			}
			ids := m.mergeMisses(nil, text, queue)
			for i, q := range queue {
				if got, want := ids[q.ids:][:q.n], m.encodeHeap(nil, pieces[i]); !equal(got, want) {
					t.Fatalf("%s: %q in a lane is %v, by the heap %v", name, pieces[i], got, want)
				}
			}
			pieces = pieces[n:]
		}
	}
}

// TestPairTable finds each pair and no other.
func TestPairTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 64))
	for _, n := range []int{0, 1, 2, 100, 5000, 199742} {
		want := map[uint64]int32{}
		var pairs []uint64
		for len(pairs) < n {
			key := pairKey(rng.Int32N(1<<idBits), rng.Int32N(1<<idBits))
			if _, twice := want[key]; !twice {
				want[key] = rng.Int32N(1 << idBits)
				pairs = append(pairs, key<<idBits|uint64(want[key]))
			}
		}
		table, err := newPairTable(pairs)
		if err != nil {
			t.Fatal(err)
		}
		for key, id := range want {
			left, right := int32(key>>idBits), int32(key&(1<<idBits-1))
			if got := table.merge(left, right); got != id {
				t.Fatalf("%d pairs: %d and %d are %d, want %d", n, left, right, got, id)
			}
			if _, known := want[pairKey(right, left)]; !known && table.merge(right, left) != noMerge {
				t.Fatalf("%d pairs: %d and %d merge", n, right, left)
			}
		}
	}
	if _, err := newPairTable([]uint64{pairKey(1, 2)<<idBits | 7, pairKey(1, 2)<<idBits | 8}); err == nil {
		t.Error("no error for one pair of two results")
	}
}
