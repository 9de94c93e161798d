//go:build !linux

package token

// newSlots returns n zero values without pointers.
func newSlots[T any](n int) []T { return make([]T, n) }
