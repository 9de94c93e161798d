package engine

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

// backend is what a driver holds to the clock: an Engine or a Fleet.
type backend interface {
	Submit(time.Duration, Request) (ID, error)
	Step(time.Duration, []Event) ([]Event, time.Duration, bool)
}

// @play brings requests in and returns every event, each when it was due.
func play(t *testing.T, b backend, at []time.Duration, rs []Request) []Event {
	t.Helper()
	var events []Event
	now, next, busy := time.Duration(0), time.Duration(0), false
	for i := 0; i <= len(rs); i++ {
		for busy && (i == len(rs) || next <= at[i]) {
			now = max(now, next)
			events, next, busy = b.Step(now, events)
		}
		if i < len(rs) {
			now = max(now, at[i])
			if _, err := b.Submit(now, rs[i]); err != nil {
				t.Fatal(err)
			}
			next, busy = now, true
		}
	}
	return events
}

func stream(n int, rate float64, seed uint64) (at []time.Duration, rs []Request) {
	rng := rand.New(rand.NewPCG(seed, 9))
	now := time.Duration(0)
	for i := range n {
		now += time.Duration(rng.ExpFloat64() / rate * 1e9)
		blocks := []uint64{uint64(1 + rng.IntN(6)), uint64(100 + i), uint64(1000 + i)}
		at = append(at, now)
		rs = append(rs, Request{Prompt: 40 + rng.Int32N(60), Blocks: blocks, MaxTokens: 2 + rng.Int32N(20), IgnoreEOS: true})
	}
	return at, rs
}

// TestFleetOfOne: one replica is the engine itself.
func TestFleetOfOne(t *testing.T) {
	law := testLaw()
	law.JitterSigma = 0.1
	at, rs := stream(300, 6, 1)
	e, err := New(law, 5)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []Routing{"", RoundRobin, LeastRequests, PrefixAffinity} {
		f, err := NewFleet(law, 5, FleetConfig{Routing: rule})
		if err != nil {
			t.Fatal(err)
		}
		want := play(t, e, at, rs)
		if got := play(t, f, at, rs); len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%q: a fleet of one gave other events than the engine", rule)
		}
		if a, b := f.Stats(), e.Stats(); !reflect.DeepEqual(a, b) {
			t.Errorf("%q: stats %+v, the engine's %+v", rule, a, b)
		}
		if e, err = New(law, 5); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRouting: where requests go that come while nothing has ended.
func TestRouting(t *testing.T) {
	shared := []uint64{1, 2, 3}
	rs := []Request{ // 0 and 3 share a prefix
		{Prompt: 60, Blocks: shared, MaxTokens: 50, IgnoreEOS: true},
		{Prompt: 60, Blocks: []uint64{11, 12, 13}, MaxTokens: 50, IgnoreEOS: true},
		{Prompt: 60, Blocks: []uint64{21, 22, 23}, MaxTokens: 50, IgnoreEOS: true},
		{Prompt: 60, Blocks: shared, MaxTokens: 50, IgnoreEOS: true},
		{Prompt: 60, Blocks: []uint64{31, 32, 33}, MaxTokens: 50, IgnoreEOS: true},
	}
	for rule, want := range map[Routing][]int{
		RoundRobin:     {0, 1, 2, 0, 1},
		LeastRequests:  {0, 1, 2, 0, 1},
		PrefixAffinity: {0, 1, 2, 0, 1},
	} {
		f, err := NewFleet(testLaw(), 1, FleetConfig{Replicas: 3, Routing: rule})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for i, r := range rs {
			now := time.Duration(i) * 30 * time.Millisecond
			for next, busy := now, true; busy && next <= now; {
				_, next, busy = f.Step(now, nil)
			}
			id, err := f.Submit(now, r)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, f.owner[id].Number)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: replicas %v, want %v", rule, got, want)
		}
	}
}

// TestAffinityRaisesHits: 24 prompts that come again and again, and caches that
// hold a fraction of them: affinity parts them among the replicas.
func TestAffinityRaisesHits(t *testing.T) {
	hits := func(rule Routing) float64 {
		law := testLaw()
		law.Blocks, law.MaxBatched = 80, 256
		f, err := NewFleet(law, 1, FleetConfig{Replicas: 4, Routing: rule})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		var at []time.Duration
		var rs []Request
		for i := range 2000 {
			k := uint64(rng.IntN(24)) * 1000
			blocks := []uint64{k + 1, k + 2, k + 3, k + 4, k + 5, k + 6, k + 7, k + 8}
			at = append(at, time.Duration(i)*25*time.Millisecond)
			rs = append(rs, Request{Prompt: 8*BlockTokens + 1, Blocks: blocks, MaxTokens: 2, IgnoreEOS: true})
		}
		play(t, f, at, rs)
		s := f.Stats()
		return float64(s.PrefixHits) / float64(s.PrefixQueries)
	}
	spread, parted := hits(RoundRobin), hits(PrefixAffinity)
	t.Logf("share of prompt tokens from the cache: round robin %.2f, prefix affinity %.2f", spread, parted)
	if parted < spread+0.2 {
		t.Errorf("affinity hits %.2f, round robin %.2f", parted, spread)
	}
}

// TestScaleUp: a replica that joins after a cold start takes half of the load
// from then on, not before, and begins with an empty cache.
func TestScaleUp(t *testing.T) {
	law := testLaw()
	f, err := NewFleet(law, 1, FleetConfig{Scales: []Scale{{At: time.Second, To: 2, ColdStart: 2 * time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	shared := []uint64{1, 2, 3, 4}
	var to []int
	for i := range 60 {
		now := time.Duration(i) * 100 * time.Millisecond
		for next, busy := now, true; busy && next <= now; {
			_, next, busy = f.Step(now, nil)
		}
		id, err := f.Submit(now, Request{Prompt: 80, Blocks: shared, MaxTokens: 2, IgnoreEOS: true})
		if err != nil {
			t.Fatal(err)
		}
		to = append(to, f.owner[id].Number)
	}
	for i, n := range to {
		if want := 0; i < 30 && n != want || i >= 30 && n != (i-1)%2 && n != i%2 {
			t.Errorf("request %d at %d00 ms went to replica %d", i, i, n)
		}
	}
	second := 0
	for _, n := range to[30:] {
		second += n
	}
	if second != 15 {
		t.Errorf("the new replica got %d of 30 requests, want 15", second)
	}
	for _, r := range f.Replicas() {
		if misses := r.Stats.PrefixQueries - r.Stats.PrefixHits; misses < 80 || misses >= r.Stats.PrefixQueries {
			t.Errorf("replica %d: %d of %d prompt tokens missed: its first prompt must miss and later ones hit", r.Number, misses, r.Stats.PrefixQueries)
		}
	}
}

// TestColdStartHoldsBack: with every replica still starting, requests wait for
// the end of the cold start: TTFT of a request at t is at least ready − t.
func TestColdStartHoldsBack(t *testing.T) {
	for _, plain := range []bool{false, true} {
		law := testLaw()
		if plain {
			law.Plain = &Plain{TTFT: 1000, ITL: 1000}
		}
		f, err := NewFleet(law, 1, FleetConfig{})
		if err != nil {
			t.Fatal(err)
		}
		f.replicas = nil
		f.grow(2, 3*time.Second)
		events := play(t, f, []time.Duration{0, time.Second, 2 * time.Second}, []Request{exact(32, 1), exact(32, 1), exact(32, 1)})
		if len(events) != 3 {
			t.Fatalf("%d events", len(events))
		}
		for _, ev := range events {
			if ev.At <= 3*time.Second || ev.At > 3100*time.Millisecond {
				t.Errorf("plain %v: %+v, want just after the 3 s of cold start", plain, ev)
			}
		}
	}
}

// TestScaleDown: a replica that leaves ends what it has, gets nothing new, and
// its counts remain.
func TestScaleDown(t *testing.T) {
	f, err := NewFleet(testLaw(), 1, FleetConfig{Replicas: 3})
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		if _, err := f.Submit(0, exact(32, 40)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Scale(time.Millisecond, Scale{To: 1}); err != nil {
		t.Fatal(err)
	}
	if n := len(f.Replicas()); n != 3 {
		t.Errorf("%d replicas at once, want the 2 that leave to end their requests", n)
	}
	at, rs := []time.Duration{2 * time.Millisecond}, []Request{exact(32, 1)}
	if events := play(t, f, at, rs); len(events) != 6*40+1 {
		t.Errorf("%d events, want %d", len(events), 6*40+1)
	}
	s := f.Stats()
	if len(f.Replicas()) != 1 || f.Replicas()[0].Stats.GenerationTokens != 81 || s.GenerationTokens != 241 || s.Ended[Length] != 7 {
		t.Errorf("%d replicas, the first with %d tokens, %+v", len(f.Replicas()), f.Replicas()[0].Stats.GenerationTokens, s)
	}
}

// TestFleetRateLimit: the limit is the endpoint's, not a replica's.
func TestFleetRateLimit(t *testing.T) {
	law := testLaw()
	law.RequestsPerMinute, law.RateBurst = 60, 3
	f, err := NewFleet(law, 1, FleetConfig{Replicas: 4})
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for range 10 {
		_, err := f.Submit(0, exact(10, 1))
		var rate *RateError
		if err == nil {
			passed++
		} else if !errors.As(err, &rate) {
			t.Fatal(err)
		}
	}
	if s := f.Stats(); passed != 3 || s.Rejected.Rate != 7 || f.Rate(0).Limit != 60 {
		t.Errorf("%d passed, %d refused, limit %d", passed, s.Rejected.Rate, f.Rate(0).Limit)
	}
}

func TestFleetCancel(t *testing.T) {
	f, err := NewFleet(testLaw(), 1, FleetConfig{Replicas: 2})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := f.Submit(0, exact(32, 100))
	b, _ := f.Submit(0, exact(32, 100))
	_, _, _ = f.Step(0, nil)
	if err := f.Scale(0, Scale{To: 1}); err != nil {
		t.Fatal(err)
	}
	if !f.Cancel(1, b) || f.Cancel(1, b) || !f.Cancel(1, a) {
		t.Error("cancel must find a request once")
	}
	if s := f.Stats(); s.Running+s.Waiting != 0 || s.Ended[Abort] != 2 || len(f.Replicas()) != 1 {
		t.Errorf("after: %+v, %d replicas", s, len(f.Replicas()))
	}
}

func TestFleetValidate(t *testing.T) {
	for name, c := range map[string]FleetConfig{
		"replicas": {Replicas: -1}, "many": {Replicas: 5000}, "routing": {Routing: "random"},
		"to none": {Scales: []Scale{{To: 0}}}, "negative": {Scales: []Scale{{To: 1, At: -1}}},
		"order": {Scales: []Scale{{To: 1, At: 5}, {To: 2, At: 4}}}, "cold": {Scales: []Scale{{To: 1, ColdStart: -1}}},
	} {
		if _, err := NewFleet(testLaw(), 1, c); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestStatsMerge: no counter is left out of the sum.
func TestStatsMerge(t *testing.T) {
	one := newStats(1000)
	setAll(reflect.ValueOf(&one).Elem(), 1)
	sum := one.clone()
	sum.merge(&one)
	two := newStats(1000)
	setAll(reflect.ValueOf(&two).Elem(), 2)
	two.KVUsage = 1
	if !reflect.DeepEqual(sum, two) {
		t.Errorf("the sum of two is\n%+v\nwant\n%+v", sum, two)
	}
}

// setAll sets every number but the bounds of histograms.
func setAll(v reflect.Value, n int64) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Bounds" {
				setAll(v.Field(i), n)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			setAll(v.Index(i), n)
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(n)
	case reflect.Float64:
		v.SetFloat(float64(n))
	}
}

// TestUtilization: with requests of 6 ms, one at a time, the engine's own count of the time it worked is n·E[S].
func TestUtilization(t *testing.T) {
	law := Law{Name: "one server", BaseUS: 1000, PrefillUS: 100, MaxSeqs: 1, MaxBatched: 1 << 14,
		Blocks: 2048, MaxModelLen: 1 << 14, Output: OutputLaw{Median: 1}}
	f, err := NewFleet(law, 1, FleetConfig{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 0x6c6f6164))
	var rs []Request
	var at []time.Duration
	for now := 0.0; len(rs) < 5000; {
		now += rng.ExpFloat64() / 80
		rs, at = append(rs, exact(50, 1)), append(at, time.Duration(now*1e9))
	}
	events := play(t, f, at, rs)
	worked := f.replicas[0].engine.model.(*batcher).worked
	if want := 5000 * 6 * time.Millisecond; worked != want {
		t.Errorf("worked for %v, want %v", worked, want)
	}
	share := worked.Seconds() / events[len(events)-1].At.Seconds()
	if math.Abs(share-0.48) > 0.03 { // λE[S], give or take the arrivals' own spread (1/√5000)
		t.Errorf("worked %.3f of the time, λE[S] is 0.48", share)
	}
}
