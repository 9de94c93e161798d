package token

import (
	"runtime"
	"sync/atomic"
)

// workerPool keeps workers with their caches between texts. Unlike a sync.Pool
// it loses none to the garbage collector: a warm cache is worth more than its
// memory. It holds at most as many as can run at once.
type workerPool struct {
	slots [64]atomic.Pointer[pieceWorker]
}

func (p *workerPool) get() *pieceWorker {
	for i := range p.slots {
		if p.slots[i].Load() == nil {
			continue
		}
		if w := p.slots[i].Swap(nil); w != nil {
			return w
		}
	}
	return nil
}

func (p *workerPool) put(w *pieceWorker) {
	for i := range min(len(p.slots), runtime.GOMAXPROCS(0)) {
		if p.slots[i].CompareAndSwap(nil, w) {
			return
		}
	}
}
