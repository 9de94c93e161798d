package token

import (
	"syscall"
	"unsafe"
)

// newSlots returns n zero values without pointers, in huge pages where the
// system grants them: a look-up at a random place then costs no walk through the
// page table. The advice changes nothing else, so its failure is no matter.
func newSlots[T any](n int) []T {
	const huge = 2 << 20
	size := int(unsafe.Sizeof(*new(T)))
	if n*size < huge || huge%size != 0 {
		return make([]T, n)
	}
	all := make([]T, n+huge/size)
	skip := (huge - uintptr(unsafe.Pointer(&all[0]))%huge) % huge / uintptr(size)
	slots := all[skip:][:n:n]
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&slots[0])), n*size), syscall.MADV_HUGEPAGE)
	return slots
}
