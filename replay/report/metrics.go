package report

import "reprise/replay"

// Metrics accumulates the results of one load point. The zero value is ready.
// It keeps exact values: about 80 bytes a request, and gaps by count.
type Metrics struct {
	samples []sample
	early   []early // answers of the warm-up, which tell when the load was in stride
	point   int32   // load point of what was added last
	gaps    counts
	tokens  tokenSums
	streams streamSums
	phases  [3]int64
	retry   retrySums
	path    pathSums
	first   firstGapSums
	stated  statedSums
}

// tokenSums are sums over answered requests; each pair of sums is over the
// requests where both are known.
type tokenSums struct {
	ok                                int64 // answered requests
	in, out                           int64 // by usage
	inN, outN                         int64
	inAsked, inGot, inBoth, inEqual   int64
	outAsked, outGot, outBoth         int64
	outLocal                          int64 // of outBoth: counted here
	outEqual, outShort                int64
	cached, cachedOf, cachedN         int64
	cachedOver                        int64 // answers with more cached tokens than prompt
	usageN, usageEqual                int64 // usage and local count both known
	usageSum, localSum                int64
	far                               int64 // of usageN: too far apart for both to be true
	tpotLocal, tpotOne, tpotUncounted int64
}

// streamSums describe how the answers arrived.
type streamSums struct {
	n, buffered, few      int64
	events, tokens, reads int64 // over streams whose tokens are known
}

type retrySums struct{ n, maxMS int64 }

// early is an answer of the warm-up.
type early struct {
	repeat int32
	replay.Span
}

// Add counts one result.
func (m *Metrics) Add(r replay.Result) {
	m.point = r.Point
	if int(r.Phase) < len(m.phases) {
		m.phases[r.Phase]++
	}
	if r.Phase == replay.Warmup && r.Class == replay.OK && r.End.OK {
		m.early = append(m.early, early{r.Repeat, replay.Span{From: r.Sched, To: r.End.V, Warmup: true}})
	}
	if r.Phase != replay.Measure {
		return
	}
	m.samples = append(m.samples, newSample(&r))
	if r.RetryAfterMS.OK {
		m.retry.n++
		m.retry.maxMS = max(m.retry.maxMS, r.RetryAfterMS.V)
	}
	m.path.add(&r)
	if r.Class != replay.OK {
		return
	}
	for _, g := range r.Gaps {
		m.gaps.add(g, 1)
	}
	m.tokens.add(&r)
	m.streams.add(&r)
	m.first.add(&r)
	m.stated.add(&r)
}

// Merge adds what o has counted; o is left as it was.
func (m *Metrics) Merge(o *Metrics) {
	if len(m.samples) == 0 {
		m.point = o.point
	}
	m.samples = append(m.samples, o.samples...)
	m.early = append(m.early, o.early...)
	m.gaps.merge(&o.gaps)
	m.tokens.merge(&o.tokens)
	m.streams.merge(&o.streams)
	m.first.merge(&o.first)
	m.stated.merge(&o.stated)
	for i := range m.phases {
		m.phases[i] += o.phases[i]
	}
	m.path.merge(&o.path)
	m.retry.n += o.retry.n
	m.retry.maxMS = max(m.retry.maxMS, o.retry.maxMS)
}

func (t *tokenSums) add(r *replay.Result) {
	t.ok++
	t.addUsage(r)
	n, local := outTokens(r)
	switch {
	case !n.OK:
		t.tpotUncounted++
	case n.V <= 1 && !far(r):
		t.tpotOne++
	case local:
		t.tpotLocal++
	}
}

func (t *tokenSums) addUsage(r *replay.Result) {
	if r.InUsage.OK {
		t.in += int64(r.InUsage.V)
		t.inN++
	}
	if r.OutUsage.OK {
		t.out += int64(r.OutUsage.V)
		t.outN++
	}
	if r.InAsked.OK && r.InUsage.OK {
		t.inBoth++
		t.inAsked += int64(r.InAsked.V)
		t.inGot += int64(r.InUsage.V)
		t.inEqual += one(r.InAsked.V == r.InUsage.V)
	}
	if n, local := outTokens(r); r.OutAsked.OK && n.OK {
		t.outBoth++
		t.outLocal += one(local)
		t.outAsked += int64(r.OutAsked.V)
		t.outGot += int64(n.V)
		t.outEqual += one(r.OutAsked.V == n.V)
		t.outShort += one(n.V < r.OutAsked.V)
	}
	if r.Cached.OK && r.InUsage.OK {
		t.cachedN++
		t.cachedOver += one(r.Cached.V > r.InUsage.V)
		t.cached += int64(r.Cached.V)
		t.cachedOf += int64(r.InUsage.V)
	}
	if r.OutUsage.OK && r.OutLocal.OK {
		t.usageN++
		t.usageSum += int64(r.OutUsage.V)
		t.localSum += int64(r.OutLocal.V)
		t.usageEqual += one(r.OutUsage.V == r.OutLocal.V)
		t.far += one(far(r))
	}
}

func (t *tokenSums) merge(o *tokenSums) {
	for _, p := range [][2]*int64{
		{&t.ok, &o.ok}, {&t.in, &o.in}, {&t.out, &o.out}, {&t.inN, &o.inN}, {&t.outN, &o.outN},
		{&t.inAsked, &o.inAsked}, {&t.inGot, &o.inGot}, {&t.inBoth, &o.inBoth}, {&t.inEqual, &o.inEqual},
		{&t.outAsked, &o.outAsked}, {&t.outGot, &o.outGot}, {&t.outLocal, &o.outLocal}, {&t.outBoth, &o.outBoth}, {&t.outEqual, &o.outEqual},
		{&t.outShort, &o.outShort}, {&t.cached, &o.cached}, {&t.cachedOf, &o.cachedOf}, {&t.cachedN, &o.cachedN},
		{&t.usageN, &o.usageN}, {&t.usageEqual, &o.usageEqual}, {&t.usageSum, &o.usageSum}, {&t.localSum, &o.localSum},
		{&t.cachedOver, &o.cachedOver}, {&t.far, &o.far}, {&t.tpotLocal, &o.tpotLocal}, {&t.tpotOne, &o.tpotOne}, {&t.tpotUncounted, &o.tpotUncounted},
	} {
		*p[0] += *p[1]
	}
}

func (s *streamSums) add(r *replay.Result) {
	if r.NEvents == 0 {
		return
	}
	s.n++
	s.buffered += one(buffered(r))
	s.few += one(fewPieces(r) && !buffered(r))
	if n, _ := outTokens(r); n.OK {
		s.events += int64(r.NEvents)
		s.reads += int64(r.NReads)
		s.tokens += int64(n.V)
	}
}

func (s *streamSums) merge(o *streamSums) {
	s.n += o.n
	s.buffered += o.buffered
	s.few += o.few
	s.events += o.events
	s.reads += o.reads
	s.tokens += o.tokens
}

// fewEvents is the least number of events that can look buffered.
const fewEvents = 10

// buffered reports whether something between the model and us held the answer
// back: at least 90 % of the events came in at most three reads. Events of one
// read have a gap of 0 between them.
func buffered(r *replay.Result) bool {
	if r.NEvents < fewEvents {
		return false
	}
	if r.NReads <= 3 {
		return true
	}
	var top [3]int
	size := 1
	note := func(n int) {
		for i := range top {
			if n > top[i] {
				n, top[i] = top[i], n
			}
		}
	}
	for _, g := range r.Gaps {
		if g != 0 {
			note(size)
			size = 0
		}
		size++
	}
	note(size)
	return len(r.Gaps) > 0 && (top[0]+top[1]+top[2])*10 >= (len(r.Gaps)+1)*9
}

func one(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
