//go:build !linux

package token

// newSlots returns n empty entries.
func newSlots(n int) []cacheEntry { return make([]cacheEntry, n) }
