package token

import (
	"math/bits"
	"slices"
	"unsafe"
)

// batchSize is the number of pieces that are looked up together: their memory
// accesses overlap.
const batchSize = 512

// Marks in differ, see resolve.
const (
	longMark = 1
	alone    = 2
)

// prepareSize is the number of pieces from which keys are packed: their slots
// are on the way while more text is cut.
const prepareSize = 24

// tailSize holds what is left when no whole block with its pad is.
const tailSize = blockSize + blockPad

// pieceWorker cuts and encodes one text at a time.
type pieceWorker struct {
	owner  *pieces
	merger pieceMerger
	words  wordCache
	long   longCache

	// Piece i of the batch is text[pos[i]:pos[i+1]].
	pos      [1 + batchSize + blockSize + 8]uint32
	k        int
	home     [batchSize + blockSize + 8]uint32
	key      [batchSize + blockSize + 8][2]uint64
	missed   [batchSize + blockSize + 8]uint16
	queue    []miss
	ref      [batchSize + blockSize + 8]longRef
	longs    [batchSize + blockSize + 8]uint16
	longHome [batchSize + blockSize + 8]uint32
	ready    int // pieces of the batch whose key and home are known
	differ   [batchSize + blockSize + 8]uint64

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
		if w.k >= w.ready+prepareSize {
			w.prepare(text)
		}
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

func (w *pieceWorker) begin(p int) { w.k, w.ready, w.pos[0] = 0, 0, uint32(p) }

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
	if missed := w.probe(text); len(missed) > 0 {
		w.resolve(text, missed)
	}
	if w.counting {
		w.countBatch(text)
	} else {
		w.encodeBatch(text)
	}
	w.tend()
	w.pos[0] = w.pos[w.k]
	w.k, w.ready = 0, 0
}

// prepare packs the keys of the pieces that have none yet and asks for their
// home slots.
func (w *pieceWorker) prepare(text []byte) {
	shift, keys := w.words.shift, &w.owner.keys
	first := w.ready
	pos := w.pos[first : w.k+1]
	start := pos[0]
	for i, end := range pos[1:] {
		lo, hi := packKey(text[start:], &keys[min(end-start, shortKey+1)])
		start = end
		w.key[first+i] = [2]uint64{lo, hi}
		w.home[first+i] = uint32(hashKey(lo, hi) >> (shift & 63))
	}
	prefetch(unsafe.Pointer(unsafe.SliceData(w.words.slots)), &w.home[first], w.k-first, entryShift)
	w.ready = w.k
}

// probe compares the home slots of all pieces and returns those that are not
// there.
func (w *pieceWorker) probe(text []byte) []uint16 {
	if w.ready < w.k {
		w.prepare(text)
	}
	slots := w.words.slots
	n := 0
	for i, home := range w.home[:w.k] {
		e := &slots[uint64(home)&uint64(len(slots)-1)]
		d := e.lo ^ w.key[i][0] | e.hi ^ w.key[i][1]
		w.differ[i] = d
		w.missed[n] = uint16(i)
		n += int((d | -d) >> 63)
	}
	return w.missed[:n]
}

// resolve encodes the missed pieces of up to longKey bytes, all together, and
// puts them into the caches. differ tells where the ids are then: in the slot
// (0), in the spill of the slot (spillMark), in the cache of long pieces
// (longMark), or nowhere (alone).
func (w *pieceWorker) resolve(text []byte, missed []uint16) {
	w.queue = w.queue[:0]
	long := w.hashLong(text, missed)
	for _, i := range missed {
		key := &w.key[i]
		if key[1] == longTag {
			continue
		}
		at, fresh := w.words.reserve(key[0], key[1], w.home[i])
		if at == noSlot {
			w.differ[i] = alone
			continue
		}
		w.home[i], w.differ[i] = uint32(at), 0
		if fresh {
			w.queue = append(w.queue, miss{start: w.pos[i], size: w.pos[i+1] - w.pos[i], slot: uint32(at)})
		}
	}
	short := len(w.queue)
	for _, i := range long {
		piece := text[w.pos[i]:w.pos[i+1]]
		ref := w.long.find(w.key[i][0], stringOf(piece))
		w.ref[i] = ref
		if ref.n == 0 {
			w.queue = append(w.queue, miss{start: w.pos[i], size: uint32(len(piece)), slot: uint32(i)})
		}
	}
	w.out = w.merger.mergeMisses(w.out[:0], text, w.queue)
	for _, q := range w.queue[:short] {
		w.words.fill(int(q.slot), w.out[q.ids:][:q.n])
	}
	for _, q := range w.queue[short:] {
		w.ref[q.slot] = w.long.put(w.key[q.slot][0], stringOf(text[q.start:][:q.size]), w.out[q.ids:][:q.n])
	}
	for _, i := range missed {
		if w.differ[i] == 0 && w.words.slots[w.home[i]].hi&spillMark != 0 {
			w.differ[i] = spillMark
		}
	}
}

// hashLong returns those of the missed pieces that the cache of long pieces may
// have, with their hashes as keys and their slots on the way.
func (w *pieceWorker) hashLong(text []byte, missed []uint16) []uint16 {
	n := 0
	for _, i := range missed {
		if w.key[i][1] != longTag {
			continue
		}
		piece := text[w.pos[i]:w.pos[i+1]]
		if len(piece) > longKey {
			w.differ[i] = alone
			continue
		}
		h := w.long.hash(stringOf(piece))
		w.key[i][0], w.differ[i] = h, longMark
		w.longHome[n], w.longs[n] = w.long.home(h), i
		n++
	}
	prefetch(unsafe.Pointer(unsafe.SliceData(w.long.slots)), &w.longHome[0], n, longUnit)
	return w.longs[:n]
}

// encodeBatch appends the ids of the pieces that probe has looked up.
func (w *pieceWorker) encodeBatch(text []byte) {
	ids := slices.Grow(w.ids, 4*w.k)
	n := len(ids)
	ids = ids[:cap(ids)]
	slots := w.words.slots
	for i, d := range w.differ[:w.k] {
		if d == 0 {
			e := &slots[uint64(w.home[i])&uint64(len(slots)-1)]
			*(*[4]int32)(ids[n:]) = e.val
			n += int(e.val[3])
			continue
		}
		ids = w.lookUp(ids[:n], text, i)
		n = len(ids)
		ids = slices.Grow(ids, 4*(w.k-i))
		ids = ids[:cap(ids)]
	}
	w.ids = ids[:n]
}

// countBatch adds up the numbers of ids.
func (w *pieceWorker) countBatch(text []byte) {
	slots := w.words.slots
	for i, d := range w.differ[:w.k] {
		switch d {
		case 0, spillMark:
			w.total += int(slots[uint64(w.home[i])&uint64(len(slots)-1)].val[3])
		case longMark:
			w.total += int(w.ref[i].n)
		default:
			w.out = w.lookUp(w.out[:0], text, i)
			w.total += len(w.out)
		}
	}
}

// lookUp appends the ids of piece i, which are not in a slot.
func (w *pieceWorker) lookUp(dst []int32, text []byte, i int) []int32 {
	switch w.differ[i] {
	case spillMark:
		return append(dst, w.words.ids(&w.words.slots[w.home[i]])...)
	case longMark:
		return append(dst, w.long.get(w.ref[i])...)
	}
	return w.merger.mergePiece(dst, stringOf(text[w.pos[i]:w.pos[i+1]]))
}

// tend makes room in the cache of short pieces between batches.
func (w *pieceWorker) tend() {
	w.long.makeRoom()
	c := &w.words
	switch {
	case !c.full():
	case len(c.slots) == 1<<lastCacheBits:
		c.reset()
	default:
		c.grow()
	}
}
