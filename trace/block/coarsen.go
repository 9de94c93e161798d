package block

import "fmt"

// Coarsener derives lists of larger blocks from lists of small ones, numbered by
// first appearance in the order in which it gets them. It belongs to one goroutine.
//
// Because blocks are chained, the number of the last small block inside a large
// one stands for all tokens before its end, so equality is exact: the lists are
// those that hashing in large blocks would have given.
type Coarsener struct {
	factor int
	ids    map[int32]int32
	count  counter
	fresh  bool
}

// NewCoarsener returns a coarsener whose blocks hold factor small ones: 32 makes
// 512 tokens of 16. Where the last small blocks of a prompt do not fill a large
// one, that one gets a number nothing shares if freshTail (tail: fresh), else
// the one of its last small block (tail: as_given).
func NewCoarsener(factor int, freshTail bool) (*Coarsener, error) {
	if factor < 1 {
		return nil, fmt.Errorf("coarser blocks: factor %d is below 1", factor)
	}
	return &Coarsener{factor: factor, ids: map[int32]int32{}, count: counter{limit: maxBlocks}, fresh: freshTail}, nil
}

// Append appends the large blocks of one prompt's small ones to dst. It fails
// after 2^31 distinct numbers.
func (c *Coarsener) Append(dst, blocks []int32) ([]int32, error) {
	for len(blocks) > 0 {
		n := min(c.factor, len(blocks))
		id, err := c.number(blocks[n-1], c.fresh && n < c.factor)
		if err != nil {
			return dst, err
		}
		dst = append(dst, id)
		blocks = blocks[n:]
	}
	return dst, nil
}

func (c *Coarsener) number(last int32, fresh bool) (int32, error) {
	if id, ok := c.ids[last]; ok && !fresh {
		return id, nil
	}
	id, err := c.count.take()
	if err == nil && !fresh {
		c.ids[last] = id
	}
	return id, err
}
