package block

import (
	"encoding/hex"
	"math"
	"slices"
	"sync"
	"testing"
)

// testKey is 00 01 02 … 1f.
func testKey() (key [32]byte) {
	for i := range key {
		key[i] = byte(i)
	}
	return key
}

func hexOf(d Digest) string { return hex.EncodeToString(d[:]) }

// TestChainKnownAnswers has values that Python's hmac, hashlib and struct gave;
// openssl dgst -sha256 -mac HMAC gave the same root. The message of the root is
//
//	b'v1' + b''.join(struct.pack('<Q', len(f)) + f for f in (tokenizer, model, adapter, isolation))
func TestChainKnownAnswers(t *testing.T) {
	c := NewChain(testKey())
	if got := hexOf(c.Root(Scope{})); got != "deee3f27172253e9a6ef07336a9922d8" {
		t.Errorf("root of nothing: %s", got)
	}
	root := c.Root(Scope{Tokenizer: "223921b7", Model: "gpt-4", Isolation: "tenant-a"})
	if got := hexOf(root); got != "0c6cbe28f19264c4f321ee453e868ac1" {
		t.Errorf("root: %s", got)
	}
	for _, k := range []struct {
		size int
		ids  []int32
		want []string
	}{
		{4, []int32{1, 2, 3, 4, 5, 6, 7, 100255, 0, 0, 0, 0, 9}, []string{
			"d8544e757b0097e9a4feeb73f2dd25b5", "9c85f2af0347a44a5f5be1c62678e962", "82fd665f2115ce0c0c7e790f9f6a3ab1"}},
		{1, []int32{1, 2}, []string{"8a6c45be083d2134c9d6aaf929724eba", "3b2f6d1c850638ca2a644b88ee3787b5"}},
		{2, []int32{-1, math.MaxInt32, 5}, []string{"eab8afbf3a45e075b48262680e1cae5f"}},
		{4, []int32{1, 2, 3}, nil},
		{0, []int32{1, 2, 3}, nil},
		{-1, []int32{1, 2, 3}, nil},
		{16, nil, nil},
	} {
		var got []string
		for _, d := range c.Digests(nil, root, k.ids, k.size) {
			got = append(got, hexOf(d))
		}
		if !slices.Equal(got, k.want) {
			t.Errorf("blocks of %d of %v: %v, want %v", k.size, k.ids, got, k.want)
		}
	}
}

// TestRootIsUnambiguous moves bytes between neighbouring fields.
func TestRootIsUnambiguous(t *testing.T) {
	c := NewChain(testKey())
	seen := map[Digest]Scope{}
	for _, s := range []Scope{
		{}, {Tokenizer: "ab"}, {Tokenizer: "a", Model: "b"}, {Model: "ab"}, {Model: "a", Adapter: "b"}, {Adapter: "ab"},
		{Adapter: "a", Isolation: "b"}, {Isolation: "ab"}, {Tokenizer: "a\x01\x00\x00\x00\x00\x00\x00\x00b"},
	} {
		root := c.Root(s)
		if other, ok := seen[root]; ok {
			t.Errorf("%+v and %+v have one root", s, other)
		}
		seen[root] = s
	}
	if NewChain(NewKey()).Root(Scope{}) == NewChain(NewKey()).Root(Scope{}) {
		t.Error("two random keys give one root")
	}
}

func TestChainShared(t *testing.T) {
	c := NewChain(testKey())
	root := c.Root(Scope{Model: "m"})
	ids := make([]int32, 500)
	for i := range ids {
		ids[i] = int32(i)
	}
	want := c.Digests(nil, root, ids, 16)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if !slices.Equal(c.Digests(nil, root, ids, 16), want) || c.Root(Scope{Model: "m"}) != root {
					t.Error("digests differ between goroutines")
				}
			}
		})
	}
	wg.Wait()
}

func BenchmarkDigests(b *testing.B) {
	c := NewChain(testKey())
	root := c.Root(Scope{})
	ids := make([]int32, 4096)
	var dst []Digest
	b.ReportAllocs()
	for b.Loop() {
		dst = c.Digests(dst[:0], root, ids, 16)
	}
	b.ReportMetric(4096*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mtok/s")
}
