package replay

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/trace"
	"reprise/trace/spec"
)

// sessions is a trace of n requests 10 ms apart, some of them in sessions.
func shardTrace(n int) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{BlockTokens: 16}}
	for i := range n {
		r := trace.Request{ID: int64(i), T: some(int64(i) * 10_000), N: 1, Input: some[int32](10), Output: some[int32](2)}
		if i%3 == 0 {
			r.Session = some(int32(i / 9))
		}
		t.Requests = append(t.Requests, r)
	}
	return t
}

// The shards are a partition, keep instants and rows, and keep sessions whole.
func TestShards(t *testing.T) {
	tr := shardTrace(100)
	seen, machine := map[int64]bool{}, map[int32]int{}
	for i := range 4 {
		p, err := NewPlan(tr)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Part(Shard{Index: i, Of: 4}); err != nil {
			t.Fatal(err)
		}
		for _, j := range p.Jobs {
			if seen[j.Row] || j.Sched != tr.Requests[j.Row].T.V*1000 {
				t.Fatalf("row %d twice or moved", j.Row)
			}
			seen[j.Row] = true
			if s := j.Request.Session; s.OK {
				if at, ok := machine[s.V]; ok && at != i {
					t.Fatalf("session %d on machines %d and %d", s.V, at, i)
				}
				machine[s.V] = i
			}
		}
	}
	if len(seen) != 100 || len(tr.Requests) != 100 {
		t.Fatalf("%d of 100 rows", len(seen))
	}
	if p, _ := NewPlan(shardTrace(2)); p.Part(Shard{Index: 2, Of: 3}) == nil {
		t.Error("an empty shard was taken")
	}
	for text, ok := range map[string]bool{"0/1": true, "3/4": true, "4/4": false, "-1/4": false, "1": false, "a/b": false, "0/0": false, "1/2/3": false} {
		if _, err := ParseShard(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Machines that start together have one zero, however long each takes to be
// ready, and their results are one run.
func TestMerge(t *testing.T) {
	bubble(t, func(t *testing.T) {
		tr, root := shardTrace(60), t.TempDir()
		at := time.Now().Add(5 * time.Second)
		start := at.UTC().Format(time.RFC3339Nano)
		var dirs []*Dir
		for i := range 2 {
			p, err := NewPlan(tr)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Part(Shard{Index: i, Of: 2}); err != nil {
				t.Fatal(err)
			}
			run := Run{StartedAt: "2026-11-30T07:00:00Z", Trace: Input{SHA256: "x"}, Salt: 5, Shard: &Shard{Index: i, Of: 2, StartAt: start, Planned: 60}, Notes: []string{"alike"}}
			path := filepath.Join(root, string(rune('a'+i)))
			zero := time.Now()
			_, err = Record(t.Context(), path, run, p, &fake{class: OK, stamp: true}, Options{Waiter: SleepWaiter{}, Beat: SleepWaiter{}, Later: SleepWaiter{}, At: at}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if i == 0 && time.Since(zero) < 5*time.Second+500*time.Millisecond {
				t.Fatalf("it ended %v after it was ready, before its start and plan", time.Since(zero))
			}
			d, err := OpenDir(path)
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			dirs = append(dirs, d)
			at = at.Add(time.Second) // the second machine of this test runs later, by the same plan
		}
		m, err := Merge([]*Dir{dirs[1], dirs[0]})
		if err != nil {
			t.Fatal(err)
		}
		rows, sum := map[int64]bool{}, int64(0)
		for r, err := range m.Requests() {
			if err != nil || rows[r.Row] || r.Sched != r.Row*10_000_000 {
				t.Fatalf("%+v, %v", r, err)
			}
			rows[r.Row] = true
		}
		for _, o := range m.Run.Outcomes {
			sum += o.N
		}
		if len(rows) != 60 || m.Run.Planned != 60 || sum != 60 || m.Run.Status != Complete || m.Run.Shape.Absolute != 60 || strings.Count(strings.Join(m.Run.Notes, "|"), "alike") != 1 {
			t.Fatalf("%d rows, %+v", len(rows), m.Run)
		}
		if m, err = Merge(dirs[1:]); err != nil || m.Run.Status != Aborted || !strings.Contains(m.Run.AbortReason, "shards 0 of 2 are not here") {
			t.Fatalf("%v %+v", err, m.Run)
		}
		if _, err = Merge([]*Dir{dirs[0], dirs[0]}); err == nil || !strings.Contains(err.Error(), "twice") {
			t.Fatal(err)
		}
		other := *dirs[1].Run
		other.Salt++
		if _, err = Merge([]*Dir{dirs[0], {Path: "b", Run: &other}}); err == nil || !strings.Contains(err.Error(), "b: its prompts are of --salt 6 and those of ") || !strings.Contains(err.Error(), " of --salt 5") || !OtherSalt(dirs[0].Run, &other) {
			t.Fatal(err)
		}
		other.Shard = &Shard{Index: 1, Of: 3, StartAt: start, Planned: 60}
		if _, err = Merge([]*Dir{dirs[0], {Path: "b", Run: &other}}); err == nil || !strings.Contains(err.Error(), "not a shard of the same run") || OtherSalt(dirs[0].Run, &other) {
			t.Fatal(err)
		}
		drawn := *dirs[1].Run
		shape := *drawn.Shape
		shape.Arrivals, drawn.Shape = "poisson", &shape
		if _, err = Merge([]*Dir{dirs[0], {Path: "b", Run: &drawn}}); err == nil || !strings.Contains(err.Error(), "another kind of load") {
			t.Fatal(err)
		}
	})
}

// watcher follows a server: a row at the start, one a second, one at the end.
type watcher struct{ last int64 }

func (w *watcher) Watch(ctx context.Context, t Timer, keep func(ServerRow) error) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		w.last = max(t.Now(), 0)
		if err := keep(ServerRow{TNS: w.last, Name: "up", Value: 1}); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.last = t.Now()
			return keep(ServerRow{TNS: w.last, Name: "up", Value: 2})
		}
	}
}

// A machine whose part ends before that of others follows the server until the
// last planned instant of all, and as long after it as its own requests took;
// an interrupt ends that at once and the run is whole. Merging takes the server
// from the machine that followed it the longest.
func TestMachineFollowsTheServerForTheOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		root := t.TempDir()
		rec := func(ctx context.Context, name string, i int, o Options, s Sender) (*Dir, *watcher, []time.Duration) {
			t.Helper()
			p := every(10, time.Second) // the last at 9 s
			if i == 0 {
				p = every(3, time.Second) // at 2 s
			}
			var said []time.Duration
			w := &watcher{}
			o.Waiter, o.Beat, o.Server = SleepWaiter{}, SleepWaiter{}, w
			o.Follow = func(left time.Duration) { said = append(said, left) }
			path := filepath.Join(root, name)
			run := Run{StartedAt: "2026-11-30T07:00:00Z", Trace: Input{SHA256: "x"}, Shard: &Shard{Index: i, Of: 2, StartAt: "2026-11-30T07:00:00Z"}}
			if _, err := Record(ctx, path, run, p, s, o, nil); err != nil && !errors.Is(err, ErrBroken) {
				t.Fatal(err)
			}
			d, err := OpenDir(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { d.Close() })
			return d, w, said
		}
		slow := &fake{stamp: true, take: func(Job) time.Duration { return 1500 * time.Millisecond }}
		all := Options{Until: 9 * time.Second}
		early, w, said := rec(t.Context(), "early", 0, all, slow)
		if w.last != 10.5e9 || len(said) != 1 || said[0] != 7*time.Second || early.Run.WallS != 3.5 || early.Run.Status != Complete {
			t.Errorf("followed until %d ns, said %v, wall %g s, %s", w.last, said, early.Run.WallS, early.Run.Status)
		}
		late, w, said := rec(t.Context(), "late", 1, all, slow)
		if w.last != 10.5e9 || said != nil {
			t.Errorf("the last machine followed until %d ns and said %v", w.last, said)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		cut, w, _ := rec(ctx, "cut", 0, all, slow)
		if w.last != 5e9 || cut.Run.Status != Complete || !strings.Contains(strings.Join(cut.Run.Notes, "|"), "The server was followed for 5 s, and not until the last answer of the other machines, about 10.5 s") {
			t.Errorf("interrupted: followed until %d ns, %s, notes %q", w.last, cut.Run.Status, cut.Run.Notes)
		}
		_, w, said = rec(t.Context(), "broken", 0, Options{Until: 9 * time.Second, Broken: 2, Breaker: -1}, &fake{stamp: true, class: HTTP5xx})
		if w.last > 2e9 || said != nil {
			t.Errorf("a run that broke off went on until %d ns", w.last)
		}
		if _, w, said = rec(t.Context(), "alone", 0, Options{}, slow); w.last != 3.5e9 || said != nil {
			t.Errorf("one machine alone followed until %d ns", w.last)
		}
		for _, dirs := range [][]*Dir{{cut, late}, {late, cut}} {
			m, err := Merge(dirs)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(m.Server); n == 0 || m.Server[n-1].TNS != 10.5e9 {
				t.Errorf("%d rows, the last %+v", n, m.Server[n-1])
			}
			if notes := strings.Join(m.Run.Notes, "|"); strings.Contains(notes, "interrupted") || !strings.Contains(notes, "Sent by 2 of 2") || m.Run.ServerCut != nil {
				t.Errorf("the server was followed to the end by the other machine, and %q", notes)
			}
		}
		// Where the one that was interrupted still saw the most, it is said.
		none := *late
		none.ix = &index{}
		m, err := Merge([]*Dir{cut, &none})
		if err != nil || m.Server[len(m.Server)-1].TNS != 5e9 || !strings.Contains(strings.Join(m.Run.Notes, "|"), "followed for 5 s, and not until") || m.Run.ServerCut == nil || *m.Run.ServerCut != (ServerCut{AtS: 5, DueS: 10.5}) {
			t.Errorf("%v %+v", err, m)
		}
	})
}

// Machines whose runs differ in what they were to send, or in how they are
// judged, are not one run, and it is said in what.
func TestMergeRefusesRunsThatDiffer(t *testing.T) {
	run := func(i int) *Run {
		return &Run{Mode: OpenLoop, Status: Complete, Trace: Input{SHA256: "x"}, Salt: 5, Tool: trace.Tool{Version: "1"}, Cache: CacheMode{Mode: CacheWorkload},
			Shape: &Shape{Arrivals: Poisson, Points: []LoadPoint{{FromPerS: 10, ToPerS: 10, LastS: 60, Planned: int64(i)}}},
			SLO:   []spec.SLO{{Metric: "ttft", Percentile: 95, ThresholdMS: 800, MeasuredAt: "client"}},
			Shard: &Shard{Index: i, Of: 2, StartAt: "2026-11-30T07:00:00Z", Planned: 600}}
	}
	for want, change := range map[string]func(*Run){
		"another kind of load":                                      func(r *Run) { r.Shape.Points[0].FromPerS = 20 },
		"another kind of load ":                                     func(r *Run) { r.Shape.Points[0].ToPerS = 20 },
		" another kind of load":                                     func(r *Run) { r.Shape.Points[0].LastS = 30 },
		"another kind of load than":                                 func(r *Run) { r.Mode = Ramp },
		"counts 300 requests of all machines together, and not 600": func(r *Run) { r.Shard.Planned = 300 },
		"cache":  func(r *Run) { r.Cache.Mode = CacheNone },
		"limits": func(r *Run) { r.SLO = nil },
	} {
		a, b := run(0), run(1)
		change(b)
		dirs := []*Dir{{Path: "a", Run: a, ix: &index{}}, {Path: "b", Run: b, ix: &index{}}}
		if _, err := Merge(dirs); err == nil || !strings.Contains(err.Error(), strings.TrimSpace(want)) {
			t.Errorf("%s: %v", want, err)
		}
	}
	a, b := run(0), run(1)
	m, err := Merge([]*Dir{{Path: "a", Run: a, ix: &index{}}, {Path: "b", Run: b, ix: &index{}}})
	if err != nil || strings.Contains(strings.Join(m.Run.Notes, " "), "version") {
		t.Fatalf("%v %+v", err, m)
	}
	b.Tool.Version = "2"
	m, err = Merge([]*Dir{{Path: "a", Run: a, ix: &index{}}, {Path: "b", Run: b, ix: &index{}}})
	if err != nil || !strings.Contains(strings.Join(m.Run.Notes, " "), "other versions of reprise") {
		t.Errorf("%v %+v", err, m)
	}
}
