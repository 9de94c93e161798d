package main

import (
	"fmt"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// bar shows how far long work is: a bar on a terminal, and nothing where
// stderr is a file or a pipe.
type bar struct {
	writer  progress.Writer
	tracker *progress.Tracker
	done    chan struct{}
	message string
	start   time.Time
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
	b := &bar{writer: w, tracker: &progress.Tracker{Message: message, Total: total, Units: units}, done: make(chan struct{}), message: message, start: time.Now()}
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

// rows shows how many rows were read and how fast they come.
func (b *bar) rows(n int64) {
	if b.tracker != nil {
		per := float64(n) / max(time.Since(b.start).Seconds(), 0.001)
		b.tracker.UpdateMessage(fmt.Sprintf("%s, %s rows, %s/s", b.message, short(float64(n)), short(per)))
	}
}

// short is a count in a few characters.
func short(n float64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1f M", n/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0f k", n/1e3)
	}
	return fmt.Sprintf("%.0f", n)
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
