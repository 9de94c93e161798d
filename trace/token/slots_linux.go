package token

import (
	"syscall"
	"unsafe"
)

// newSlots returns n empty entries, in huge pages where the system grants them:
// a look-up at a random place then costs no walk through the page table. The
// advice changes nothing else, so its failure is no matter.
func newSlots(n int) []cacheEntry {
	const huge = 2 << 20
	const entry = int(unsafe.Sizeof(cacheEntry{}))
	if n*entry < huge {
		return make([]cacheEntry, n)
	}
	all := make([]cacheEntry, n+huge/entry)
	skip := (huge - uintptr(unsafe.Pointer(&all[0]))%huge) % huge / uintptr(entry)
	slots := all[skip:][:n:n]
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(&slots[0])), n*entry)
	_ = syscall.Madvise(bytes, syscall.MADV_HUGEPAGE)
	return slots
}
