package replay

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// alone is a process that had two cores to itself.
func alone(cpu time.Duration) CPUUse {
	return CPUUse{CPU: cpu, Waited: 0, Stolen: 0, Wanted: 100, Cores: 2}
}

// Headroom is what 85 % of the cores could take over what is planned: 10,000
// events in 0.2 s of CPU are 20 µs each, 85,000/s on two cores, 8.5 times 10,000.
func TestHeadroom(t *testing.T) {
	well := RunStats{Verdict: ClientVerdict{Verdict: Clean, LagP99MS: 0.2}}
	h := NewHeadroom(10_000, 2, 10_000, alone(200*time.Millisecond), well)
	if h.Times != 8.5 || h.Tight() || !strings.HasPrefix(h.Sentence(), "headroom 8.5x: ") || !strings.Contains(h.Sentence(), "20 µs of CPU an event at 2x the planned 10000 events/s, and have 2 cores; the mock's share is in that") || strings.Contains(h.Sentence(), "late") {
		t.Errorf("%+v %s", h, h.Sentence())
	}
	tight := NewHeadroom(60_000, 2, 10_000, alone(200*time.Millisecond), well)
	if tight.Times != 1.42 || !tight.Tight() || !strings.Contains(tight.Sentence(), "headroom 1.4x") || !strings.HasPrefix(tight.Note(), "this client could take about 1.4 times the planned") {
		t.Errorf("%+v %s", tight, tight.Sentence())
	}
	if h := NewHeadroom(1, 2, 10_000, alone(200*time.Millisecond), well); !strings.HasPrefix(h.Sentence(), "headroom over 100x") {
		t.Error(h.Sentence())
	}
	for _, none := range []*Headroom{NewHeadroom(10, 2, 0, alone(time.Second), well), NewHeadroom(10, 2, 5, alone(-1), well), NewHeadroom(0, 2, 5, alone(1), well)} {
		if none.Times != 0 || none.Tight() || !strings.Contains(none.Sentence(), "not known") {
			t.Errorf("%+v", none)
		}
	}
}

// Of a test that was late no multiple follows, however cheap its events were.
func TestNoHeadroomWhenLate(t *testing.T) {
	h := NewHeadroom(100, 2, 10_000, alone(100*time.Millisecond), RunStats{Verdict: late(0.141, 12)})
	if h.Times != 0 || !h.Late || !h.Tight() {
		t.Errorf("%+v", h)
	}
	if want := "headroom none: late in the test: at 2x the planned 100 events/s, an in-process mock on the same cores included: send lag p99 0.141 ms, bytes read p99 12.1 ms after the kernel had them: above 5 ms"; h.Sentence() != want {
		t.Errorf("%s\nwant\n%s", h.Sentence(), want)
	}
	if !strings.HasPrefix(h.Note(), "this client was late in a test at 2 times") {
		t.Error(h.Note())
	}
}

// Beside busy neighbours an event costs less, since wakes are shared, and the
// headroom is less all the same.
func TestHeadroomFallsWithTheCoresGot(t *testing.T) {
	well := RunStats{Verdict: ClientVerdict{Verdict: Clean}}
	quiet := NewHeadroom(1000, 2, 10_000, CPUUse{CPU: 1070 * time.Millisecond, Waited: 50 * time.Millisecond, Stolen: 0, Wanted: 100, Cores: 2}, well)
	busy := NewHeadroom(1000, 2, 10_000, CPUUse{CPU: 176 * time.Millisecond, Waited: 4 * time.Second, Stolen: 40, Wanted: 400, Cores: 2}, RunStats{Verdict: ClientVerdict{Verdict: Usable}})
	less := NewHeadroom(1000, 2, 10_000, CPUUse{CPU: 1070 * time.Millisecond, Waited: 1070 * time.Millisecond, Stolen: 0, Wanted: 100, Cores: 2}, well)
	if quiet.Times < 15 || quiet.Times > 16 || less.Times < 7.9 || less.Times > 8.1 {
		t.Errorf("quiet %v times, with half the cores %v times", quiet.Times, less.Times)
	}
	// Of next to no cores no multiple follows: the neighbours decide.
	if busy.Times != 0 || !busy.Tight() || !strings.Contains(busy.Sentence(), "headroom none: short of cores in the test") || !strings.Contains(busy.Note(), "got 0.08 of its 2 cores") {
		t.Errorf("%+v: %s; %s", busy, busy.Sentence(), busy.Note())
	}
	if !strings.Contains(busy.Sentence(), "got 0.08 of 2 cores when they wanted them, and waited for the rest") || strings.Contains(quiet.Sentence(), "waited for") {
		t.Errorf("%s\n%s", busy.Sentence(), quiet.Sentence())
	}
}

func TestCoresGot(t *testing.T) {
	for _, c := range []struct {
		name string
		use  CPUUse
		want float64
	}{
		{"nothing is known", CPUUse{CPU: -1, Waited: -1, Stolen: -1, Wanted: -1, Cores: 4}, 4},
		{"all of them", CPUUse{CPU: time.Second, Cores: 2}, 2},
		{"half of the time", CPUUse{CPU: time.Second, Waited: time.Second, Cores: 2}, 1},
		{"a quarter was stolen", CPUUse{CPU: time.Second, Stolen: 25, Wanted: 100, Cores: 2}, 1.5},
		{"a control group", CPUUse{CPU: time.Second, Quota: 0.5, Cores: 2}, 0.5},
		{"throttled as it waits", CPUUse{CPU: time.Second, Waited: 3 * time.Second, Quota: 1.5, Cores: 2}, 0.5},
		{"waits for its own threads, and uses all", CPUUse{CPU: 2 * time.Second, Waited: 2 * time.Second, Wall: time.Second, Cores: 2}, 2},
		{"more ticks stolen than wanted", CPUUse{CPU: time.Second, Stolen: 3, Wanted: 2, Cores: 2}, 0},
	} {
		if got := c.use.Got(); got != c.want {
			t.Errorf("%s: %v cores, want %v", c.name, got, c.want)
		}
	}
	start := time.Unix(1, 0)
	before := CPUReading{At: start, CPU: time.Second, Waited: 5 * time.Second, Stolen: 7, Wanted: 70}
	after := CPUReading{At: start.Add(time.Minute), CPU: 3 * time.Second, Waited: 6 * time.Second, Stolen: 8, Wanted: 80, Quota: 1.5}
	if u, want := after.Since(before, 2), (CPUUse{2 * time.Second, time.Second, time.Minute, 1, 10, 1.5, 2}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
	if u, want := (CPUReading{At: start, CPU: -1, Waited: -1, Stolen: -1, Wanted: -1}).Since(before, 2), (CPUUse{-1, -1, 0, -1, -1, 0, 2}); u != want {
		t.Errorf("%+v, want %+v", u, want)
	}
}

func TestReadCPUParts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"1/schedstat": "872539 6910872 3\n", "2/schedstat": "5 100 1\n", "3/schedstat": "no such\n",
		"g/cpu.max": "150000 100000\n", "h/cpu.max": "max 100000\n", "i/cpu.max": "50000 100000\n", "j/cpu.max": "0 0\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := waited(dir); got != 6910972 {
		t.Errorf("waited %d ns", got)
	}
	if got := waited(t.TempDir()); got >= 0 {
		t.Errorf("waited %d ns where nothing is told", got)
	}
	in := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(dir, n))
		}
		return out
	}
	if a, b, c := quota(in("g", "i", "h")), quota(in("h", "j", "none")), quota(in("g")); a != 0.5 || b != 0 || c != 1.5 {
		t.Errorf("quotas %v, %v, %v", a, b, c)
	}
	if stolen, wanted := parseWanted("cpu  100 20 30 400 50 6 7 8 9 9\ncpu0 1"); stolen != 8 || wanted != 171 {
		t.Errorf("%d stolen of %d", stolen, wanted)
	}
	if stolen, wanted := parseWanted("intr 5"); stolen != -1 || wanted != -1 {
		t.Errorf("%d stolen of %d", stolen, wanted)
	}
}

// late is the verdict on a client with a send lag and a delay of the kernel, ms.
func late(lag, kernel float64) ClientVerdict {
	var l Lags
	l.Add(&Result{Phase: Measure, Dispatch: some(int64(0)), WriteEnd: some(int64(lag * 1e6))})
	var delays Spans
	delays.Add(int64(kernel * 1e6))
	return l.Judge(Signs{Delays: delays.Count()})
}
