package report

import (
	"fmt"
	"maps"
	"slices"

	"reprise/replay"
	"reprise/trace/spec"
)

// columns are the sorted latencies of the answered requests, ns.
type columns struct {
	ttft, ttftSend, ttfa, e2e, e2eSend, tpot, lag sorted
	own, ttftOwn, ttfaOwn, e2eOwn                 sorted // what the client was late, and latencies without it
	tokens                                        sorted // of the answers with a TPOT
}

func (m *Metrics) columns() columns {
	var c columns
	for i := range m.samples {
		s := &m.samples[i]
		if s.sent() {
			c.lag, c.own = append(c.lag, s.lag()), append(c.own, s.own())
		}
		if !s.isOK() {
			continue
		}
		for _, v := range []struct {
			to *sorted
			v  int64
		}{{&c.ttft, s.ttft()}, {&c.ttftSend, s.ttftSend()}, {&c.ttfa, s.ttfa()}, {&c.e2e, s.e2e()}, {&c.e2eSend, s.e2eSend()}, {&c.tpot, s.tpot},
			{&c.ttftOwn, s.ownless(s.ttft())}, {&c.ttfaOwn, s.ownless(s.ttfa())}, {&c.e2eOwn, s.ownless(s.e2e())}} {
			if v.v != absent {
				*v.to = append(*v.to, v.v)
			}
		}
		if s.tpot != absent {
			c.tokens = append(c.tokens, int64(s.tokens))
		}
	}
	for _, v := range []sorted{c.ttft, c.ttftSend, c.ttfa, c.e2e, c.e2eSend, c.tpot, c.lag, c.own, c.ttftOwn, c.ttfaOwn, c.e2eOwn, c.tokens} {
		sortedOf(v)
	}
	return c
}

// Summary finishes the metrics of a run against its limits. m is left as it
// was, so it may go on to be merged.
func (m *Metrics) Summary(run *replay.Run) Summary {
	s := m.summary(run)
	s.conclude()
	return s
}

// summary is Summary before the verdict on the client has its effect.
func (m *Metrics) summary(run *replay.Run) Summary {
	c := m.columns()
	s := Summary{Source: source(run), Outcomes: m.outcomes(run.Outcomes), Load: m.load(run), Streams: m.streams.finish()}
	s.Tokens = m.tokenRates(&s.Load)
	s.Repeats, s.Point = len(m.windows()), m.point
	w := wrongOf(run, &c)
	s.Latency = m.latencies(&c, run.Endpoint.Streaming, w)
	for i := range s.Latency {
		s.Latency[i].closed = run.Mode == replay.ClosedLoop
	}
	s.BinS, s.Bins = overTime(m.samples)
	s.span = m.stretch()
	s.CDFs = []CDF{cdf("ttft", "sched", c.ttft), cdf("ttft", "write_end", c.ttftSend), cdf("e2e", "sched", c.e2e)}
	if run.Endpoint.Streaming {
		s.CDFs = append(s.CDFs, cdf("tpot", "", c.tpot))
	}
	s.Cache = Cache{Mode: run.Cache.Mode, Expected: run.Cache.Expected(m.point), N: m.tokens.cachedN, Absurd: m.tokens.cachedOver}
	if s.Cache.Absurd == 0 {
		s.Cache.Measured = ratio(m.tokens.cached, m.tokens.cachedOf)
	}
	s.Streams.FirstGap, s.Stated = m.first.finish(), m.stated.finish(run)
	s.Client = client(run, c.lag)
	s.Client.PlusMinusMS = *ms(w.lag + w.read)
	s.Path = m.path.finish(run)
	s.SLO = m.judgeAll(run, &c, s.Load.Failed, w)
	s.Goodput = m.goodput(run.SLO, &s.Load)
	s.Notes = notes(run, &s)
	return s
}

func source(run *replay.Run) Source {
	return Source{Tool: run.Tool, Status: run.Status, AbortReason: run.AbortReason, StartedAt: run.StartedAt, Trace: run.Trace, Spec: run.Spec,
		Endpoint: run.Endpoint, Flags: run.Flags, Mode: run.Mode, Shape: run.Shape, Clock: run.Clock, Environment: run.Environment, Region: run.Region, WallS: run.WallS}
}

// outcomes counts the measured requests by class, with the reasons that the run
// kept.
func (m *Metrics) outcomes(kept []replay.Outcome) []replay.Outcome {
	why := map[string]string{}
	for _, o := range kept {
		why[o.Class] = o.Reason
	}
	var n [256]int64
	for i := range m.samples {
		n[m.samples[i].class]++
	}
	out := []replay.Outcome{}
	for _, c := range replay.Classes() {
		o := replay.Outcome{Class: c.String(), N: n[c]}
		if o.N > 0 {
			o.Reason = why[o.Class]
		}
		out = append(out, o)
	}
	return out
}

// window is the first and last planned instant of one repetition.
type window struct{ lo, hi, n int64 }

// length is the time that as many requests take at their mean gap, so one gap
// more than lies between the first and the last. Answers are counted over no
// less, or they would come faster than what was offered.
func (w window) length() int64 {
	if w.n < 2 {
		return 0
	}
	return w.hi - w.lo + (w.hi-w.lo)/(w.n-1)
}

func (m *Metrics) stretch() (s stretch) {
	lo, hi, ok := extent(m.samples)
	if !ok {
		return s
	}
	planned := lo
	for _, w := range m.windows() {
		planned = max(planned, w.hi)
	}
	return stretch{float64(lo) / 1e9, float64(planned) / 1e9, float64(hi) / 1e9}
}

func (m *Metrics) windows() map[int32]window {
	w := map[int32]window{}
	for i := range m.samples {
		s := &m.samples[i]
		v, ok := w[s.repeat]
		if !ok {
			v = window{lo: s.sched, hi: s.sched}
		}
		w[s.repeat] = window{min(v.lo, s.sched), max(v.hi, s.sched), v.n + 1}
	}
	return w
}

// load counts the requests and their rates. With several repetitions the gaps
// and windows of each add up.
func (m *Metrics) load(run *replay.Run) Load {
	l := Load{Planned: int64(len(m.samples)), Warmup: m.phases[replay.Warmup], Drain: m.phases[replay.Drain],
		RetryAfterN: m.retry.n, RetryAfterMS: m.retry.maxMS, PeakInFlight: inFlight(m.samples).peak()}
	ends := m.ends()
	for i := range m.samples {
		s := &m.samples[i]
		l.OK += one(s.isOK())
		l.RateLimited += one(s.class == replay.HTTP429)
	}
	l.Failed = l.Planned - l.OK
	var gaps, open, span int64
	for r, w := range m.windows() {
		gaps += w.n - 1
		open += w.hi - w.lo
		over := ends[r] - w.lo
		if least := w.length(); over < least {
			over, l.byPlan = least, true
		}
		span += over
	}
	l.WindowS, l.SpanS = float64(open)/1e9, float64(span)/1e9
	l.OfferedPerS = perSecond(gaps, open)
	l.DonePerS = perSecond(l.OK, span)
	if run.Mode == replay.ClosedLoop {
		m.pace(&l, slots(run, m.point))
	}
	return l
}

// slots is the concurrency of a load point of a closed loop, 0 where run.json
// does not say.
func slots(run *replay.Run, point int32) int {
	if run.Shape != nil {
		for _, p := range run.Shape.Points {
			if p.Point == point {
				return p.Concurrency
			}
		}
	}
	return 0
}

// pace takes the answers of a closed loop per second from the part in which all
// its slots went on, where every repetition has one that is long enough: so the
// drain, which says nothing of the endpoint, is in no rate.
func (m *Metrics) pace(l *Load, slots int) {
	spans := map[int32][]replay.Span{}
	for _, e := range m.early {
		spans[e.repeat] = append(spans[e.repeat], e.Span)
	}
	for i := range m.samples {
		if s := &m.samples[i]; s.isOK() && s.end != absent {
			spans[s.repeat] = append(spans[s.repeat], replay.Span{From: s.sched, To: s.end})
		}
	}
	var sum, last float64
	for _, r := range slices.Sorted(maps.Keys(spans)) {
		p := replay.PaceOf(spans[r], slots)
		if slots == 0 || !p.Enough() {
			return
		}
		sum, last = sum+float64(p.PerS*p.LastS), last+p.LastS
	}
	if last > 0 {
		v := sum / last
		l.DonePerS, l.SteadyS = &v, last
	}
}

// scaled is n of the answers' tokens or requests at the rate of the answers.
func (l *Load) scaled(n int64) *float64 {
	if l.DonePerS == nil {
		return nil
	}
	v := 0.0
	if l.OK > 0 {
		v = float64(n) / float64(l.OK) * *l.DonePerS
	}
	return &v
}

// perSecond is n in ns nanoseconds as a rate, nil where there is none.
func perSecond(n, ns int64) *float64 {
	if ns <= 0 {
		return nil
	}
	v := float64(n) / (float64(ns) / 1e9)
	return &v
}

func ratio(a, b int64) *float64 {
	if b == 0 {
		return nil
	}
	v := float64(a) / float64(b)
	return &v
}

func (m *Metrics) latencies(c *columns, streaming bool, w wrong) []Latency {
	row := func(metric, clock string, d distribution, unit int64, own sorted) Latency {
		l := Latency{Metric: metric, Clock: clock, N: d.len(), Percentiles: percentiles(d, unit), Without: max(0, m.tokens.ok-d.len())}
		less, more := w.of(metric, clock)
		l.LessMS, l.MoreMS = *ms(less), *ms(more)
		for i := range l.Percentiles {
			if p := &l.Percentiles[i]; p.MS != nil {
				less, more := w.at(metric, clock, d, unit, own, p.P)
				p.LessMS, p.MoreMS = *ms(less), *ms(more)
			}
		}
		if v, ok := at(d, 100); ok {
			l.MaxMS = ms(v * unit)
		}
		return l
	}
	out := []Latency{row("ttft", "sched", c.ttft, 1, c.ttftOwn), row("ttft", "write_end", c.ttftSend, 1, nil)}
	if !slices.Equal(c.ttfa, c.ttft) && len(c.ttfa) > 0 { // there was reasoning
		out = append(out, row("ttfa", "sched", c.ttfa, 1, c.ttfaOwn))
	}
	if streaming {
		itl := row("itl", "", &m.gaps, 1000, nil)
		itl.Without = 0
		out = append(out, row("tpot", "", c.tpot, 1, nil), itl)
	}
	return append(out, row("e2e", "sched", c.e2e, 1, c.e2eOwn), row("e2e", "write_end", c.e2eSend, 1, nil))
}

// judgeAll judges every limit; those that cannot be judged say why.
func (m *Metrics) judgeAll(run *replay.Run, c *columns, failed int64, w wrong) []SLOResult {
	out := []SLOResult{}
	empty, unpaced := m.lacking()
	for _, s := range run.SLO {
		var r SLOResult
		switch s.Metric {
		case "ttft":
			r = judge(s, c.ttft, 1, failed+empty).inLag(judge(later(s, w.read), c.ttftOwn, 1, failed+empty), w).unsure(w, c.ttft, 1, c.ttftOwn)
		case "tpot":
			r = judgeUnsure(s, c.tpot, failed+empty, unpaced).inError(w.tpot, w.read).unsure(w, c.tpot, 1, nil)
			if why := m.tokens.doubt(); why != "" {
				r = r.withhold(why + ", so the time per token is not known")
			}
		case "itl":
			r = judge(s, &m.gaps, 1000, m.without(failed+empty)).inError(w.read, w.read).unsure(w, &m.gaps, 1000, nil)
		case "e2e":
			r = judge(s, c.e2e, 1, failed).inLag(judge(later(s, w.read), c.e2eOwn, 1, failed), w).unsure(w, c.e2e, 1, c.e2eOwn)
		default:
			r = judge(s, sorted(nil), 1, failed).cannot(fmt.Sprintf("no metric is called %q", s.Metric))
		}
		out = append(out, r.unless(run, s))
	}
	return out
}

// unsure sets the error of what was measured.
func (r SLOResult) unsure(w wrong, d distribution, unit int64, own sorted) SLOResult {
	less, more := w.at(r.Metric, "sched", d, unit, own, r.Percentile)
	r.LessMS, r.MoreMS = *ms(less), *ms(more)
	return r
}

// later is a limit that is ns later.
func later(s spec.SLO, ns int64) spec.SLO {
	s.ThresholdMS += spec.Num(*ms(ns))
	return s
}

// lacking counts the answers without content, and those with content whose
// TPOT is not known.
func (m *Metrics) lacking() (empty, unpaced int64) {
	for i := range m.samples {
		empty += one(m.samples[i].empty())
		unpaced += one(m.samples[i].unpaced())
	}
	return empty, unpaced
}

// without is what failures count for under a limit on gaps: nothing, unless no
// request was answered at all.
func (m *Metrics) without(failed int64) int64 {
	if failed == int64(len(m.samples)) {
		return failed
	}
	return 0
}

// unless withholds the answer to a limit that these results cannot give.
func (r SLOResult) unless(run *replay.Run, s spec.SLO) SLOResult {
	streamed := s.Metric == "ttft" || s.Metric == "tpot" || s.Metric == "itl"
	switch {
	case run.Mode == replay.ClosedLoop:
		return r.cannot("in a closed loop the server sets the pace, so it cannot show that a limit holds under the workload's arrivals")
	case s.MeasuredAt == "server":
		return r.withhold("the limit is on the server's own measurement, which these results do not have")
	case streamed && !run.Endpoint.Streaming:
		return r.withhold("the answers were not streamed, so only E2E can be measured")
	}
	return r
}

func (m *Metrics) goodput(slo []spec.SLO, l *Load) Goodput {
	lim, names, note := requestLimits(slo)
	g := Goodput{Limits: names, Note: note}
	if len(names) == 0 {
		return g
	}
	if why := m.tokens.doubt(); lim.tpot != absent && why != "" {
		g.Note = "withheld: the time per token is not known"
		return g
	}
	if _, unpaced := m.lacking(); lim.tpot != absent && float64(unpaced) > unknown*float64(l.OK) {
		g.Note = fmt.Sprintf("withheld: the time per token of %s is not known", plural(unpaced, "answer"))
		return g
	}
	good := int64(0)
	for i := range m.samples {
		good += one(lim.good(&m.samples[i]))
	}
	g.Good, g.Share = &good, ratio(good, l.Planned)
	if g.Share != nil {
		g.PerS = l.scaled(good) // over the time that the answers are counted over
	}
	return g
}

func (m *Metrics) tokenRates(l *Load) Tokens {
	t := &m.tokens
	out := Tokens{InN: t.inN, OutN: t.outN, OutShort: t.outShort, UsageN: t.usageN, UsageEqual: t.usageEqual, UsageSum: t.usageSum,
		LocalSum: t.localSum, UsageFar: t.far, TPOTByLocal: t.tpotLocal, OneToken: t.tpotOne, NotCountable: t.tpotUncounted,
		InAsked: Asked{t.inBoth, t.inAsked, t.inGot, t.inEqual, 0}, OutAsked: Asked{t.outBoth, t.outAsked, t.outGot, t.outEqual, t.outLocal}}
	if t.inN > 0 {
		out.InPerS = l.scaled(t.in)
	}
	if out.Doubt = t.doubt(); t.outN > 0 && out.Doubt == "" {
		out.OutPerS = l.scaled(t.out)
	}
	return out
}

func (s *streamSums) finish() Streams {
	return Streams{N: s.n, Buffered: s.buffered, Few: s.few, TokensPerEvent: ratio(s.tokens, s.events), EventsPerRead: ratio(s.events, s.reads)}
}

// conclude joins the limits into one verdict. A client that was late makes
// every answer one that cannot be given.
func (s *Summary) conclude() {
	if s.Client.Withheld() {
		for i := range s.SLO {
			s.SLO[i] = s.SLO[i].withhold(s.Client.fault() + ", so its latencies are not the server's")
		}
		s.Goodput = Goodput{Limits: s.Goodput.Limits, Note: "withheld: " + s.Client.fault()}
	}
	doubt := s.doubt()
	if doubt != "" {
		for i := range s.SLO {
			s.SLO[i] = s.SLO[i].cannot(doubt)
		}
		s.Goodput = Goodput{Limits: s.Goodput.Limits, Note: "withheld: " + doubt}
	}
	s.Verdict = verdictOf(s.SLO)
	switch {
	case s.Client.Withheld():
		s.Verdict, s.Reason = CannotSay, s.Client.fault()+": "+s.Client.Reason
	case doubt != "":
		s.Verdict, s.Reason = CannotSay, doubt
	case s.Verdict == NoLimits:
		s.Reason = "no limit was agreed"
	case s.Verdict == Met:
		s.Reason = "every limit is met"
	default:
		for _, r := range s.SLO {
			if r.Verdict == s.Verdict {
				s.Reason = r.Text + ": " + r.Reason
				break
			}
		}
	}
}
