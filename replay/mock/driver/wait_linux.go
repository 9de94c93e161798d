package driver

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// NewWaiter returns the most precise waiter there is: a timerfd read through
// the runtime's poller wakes with the kernel's high-resolution timers, and the
// read deadline covers the moments when the poller is seldom asked. Whichever
// fires first ends the wait.
func NewWaiter() Waiter {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return NewTimerWaiter()
	}
	f := os.NewFile(uintptr(fd), "timerfd")
	if f.SetReadDeadline(time.Time{}) != nil { // not pollable
		f.Close()
		return NewTimerWaiter()
	}
	return &timerfdWaiter{fd: fd, file: f}
}

type timerfdWaiter struct {
	fd   int
	file *os.File
	buf  [8]byte
}

// arm may fail only on a closed file, and then wait returns at once.
func (w *timerfdWaiter) arm(d time.Duration, forever bool) {
	var spec unix.ItimerSpec // zero disarms
	deadline := time.Time{}
	if !forever {
		d = max(d, 1)
		spec.Value = unix.NsecToTimespec(int64(d))
		deadline = time.Now().Add(d)
	}
	_ = unix.TimerfdSettime(w.fd, 0, &spec, nil)
	_ = w.file.SetReadDeadline(deadline)
}

func (w *timerfdWaiter) wait() { _, _ = w.file.Read(w.buf[:]) }

func (w *timerfdWaiter) wake() { _ = w.file.SetReadDeadline(time.Unix(1, 0)) }

func (w *timerfdWaiter) close() { w.file.Close() }

func (w *timerfdWaiter) name() string { return "timerfd" }
