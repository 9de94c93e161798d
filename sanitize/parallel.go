package sanitize

import (
	"cmp"
	"context"
	"iter"
	"sync"
)

// batchSize is how many records a goroutine takes at once.
const batchSize = 64

// batch is some rows in order, in and out.
type batch[A, B any] struct {
	in   []A
	out  []B
	done chan struct{}
}

// ordered applies work to every value of seq on as many goroutines and calls
// emit with the results in the order of seq, on the caller's goroutine. At most
// two batches a worker are in flight. Every goroutine has ended when it
// returns. An error of seq, of emit or of the context ends it; what came before
// an error of seq is still emitted.
func ordered[A, B any](ctx context.Context, seq iter.Seq2[A, error], workers int,
	newWork func() func(*A) B, emit func(B) error) error {
	jobs := make(chan *batch[A, B])
	var wg sync.WaitGroup
	for range workers {
		work := newWork()
		wg.Go(func() {
			for b := range jobs {
				for i := range b.in {
					b.out = append(b.out, work(&b.in[i]))
				}
				b.in = nil
				close(b.done)
			}
		})
	}
	defer wg.Wait()
	defer close(jobs)

	f := &flight[A, B]{jobs: jobs, limit: 2 * workers, emit: emit}
	var next []A
	for v, err := range seq {
		if err != nil {
			return cmp.Or(f.last(next), err)
		}
		if next = append(next, v); len(next) < batchSize {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.launch(next); err != nil {
			return err
		}
		next = nil
	}
	return f.last(next)
}

// flight holds the batches that workers have, oldest first.
type flight[A, B any] struct {
	jobs   chan<- *batch[A, B]
	flying []*batch[A, B]
	limit  int
	emit   func(B) error
}

// launch hands a batch to the workers, after making room for it.
func (f *flight[A, B]) launch(in []A) error {
	if len(in) == 0 {
		return nil
	}
	if err := f.land(f.limit - 1); err != nil {
		return err
	}
	b := &batch[A, B]{in: in, done: make(chan struct{})}
	f.flying = append(f.flying, b)
	f.jobs <- b
	return nil
}

// last launches what is left and lands everything.
func (f *flight[A, B]) last(in []A) error {
	if err := f.launch(in); err != nil {
		return err
	}
	return f.land(0)
}

// land waits for the oldest batches until only n are left, and emits them.
func (f *flight[A, B]) land(n int) error {
	for len(f.flying) > n {
		b := f.flying[0]
		f.flying = f.flying[1:]
		<-b.done
		for _, v := range b.out {
			if err := f.emit(v); err != nil {
				return err
			}
		}
	}
	return nil
}
