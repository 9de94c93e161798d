package replay

import "context"

// ServerWatch follows what the server says of itself. Watch is called when the
// clock starts and returns soon after ctx ends, which is when the last answer is
// in; what it gives to keep goes into server.parquet. Its error is a note of the
// run, and no end to it.
type ServerWatch interface {
	Watch(ctx context.Context, t Timer, keep func(ServerRow) error) error
}

// watching runs a ServerWatch beside a run.
type watching struct {
	stop context.CancelFunc
	done chan error
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
		x.done = make(chan error, 1)
		go func() { x.done <- w.Watch(ctx, t, keep) }()
		if start != nil {
			start(t)
		}
	}
	return x
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
