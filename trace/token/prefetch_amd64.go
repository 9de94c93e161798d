package token

import "unsafe"

// prefetch asks for the cache lines at base + index[i]<<shift of n indices: what
// reads them later does not wait for each in turn.
//
//go:noescape
func prefetch(base unsafe.Pointer, index *uint32, n int, shift uint)
