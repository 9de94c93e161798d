package fit

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

// conversation is a log by hand: sessions of ids, seconds of arrival.
func conversation(rows ...[2]int) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	for i, r := range rows {
		q := trace.Request{ID: int64(i), T: trace.Some(int64(r[1]) * second), Input: trace.Some(int32(100 + 10*i)), Output: trace.Some(int32(5)), N: 1}
		if r[0] >= 0 {
			q.Session = trace.Some(int32(r[0]))
		}
		t.Requests = append(t.Requests, q)
	}
	return t
}

// TestLinkPrecedence has session ids, parents and prefixes that contradict one
// another: the first that is there tells.
func TestLinkPrecedence(t *testing.T) {
	x := conversation([2]int{7, 0}, [2]int{7, 1}, [2]int{9, 2}, [2]int{-1, 3}, [2]int{8, 4})
	blocks := [][]int32{{0, 1, 2}, {3, 4, 5}, {0, 1, 2, 6, 7, 8}, {9, 10}, {11, 12}}
	inputs := []int32{50, 51, 99, 40, 40}
	for i := range x.Requests {
		x.Requests[i].Blocks, x.Requests[i].Input = blocks[i], trace.Some(inputs[i])
	}
	x.Requests[3].Parent = trace.Some(int64(2))
	for _, c := range []struct {
		by      string
		session []int32
		strip   func(*trace.Request)
	}{
		{spec.BySession, []int32{0, 0, 1, -1, 2}, func(r *trace.Request) { r.Session = trace.Opt[int32]{} }},
		{spec.ByParent, []int32{0, 1, 2, 2, 3}, func(r *trace.Request) { r.Parent = trace.Opt[int64]{} }},
		{spec.ByPrefix, []int32{0, 1, 0, 2, 3}, func(r *trace.Request) { r.Blocks = nil }},
		{"", []int32{-1, -1, -1, -1, -1}, func(*trace.Request) {}},
	} {
		l := Link(x)
		if l.By != c.by || !equalInts(l.Session, c.session) {
			t.Errorf("%q %v, want %q %v", l.By, l.Session, c.by, c.session)
		}
		for i := range x.Requests {
			c.strip(&x.Requests[i])
		}
	}
}

func equalInts(a, b []int32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// TestHazardsCensored draws sessions of known hazards and cuts a window out of
// them: Kaplan-Meier finds the hazards again, the plain ratio of counts does not.
func TestHazardsCensored(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := []float64{0.4, 0.6, 0.75, 0.8, 0.8, 0.8} // then 0.8
	x := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	type row struct {
		at      float64
		session int32
	}
	var rows []row
	const length, gap = 3600, 150
	for s := range int32(60_000) {
		at := rng.Float64()*4*length - length
		for k := 0; ; k++ {
			if at >= 0 && at < length {
				rows = append(rows, row{at, s})
			}
			if rng.Float64() >= h[min(k, len(h)-1)] {
				break
			}
			at += rng.ExpFloat64() * gap
		}
	}
	for _, r := range rows {
		x.Requests = append(x.Requests, trace.Request{ID: int64(len(x.Requests)), T: trace.Some(int64(r.at * 1e6)), Session: trace.Some(r.session), N: 1})
	}
	sortByTime(x)
	c := TurnsOf(x, Link(x))
	plain := c
	plain.Late, plain.Truncated = make([]bool, len(c.Late)), make([]bool, len(c.Counts))
	var off, offPlain float64
	for k := range 4 {
		off = math.Max(off, math.Abs(c.Hazards()[k].Value()-h[k]))
		offPlain = math.Max(offPlain, math.Abs(plain.Hazards()[k].Value()-h[k]))
	}
	t.Logf("hazards off by at most %.3f, without censoring %.3f", off, offPlain)
	if off > 0.015 || offPlain < 0.025 {
		t.Errorf("hazards are off by %.3f, plain ones by %.3f", off, offPlain)
	}
}

func sortByTime(x *trace.Trace) {
	order := make([]int32, len(x.Requests))
	for i := range order {
		order[i] = int32(x.Requests[i].T.V / 1000)
	}
	var out []trace.Request
	for _, i := range byValue(order) {
		out = append(out, x.Requests[i])
	}
	x.Requests = out
}

// TestSessionSection knows every number of a log of three sessions.
func TestSessionSection(t *testing.T) {
	x := conversation([2]int{0, 0}, [2]int{1, 10}, [2]int{0, 60}, [2]int{2, 70}, [2]int{0, 160}, [2]int{1, 200})
	in := []int32{100, 40, 160, 30, 130, 90}
	for i := range x.Requests {
		r := &x.Requests[i]
		r.Input, r.Dur, r.Finish = trace.Some(in[i]), trace.Some(int64(10*second)), trace.FinishStop
	}
	x.Requests[2].Finish = trace.FinishToolCalls
	s := sessionSection(x, Link(x))
	starts := 0.0
	for _, n := range s.Starts.Rates.Counts {
		starts += float64(n)
	}
	at := func(tab *spec.Table, p float64) float64 {
		for i, q := range tab.P {
			if float64(q) == p {
				return float64(tab.Values[i])
			}
		}
		t.Fatalf("no p=%g", p)
		return 0
	}
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"sessions", float64(s.Count.Value), 3}, {"mean turns", float64(s.MeanTurns.Value), 2}, {"most turns", float64(s.MostTurns.Value), 3},
		{"multi-turn", float64(s.ShareMultiple.Value), 0.666667}, {"requests in them", float64(s.Requests.Value), 0.833333},
		{"tokens in them", float64(s.Tokens.Value), 0.945455}, {"compacted", float64(s.Compacted.Value), 0.333333},
		{"shortest gap", at(s.Between, 0), 60}, {"longest gap", at(s.Between, 1), 190},
		{"human", at(s.ThinkHuman, 1), 180}, {"tool", at(s.ThinkTool, 1), 90}, {"least growth", at(s.Growth, 0), -30}, {"most growth", at(s.Growth, 1), 60},
		{"starts", starts, 3},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
		}
	}
}

// TestBranchesUnknown has neither parents nor blocks: the turn before is taken
// for what a turn continues, so branches are not known, which is not 0 %.
func TestBranchesUnknown(t *testing.T) {
	s := sessionSection(conversation([2]int{0, 0}, [2]int{1, 10}, [2]int{0, 60}, [2]int{0, 70}), Link(conversation([2]int{0, 0}, [2]int{1, 10}, [2]int{0, 60}, [2]int{0, 70})))
	if s.Branched != nil {
		t.Errorf("branched: %v of a log that does not say", s.Branched.Value)
	}
	if len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "2 of 2 further turns") {
		t.Errorf("notes: %q", s.Notes)
	}
}

// TestParentsInSession has one session by hand: a turn, its question asked anew,
// a turn that continues the first, two that continue that one, a turn whose
// history was compacted, and one that the log says continues the first.
func TestParentsInSession(t *testing.T) {
	x := conversation([2]int{5, 0}, [2]int{5, 5}, [2]int{5, 60}, [2]int{5, 100}, [2]int{5, 104}, [2]int{5, 200}, [2]int{5, 260}, [2]int{4, 270})
	blocks := [][]int32{{0, 1, 2}, {0, 1, 3}, {0, 1, 2, 4, 5}, {0, 1, 2, 4, 5, 6, 7}, {0, 1, 2, 4, 5, 6, 8}, {0, 9, 10, 11}, {0, 9, 10, 11, 12, 13}, {0, 1, 2, 4, 5, 6, 7, 14}}
	for i, in := range []int32{50, 52, 85, 120, 119, 70, 100, 130} {
		r := &x.Requests[i]
		r.Blocks, r.Input, r.Output = blocks[i], trace.Some(in), trace.Some(int32(15))
	}
	x.Requests[6].Parent = trace.Some(int64(0))
	l := Link(x)
	if want := []int32{-1, -1, 0, 2, 2, 4, 0, -1}; !equalInts(l.Parent, want) || l.Guessed != 1 {
		t.Errorf("parents %v, %d guessed, want %v, 1 guessed", l.Parent, l.Guessed, want)
	}
	x.Requests = slices.Delete(x.Requests, 5, 6) // without the compacted turn nothing is guessed
	x.Requests[5].ID = 5
	s := sessionSection(x, Link(x))
	if s.Branched == nil || s.Branched.N != 2 || s.Branched.Value != 1 || s.Compacted.Value != 0 || len(s.Notes) != 1 || !strings.Contains(s.Notes[0], "1 further turns begin anew") {
		t.Errorf("branched %+v, compacted %+v, notes %q", s.Branched, s.Compacted, s.Notes)
	}
	p := newSessionPart(x.Header, 1)
	p.add(x.Requests[:3])
	p.add(x.Requests[3:])
	if got := p.sessions(x.Requests[6].T.V); got.Branched == nil || *got.Branched != *s.Branched || got.Between.N != s.Between.N {
		t.Errorf("in parts: branched %+v, want %+v", got.Branched, s.Branched)
	}
}

// TestGenerated resends an answer of 64 tokens behind a prompt of 160: of the
// second prompt of 256 tokens, 160 hit as a prompt and 64 as an answer.
func TestGenerated(t *testing.T) {
	x := conversation([2]int{0, 0}, [2]int{0, 60})
	for i, n := range []int32{160, 256} {
		r := &x.Requests[i]
		r.Input, r.Output = trace.Some(n), trace.Some(int32(64))
		for b := range n / 16 {
			r.Blocks = append(r.Blocks, b)
		}
	}
	sp, err := Fit(x, Options{})
	check(t, err)
	g := sp.Workload.Prefix.Generated
	if g == nil || g.By != spec.BySession || g.Share != spec.Round(64.0/224) || g.HitRate != spec.Round(224.0/416) {
		t.Errorf("generated: %+v", g)
	}
}

// TestIdentical has a beginning of 70 tokens in nine of ten prompts: whole
// blocks tell 64 of them, the log's own counts all.
func TestIdentical(t *testing.T) {
	x := conversation()
	for i := range 20 {
		r := trace.Request{ID: int64(i), T: trace.Some(int64(i) * second), Input: trace.Some(int32(200)), Output: trace.Some(int32(5)), N: 1, Model: "model1"}
		r.Blocks = []int32{0, 1, 2, 3, int32(100 + i)}
		if i%10 == 9 {
			r.Blocks = []int32{int32(500 + i), int32(600 + i)}
		}
		x.Requests = append(x.Requests, r)
	}
	c := identical(x)
	if len(c) != 1 || c[0].Tokens != 64 || c[0].Share != 0.9 || c[0].Exact {
		t.Errorf("by blocks: %+v", c)
	}
	for i := range x.Requests {
		x.Requests[i].Prefix = trace.Some(int32(70 + i%3))
	}
	x.Requests[0].Prefix = trace.Some(int32(0))
	x.Requests[1].Model = "model2"
	c = identical(x)
	if len(c) != 2 || c[0].Tokens != 70 || !c[0].Exact {
		t.Errorf("to the token: %+v", c)
	}
}
