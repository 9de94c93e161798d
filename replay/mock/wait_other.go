//go:build !linux

package mock

// newWaiter returns the most precise waiter there is.
func newWaiter() waiter { return newTimerWaiter() }
