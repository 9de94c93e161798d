package token

import (
	"slices"
	"unsafe"
)

// batchSize is the number of pieces that are looked up together: their memory
// accesses overlap.
const batchSize = 512

// batchRoom is batchSize with what one block may add to it.
const batchRoom = batchSize + blockSize + 8

// prepareSize is the number of pieces from which keys are packed: their slots
// are on the way while more text is cut.
const prepareSize = 24

// batch holds k pieces: piece i is text[pos[i]:pos[i+1]].
type batch struct {
	k, ready int // ready of them have key and home
	pos      [batchRoom + 1]uint32
	key      [batchRoom][2]uint64 // in the cache of short pieces
	home     [batchRoom]uint32    // slot there
	differ   [batchRoom]uint64    // 0 where the slot has the ids, else see resolve
	ref      [batchRoom]longRef   // ids in the cache of long pieces

	missed   [batchRoom]uint16 // pieces that are not in their home slots
	long     [batchRoom]uint16 // those of them over shortKey bytes
	longHome [batchRoom]uint32 // their slots
	queue    []miss
}

// What differ is after resolve, beside 0.
const (
	inSpill = spillMark // the ids are in the spill of the slot
	inLong  = 1         // in the cache of long pieces
	nowhere = 2
)

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

// resolve encodes the missed pieces of up to longKey bytes, all together, puts
// them into the caches and notes in differ where their ids are.
func (w *pieceWorker) resolve(text []byte, missed []uint16) {
	w.queue = w.queue[:0]
	long := w.hashLong(text, missed)
	w.findShort(missed)
	short := len(w.queue)
	w.findLong(text, long)
	w.out = w.merger.mergeMisses(w.out[:0], text, w.queue)
	for _, q := range w.queue[:short] {
		w.words.fill(w.home[q.piece], w.out[q.ids:][:q.n])
	}
	for _, q := range w.queue[short:] {
		piece := stringOf(text[q.start:][:q.size])
		w.ref[q.piece] = w.longs.put(w.key[q.piece][0], piece, w.out[q.ids:][:q.n])
	}
	for _, i := range missed {
		if w.differ[i] == 0 && w.words.slots[w.home[i]].hi&spillMark != 0 {
			w.differ[i] = inSpill
		}
	}
}

// findShort finds or reserves the slots of those missed pieces that have a key,
// and queues the new ones.
func (w *pieceWorker) findShort(missed []uint16) {
	for _, i := range missed {
		key := &w.key[i]
		if key[1] == longTag {
			continue
		}
		at, fresh := w.words.reserve(key[0], key[1], w.home[i])
		if at == noSlot {
			w.differ[i] = nowhere
			continue
		}
		w.home[i], w.differ[i] = at, 0
		if fresh {
			w.queue = append(w.queue, miss{start: w.pos[i], size: w.pos[i+1] - w.pos[i], piece: uint32(i)})
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
			w.differ[i] = nowhere
			continue
		}
		h := w.longs.hash(stringOf(piece))
		w.key[i][0], w.differ[i] = h, inLong
		w.longHome[n], w.long[n] = w.longs.home(h), i
		n++
	}
	prefetch(unsafe.Pointer(unsafe.SliceData(w.longs.slots)), &w.longHome[0], n, longUnit)
	return w.long[:n]
}

// findLong looks the pieces of hashLong up and queues those that are not there.
func (w *pieceWorker) findLong(text []byte, long []uint16) {
	for _, i := range long {
		piece := text[w.pos[i]:w.pos[i+1]]
		w.ref[i] = w.longs.find(w.key[i][0], stringOf(piece))
		if w.ref[i].n == 0 {
			w.queue = append(w.queue, miss{start: w.pos[i], size: uint32(len(piece)), piece: uint32(i)})
		}
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
		case 0, inSpill:
			w.total += int(slots[uint64(w.home[i])&uint64(len(slots)-1)].val[3])
		case inLong:
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
	case inSpill:
		return append(dst, w.words.ids(&w.words.slots[w.home[i]])...)
	case inLong:
		return append(dst, w.longs.get(w.ref[i])...)
	}
	return w.merger.mergePiece(dst, stringOf(text[w.pos[i]:w.pos[i+1]]))
}

// tend makes room in the caches between batches.
func (w *pieceWorker) tend() {
	w.longs.makeRoom()
	c := &w.words
	switch {
	case !c.full():
	case len(c.slots) == 1<<lastCacheBits:
		c.reset()
	default:
		c.grow()
	}
}
