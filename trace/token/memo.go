package token

import (
	"crypto/rand"
	"crypto/sha256"
	"hash"
	"sync"
)

// Memo remembers the ids of texts that were encoded before: system prompts, and
// the history that each turn sends again. A text is known by the first 128 bits
// of SHA-256 over a random key and the text, so that no log can be written to
// make two of them one. It holds ids only, three bytes each, and no text. Any
// number of goroutines may share it; one Memo serves one tokenizer.
type Memo struct {
	key    [32]byte
	shards [memoShards]memoShard
	limit  int // bytes of a generation of a shard
	hashes sync.Pool
}

const (
	memoShards = 64
	// memoShort is the length in bytes below which encoding is not slower than
	// remembering.
	memoShort = 96
	// memoEntry is about what an entry costs beside its ids.
	memoEntry = 64
	memoID    = 3
)

// memoKey is the digest of a text.
type memoKey [16]byte

// memoShard holds two generations. When the young one is full it becomes the
// old one, which is dropped; what is found in the old one moves up.
type memoShard struct {
	mu         sync.Mutex
	young, old memoGeneration
}

type memoGeneration struct {
	at   map[memoKey]memoSpan
	data []byte
}

// memoSpan is a place in data.
type memoSpan struct{ off, n uint32 }

// NewMemo returns a memo that holds at most size bytes. Below 1 MiB it remembers
// little or nothing.
func NewMemo(size int64) *Memo {
	m := &Memo{limit: int(min(max(size, 0)/(2*memoShards), 1<<30))}
	rand.Read(m.key[:])
	m.hashes.New = func() any { return sha256.New() }
	return m
}

// of returns the key of a text; kind tells apart ways to encode it.
func (m *Memo) of(text string, kind byte) (k memoKey) {
	h := m.hashes.Get().(hash.Hash)
	h.Reset()
	head := append(make([]byte, 0, 40), m.key[:]...)
	h.Write(append(head, kind))
	h.Write(bytesOf(text))
	var sum [sha256.Size]byte
	copy(k[:], h.Sum(sum[:0]))
	m.hashes.Put(h)
	return k
}

// get appends the ids of a text that is known.
func (m *Memo) get(dst []int32, k memoKey) ([]int32, bool) {
	s := &m.shards[k[0]%memoShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	g := &s.young
	span, ok := g.at[k]
	if !ok {
		g = &s.old
		if span, ok = g.at[k]; !ok {
			return dst, false
		}
	}
	data := g.data[span.off : span.off+span.n]
	for i := 0; i+memoID <= len(data); i += memoID {
		dst = append(dst, int32(data[i])|int32(data[i+1])<<8|int32(data[i+2])<<16)
	}
	if g == &s.old {
		delete(g.at, k)
		s.store(k, m.limit, len(data), func(to []byte) { copy(to, data) })
	}
	return dst, true
}

// put remembers the ids of a text, if they fit and are below 2^24.
func (m *Memo) put(k memoKey, ids []int32) {
	for _, id := range ids {
		if id < 0 || id >= 1<<24 {
			return
		}
	}
	s := &m.shards[k[0]%memoShards]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(k, m.limit, memoID*len(ids), func(to []byte) {
		for i, id := range ids {
			to[3*i], to[3*i+1], to[3*i+2] = byte(id), byte(id>>8), byte(id>>16)
		}
	})
}

// store adds n bytes that fill writes to the young generation; mu is held.
func (s *memoShard) store(k memoKey, limit, n int, fill func([]byte)) {
	if n+memoEntry > limit/4 {
		return
	}
	g := &s.young
	if _, ok := g.at[k]; ok {
		return
	}
	if g.at == nil || len(g.data)+memoEntry*len(g.at)+n+memoEntry > limit {
		s.old, s.young = s.young, memoGeneration{at: map[memoKey]memoSpan{}, data: make([]byte, 0, min(limit, 4<<10))}
		g = &s.young
	}
	off := len(g.data)
	if off+n > cap(g.data) {
		grown := make([]byte, off, min(max(2*cap(g.data), off+n), limit))
		copy(grown, g.data)
		g.data = grown
	}
	g.data = g.data[:off+n]
	fill(g.data[off:])
	g.at[k] = memoSpan{uint32(off), uint32(n)}
}
