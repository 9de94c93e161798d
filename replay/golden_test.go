package replay

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

var updateGolden = flag.Bool("update", false, "write the golden files anew")

const goldenResults = "../testdata/vectors/v1/results/run"

// goldenRun is a run.json that uses every key.
func goldenRun() *Run {
	sha := strings.Repeat("ab", 32)
	return &Run{Kind: RunKind, Version: RunVersion, Tool: trace.Tool{Name: "reprise", Version: "0.0.0", Commit: "none"},
		Status: Running, StartedAt: "2026-11-30T07:00:00Z", Trace: Input{"peak.trace.parquet", sha}, Spec: &Input{"spec.json", sha},
		Endpoint: Endpoint{URL: "http://127.0.0.1:8000/v1/chat/completions", API: "chat", Model: "mock", Server: "reprise-mock", Streaming: true, IgnoreEOS: true, Template: 7},
		Flags:    []string{"--cache", "workload"}, Mode: "open_loop", Clock: Clock{"absolute", "timerfd", "user"},
		Environment: Environment{OS: "linux", Arch: "amd64", CPUs: 2, Go: "go1.26", Procs: 2},
		SLO:         []spec.SLO{{Metric: "ttft", Percentile: 95, ThresholdMS: 800, MeasuredAt: "client"}}, Region: "eu-west", Planned: 40,
		Cache: CacheMode{Mode: "workload", ExpectedHitRate: 0.5}, Notes: []string{"a note"}}
}

// goldenRows are 40 results in order of the schedule, two health rows and two
// scraped metrics.
func goldenRows() ([]Result, []HealthRow, []ServerRow) {
	r := rand.New(rand.NewPCG(9, 9))
	rows := make([]Result, 40)
	for i := range rows {
		rows[i] = randomResult(r, int64(i))
		rows[i].Sched = int64(i) * 1e9
	}
	none := HealthRow{HeartMaxUS: -1, Files: -1, FileLimit: -1, Ports: -1, PortLimit: -1} // of the columns that came later
	health := []HealthRow{none, none}
	for i, v := range [][]int64{{1e9, 20, 3, 40, 90, 95, -1, 60, 0, -1}, {2e9, 20, 0, 41, 91, 96, 12, 61, 1, 0}} {
		for k, p := range healthInts(&health[i])[:len(v)] {
			*p = v[k]
		}
	}
	health[0].CPU, health[0].Steal, health[1].CPU, health[1].Steal = 0.25, -1, 0.5, 0.01
	return rows, health,
		[]ServerRow{{1e9, "vllm:num_requests_running", `model_name="m"`, 3}, {2e9, "vllm:num_requests_waiting", "", 0.5}}
}

func writeGolden(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(filepath.Dir(goldenResults)); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(goldenResults), 0o755); err != nil {
		t.Fatal(err)
	}
	run := goldenRun()
	w, err := CreateDir(goldenResults, run)
	if err != nil {
		t.Fatal(err)
	}
	rows, health, server := goldenRows()
	for _, r := range rows {
		if err := w.Result(r); err != nil {
			t.Fatal(err)
		}
	}
	for i := range health {
		if err := w.Health(health[i]); err != nil {
			t.Fatal(err)
		}
		if err := w.Server(server[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Finish(goldenEnd(rows)); err != nil {
		t.Fatal(err)
	}
}

// goldenEnd is run.json at the end of the run.
func goldenEnd(rows []Result) *Run {
	run := goldenRun()
	var counts [classes]int64
	for _, r := range rows {
		counts[r.Class]++
	}
	run.Status, run.PlannedS, run.WallS, run.Outcomes = Complete, 39, 40.5, (&drive{counts: counts}).outcomes()
	run.Verdict = ClientVerdict{Verdict: Clean, LagP50MS: 0.04, LagP99MS: 0.09, LagMaxMS: 0.1, Reason: "send lag p99 0.09 ms, at most 1 ms"}
	return run
}

// The golden results are version 1 for good: later builds must read them.
func TestGoldenResults(t *testing.T) {
	if *updateGolden {
		writeGolden(t)
	}
	d, err := OpenDir(goldenResults)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	rows, health, server := goldenRows()
	if got := collect(t, d.Requests()); !reflect.DeepEqual(got, rows) {
		t.Error("requests.parquet reads differently")
	}
	if got := collect(t, d.Health()); !reflect.DeepEqual(got, health) {
		t.Error("health.parquet reads differently")
	}
	if got := collect(t, d.Server()); !reflect.DeepEqual(got, server) {
		t.Error("server.parquet reads differently")
	}
	if want := goldenEnd(rows); !reflect.DeepEqual(d.Run, want) {
		t.Errorf("run.json reads as %+v\nwant %+v", d.Run, want)
	}
	data, err := os.ReadFile(filepath.Join(filepath.Dir(goldenResults), LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	if lines, err := ReadLedger(data); err != nil || len(lines) != 2 {
		t.Errorf("the ledger has %d lines, %v", len(lines), err)
	}
}
