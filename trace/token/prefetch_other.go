//go:build !amd64

package token

import "unsafe"

// prefetch does nothing: the reads that follow are independent of each other and
// overlap as far as the processor looks ahead.
func prefetch(base unsafe.Pointer, index *uint32, n int, shift uint) {}
