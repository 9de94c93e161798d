package block

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"sync"
)

// Digest stands for all tokens of a prompt up to the end of one block: the
// first 128 bits of an HMAC-SHA256. Two are equal where key, scope and all
// those tokens are (chance of another case: under 1e-20 at 1e9 blocks).
type Digest [16]byte

// Scope is what must agree, besides the tokens, for an engine to share a
// prefix. Everything in it goes into the root of the chain.
type Scope struct {
	Tokenizer string // SHA-256 of the vocabulary, or its name
	Model     string // model class
	Adapter   string // LoRA adapter; empty when none
	Isolation string // tenant or cache salt where the engine isolates by it; else empty
}

// Chain makes digests under one key. Any number of goroutines may share it.
type Chain struct {
	states sync.Pool // *state
}

// state is the HMAC and the message buffer of one goroutine.
type state struct {
	mac hash.Hash
	msg []byte
	sum []byte
}

// NewKey returns a random key. It is meant to live in memory for one run: traces
// hold numbers, never digests, so that nothing needs the key afterwards.
func NewKey() [32]byte {
	var key [32]byte
	rand.Read(key[:])
	return key
}

// NewChain returns the chain of key.
func NewChain(key [32]byte) *Chain {
	c := new(Chain)
	c.states.New = func() any { return &state{mac: hmac.New(sha256.New, key[:])} }
	return c
}

// Root returns the digest that a scope's chains start from: the HMAC of "v1",
// then tokenizer, model, adapter and isolation class, each after its length in
// bytes as a little-endian 64-bit integer.
func (c *Chain) Root(s Scope) Digest {
	st := c.states.Get().(*state)
	defer c.states.Put(st)
	st.msg = append(st.msg[:0], "v1"...)
	for _, f := range []string{s.Tokenizer, s.Model, s.Adapter, s.Isolation} {
		st.msg = binary.LittleEndian.AppendUint64(st.msg, uint64(len(f)))
		st.msg = append(st.msg, f...)
	}
	return st.digest()
}

// Digests appends the digest of each full block of blockTokens ids to dst. The
// digest of block i is the HMAC of the digest before it (16 bytes, the root for
// block 0) and of the block's ids, each a little-endian 32-bit integer. A partial
// last block has no digest: no engine caches it. blockTokens below 1 appends none.
//
// Chains of different block sizes have nothing in common; do not mix them.
func (c *Chain) Digests(dst []Digest, root Digest, ids []int32, blockTokens int) []Digest {
	if blockTokens < 1 {
		return dst
	}
	st := c.states.Get().(*state)
	defer c.states.Put(st)
	prev := root
	for len(ids) >= blockTokens {
		st.msg = append(st.msg[:0], prev[:]...)
		for _, id := range ids[:blockTokens] {
			st.msg = binary.LittleEndian.AppendUint32(st.msg, uint32(id))
		}
		prev = st.digest()
		dst = append(dst, prev)
		ids = ids[blockTokens:]
	}
	return dst
}

// digest returns the truncated HMAC of the message.
func (s *state) digest() (d Digest) {
	s.mac.Reset()
	s.mac.Write(s.msg)
	s.sum = s.mac.Sum(s.sum[:0])
	copy(d[:], s.sum)
	return d
}
