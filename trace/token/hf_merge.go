package token

// mergeTable finds what two neighbouring tokens become: open addressing, three
// arrays so that a probe that fails touches one line. HuggingFace lists of
// merges are in any order and may reach one token by several pairs, so rank and
// result are both kept.
type mergeTable struct {
	keys []uint64 // left<<32 | right, plus one; 0 is empty
	vals []uint64 // rank<<32 | result
	used int
}

// neverMerge is larger than every value of a mergeTable.
const neverMerge = ^uint64(0)

func newMergeTable(n int) *mergeTable {
	t := new(mergeTable)
	t.resize(n)
	return t
}

func (t *mergeTable) resize(n int) {
	size := 16
	for size < 2*n {
		size *= 2
	}
	keys, vals := t.keys, t.vals
	t.keys, t.vals, t.used = make([]uint64, size), make([]uint64, size), 0
	for i, k := range keys {
		if k != 0 {
			t.set(k, vals[i])
		}
	}
}

func (t *mergeTable) slot(key uint64) int {
	h := key * 0x9E3779B97F4A7C15
	i := int((h ^ h>>32) & uint64(len(t.keys)-1))
	for t.keys[i] != 0 && t.keys[i] != key {
		i = (i + 1) & (len(t.keys) - 1)
	}
	return i
}

func (t *mergeTable) set(key, val uint64) {
	i := t.slot(key)
	if t.keys[i] == 0 {
		t.used++
	}
	t.keys[i], t.vals[i] = key, val
}

// put sets what left and right become; of two entries for a pair the last
// holds, as in the reference.
func (t *mergeTable) put(left, right int32, rank uint32, result int32) {
	if 2*(t.used+1) > len(t.keys) {
		t.resize(2 * t.used)
	}
	t.set((uint64(uint32(left))<<32|uint64(uint32(right)))+1, uint64(rank)<<32|uint64(uint32(result)))
}

// get returns rank<<32 | result of the pair, or neverMerge.
func (t *mergeTable) get(left, right int32) uint64 {
	key := (uint64(uint32(left))<<32 | uint64(uint32(right))) + 1
	h := key * 0x9E3779B97F4A7C15
	for i := h ^ h>>32; ; i++ {
		k := t.keys[i&uint64(len(t.keys)-1)]
		if k == key {
			return t.vals[i&uint64(len(t.keys)-1)]
		}
		if k == 0 {
			return neverMerge
		}
	}
}

// shortWord is the number of symbols up to which scanning all pairs is faster
// than a heap.
const shortWord = 64

// joiner holds the arrays of one worker's merging.
type joiner struct {
	sym        []int32  // tokens, one for each symbol of the word
	val        []uint64 // what sym[i] and its right neighbour become
	prev, next []int32
	heap       []uint64 // rank<<32 | position, least first
}

// join merges the symbols in j.sym and appends the tokens that remain to dst:
// the pair of the lowest rank first, of equal ones the leftmost.
func (j *joiner) join(dst []int32, t *mergeTable) []int32 {
	n := len(j.sym)
	if n > shortWord {
		return j.joinLong(dst, t)
	}
	if cap(j.val) < n {
		j.val = make([]uint64, shortWord)
	}
	sym, val := j.sym, j.val[:n]
	for i := range n - 1 {
		val[i] = t.get(sym[i], sym[i+1])
	}
	for n > 1 {
		at, best := 0, neverMerge
		for i, v := range val[:n-1] {
			// The rank is in the high half and equal ranks are equal pairs.
			if v < best {
				at, best = i, v
			}
		}
		if best == neverMerge {
			break
		}
		sym[at] = int32(uint32(best))
		copy(sym[at+1:n-1], sym[at+2:n])
		copy(val[at:n-1], val[at+1:n])
		n--
		if at > 0 {
			val[at-1] = t.get(sym[at-1], sym[at])
		}
		if at < n-1 {
			val[at] = t.get(sym[at], sym[at+1])
		}
	}
	return append(dst, sym[:n]...)
}

// joinLong does the same with a linked list and a heap, in n log n steps. A
// heap entry that is not its position's present rank is stale and skipped.
func (j *joiner) joinLong(dst []int32, t *mergeTable) []int32 {
	j.start(t)
	for len(j.heap) > 0 {
		top := j.pop()
		at := int32(uint32(top))
		v := j.val[at]
		if v == neverMerge || v>>32 != top>>32 {
			continue
		}
		gone := j.next[at]
		after := j.next[gone]
		id := int32(uint32(v))
		j.sym[at], j.next[at] = id, after
		j.val[gone], j.val[at] = neverMerge, neverMerge
		if after >= 0 {
			j.prev[after] = at
			j.push(at, t.get(id, j.sym[after]))
		}
		if before := j.prev[at]; before >= 0 {
			j.push(before, t.get(j.sym[before], id))
		}
	}
	for i := int32(0); i >= 0; i = j.next[i] {
		dst = append(dst, j.sym[i])
	}
	return dst
}

func (j *joiner) start(t *mergeTable) {
	n := len(j.sym)
	if cap(j.val) < n {
		j.val = make([]uint64, n)
	}
	if cap(j.prev) < n {
		j.prev, j.next = make([]int32, n), make([]int32, n)
	}
	j.val, j.prev, j.next, j.heap = j.val[:n], j.prev[:n], j.next[:n], j.heap[:0]
	for i := range n {
		j.prev[i], j.next[i], j.val[i] = int32(i-1), int32(i+1), neverMerge
	}
	j.next[n-1] = -1
	for i := range n - 1 {
		if v := t.get(j.sym[i], j.sym[i+1]); v != neverMerge {
			j.val[i] = v
			j.heap = append(j.heap, v>>32<<32|uint64(i))
		}
	}
	for i := (len(j.heap)+2)/4 - 1; i >= 0; i-- {
		j.down(i)
	}
}

// push notes what the pair at position at becomes.
func (j *joiner) push(at int32, v uint64) {
	j.val[at] = v
	if v == neverMerge {
		return
	}
	e := v>>32<<32 | uint64(at)
	h := append(j.heap, e)
	i := len(h) - 1
	for i > 0 {
		up := (i - 1) / 4
		if h[up] <= e {
			break
		}
		h[i] = h[up]
		i = up
	}
	h[i] = e
	j.heap = h
}

// pop removes and returns the least entry.
func (j *joiner) pop() uint64 {
	h := j.heap
	top, n := h[0], len(h)-1
	h[0] = h[n]
	j.heap = h[:n]
	if n > 1 {
		j.down(0)
	}
	return top
}

// down restores the four-way heap below i.
func (j *joiner) down(i int) {
	h := j.heap
	e := h[i]
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		least := child
		for k := child + 1; k < min(child+4, len(h)); k++ {
			if h[k] < h[least] {
				least = k
			}
		}
		if e <= h[least] {
			break
		}
		h[i] = h[least]
		i = least
	}
	h[i] = e
}

// tooBig tells whether the arrays are too large to keep for the next text.
func (j *joiner) tooBig() bool { return cap(j.sym) > 1<<16 || cap(j.heap) > 1<<17 }
