package replay

import (
	"context"
	"iter"
	"sync"
	"sync/atomic"
)

// preparer makes calls ahead of their turn, in several goroutines, and hands
// them out in the order of the plan. What is ahead is bounded in jobs and in
// prompt tokens.
type preparer struct {
	order  chan *slot
	freed  chan int64 // prompt tokens of a job that was let go; never blocks
	warmed chan struct{}
	taken  atomic.Int64 // slots that next returned
	wg     sync.WaitGroup
	plan   *Plan
	sender Sender
}

type slot struct {
	job   *Job
	call  Call
	err   error
	ready chan struct{}
}

func newSlot(j *Job) *slot { return &slot{job: j, ready: make(chan struct{})} }

// wait returns the call when it is made.
func (s *slot) wait(ctx context.Context) (Call, error) {
	select {
	case <-s.ready:
		return s.call, s.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// newPreparer starts the goroutines; they end with ctx or after the last job.
func newPreparer(ctx context.Context, s Sender, p *Plan, o Options) *preparer {
	q := &preparer{order: make(chan *slot, o.Ahead), freed: make(chan int64, o.Ahead), warmed: make(chan struct{}), plan: p, sender: s}
	work := make(chan *slot)
	q.wg.Go(func() {
		defer close(work)
		defer close(q.order)
		q.feed(ctx, p.source(), o, work)
	})
	var done atomic.Int64
	enough := int64(firstBatch(p.source(), o))
	if enough == 0 {
		close(q.warmed)
	}
	for range o.Workers {
		q.wg.Go(func() {
			for sl := range work {
				q.make(sl)
				if done.Add(1) == enough {
					close(q.warmed)
				}
			}
		})
	}
	return q
}

// make prepares one call.
func (p *preparer) make(sl *slot) {
	sl.call, sl.err = p.sender.Prepare(p.plan.dress(*sl.job))
	close(sl.ready)
}

// firstBatch returns how many jobs are prepared before the clock starts.
func firstBatch(jobs iter.Seq[*Job], o Options) int {
	n, tokens := 0, int64(0)
	for job := range jobs {
		tokens += cost(job)
		if n >= min(256, o.Ahead) || (n > 0 && tokens > o.Tokens) {
			break
		}
		n++
	}
	return n
}

func cost(j *Job) int64 { return int64(j.Request.Input.Or(0)) }

// feed gives out the jobs in order while the bounds allow.
func (p *preparer) feed(ctx context.Context, jobs iter.Seq[*Job], o Options, work chan<- *slot) {
	n, tokens := 0, int64(0)
	for job := range jobs {
		for n > 0 && (n >= o.Ahead || tokens+cost(job) > o.Tokens) {
			select {
			case t := <-p.freed:
				n, tokens = n-1, tokens-t
			case <-ctx.Done():
				return
			}
		}
		n, tokens = n+1, tokens+cost(job)
		sl := newSlot(job)
		p.order <- sl // has room: at most Ahead are out
		select {
		case work <- sl:
		case <-ctx.Done():
			return
		}
	}
}

// warm returns when the first batch is ready.
func (p *preparer) warm(ctx context.Context) {
	select {
	case <-p.warmed:
	case <-ctx.Done():
	}
}

// next takes the next job, in order whoever asks: nil when there is none, or
// none any more since ctx ended. Only a slot that it returns was taken.
func (p *preparer) next(ctx context.Context) *slot {
	if ctx.Err() != nil {
		return nil
	}
	select {
	case sl := <-p.order: // nil once closed
		if sl != nil {
			p.taken.Add(1)
		}
		return sl
	case <-ctx.Done():
		return nil
	}
}

// release gives a job's share of the bounds back.
func (p *preparer) release(j *Job) { p.freed <- cost(j) }

// wait returns when the goroutines have ended.
func (p *preparer) wait() { p.wg.Wait() }
