package token

import (
	"math/bits"
	"slices"
)

// batchSize is the number of pieces that are looked up together: their memory
// accesses overlap.
const batchSize = 256

// tailSize holds what is left when no whole block with its pad is.
const tailSize = blockSize + blockPad

// pieceWorker cuts and encodes one text at a time.
type pieceWorker struct {
	owner  *pieces
	merger pieceMerger
	words  wordCache
	long   longCache

	// Piece i of the batch is text[pos[i]:pos[i+1]].
	pos    [1 + batchSize + blockSize + 8]uint32
	k      int
	home   [batchSize + blockSize + 8]uint32
	differ [batchSize + blockSize + 8]uint64

	counting bool
	ids      []int32
	total    int     // of count
	out      []int32 // ids of a piece that is only counted
	tail     [2*tailSize + blockSize]byte
}

func newPieceWorker(p *pieces) *pieceWorker {
	w := &pieceWorker{owner: p, merger: p.model.merger()}
	w.words.resize(firstCacheBits)
	return w
}

// run encodes text.
func (w *pieceWorker) run(text string) {
	buf := bytesOf(text)
	p := 0
	if n := len(buf); n >= tailSize {
		p = w.pass(buf, 0, n, n-tailSize+1)
	}
	rest := copy(w.tail[:2*tailSize], buf[p:])
	clear(w.tail[rest:])
	w.pass(w.tail[:], 0, rest, rest)
}

// pass encodes the tokens of text[:n] that start before stop, and returns where
// the next one starts. 16 bytes can be read from each of these starts.
func (w *pieceWorker) pass(text []byte, p, n, stop int) int {
	w.begin(p)
	for p < stop {
		if w.k >= batchSize {
			w.flush(text)
		}
		p = w.advance(text, p, n)
	}
	w.flush(text)
	return p
}

// advance cuts the tokens that start at text[p] and surely end within a block,
// one at least, and returns the end of the last.
func (w *pieceWorker) advance(text []byte, p, n int) int {
	if w.owner.rules == nil {
		return w.scanned(text, p, n)
	}
	found, cut, doubtful := w.owner.rules.starts(text, p, n)
	last := 0
	if found != 0 {
		w.emit(uint32(p), found|cut)
		last = 63 - bits.LeadingZeros64(found)
	}
	switch {
	case !doubtful && n-p <= blockSize:
		w.push(n)
		return n
	case doubtful || found == 0:
		return w.scanned(text, p+last, n)
	}
	return p + last
}

func (w *pieceWorker) begin(p int) { w.k, w.pos[0] = 0, uint32(p) }

// push ends a piece at end.
func (w *pieceWorker) push(end int) {
	w.k++
	w.pos[w.k] = uint32(end)
}

// emit ends pieces at the bits of m, four at a time: what is written beyond them
// is overwritten later.
func (w *pieceWorker) emit(p uint32, m uint64) {
	k := w.k + bits.OnesCount64(m)
	for i := w.k + 1; m != 0; i += 4 {
		at := (*[4]uint32)(w.pos[i:])
		at[0] = p + uint32(bits.TrailingZeros64(m))
		m &= m - 1
		at[1] = p + uint32(bits.TrailingZeros64(m))
		m &= m - 1
		at[2] = p + uint32(bits.TrailingZeros64(m))
		m &= m - 1
		at[3] = p + uint32(bits.TrailingZeros64(m))
		m &= m - 1
	}
	w.k = k
}

// scanned cuts off one token by the scanner and returns its end.
func (w *pieceWorker) scanned(text []byte, p, n int) int {
	m := &w.owner.model
	end := m.scan(m.classes, stringOf(text[:n]), p)
	if end-p > shortKey && m.cuts != nil {
		w.cutPiece(text, p, end)
	}
	w.push(end)
	return end
}

// cutPiece ends pieces within text[p:end], a token, where it may be cut.
func (w *pieceWorker) cutPiece(text []byte, p, end int) {
	cuts := w.owner.model.cuts
	for i := p; i+6 <= end && i+3+blockPad <= len(text); {
		if text[i]&0xF0 != 0xE0 {
			i++
			continue
		}
		if i += 3; text[i]&0xF0 != 0xE0 || !cuts.safe(threeBytes(text[i-3:]), threeBytes(text[i:])) {
			continue
		}
		if w.k >= batchSize {
			w.flush(text)
		}
		w.push(i)
	}
}

// flush encodes the pieces of the batch.
func (w *pieceWorker) flush(text []byte) {
	w.probe(text)
	if w.counting {
		w.countBatch(text)
	} else {
		w.encodeBatch(text)
	}
	w.tend()
	w.pos[0] = w.pos[w.k]
	w.k = 0
}

// probe reads the home slots of all pieces: none waits for another.
func (w *pieceWorker) probe(text []byte) {
	slots, shift, keys := w.words.slots, w.words.shift, &w.owner.keys
	if w.k == 0 {
		return
	}
	pos := w.pos[:w.k+1]
	start := pos[0]
	for i, end := range pos[1:] {
		lo, hi := packKey(text[start:], &keys[min(end-start, shortKey+1)])
		start = end
		home := hashKey(lo, hi) >> (shift & 63)
		e := &slots[home&uint64(len(slots)-1)]
		w.home[i] = uint32(home)
		w.differ[i] = e.lo ^ lo | e.hi ^ hi
	}
}

// encodeBatch appends the ids of the pieces that probe has looked up.
func (w *pieceWorker) encodeBatch(text []byte) {
	ids := slices.Grow(w.ids, 4*w.k)
	n := len(ids)
	ids = ids[:cap(ids)]
	slots := w.words.slots
	for i, d := range w.differ[:w.k] {
		if d == 0 {
			e := &slots[w.home[i]]
			*(*[4]int32)(ids[n:]) = e.val
			n += int(e.val[3])
			continue
		}
		ids = w.lookUp(ids[:n], stringOf(text[w.pos[i]:w.pos[i+1]]))
		n = len(ids)
		ids = slices.Grow(ids, 4*(w.k-i))
		ids = ids[:cap(ids)]
		slots = w.words.slots
	}
	w.ids = ids[:n]
}

// countBatch adds up the numbers of ids.
func (w *pieceWorker) countBatch(text []byte) {
	slots := w.words.slots
	for i, d := range w.differ[:w.k] {
		if d == 0 {
			w.total += int(slots[w.home[i]].val[3])
			continue
		}
		w.out = w.lookUp(w.out[:0], stringOf(text[w.pos[i]:w.pos[i+1]]))
		w.total += len(w.out)
		slots = w.words.slots
	}
}

// lookUp appends the ids of a piece that is not in its home slot.
func (w *pieceWorker) lookUp(dst []int32, piece string) []int32 {
	n := len(dst)
	switch {
	case len(piece) <= shortKey:
		lo, hi := packShort(piece, &w.owner.keys)
		if e := w.words.find(lo, hi); e != nil {
			return append(dst, w.words.ids(e)...)
		}
		dst = w.merger.mergePiece(dst, piece)
		w.words.put(lo, hi, dst[n:])
	case len(piece) <= longKey:
		ids, h := w.long.find(piece)
		if ids != nil {
			return append(dst, ids...)
		}
		dst = w.merger.mergePiece(dst, piece)
		w.long.put(h, piece, dst[n:])
	default:
		dst = w.merger.mergePiece(dst, piece)
	}
	return dst
}

// packShort is packKey for a piece behind which nothing can be read.
func packShort(piece string, keys *[shortKey + 2]keyMask) (lo, hi uint64) {
	var b [16]byte
	copy(b[:], piece)
	return packKey(b[:], &keys[len(piece)])
}

// tend makes room in the cache of short pieces between batches.
func (w *pieceWorker) tend() {
	c := &w.words
	switch {
	case !c.full():
	case len(c.slots) == 1<<lastCacheBits:
		c.reset()
	default:
		c.grow()
	}
}
