package sanitize

import (
	"cmp"
	"context"
	"iter"
	"sync"
)

// batchSize is how many records a goroutine takes at once.
const batchSize = 64

// batch is some rows in order, in and out. Batches are used again and again.
type batch[A, B any] struct {
	in   []A
	out  []B
	done chan struct{}
}

// ordered applies work to every value of seq on as many goroutines and calls
// emit with the results in the order of seq, on the caller's goroutine; the
// result is valid until emit returns. At most two batches a worker are in
// flight. Every goroutine has ended when it returns. An error of seq, of emit
// or of the context ends it; what came before an error of seq is still emitted.
func ordered[A, B any](ctx context.Context, seq iter.Seq2[A, error], workers int,
	newWork func() func(*A, *B), emit func(*B) error) error {
	jobs := make(chan *batch[A, B])
	var wg sync.WaitGroup
	for range workers {
		work := newWork()
		wg.Go(func() {
			for b := range jobs {
				for i := range b.in {
					work(&b.in[i], &b.out[i])
				}
				clear(b.in) // the text ends here
				b.done <- struct{}{}
			}
		})
	}
	defer wg.Wait()
	defer close(jobs)

	f := &flight[A, B]{jobs: jobs, limit: 2 * workers, emit: emit}
	for v, err := range seq {
		if err != nil {
			return cmp.Or(f.last(), err)
		}
		if f.add(v); len(f.next.in) < batchSize {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.launch(); err != nil {
			return err
		}
	}
	return f.last()
}

// flight holds the batches that workers have, oldest first, the one that is
// being filled, and those that are free.
type flight[A, B any] struct {
	jobs   chan<- *batch[A, B]
	flying []*batch[A, B]
	next   *batch[A, B]
	free   []*batch[A, B]
	limit  int
	emit   func(*B) error
}

func (f *flight[A, B]) add(v A) {
	if f.next == nil {
		if n := len(f.free); n > 0 {
			f.next, f.free = f.free[n-1], f.free[:n-1]
		} else {
			f.next = &batch[A, B]{in: make([]A, 0, batchSize), out: make([]B, batchSize), done: make(chan struct{}, 1)}
		}
	}
	f.next.in = append(f.next.in, v)
}

// launch hands the filled batch to the workers, after making room for it.
func (f *flight[A, B]) launch() error {
	if f.next == nil {
		return nil
	}
	if err := f.land(f.limit - 1); err != nil {
		return err
	}
	f.flying = append(f.flying, f.next)
	f.jobs <- f.next
	f.next = nil
	return nil
}

// last launches what is left and lands everything.
func (f *flight[A, B]) last() error {
	if err := f.launch(); err != nil {
		return err
	}
	return f.land(0)
}

// land waits for the oldest batches until only n are left, and emits them.
func (f *flight[A, B]) land(n int) error {
	for len(f.flying) > n {
		b := f.flying[0]
		f.flying = append(f.flying[:0], f.flying[1:]...)
		<-b.done
		for i := range b.in {
			if err := f.emit(&b.out[i]); err != nil {
				return err
			}
		}
		b.in = b.in[:0]
		f.free = append(f.free, b)
	}
	return nil
}
