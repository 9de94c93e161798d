package engine

// HashBlocks appends to dst the chained hash of each full block of the tokens:
// two prompts have equal hash k exactly when they agree on their first k+1
// blocks (collisions of 64 bits apart). It returns also a hash of all tokens.
func HashBlocks(dst []uint64, tokens []int32) (blocks []uint64, all uint64) {
	h := Mix(uint64(len("reprise")))
	for i, t := range tokens {
		h = Mix(h ^ uint64(uint32(t))*0x9e3779b97f4a7c15)
		if (i+1)%BlockTokens == 0 {
			dst = append(dst, h|1) // 0 means none in the pool
		}
	}
	return dst, h
}

// Mix is the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
