package replay

import (
	"context"

	"reprise/trace"
)

// Sender makes and sends requests. Prepare does the heavy work (text, bodies)
// ahead of the instant; it is called from several goroutines, at most
// Options.Ahead jobs before their turn.
type Sender interface {
	Prepare(job Job) (Call, error)
}

// Call is a prepared request. Send sends it and returns what became of it: the
// instants from ConnReady on, the class, tokens and gaps. What the clock knows
// (row, phase, Sched, Dispatch, InAsked and OutAsked if absent) Run fills in.
// Send returns soon after ctx ends, with class cancelled.
type Call interface {
	Send(ctx context.Context, f *Flight) Result
}

// Stamper is a Sender that knows how what it receives is stamped.
type Stamper interface {
	Stamps() string    // for run.json: kernel, user, or both
	Delays() SpanCount // from the kernel's receipt to the read, over all reads so far; empty where the kernel tells none
}

// Teller is a Sender that knows which headers its results' request ids and server
// times are from. It is asked when the run is over.
type Teller interface{ Told() Told }

// stamper returns what a sender tells of its stamps: user ones where it is silent.
func stamper(s Sender) Stamper {
	if t, ok := s.(Stamper); ok {
		return t
	}
	return userStamps{}
}

type userStamps struct{}

func (userStamps) Stamps() string    { return "user" }
func (userStamps) Delays() SpanCount { return SpanCount{} }

// Flight is a call in the air.
type Flight struct {
	Timer          // the run's clock
	Dispatch int64 // when the clock let the call go
	job      *Job
	meter    *meter
	hits     *sentHits
	counted  bool // by hits
}

// NewFlight returns a flight outside any run, for calls that no plan has.
func NewFlight(t Timer) *Flight { return &Flight{Timer: t, Dispatch: t.Now()} }

// Sent tells when the request's bytes were handed over. Of one that is sent a
// second time the first counts.
func (f *Flight) Sent(writeEnd int64) {
	if f.meter != nil {
		f.meter.sent(writeEnd - f.job.Sched)
	}
	if f.hits != nil {
		f.hits.flown(f)
	}
}

func some[T any](v T) trace.Opt[T] { return trace.Some(v) }
