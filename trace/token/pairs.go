package token

import (
	"errors"
	"math/bits"
	"slices"
)

// pairTable finds the token that two neighbours merge into, with one look at a
// table of pairs: a perfect hash (hash and displace: Belazzougui, Botelho,
// Dietzfelbinger 2009). The pairs are spread over small groups; each group has a
// number, chosen when the table is made, with which all its pairs fall on slots
// of their own. Pairs of single bytes have a table besides.
type pairTable struct {
	bytes [1 << 16]int32 // by the two bytes; noMerge where there is none
	// A slot has the left id, the right id and the result, idBits each.
	slots []uint64
	shift uint
	group []uint8
}

// noMerge is larger than every id.
const noMerge = int32(1) << 26

// groupBits is the number of upper bits of a hash that name its group.
const groupBits = 16

func pairKey(left, right int32) uint64 { return uint64(left)<<idBits | uint64(right) }

func groupHash(key uint64) uint64 { return key * 0x9E3779B97F4A7C15 }

// place returns where a pair falls with the number of its group.
func (t *pairTable) place(hash uint64, number uint8) uint64 {
	return (hash ^ uint64(number)*0xD6E8FEB86659FD93) * 0xFF51AFD7ED558CCD >> (t.shift & 63)
}

// slot returns where a pair is if it is anywhere.
func (t *pairTable) slot(key uint64) uint64 {
	h := groupHash(key)
	return t.place(h, t.group[h>>(64-groupBits)])
}

// merge returns the token that left and right become, or noMerge.
func (t *pairTable) merge(left, right int32) int32 {
	key := pairKey(left, right)
	v := t.slots[t.slot(key)&uint64(len(t.slots)-1)]
	if v>>idBits != key {
		return noMerge
	}
	return int32(v & (1<<idBits - 1))
}

// newPairTable makes the table of pairs given as slots, each pair once.
func newPairTable(pairs []uint64) (*pairTable, error) {
	size := bits.Len(uint(len(pairs) + len(pairs)/4))
	t := &pairTable{slots: newSlots[uint64](1 << size), shift: uint(64 - size), group: make([]uint8, 1<<groupBits)}
	for i := range t.bytes {
		t.bytes[i] = noMerge
	}
	sorted, ends := byGroup(pairs)
	used := make([]uint64, len(t.slots)/64+1)
	order := bySize(ends)
	for _, g := range order {
		start := uint32(0)
		if g > 0 {
			start = ends[g-1]
		}
		if !t.settle(int(g), sorted[start:ends[g]], used) {
			return nil, errors.New("its pairs do not fit into their table")
		}
	}
	return t, nil
}

// byGroup sorts pairs by group; group g ends at ends[g].
func byGroup(pairs []uint64) (sorted []uint64, ends []uint32) {
	ends = make([]uint32, 1<<groupBits+1)
	for _, p := range pairs {
		ends[groupHash(p>>idBits)>>(64-groupBits)+1]++
	}
	for g := 1; g < len(ends); g++ {
		ends[g] += ends[g-1]
	}
	sorted = make([]uint64, len(pairs))
	for _, p := range pairs {
		at := &ends[groupHash(p>>idBits)>>(64-groupBits)]
		sorted[*at] = p
		*at++
	}
	return sorted, ends[:1<<groupBits]
}

// bySize returns the groups that are not empty, the largest first.
func bySize(ends []uint32) []uint32 {
	var bySize [][]uint32
	start := uint32(0)
	for g, end := range ends {
		n := int(end - start)
		start = end
		for len(bySize) <= n {
			bySize = append(bySize, nil)
		}
		bySize[n] = append(bySize[n], uint32(g))
	}
	var order []uint32
	for _, groups := range slices.Backward(bySize[min(1, len(bySize)):]) {
		order = append(order, groups...)
	}
	return order
}

// settle finds the number of a group and puts its pairs into their slots.
func (t *pairTable) settle(group int, pairs, used []uint64) bool {
	var places [64]uint64
	if len(pairs) > len(places) {
		return false
	}
next:
	for number := range 256 {
		for i, p := range pairs {
			at := t.place(groupHash(p>>idBits), uint8(number))
			if used[at/64]>>(at%64)&1 != 0 || slices.Contains(places[:i], at) {
				continue next
			}
			places[i] = at
		}
		t.group[group] = uint8(number)
		for i, p := range pairs {
			t.slots[places[i]] = p
			used[places[i]/64] |= 1 << (places[i] % 64)
		}
		return true
	}
	return false
}
