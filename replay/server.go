package replay

import (
	"context"
	"fmt"
	"time"
)

// ServerWatch follows what the server says of itself. Watch is called when the
// clock starts and returns soon after ctx ends, which is when the last answer is
// in; what it gives to keep goes into server.parquet. Its error is a note of the
// run, and no end to it.
type ServerWatch interface {
	Watch(ctx context.Context, t Timer, keep func(ServerRow) error) error
}

// watching runs a ServerWatch beside a run.
type watching struct {
	stop  context.CancelFunc
	done  chan error
	timer Timer
}

// watchServer makes o start w with the clock. The watch outlives ctx, so that an
// interrupted run has its last scrape; end ends it.
func watchServer(ctx context.Context, w ServerWatch, o *Options, keep func(ServerRow) error) *watching {
	if w == nil {
		return nil
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	x := &watching{stop: stop}
	start := o.Start
	o.Start = func(t Timer) {
		x.done, x.timer = make(chan error, 1), t
		go func() { x.done <- w.Watch(ctx, t, keep) }()
		if start != nil {
			start(t)
		}
	}
	return x
}

// ServerCut is where a machine was interrupted that followed the server for the
// others, s of the run's clock.
type ServerCut struct {
	AtS  float64 `json:"at_s"`
	DueS float64 `json:"due_s"` // about when the last answer of all machines would have come
}

func (c *ServerCut) note() string {
	return fmt.Sprintf("The server was followed for %s s, and not until the last answer of the other machines, about %s s: it was interrupted.", plain(c.AtS), plain(c.DueS))
}

// follow goes on for machines whose requests come later than this one's, which
// are all answered: they need as long after their last instant as it did. It
// returns where an interrupt ended that, nil where none did.
func (x *watching) follow(ctx context.Context, o *Options, last time.Duration) *ServerCut {
	if x == nil || x.done == nil || o.Until <= last {
		return nil
	}
	left := o.Until - last
	if o.Follow != nil {
		o.Follow(left)
	}
	until := x.timer.Now() + int64(left)
	if o.Waiter.Until(ctx, x.timer, until) == nil {
		return nil
	}
	return &ServerCut{AtS: float64(x.timer.Now()) / 1e9, DueS: float64(until) / 1e9}
}

// end stops the watch and waits for it; the run has ended.
func (x *watching) end() error {
	if x == nil {
		return nil
	}
	x.stop()
	if x.done == nil { // the clock never started
		return nil
	}
	return <-x.done
}
