package main

import (
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// bar shows how far long work is: a bar on a terminal, and nothing where
// stderr is a file or a pipe.
type bar struct {
	writer  progress.Writer
	tracker *progress.Tracker
	done    chan struct{}
}

// newBar starts a bar for total units (bytes or requests).
func (s *stdio) newBar(message string, total int64, units progress.Units) *bar {
	if !terminal(s.err) || total <= 0 {
		return &bar{}
	}
	w := progress.NewWriter()
	w.SetOutputWriter(s.err)
	w.SetAutoStop(false)
	w.SetUpdateFrequency(250 * time.Millisecond)
	w.SetTrackerLength(30)
	w.Style().Visibility.Speed = true
	w.Style().Visibility.ETA = true
	b := &bar{writer: w, tracker: &progress.Tracker{Message: message, Total: total, Units: units}, done: make(chan struct{})}
	w.AppendTracker(b.tracker)
	go func() {
		defer close(b.done)
		w.Render()
	}()
	return b
}

// set moves the bar to n.
func (b *bar) set(n int64) {
	if b.tracker != nil {
		b.tracker.SetValue(n)
	}
}

// close ends the bar; what was drawn stays.
func (b *bar) close() {
	if b.writer == nil {
		return
	}
	b.tracker.MarkAsDone()
	time.Sleep(300 * time.Millisecond) // let it draw its end
	b.writer.Stop()
	<-b.done
	b.writer = nil
}
