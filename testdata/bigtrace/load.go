package main

import (
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"reprise/trace"
)

// load is what the flags say.
type load struct {
	n      int64
	days   float64
	blocks bool
	seed   uint64
}

const (
	blockTokens = 16
	open        = 20_000 // sessions at any time
	apps        = 4
)

// session is a conversation in progress; history is its blocks so far.
type session struct {
	id, turn, client int32
	app              int
	tokens           int32
	last             int64 // row of its last turn
	history          []int32
}

// traffic makes requests one after another.
type traffic struct {
	load
	rng      *rand.Rand
	at       float64 // seconds
	rate     float64
	burst    float64
	sessions []session
	roots    [apps][]int32
	started  int32
	next     int32 // block
}

func (l load) write(w io.Writer) error {
	h := trace.Header{Kind: trace.Kind, Version: trace.Version, BlockTokens: blockTokens, Tail: trace.TailFresh,
		Tool: trace.Tool{Name: "bigtrace"}, Profile: "local", Seed: &l.seed,
		Time:   trace.Time{ResolutionUS: 1, Calendar: trace.CalendarDate, Zero: "2026-11-02T00:00:00.000000Z"},
		Counts: trace.Counts{Read: l.n, Kept: l.n}}
	return trace.Write(w, h, l.requests())
}

func (l load) requests() iter.Seq2[trace.Request, error] {
	return func(yield func(trace.Request, error) bool) {
		t := &traffic{load: l, rng: rand.New(rand.NewPCG(l.seed, 1)), burst: 1}
		t.rate = float64(l.n) / (l.days * 86400)
		for i := range l.n {
			if !yield(t.request(i), nil) {
				return
			}
		}
	}
}

// arrive moves the clock: a day with a peak, weekends at half, and bursts.
func (t *traffic) arrive() int64 {
	day := math.Mod(t.at/86400, 7)
	level := 1 + 0.7*math.Sin(2*math.Pi*(day-0.3))
	if day >= 5 {
		level /= 2
	}
	if t.rng.IntN(500) == 0 {
		t.burst = math.Exp(0.4*t.rng.NormFloat64() - 0.08)
	}
	t.at += t.rng.ExpFloat64() / (t.rate * level * t.burst)
	return int64(t.at * 1e6)
}

func (t *traffic) request(i int64) trace.Request {
	at := t.arrive()
	s := t.pick()
	fresh := int32(math.Exp(4.5 + t.rng.NormFloat64()))
	input := s.tokens + fresh + 1
	output := min(int32(math.Exp(5+t.rng.NormFloat64()))+1, 2048)
	r := trace.Request{ID: i, T: trace.Some(at), Session: trace.Some(s.id), Turn: trace.Some(s.turn), Client: trace.Some(s.client),
		API: trace.Chat, Model: []string{"m1", "m2", "m3", "m4"}[s.app], Input: trace.Some(input), Output: trace.Some(output),
		Max: trace.Some[int32](2048), From: trace.Counted, N: 1, Finish: trace.FinishStop, Status: trace.Some[int16](200),
		Stream: trace.Some(t.rng.IntN(10) > 0), Tools: trace.Some(s.app == 0), Schema: trace.Some(s.app == 1),
		Dur: trace.Some(int64(output)*20_000 + 300_000)}
	if s.last >= 0 {
		r.Parent = trace.Some(s.last)
	}
	if output == 2048 {
		r.Finish = trace.FinishLength
	}
	if t.rng.IntN(200) == 0 {
		r.Finish, r.Status, r.Output = trace.FinishError, trace.Some[int16](500), trace.Opt[int32]{}
	}
	if t.blocks {
		r.Blocks = t.prompt(s, input)
	}
	s.last, s.turn, s.tokens = i, s.turn+1, input+output
	return r
}

// pick goes on with a session or begins one in its place.
func (t *traffic) pick() *session {
	if len(t.sessions) < open {
		t.sessions = append(t.sessions, t.begin())
		return &t.sessions[len(t.sessions)-1]
	}
	s := &t.sessions[t.rng.IntN(open)]
	if t.rng.IntN(3) == 0 || s.tokens > 16_000 {
		*s = t.begin()
	}
	return s
}

func (t *traffic) begin() session {
	app := t.rng.IntN(apps)
	t.started++
	return session{id: t.started - 1, client: int32(t.rng.ExpFloat64() * 30), app: app, tokens: int32(160 * (app + 1)), last: -1}
}

// prompt is the instruction blocks, the history, and blocks of its own; the
// partial last one is new each time.
func (t *traffic) prompt(s *session, input int32) []int32 {
	number := func() int32 { t.next++; return t.next - 1 }
	if s.history == nil {
		if t.roots[s.app] == nil {
			for range 10 * (s.app + 1) {
				t.roots[s.app] = append(t.roots[s.app], number())
			}
		}
		s.history = slices.Clone(t.roots[s.app])
	}
	for int32(len(s.history)) < input/blockTokens {
		s.history = append(s.history, number())
	}
	list := slices.Clone(s.history)
	if input%blockTokens != 0 {
		list = append(list, number())
	}
	return list
}
