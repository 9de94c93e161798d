package block

import (
	"fmt"
	"iter"
	"math"
)

// maxBlocks is how many distinct blocks an int32 numbers from 0.
const maxBlocks = math.MaxInt32 + 1

// errTooMany is what every numbering answers when it runs out.
func errTooMany(limit int64) error {
	return fmt.Errorf("more than %d distinct blocks: use larger blocks or a shorter window", limit)
}

// counter gives out 0, 1, 2, … up to a limit.
type counter struct{ next, limit int64 }

func (c *counter) take() (int32, error) {
	if c.next >= c.limit {
		return 0, errTooMany(c.limit)
	}
	c.next++
	return int32(c.next - 1), nil
}

// Interner gives each digest a number, 0, 1, 2, … in the order of first sight.
// It takes the requests of a log in input order and belongs to one goroutine.
// Numbers are provisional: Renumber them once requests are in order of arrival.
type Interner struct {
	ids   map[Digest]int32
	count counter
}

// NewInterner returns an empty interner.
func NewInterner() *Interner {
	return &Interner{ids: map[Digest]int32{}, count: counter{limit: maxBlocks}}
}

// ID returns the number of d. It fails after 2^31 distinct numbers.
func (n *Interner) ID(d Digest) (int32, error) {
	if id, ok := n.ids[d]; ok {
		return id, nil
	}
	id, err := n.count.take()
	if err == nil {
		n.ids[d] = id
	}
	return id, err
}

// Fresh returns a number that no other block has or will have.
func (n *Interner) Fresh() (int32, error) { return n.count.take() }

// Append appends the block list of one prompt: the number of each digest, and a
// fresh one for the partial last block where tail is true.
func (n *Interner) Append(dst []int32, digests []Digest, tail bool) ([]int32, error) {
	for _, d := range digests {
		id, err := n.ID(d)
		if err != nil {
			return dst, err
		}
		dst = append(dst, id)
	}
	if !tail {
		return dst, nil
	}
	id, err := n.Fresh()
	if err != nil {
		return dst, err
	}
	return append(dst, id), nil
}

// Len returns how many numbers have been given out.
func (n *Interner) Len() int64 { return n.count.next }

// Renumber replaces the numbers in lists, in place, by 0, 1, 2, … in the order
// of first appearance, and returns how many there are. Lists come in order of
// arrival (slices.Values makes a sequence of a slice of lists).
func Renumber(lists iter.Seq[[]int32]) (distinct int64, err error) {
	return renumber(lists, maxBlocks)
}

func renumber(lists iter.Seq[[]int32], limit int64) (int64, error) {
	ids := map[int32]int32{}
	count := counter{limit: limit}
	for list := range lists {
		for i, old := range list {
			id, ok := ids[old]
			if !ok {
				var err error
				if id, err = count.take(); err != nil {
					return count.next, err
				}
				ids[old] = id
			}
			list[i] = id
		}
	}
	return count.next, nil
}

// Shared returns how many leading blocks a and b have in common.
func Shared(a, b []int32) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
