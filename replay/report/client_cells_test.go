package report

import (
	"strings"
	"testing"

	"reprise/replay"
)

// What tells whether the client may be believed stands in the report.
func TestClientCells(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	run := testRun()
	run.Resent, run.Headroom = 3, &replay.Headroom{Times: 2.7, Events: 100, CPUS: 0.01, SpeedTimes: 2, PlannedPerS: 50, Cores: 2, CoresGot: 1.2}
	run.Verdict.KernelP99MS, run.Verdict.HeartP99MS, run.Verdict.HeartMaxMS = p(0.25), p(0.4), p(12)
	run.Verdict.Shared, run.Verdict.SharedAlone = p(0.02), p(0.01)
	run.Path = &replay.Path{Handshakes: 5, HandshakeMS: 0.3, OneTokenMS: 41}
	rep := build(t, Input{Run: run, Results: seq(ramp(300)), Health: []replay.HealthRow{
		{KernelP99US: 300, HeartP99US: 500, Files: 40, FileLimit: 1024, Ports: 12, PortLimit: 28232},
		{KernelP99US: 200, HeartP99US: 500, Files: 70, FileLimit: 1024, Ports: -1, PortLimit: -1}}})
	text := ""
	for _, row := range rep.Summaries[0].clientCells() {
		text += strings.Join(row, "|") + "\n"
	}
	for _, want := range []string{
		"Kernel to reader p99, ms|0.250|over the run; worst second 0.300 ms", "Heartbeat late p99, ms|0.400|over the run; longest stall 12.0 ms",
		"Events sharing a read|2 %|with the event before; of an answer alone 1 %", "Headroom before the run|2.7x|client and an in-process mock together took 100 µs of CPU an event at 2x the planned 50 events/s, and got 1.2 of 2 cores", "Sent a second time|3|",
		"Open files|70|at most, of 1,024 allowed", "TCP sockets of the machine|12|", "Round trip, ms|0.300|", "One token, ms|41.0|",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	run.Headroom = &replay.Headroom{Late: true, SpeedTimes: 2, PlannedPerS: 50, Cores: 2, CoresGot: 2, Reason: "send lag p99 497 ms: above 5 ms; give it more"}
	late := build(t, Input{Run: run, Results: seq(ramp(300))})
	for _, row := range late.Summaries[0].clientCells() {
		if row[0] == "Headroom before the run" && strings.Join(row[1:], ": ") != strings.TrimPrefix(strings.Replace(run.Headroom.Sentence(), "test: at", "test, at", 1), "headroom ") {
			t.Errorf("the row is %q and it was said %q", row, run.Headroom.Sentence())
		}
	}
	if notes := strings.Join(rep.Summaries[0].Notes, "\n"); !strings.Contains(notes, "3 requests were sent a second time") {
		t.Error(notes)
	}
}
