package token

// pairTable finds the token that two neighbours merge into. Most merges are into
// frequent tokens, so these have a small table that stays in the processor's
// cache, and pairs of single bytes one of their own. A filter in front of the
// rest answers most look-ups that find nothing.
type pairTable struct {
	bytes    [1 << 16]int32 // by the two bytes; noMerge where there is none
	frequent pairSlots      // results below frequentIDs
	rest     pairSlots
	// filter has two bits of one word set for each pair of the rest.
	filter      []uint64
	filterShift uint
}

// frequentIDs is the number of tokens whose pairs are in the small table.
const frequentIDs = 1 << 14

// pairSlots is an open hash table. A slot has the left id, the right id and the
// result, idBits each; 0 is empty, since no result is token 0.
type pairSlots struct {
	slots []uint64
	shift uint
}

// noMerge is larger than every id.
const noMerge = int32(1) << 30

func newPairTable(n int) *pairTable {
	t := new(pairTable)
	for i := range t.bytes {
		t.bytes[i] = noMerge
	}
	t.frequent = newPairSlots(2 * min(n, frequentIDs))
	t.rest = newPairSlots(n + n/4)
	filterBits := uint(1)
	for 1<<filterBits < n/8 {
		filterBits++
	}
	t.filter, t.filterShift = make([]uint64, 1<<filterBits), 64-filterBits
	return t
}

// newPairSlots returns a table of at least n slots.
func newPairSlots(n int) pairSlots {
	bits := uint(1)
	for 1<<bits < n {
		bits++
	}
	return pairSlots{slots: newSlots[uint64](1 << bits), shift: 64 - bits}
}

func pairHash(left, right int32) (key, hash uint64) {
	key = uint64(left)<<idBits | uint64(right)
	return key, key * 0x9E3779B97F4A7C15
}

// filterWord returns the two bits of a hash.
func filterWord(hash uint64) uint64 { return 1<<(hash>>20&63) | 1<<(hash>>26&63) }

func (t *pairTable) put(left, right, id int) {
	key, h := pairHash(int32(left), int32(right))
	if id < frequentIDs {
		t.frequent.put(key, h, id)
		return
	}
	t.filter[h>>t.filterShift] |= filterWord(h)
	t.rest.put(key, h, id)
}

func (s *pairSlots) put(key, hash uint64, id int) {
	i := hash >> s.shift
	for s.slots[i] != 0 {
		i = (i + 1) & uint64(len(s.slots)-1)
	}
	s.slots[i] = key<<idBits | uint64(id)
}

// merge returns the token that left and right become, or noMerge.
func (t *pairTable) merge(left, right int32) int32 {
	key, h := pairHash(left, right)
	bits := filterWord(h)
	maybe := t.filter[h>>(t.filterShift&63)]&bits == bits
	if id := t.frequent.find(key, h); id != noMerge || !maybe {
		return id
	}
	return t.rest.find(key, h)
}

func (s *pairSlots) find(key, h uint64) int32 {
	for i := h >> (s.shift & 63); ; i++ {
		v := s.slots[i&uint64(len(s.slots)-1)]
		if v>>idBits == key {
			return int32(v & (1<<idBits - 1))
		}
		if v == 0 {
			return noMerge
		}
	}
}
