//go:build !linux

package replay

// asleep is not known here.
func asleep() int64 { return -1 }
