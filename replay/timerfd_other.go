//go:build !linux

package replay

func newPrecise() Waiter { return nil }
