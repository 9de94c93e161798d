package token

// runWindow is the number of bytes of a long piece that are merged at a time.
const runWindow = 32

// encodeRun encodes a long piece in time linear in its bytes.
//
// Of a rank vocabulary in which a single pair becomes each token, this holds: a
// sequence of tokens is what merging gives if each two neighbours are what
// merging gives of their bytes. (The compatible pairs of
// github.com/github/rust-gems, crate bpe.) So a piece is encoded window by
// window: the last tokens so far are merged anew together with the next bytes,
// the last one, or more of them until the seam holds. How far back a seam can
// reach depends on the vocabulary, not on the length of the piece.
func (m *merger) encodeRun(dst []int32, piece string) []int32 {
	v, from := m.vocab, len(dst)
	for at := 0; at < len(piece); {
		end := min(at+runWindow, len(piece))
		start, n := at, len(dst)
		for again := 1; ; again *= 2 {
			for ; n > from && n > len(dst)-again; n-- {
				start -= v.length(dst[n-1])
			}
			m.steps += end - start
			m.window = m.encodeKnown(m.window[:0], piece[start:end])
			if n == from || m.apart(dst[n-1], m.window[0]) {
				break
			}
		}
		dst = append(dst[:n], m.window...)
		at = end
	}
	return dst
}

// encodeKnown is encodeWindow with a memory: what has many long tokens to merge
// anew is mostly one short text again and again.
func (m *merger) encodeKnown(dst []int32, piece string) []int32 {
	h := m.known.hash(piece)
	if ref := m.known.find(h, piece); ref.n != 0 {
		return append(dst, m.known.get(ref)...)
	}
	n := len(dst)
	dst = m.encodeWindow(dst, piece)
	if len(piece) <= longKey {
		m.known.makeRoom()
		m.known.put(h, piece, dst[n:])
	}
	return dst
}

// encodeWindow encodes without windows.
func (m *merger) encodeWindow(dst []int32, piece string) []int32 {
	if len(piece) > shortPiece {
		return m.encodeHeap(dst, piece)
	}
	return m.encodeShort(dst, piece)
}

// apart tells whether merging the bytes of both tokens gives the two again. It
// undoes their merges, the last first, and looks whether what then stands at the
// border would have been joined before; of equal ranks the left one goes first.
func (m *merger) apart(left, right int32) bool {
	limit := noMerge
	for {
		m.steps++
		if m.vocab.pairs.merge(left, right) < limit {
			return false
		}
		switch {
		case max(left, right) < 256: // single bytes
			return true
		case left > right:
			limit, left = left, m.vocab.right(left)
		default:
			limit, right = right+1, m.vocab.left(right)
		}
	}
}
