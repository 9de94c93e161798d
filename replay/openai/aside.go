package openai

// aside runs f on a stack of its own and waits for it: what goes deep, and is
// rare, would leave the goroutine of each stream with twice the stack for good.
func aside(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	<-done
}
