package token

import "math/bits"

// tailSize holds what is left when no whole block with its pad is.
const tailSize = blockSize + blockPad

// pieceWorker cuts and encodes one text at a time.
type pieceWorker struct {
	owner  *pieces
	merger pieceMerger
	words  wordCache
	longs  longCache

	batch

	counting bool
	ids      []int32
	total    int     // of count
	out      []int32 // ids before they go to their places
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
