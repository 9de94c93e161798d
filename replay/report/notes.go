package report

import (
	"fmt"
	"math"

	"reprise/replay"
)

// notes says what could not be controlled, the run's own notes first, and what
// a reader must know of the numbers.
func notes(run *replay.Run, s *Summary) []string {
	out := append([]string{}, run.Notes...)
	add := func(when bool, format string, args ...any) {
		if when {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	switch run.Status {
	case replay.Aborted:
		add(true, "The run was aborted%s: these numbers are of the part that ran.", because(run.AbortReason))
	case replay.Running, replay.Killed:
		add(true, "The run did not end: it %s. These numbers are of the results that were kept%s.", fate(run.Status, run.AbortReason), kept(run.AbortReason))
	}
	add(s.Load.Warmup+s.Load.Drain > 0, "Besides the %s, %s of the warm-up and %s of the drain were sent; they are in no number here.",
		plural(s.Load.Planned, "measured request"), count(s.Load.Warmup), count(s.Load.Drain))
	add(run.Mode == replay.ClosedLoop, "Closed loop: there is no schedule. TTFT and E2E run from the instant at which a request's slot was free and it was let go, so waiting that users of an open system would have shows in no latency here. Use it for what the endpoint can do, and an open loop for limits.")
	if run.Mode == replay.Sessions && run.Shape != nil {
		add(true, "%s requests have an absolute instant (open loop); %s further turns have one that follows from the answer before, and their latency runs from that. Where the server was slow they came later than in the log.%s", count(run.Shape.Absolute), count(run.Shape.AfterAnswer), thinkText(run.Shape.Think))
	}
	add(s.ramped() != "", "The rate changed all the time: a percentile over the whole ramp is of no one rate, and the charts over time show where it breaks. In steps (--steps) each rate has its own numbers.")
	add(run.WarmupSent > 0, "Before the clock started %s of other prompts were sent to warm the server; they are in no number here.", plural(int64(run.WarmupSent), "request"))
	add(run.Resent > 0, "%s sent a second time, since the server had closed their kept connection without a byte of answer (--resend): their latency holds both, and the server may have worked on them twice.", plural(run.Resent, "request")+verb(run.Resent))
	add(!run.Endpoint.Streaming, "Answers were not streamed: TTFT is the time to the whole answer, and TPOT and ITL are not given.")
	add(s.Cache.Absurd > 0, "For %s the server reports more cached tokens than the prompt has: its cache count means something else, and no hit rate is given.", plural(s.Cache.Absurd, "answer"))
	add(s.warmed(), "The server's cache had blocks of earlier runs (cache: keep): the hit rate measured, %s, is above the %s that the prompts of this run share among themselves. It is that of a warm cache.", shareText(s.Cache.Measured), shareText(&s.Cache.Expected))
	noteDrawn(add, run, s)
	noteStreams(add, s)
	noteFirstGap(add, s.Streams.FirstGap)
	noteProtocol(add, &run.Endpoint)
	noteTokens(add, run, &s.Tokens)
	notePath(add, s)
	return out
}

func verb(n int64) string {
	if n == 1 {
		return " was"
	}
	return " were"
}

// thinkText says where think times come from.
func thinkText(source string) string {
	return map[string]string{
		replay.ThinkRecorded: " The think times between are those of the trace.",
		replay.ThinkSpec:     " The think times between are drawn from the spec's.",
		replay.ThinkMixed:    " The think times between are those of the trace where it has them.",
		replay.ThinkArrivals: " The think times between are not known: each turn waited as long as lies between the arrivals, which holds the answer's time too.",
	}[source]
}

// kept says which results a run that did not end has kept, where that is known.
func kept(why string) string {
	if why != "" {
		return ""
	}
	return ", which are all but those of the last second"
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " (" + reason + ")"
}

// warmed tells that a cache which is kept held more than the run brought.
func (s *Summary) warmed() bool {
	return s.Cache.Mode == replay.CacheKeep && s.Cache.Measured != nil && *s.Cache.Measured > s.Cache.Expected+0.01
}

// noteDrawn says that the arrivals drawn are fewer or more than the rate asked
// for comes to, by more than their noise: for gaps of a coefficient of variation
// CV the standard deviation of a count n is CV·√n (Cox, Renewal Theory, 1962).
func noteDrawn(add func(bool, string, ...any), run *replay.Run, s *Summary) {
	if run.Shape == nil || run.Shard != nil || run.Status.Open() {
		return
	}
	cv := map[string]float64{replay.Poisson: 1, replay.Gamma: run.Shape.CV}[run.Shape.Arrivals]
	p := s.asked()
	if p == nil || cv == 0 {
		return
	}
	want := float64((p.FromPerS+p.ToPerS)/2*p.LastS) * float64(max(s.Repeats, 1))
	noise := cv * math.Sqrt(want)
	got := float64(s.Load.Planned + s.Load.Warmup)
	add(math.Abs(got-want) > max(noise, 0.05*want), "The arrivals drawn are %.0f requests, where the rate asked for comes to %.0f (standard deviation %.0f): the rate offered is that much %s. A longer run, or other seeds, come nearer.", got, want, noise, moreOrLess(got, want))
}

func moreOrLess(got, want float64) string {
	if got < want {
		return "lower"
	}
	return "higher"
}

// asked is the load point of an open loop or ramp whose arrivals are drawn at a
// rate for a time, nil of another.
func (s *Summary) asked() *replay.LoadPoint {
	sh := s.Source.Shape
	if sh == nil {
		return nil
	}
	for i := range sh.Points {
		if p := &sh.Points[i]; (p.Point == s.Point || len(sh.Points) == 1) && p.LastS > 0 && p.FromPerS+p.ToPerS > 0 {
			return p
		}
	}
	return nil
}

func noteStreams(add func(bool, string, ...any), sum *Summary) {
	s := &sum.Streams
	add(s.Buffered > 0, "%s of %s arrived buffered (at least 90 %% of the events in three reads or fewer): %s. They have no TPOT.",
		plural(s.Buffered, "stream"), count(s.N), sum.Client.holder())
	add(s.Few > 0 && sum.Source.Endpoint.Streaming, "%s of %s came in fewer than %d pieces, of more than two tokens each: too few for a time per token. They have no TPOT.", plural(s.Few, "answer"), count(s.N), leastPieces)
	if s.TokensPerEvent != nil {
		holds := "TPOT is by token count and holds."
		if s.Few > 0 {
			holds = "TPOT, of the answers that have one, is by token count and holds."
		}
		if sum.Tokens.Doubt != "" {
			holds = "That is by the server's usage, which our own count is far from: TPOT does not hold either."
		}
		add(*s.TokensPerEvent > 1.1, "An event carries %.2f tokens: ITL is between events, not between tokens. "+holds, *s.TokensPerEvent)
	}
	if s.EventsPerRead != nil {
		add(*s.EventsPerRead > 1.1, "%.2f events came in one read: gaps inside a read are 0, so low ITL percentiles are too good.", *s.EventsPerRead)
	}
}

// stall is how long the client must have stood still, ms, to be named as what may
// have held answers back.
const stall = 50

// holder says what held back the answers that arrived in a few reads: a client
// that was late reads at once what has come meanwhile, and of such a run nothing
// is said of the path.
func (c Client) holder() string {
	switch {
	case c.Withheld() && c.Lacking == 0:
		return "this client was late and read at once what had come meanwhile, so it is not known whether anything on the way holds answers back"
	case c.HeartMaxMS != nil && *c.HeartMaxMS >= stall:
		return "either something between the model and the client holds answers back, or this client, which stood still for up to " + msText(*c.HeartMaxMS) + ", read at once what had come meanwhile; TTFT is late and ITL too good for those"
	}
	return "something between the model and the client holds answers back, so TTFT is late and ITL too good for those"
}

func noteTokens(add func(bool, string, ...any), run *replay.Run, t *Tokens) {
	add(t.TPOTByLocal > 0, "For %s the server gave no usage: TPOT is by our own token count.", plural(t.TPOTByLocal, "answer"))
	add(t.NotCountable > 0, "The output tokens of %s are not known: no TPOT, and no goodput under a TPOT limit.", plural(t.NotCountable, "answer"))
	add(t.OneToken > 0, "%s had at most one token: TPOT does not apply, and a TPOT limit is not held against them.", plural(t.OneToken, "answer"))
	if o := t.OutAsked; o.N > 0 && o.Equal < o.N {
		why := ""
		if !run.Endpoint.IgnoreEOS {
			why = " (the server was free to stop early)"
		}
		add(t.Doubt == "", "%s of %s answers had exactly the output length asked for%s: %s tokens asked, %s received.", count(o.Equal), count(o.N), why, count(o.Asked), count(o.Got))
	}
	if i := t.InAsked; i.N > 0 && i.Equal < i.N {
		add(true, "%s of %s prompts had exactly the length planned, by the server's usage: %s tokens planned, %s counted.", count(i.Equal), count(i.N), count(i.Asked), count(i.Got))
	}
	add(t.UsageFar > 0, "In %s usage and our own token count are over %.1f times apart: they have no TPOT. Either tokens are claimed that did not come, or our tokenizer is not the server's (--tokenizer), or reasoning is counted that is not sent.", plural(t.UsageFar, "answer"), farTimes)
	add(t.UsageN > 0 && t.UsageEqual < t.UsageN, "Usage and our own token count agree for %s of %s answers: %s tokens by usage, %s by ours.", count(t.UsageEqual), count(t.UsageN), count(t.UsageSum), count(t.LocalSum))
}
