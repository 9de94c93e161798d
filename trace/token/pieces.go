package token

import (
	"iter"
	"sync"
)

// encoder is what stands behind a Tokenizer. The text is valid UTF-8; any number
// of goroutines may call at once.
type encoder interface {
	encode(dst []int32, text string) []int32 // appends the ids of text
	count(text string) int                   // as many as encode appends
}

// pieceMerger encodes one pre-token, which is not empty. One goroutine uses it
// at a time.
type pieceMerger interface {
	mergePiece(dst []int32, piece string) []int32 // appends to dst
	tooBig() bool                                 // its arrays are not worth keeping
}

// pieceModel is a vocabulary that encodes each pre-token by itself, whatever
// stands around it.
type pieceModel struct {
	classes *classTable
	scan    scanner
	merger  func() pieceMerger // a new one for one worker
	// seeds holds pieces that are one token each, so that no cache has to learn
	// them; may be nil. A seed must be what merger gives for those bytes.
	seeds iter.Seq2[[]byte, int32]
}

// pieces is the encoder of a pieceModel.
type pieces struct {
	model   pieceModel
	workers sync.Pool // *pieceWorker
}

type pieceWorker struct {
	merger pieceMerger
	out    []int32 // ids of a piece that is only counted
}

func newPieces(m pieceModel) *pieces {
	p := &pieces{model: m}
	p.workers.New = func() any { return &pieceWorker{merger: m.merger()} }
	return p
}

func (p *pieces) encode(dst []int32, text string) []int32 {
	w := p.workers.Get().(*pieceWorker)
	for i := 0; i < len(text); {
		end := p.model.scan(p.model.classes, text, i)
		dst = w.merger.mergePiece(dst, text[i:end])
		i = end
	}
	p.release(w)
	return dst
}

func (p *pieces) count(text string) int {
	w := p.workers.Get().(*pieceWorker)
	n := 0
	for i := 0; i < len(text); {
		end := p.model.scan(p.model.classes, text, i)
		w.out = w.merger.mergePiece(w.out[:0], text[i:end])
		n += len(w.out)
		i = end
	}
	p.release(w)
	return n
}

// release keeps w for the next text, unless a long one has blown it up.
func (p *pieces) release(w *pieceWorker) {
	if !w.merger.tooBig() && cap(w.out) <= 1<<16 {
		p.workers.Put(w)
	}
}
