package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// hurry is what a second signal finds: a verb that drains can end that at once,
// and keep what it has. Its zero value is one that has nothing to end.
type hurry struct {
	mu  sync.Mutex
	cut func()
	say string // where what there is lies
}

// set takes what the next signal does, and what one after it prints. A nil hurry
// takes nothing.
func (h *hurry) set(cut func(), say string) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.cut, h.say = cut, say
}

// take does what was set, once; false when there is nothing.
func (h *hurry) take() bool {
	h.mu.Lock()
	cut := h.cut
	h.cut = nil
	h.mu.Unlock()
	if cut == nil {
		return false
	}
	cut()
	return true
}

// leave is the last line of a process that a signal ends at once.
func (h *hurry) leave(out io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fmt.Fprintf(out, "\nreprise: ended at once%s\n", h.say)
}

// heed calls stop at the first signal. At the second it ends what is drained, at
// the next the process, with a line on where the results lie; where nothing is
// drained the second ends it.
func (h *hurry) heed(out io.Writer, stop func()) (done func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		first := true
		for range signals {
			switch {
			case first:
				first = false
				stop()
			case !h.take():
				h.leave(out)
				os.Exit(exitInterrupted)
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}
