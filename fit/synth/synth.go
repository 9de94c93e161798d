// Package synth makes a trace from a spec alone: the inverse of fit.
//
//	arrivals   counts per bin, split down the chain of dispersions (arrivals.go)
//	lengths    inverse sampling of the tables, outputs given inputs (lengths.go)
//	sessions   turns that are due take arrivals, prompts grow (sessions.go), some fork (forks.go);
//	           where arrivals are rare, sessions make them (starts.go)
//	prefixes   hit depths and reuse distances on a growing tree (prefix.go)
//	features   shares
//
// Randomness comes from one seed through one stream for each purpose, so that
// changing one table does not reshuffle the rest. The same spec, options and
// seed give the same trace.
//
// Units: tokens, microseconds. Not here: answers (what a turn sends back of the
// answer before is new text), sessions that only prefixes tell.
package synth

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"reprise/trace"
	"reprise/trace/spec"
)

// Options choose what is drawn.
type Options struct {
	Seed uint64
	// For is the length of the trace, 0 for that of the log, an hour of a week
	// profile, or a minute where there was no log.
	For time.Duration
	// Scale multiplies the rate, 0 and 1 leave it. Above 1 it adds independent
	// users of the same kind, which evens bursts out: what minutes are off their
	// trend grows by its root, and the dispersion ρ is divided by it. Below 1
	// requests are thinned, which keeps ρ. Time is never squeezed.
	Scale float64
	// Redraw draws the counts of the rate series anew, Poisson around them, for a
	// day like the measured one and not that day.
	Redraw bool
	// Hour is where the trace starts in the week profile, hours from Monday
	// 00:00; used when InWeek is set.
	Hour   int
	InWeek bool
	// Variant draws the arrivals of that name, Job the batch of that name.
	Variant, Job string
}

// The purposes, each with a stream of its own.
const (
	streamArrivals = iota + 1
	streamInput
	streamOutput
	streamPrefix
	streamFeatures
	streamSessions
	streamGrowth
	streamExtras
	streamForks
)

func stream(seed uint64, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// MaxScale bounds the multiple of a rate.
const MaxScale = 10_000

// maxRequests bounds a trace, so that a hostile spec cannot fill the machine.
const maxRequests = 20_000_000

// defaultFor is the length of a trace when no log gives one.
const defaultFor = time.Minute

// begin draws the arrivals, of the whole workload or of a job; a job may have
// lengths of its own.
func begin(sp *spec.Spec, o Options) (*spec.Spec, []int64, error) {
	if o.Job == "" {
		times, err := arrivals(sp, o)
		return sp, times, err
	}
	job, err := jobOf(sp, o.Job)
	if err != nil {
		return nil, nil, err
	}
	times, err := job.arrivals(o)
	return job.spec(sp), times, err
}

// Trace draws a trace. Its header lacks Tool and DerivedFrom.
func Trace(sp *spec.Spec, o Options) (*trace.Trace, error) {
	if err := sp.Validate(); err != nil {
		return nil, err
	}
	if o.For != 0 && o.For < time.Microsecond {
		return nil, errors.New("the length of the trace is below a microsecond")
	}
	if o.Scale < 0 || math.IsNaN(o.Scale) || o.Scale > MaxScale {
		return nil, fmt.Errorf("the rate scale must be above 0 and at most %d", MaxScale)
	}
	sp, times, err := begin(sp, o)
	if err != nil {
		return nil, err
	}
	if len(times) == 0 {
		return nil, fmt.Errorf("no request falls into %v at the rate of the spec: ask for a longer trace (--for)", lengthOf(sp, o))
	}
	turns, times, err := conversations(sp, times, o)
	if err != nil {
		return nil, err
	}
	t := &trace.Trace{Header: header(sp, o), Requests: make([]trace.Request, len(times))}
	w := &sp.Workload
	lengths := newLengths(&w.Lengths, o.Seed)
	input, output := make([]int32, len(times)), make([]int32, len(times))
	for i := range times {
		input[i], output[i] = lengths.draw()
	}
	if turns != nil {
		turns.arrange(input, output)
	}
	prefixes := newPrefixes(&w.Prefix, w.Sessions, turns, input, output, o.Seed)
	if err := prefixes.checkBlocks(input); err != nil {
		return nil, err
	}
	features := newFeatures(&w.Features, o.Seed)
	for i, at := range times {
		in, out := input[i], output[i]
		r := trace.Request{ID: int64(i), T: trace.Some(at), Input: trace.Some(in), Output: trace.Some(out), From: trace.Estimated, N: 1}
		r.Blocks = prefixes.draw(i, in)
		if turns != nil {
			turns.mark(i, &r)
		}
		features.draw(&r)
		t.Requests[i] = r
	}
	n := int64(len(times))
	t.Header.Counts = trace.Counts{Read: n, Kept: n}
	return t, nil
}

// conversations deals turns over arrivals, or makes arrivals of turns; nil turns
// where the spec does not tell them.
func conversations(sp *spec.Spec, times []int64, o Options) (*talks, []int64, error) {
	s := sp.Workload.Sessions
	switch {
	case !usable(s) || o.Job != "":
		return nil, times, nil
	case o.Variant == "" && sparse(sp, times):
		return fromStarts(sp, o)
	}
	return newTalks(s, times, o.Seed), times, nil
}

func header(sp *spec.Spec, o Options) trace.Header {
	h := trace.Header{
		Kind: trace.Kind, Version: trace.Version, Tokenizer: sp.Synth.Tokenizer,
		BlockTokens: sp.Workload.Prefix.BlockTokens, Tail: trace.TailFresh,
		Time: trace.Time{ResolutionUS: 1, Calendar: trace.CalendarNone}, Profile: "synthetic", Seed: &o.Seed,
	}
	if zero, ok := weekLabel(sp.Workload.Arrivals.Week, o); ok {
		h.Time.Calendar, h.Time.Zero = trace.CalendarHourOfWeek, zero
	}
	return h
}

// weekLabel says in UTC at what hour of the week a trace of a week profile
// begins; in a zone that changes its clocks, by its clock of January.
func weekLabel(w *spec.WeekProfile, o Options) (string, bool) {
	if w == nil || !o.InWeek || o.Job != "" {
		return "", false
	}
	zone, err := time.LoadLocation(w.Zone)
	if err != nil {
		return "", false
	}
	monday := time.Date(2024, time.January, 1, o.Hour, 0, 0, 0, zone)
	return trace.ZeroLabel(trace.CalendarHourOfWeek, monday), true
}
