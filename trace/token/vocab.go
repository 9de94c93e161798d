package token

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/klauspost/compress/zstd"
)

// The rank files are not kept; unpack verifies that none is needed.
//
//go:generate go run pack.go cl100k_base.tiktoken vocab/cl100k_base.zst
//go:generate go run pack.go o200k_base.tiktoken vocab/o200k_base.zst

var (
	//go:embed vocab/cl100k_base.zst
	packedCL100K []byte
	//go:embed vocab/o200k_base.zst
	packedO200K []byte
)

// idBits holds every id of both vocabularies.
const idBits = 18

// vocabulary is a rank vocabulary: token i is the i-th in order of merging.
type vocabulary struct {
	bytes  [256]int32 // byte -> id
	text   []byte     // all tokens, one after the other
	off    []uint32   // token i is text[off[i]:off[i+1]]
	pairs  *pairTable
	halves []byte // of the tokens after the single bytes, see unpack
	sha256 string // of the published rank file, lower-case hex
}

// unpack expands an embedded vocabulary of size tokens and verifies that it is
// the published rank file with the SHA-256 want.
//
// The packed form is the order of the 256 single bytes, then the left halves and
// the right halves of all later tokens, each id as three byte planes. The halves
// of a token are the two that its own encoding joins last. No other pair can
// become that token: until it appears, merges inside a token's bytes happen in
// the same order whatever stands around them. So one pair a token is enough.
func unpack(packed []byte, size int, want string) (*vocabulary, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(16<<20))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	raw, err := dec.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("embedded vocabulary: %w", err)
	}
	merged := size - 256
	if merged < 0 || size >= 1<<idBits || len(raw) != 256+6*merged {
		return nil, fmt.Errorf("embedded vocabulary: %d bytes do not hold %d tokens", len(raw), size)
	}
	v := &vocabulary{halves: raw[256:], off: make([]uint32, 1, size+1)}
	pairs := make([]uint64, merged)
	for i, b := range raw[:256] {
		v.bytes[b] = int32(i)
		v.add(raw[i : i+1])
	}
	left, right := raw[256:256+3*merged], raw[256+3*merged:]
	for i := range merged {
		l, r := plane(left, merged, i), plane(right, merged, i)
		if l >= i+256 || r >= i+256 {
			return nil, fmt.Errorf("embedded vocabulary: token %d is made of later ones", i+256)
		}
		v.add(v.token(l), v.token(r))
		pairs[i] = pairKey(int32(l), int32(r))<<idBits | uint64(i+256)
	}
	if v.pairs, err = newPairTable(pairs); err != nil {
		return nil, fmt.Errorf("embedded vocabulary: %w", err)
	}
	for i := range merged {
		if l, r := plane(left, merged, i), plane(right, merged, i); l < 256 && r < 256 {
			v.pairs.bytes[int(raw[l])<<8|int(raw[r])] = int32(i + 256)
		}
	}
	if v.sha256 = v.fileSum(); v.sha256 != want {
		return nil, fmt.Errorf("embedded vocabulary: SHA-256 is %s, not %s; rebuild the program", v.sha256, want)
	}
	return v, nil
}

// plane reads the i-th of n ids kept as three byte planes.
func plane(p []byte, n, i int) int {
	return int(p[i]) | int(p[n+i])<<8 | int(p[2*n+i])<<16
}

// add appends a token made of the given parts.
func (v *vocabulary) add(parts ...[]byte) {
	for _, p := range parts {
		v.text = append(v.text, p...)
	}
	v.off = append(v.off, uint32(len(v.text)))
}

// token returns the bytes of token id.
func (v *vocabulary) token(id int) []byte { return v.text[v.off[id]:v.off[id+1]] }

// length returns the number of bytes of token id.
func (v *vocabulary) length(id int32) int { return int(v.off[id+1] - v.off[id]) }

// left and right return the tokens from whose merge alone token id comes, which
// is no single byte.
func (v *vocabulary) left(id int32) int32 {
	return int32(plane(v.halves, v.size()-256, int(id)-256))
}

func (v *vocabulary) right(id int32) int32 {
	n := v.size() - 256
	return int32(plane(v.halves[3*n:], n, int(id)-256))
}

// tokens calls yield with the bytes and id of every token, in order of rank.
func (v *vocabulary) tokens(yield func(token []byte, id int32) bool) {
	for id := range v.size() {
		if !yield(v.token(id), int32(id)) {
			return
		}
	}
}

// size returns the number of tokens.
func (v *vocabulary) size() int { return len(v.off) - 1 }

// fileSum returns the SHA-256 of the published file: a line "base64 rank" a token.
func (v *vocabulary) fileSum() string {
	h := sha256.New()
	var line []byte
	for id := range v.size() {
		line = base64.StdEncoding.AppendEncode(line, v.token(id))
		line = append(line, ' ')
		line = strconv.AppendInt(line, int64(id), 10)
		line = append(line, '\n')
		if len(line) > 8<<10 || id == v.size()-1 {
			h.Write(line)
			line = line[:0]
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
