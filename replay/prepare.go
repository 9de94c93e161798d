package replay

import (
	"context"
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
	wg     sync.WaitGroup
}

type slot struct {
	job   *Job
	call  Call
	err   error
	ready chan struct{}
}

// newPreparer starts the goroutines; they end with ctx or after the last job.
func newPreparer(ctx context.Context, s Sender, jobs []Job, o Options) *preparer {
	p := &preparer{order: make(chan *slot, o.Ahead), freed: make(chan int64, o.Ahead), warmed: make(chan struct{})}
	work := make(chan *slot)
	p.wg.Go(func() {
		defer close(work)
		p.feed(ctx, jobs, o, work)
	})
	var done atomic.Int64
	enough := int64(firstBatch(jobs, o))
	for range o.Workers {
		p.wg.Go(func() {
			for sl := range work {
				sl.call, sl.err = s.Prepare(*sl.job)
				close(sl.ready)
				if done.Add(1) == enough {
					close(p.warmed)
				}
			}
		})
	}
	return p
}

// firstBatch returns how many jobs are prepared before the clock starts.
func firstBatch(jobs []Job, o Options) int {
	var tokens int64
	for i := range jobs {
		tokens += cost(&jobs[i])
		if i >= min(256, o.Ahead) || (i > 0 && tokens > o.Tokens) {
			return i
		}
	}
	return len(jobs)
}

func cost(j *Job) int64 { return int64(j.Request.Input.Or(0)) }

// feed gives out the jobs in order while the bounds allow.
func (p *preparer) feed(ctx context.Context, jobs []Job, o Options, work chan<- *slot) {
	n, tokens := 0, int64(0)
	for i := range jobs {
		for n > 0 && (n >= o.Ahead || tokens+cost(&jobs[i]) > o.Tokens) {
			select {
			case t := <-p.freed:
				n, tokens = n-1, tokens-t
			case <-ctx.Done():
				return
			}
		}
		n, tokens = n+1, tokens+cost(&jobs[i])
		sl := &slot{job: &jobs[i], ready: make(chan struct{})}
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

// next returns the call of the next job.
func (p *preparer) next(ctx context.Context) (Call, error) {
	var sl *slot
	select {
	case sl = <-p.order:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-sl.ready:
		return sl.call, sl.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// release gives a job's share of the bounds back.
func (p *preparer) release(j *Job) { p.freed <- cost(j) }

// wait returns when the goroutines have ended.
func (p *preparer) wait() { p.wg.Wait() }
