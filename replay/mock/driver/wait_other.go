//go:build !linux

package driver

// NewWaiter returns the most precise waiter there is.
func NewWaiter() Waiter { return NewTimerWaiter() }
