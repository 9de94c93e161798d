package replay

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timerfd waits on a kernel timer through the runtime's poller, with a read
// deadline at the same instant. The kernel timer wakes an idle process within
// tens of µs, where the runtime's own timers are a millisecond coarse; the
// deadline covers the opposite weakness, that a busy process polls seldom.
type timerfd struct {
	file *os.File
	raw  int
	buf  [8]byte
}

func newPrecise() Waiter {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil
	}
	f := os.NewFile(uintptr(fd), "timerfd")
	if f.SetReadDeadline(time.Time{}) != nil { // not in the poller
		f.Close()
		return nil
	}
	return &timerfd{file: f, raw: fd}
}

func (w *timerfd) Name() string { return "timerfd" }
func (w *timerfd) Close() error { return w.file.Close() }

func (w *timerfd) Until(ctx context.Context, t Timer, ns int64) error {
	if ns <= t.Now() {
		return ctx.Err()
	}
	stop := context.AfterFunc(ctx, func() { w.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	for {
		left := ns - t.Now()
		if left <= 0 {
			return ctx.Err()
		}
		set := unix.ItimerSpec{Value: unix.NsecToTimespec(left)}
		if err := unix.TimerfdSettime(w.raw, 0, &set, nil); err != nil {
			return err
		}
		if err := w.file.SetReadDeadline(t.At(ns)); err != nil {
			return err
		}
		// The cancel above may have come before the deadline was set.
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := w.file.Read(w.buf[:]); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
}
