package sanitize

import (
	"context"
	"iter"
	"sync"
)

// A batch is what a goroutine takes at once: at most so many values, and about
// so much of their weight.
const (
	batchSize   = 512
	batchWeight = 1 << 20
)

// batch is some values in order, in and out. Batches are used again and again.
type batch[A, B any] struct {
	in   []A
	errs []error // of each value; nil for most
	out  []B
	done chan struct{}
}

// stage says what ordered does with values of a sequence.
type stage[A, B any] struct {
	workers int
	newWork func() func(*A, error, *B) // for one goroutine
	isValue func(error) bool           // of an error that belongs to its value and ends nothing
	weigh   func(*A) int
	emit    func(*B) error
}

// ordered applies the stage's work to every value of seq on as many goroutines
// as it says, and emits the results on another one, in the order of seq; a
// result is valid until emit returns. At most two batches a worker are in
// flight. Every goroutine has ended when it returns. An error of seq that is no
// value, of emit or of the context ends it; what came before an error of seq is
// still emitted.
func ordered[A, B any](ctx context.Context, seq iter.Seq2[A, error], s stage[A, B]) error {
	f := newFlight(s)
	var seqErr error
	weight := 0
	for v, err := range seq {
		if err != nil && !s.isValue(err) {
			seqErr = err
			break
		}
		f.next.in, f.next.errs = append(f.next.in, v), append(f.next.errs, err)
		n := len(f.next.in)
		if weight += s.weigh(&f.next.in[n-1]); n < batchSize && weight < batchWeight {
			continue
		}
		weight = 0
		if err := ctx.Err(); err != nil {
			seqErr = err
			break
		}
		if !f.launch() {
			break
		}
	}
	f.launch()
	if err := f.land(); err != nil {
		return err
	}
	return seqErr
}

// flight moves batches: to a worker, in order to the emitter, and back.
type flight[A, B any] struct {
	stage stage[A, B]
	next  *batch[A, B]      // being filled
	free  chan *batch[A, B] // the limit of what is in flight
	jobs  chan *batch[A, B]
	queue chan *batch[A, B] // in order
	stop  chan struct{}     // closed when emit has failed
	err   error             // of emit
	group sync.WaitGroup
}

func newFlight[A, B any](s stage[A, B]) *flight[A, B] {
	n := 2*s.workers + 1
	f := &flight[A, B]{stage: s, free: make(chan *batch[A, B], n), jobs: make(chan *batch[A, B], n),
		queue: make(chan *batch[A, B], n), stop: make(chan struct{})}
	for range n {
		f.free <- &batch[A, B]{done: make(chan struct{}, 1)}
	}
	f.next = <-f.free
	for range s.workers {
		f.group.Go(f.work)
	}
	f.group.Go(f.emit)
	return f
}

// launch hands the batch to the workers and waits for a free one. It is false
// when nothing more is wanted.
func (f *flight[A, B]) launch() bool {
	if len(f.next.in) == 0 {
		return true
	}
	f.queue <- f.next // has room for all there are
	f.jobs <- f.next
	select {
	case f.next = <-f.free:
		return true
	case <-f.stop:
		f.next = &batch[A, B]{}
		return false
	}
}

// land ends the work and returns the error of emit.
func (f *flight[A, B]) land() error {
	close(f.jobs)
	close(f.queue)
	f.group.Wait()
	return f.err
}

func (f *flight[A, B]) work() {
	work := f.stage.newWork()
	for b := range f.jobs {
		for len(b.out) < len(b.in) {
			var none B
			b.out = append(b.out, none)
		}
		for i := range b.in {
			work(&b.in[i], b.errs[i], &b.out[i])
		}
		clear(b.in) // the text ends here
		clear(b.errs)
		b.done <- struct{}{}
	}
}

func (f *flight[A, B]) emit() {
	for b := range f.queue {
		<-b.done
		for i := range b.in {
			if f.err != nil {
				break
			}
			if f.err = f.stage.emit(&b.out[i]); f.err != nil {
				close(f.stop)
			}
		}
		b.in, b.errs = b.in[:0], b.errs[:0]
		f.free <- b
	}
}
