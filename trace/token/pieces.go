package token

import (
	"unsafe"

	"reprise/trace/token/class"
)

// encoder is what stands behind a Tokenizer. The text is valid UTF-8; any number
// of goroutines may call at once.
type encoder interface {
	encode(dst []int32, text string) []int32 // appends the ids of text
	count(text string) int                   // as many as encode appends
}

// pieceMerger encodes one pre-token, which is not empty and valid during the
// call only. One goroutine uses it at a time.
type pieceMerger interface {
	mergePiece(dst []int32, piece string) []int32 // appends to dst
	// mergeMisses encodes many pieces of text at once and appends to dst.
	mergeMisses(dst []int32, text []byte, queue []miss) []int32
	tooBig() bool // its arrays are not worth keeping
}

// pieceModel is a vocabulary that encodes each pre-token by itself, whatever
// stands around it.
type pieceModel struct {
	classes *class.Table
	scan    scanner
	// masks is the form of scan that works on 64 bytes at a time; nil if it has
	// none.
	masks *maskRules
	// cuts, which may be nil, allows to cut pre-tokens where no token reaches
	// over the cut.
	cuts   *cutFilter
	merger func() pieceMerger // a new one for one worker
}

// pieces is the encoder of a pieceModel.
type pieces struct {
	model   pieceModel
	rules   *blockRules // nil without masks
	keys    [shortKey + 2]keyMask
	workers workerPool
}

func newPieces(m pieceModel) *pieces {
	p := &pieces{model: m, keys: newKeyMasks()}
	if m.masks != nil {
		p.rules = &blockRules{maskRules: *m.masks, classes: m.classes, cuts: m.cuts}
	}
	return p
}

func (p *pieces) encode(dst []int32, text string) []int32 {
	w := p.worker()
	w.ids, w.counting = dst, false
	w.run(text)
	dst, w.ids = w.ids, nil
	p.release(w)
	return dst
}

func (p *pieces) count(text string) int {
	w := p.worker()
	w.total, w.counting = 0, true
	w.run(text)
	n := w.total
	p.release(w)
	return n
}

func (p *pieces) worker() *pieceWorker {
	if w := p.workers.get(); w != nil {
		return w
	}
	return newPieceWorker(p)
}

// release keeps w for the next text, unless a long one has blown it up.
func (p *pieces) release(w *pieceWorker) {
	if w.merger.tooBig() {
		w.merger = p.model.merger()
	}
	if cap(w.out) > 1<<16 {
		w.out = nil
	}
	p.workers.put(w)
}

// bytesOf returns the bytes of text, which must not be written.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

// stringOf returns text as a string that is valid until text changes.
func stringOf(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }
