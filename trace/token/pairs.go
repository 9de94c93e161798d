package token

// pairTable finds the token that two neighbours merge into. A filter in front
// answers most look-ups that find nothing, the pairs of single bytes have a
// table of their own.
type pairTable struct {
	bytes [1 << 16]int32 // by the two bytes; noMerge where there is none
	// filter has two bits of one word set for each pair.
	filter      []uint64
	filterShift uint
	// slots has the left id, the right id and the result, idBits each; 0 is empty,
	// since no result is token 0.
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
	slotBits, filterBits := uint(1), uint(1)
	for 1<<slotBits < n+n/4 {
		slotBits++
	}
	for 1<<filterBits < n/8 {
		filterBits++
	}
	t.slots, t.shift = make([]uint64, 1<<slotBits), 64-slotBits
	t.filter, t.filterShift = make([]uint64, 1<<filterBits), 64-filterBits
	return t
}

func pairHash(left, right int32) (key, hash uint64) {
	key = uint64(left)<<idBits | uint64(right)
	return key, key * 0x9E3779B97F4A7C15
}

// filterWord returns the two bits of a hash.
func filterWord(hash uint64) uint64 { return 1<<(hash>>20&63) | 1<<(hash>>26&63) }

func (t *pairTable) put(left, right, id int) {
	key, h := pairHash(int32(left), int32(right))
	t.filter[h>>t.filterShift] |= filterWord(h)
	i := h >> t.shift
	for t.slots[i] != 0 {
		i = (i + 1) & uint64(len(t.slots)-1)
	}
	t.slots[i] = key<<idBits | uint64(id)
}

// merge returns the token that left and right become, or noMerge.
func (t *pairTable) merge(left, right int32) int32 {
	key, h := pairHash(left, right)
	bits := filterWord(h)
	if t.filter[h>>(t.filterShift&63)]&bits != bits {
		return noMerge
	}
	return t.find(key, h)
}

func (t *pairTable) find(key, h uint64) int32 {
	for i := h >> (t.shift & 63); ; i++ {
		s := t.slots[i&uint64(len(t.slots)-1)]
		if s>>idBits == key {
			return int32(s & (1<<idBits - 1))
		}
		if s == 0 {
			return noMerge
		}
	}
}
