package replay

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Options say how a plan is run. The zero value is usable.
type Options struct {
	Waiter  Waiter              // nil: NewWaiter, closed at the end
	Ahead   int                 // jobs prepared before their turn; 0: 1024
	Tokens  int64               // prompt tokens prepared ahead; 0: 8 Mi (about 40 MB of text)
	Workers int                 // goroutines that prepare; 0: GOMAXPROCS
	Grace   time.Duration       // what in-flight requests get after an interrupt; 0: none
	Cut     <-chan struct{}     // closed: the grace is over; nil: it lasts
	Breaker int                 // stop when the first so many results are all hopeless; 0: 20, negative: never
	Broken  int                 // stop after so many failures in a row (no connection, TLS, HTTP 5xx); 0: never
	Health  func(HealthRow)     // called once a second from its own goroutine; nil: no sampling
	Beat    Waiter              // of the sampler's heartbeat; nil: NewWaiter
	Later   Waiter              // of turns that wait for an answer; nil: NewWaiter
	Level   func(i int) bool    // asked before each level of a closed loop by time; false: no more levels; nil: all of them
	Start   func(Timer)         // called when the clock starts
	Drain   func(n int64)       // called when the run ends early, with the requests in flight; nil: nothing
	At      time.Time           // the run's zero, for clients that start together; zero: as soon as it is ready
	Count   func(string) int    // tokens of an answer's text, counted after the run, for Record; nil: not counted
	Alone   float64             // share of events that come in a read with the one before in an answer alone; for the verdict
	Server  ServerWatch         // follows the server's metrics, for Record; nil: nothing does
	Until   time.Duration       // last planned instant of all machines of the run, which Record follows the server to; 0: this plan's own
	Follow  func(time.Duration) // called when that begins, with how long it takes; nil: nothing
	account func(account)       // called once a second with Health, for Record
}

// RunStats is the account of a run. Outcomes has every class and adds up to
// Planned, however the run ended.
type RunStats struct {
	Planned  int64
	PlannedS float64 // last scheduled instant, s
	WallS    float64
	Outcomes []Outcome
	Verdict  ClientVerdict
	Clock    Clock
	Sent     []SentHits // by load point; empty where sharing is not to be told
}

// Why a run ended early; errors.Is finds them in what Run returns.
var (
	ErrInterrupted = errors.New("interrupted")
	ErrHopeless    = errors.New("the endpoint does not work")
	ErrBroken      = errors.New("the endpoint stopped working")
	ErrLacking     = errors.New("this client cannot send on")
)

// Run sends every job at its instant and calls observe with each result, one
// at a time, in order of completion. It returns when every planned job has a
// result. When ctx ends it dispatches no more: jobs not sent are unsent, those
// in flight get opts.Grace and are then cancelled, and the error is
// ErrInterrupted. It ends likewise with ErrHopeless when the first results are
// all hopeless, with ErrBroken after opts.Broken failures in a row (ErrLacking
// where the last was the client's own), and with observe's or Prepare's error
// when that fails. Of a closed loop by time only the requests that were let go
// are planned.
func (p *Plan) Run(ctx context.Context, s Sender, opts Options, observe func(Result) error) (RunStats, error) {
	d := newDrive(p, opts)
	d.meter.stamper = stamper(s)
	if opts.Waiter == nil {
		defer d.opts.Waiter.Close()
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	fly, cancelFlights := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelFlights()

	prep := newPreparer(ctx, s, p, d.opts)
	prep.warm(ctx)
	d.timer = NewTimer(opts.zero())
	d.meter.begin()
	if opts.Start != nil {
		opts.Start(d.timer)
	}
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		d.collect(stop, observe)
	}()
	d.meter.hits = d.hits
	stopHealth := d.meter.start(d.timer, opts.Beat, opts.Health, opts.account)

	g := &gate{drive: d, ctx: ctx, fly: fly, stop: stop, prep: prep}
	g.dispatch()
	d.drain(ctx, cancelFlights)
	g.unsent()
	close(d.results)
	<-collected
	stopHealth()
	stop(errDone)
	prep.wait()
	return d.stats(), d.reason(ctx)
}

// errDone is the cause of the context of a run that came to its end.
var errDone = errors.New("done")

// drive is the state of one run.
type drive struct {
	plan    *Plan
	opts    Options
	timer   Timer
	meter   *meter
	hits    *sentHits
	flights sync.WaitGroup
	results chan Result
	// counts and lags belong to collect.
	counts  [classes]int64
	why     [classes]string // the first reason of each class
	lags    Lags
	breaker breaker
}

func newDrive(p *Plan, o Options) *drive {
	if o.Waiter == nil {
		o.Waiter = NewWaiter()
	}
	if o.Ahead <= 0 {
		o.Ahead = 1024
	}
	if o.Tokens <= 0 {
		o.Tokens = 8 << 20
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Breaker == 0 {
		o.Breaker = 20
	}
	if n := p.Planned(); n >= 0 {
		o.Breaker = min(o.Breaker, int(n))
	}
	return &drive{plan: p, opts: o, meter: &meter{}, hits: p.sending(), results: make(chan Result, 1024)}
}

// drain waits for the requests in flight; after the end of ctx only as long as
// the grace lasts.
func (d *drive) drain(ctx context.Context, cancel func()) {
	landed := make(chan struct{})
	go func() {
		d.flights.Wait()
		close(landed)
	}()
	select {
	case <-landed:
		return
	case <-ctx.Done():
	}
	if d.opts.Drain != nil {
		d.opts.Drain(d.meter.flying.Load())
	}
	grace := time.NewTimer(d.opts.Grace)
	defer grace.Stop()
	select {
	case <-landed:
	case <-grace.C:
		cancel()
		<-landed
	case <-d.opts.Cut:
		cancel()
		<-landed
	}
}

// collect counts and hands on every result, and trips the breaker.
func (d *drive) collect(stop context.CancelCauseFunc, observe func(Result) error) {
	d.breaker = breaker{first: d.opts.Breaker, row: d.opts.Broken}
	for r := range d.results {
		d.counts[r.Class]++
		if d.why[r.Class] == "" {
			d.why[r.Class] = r.Reason
		}
		if d.lags.Add(&r); r.lacking() {
			d.meter.lacks(r.Reason)
		}
		// After a failure too: what still comes may yet be kept.
		if err := observe(r); err != nil {
			stop(fmt.Errorf("keeping a result: %w", err))
		}
		if err := d.breaker.add(&r); err != nil {
			stop(err)
		}
	}
}

// reason says why the run ended early, nil when it did not.
func (d *drive) reason(ctx context.Context) error {
	switch cause := context.Cause(ctx); {
	case errors.Is(cause, errDone):
		return nil
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		n := d.counts[Unsent] + d.counts[Cancelled]
		if n == 0 && d.total() == d.plan.Planned() {
			return nil // all that was planned was done: the interrupt ended nothing
		}
		return fmt.Errorf("%w with %d of %d requests not finished", ErrInterrupted, n, d.total())
	default:
		return cause
	}
}

func (d *drive) stats() RunStats {
	signs := d.meter.signs()
	signs.Alone = d.opts.Alone
	return RunStats{
		Planned: d.total(), PlannedS: d.plan.Length().Seconds(),
		WallS: float64(d.timer.Now()) / 1e9, Outcomes: d.outcomes(), Verdict: d.lags.Judge(signs),
		Clock: d.plan.clock(d.opts.Waiter, d.meter.stamper), Sent: d.hits.soFar(),
	}
}

// total is the number of results: every planned job has one.
func (d *drive) total() (n int64) {
	for _, c := range d.counts {
		n += c
	}
	return n
}

func (d *drive) outcomes() []Outcome {
	out := make([]Outcome, 0, classes)
	for c, n := range d.counts {
		out = append(out, Outcome{Class: Class(c).String(), N: n, Reason: d.why[c]})
	}
	return out
}
