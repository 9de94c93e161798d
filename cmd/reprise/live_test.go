package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"reprise/replay"
	"reprise/trace"
)

// Without a terminal a run tells where it is in plain lines, every ten seconds
// and later every minute; on one it draws a line over and over.
func TestMonitor(t *testing.T) {
	var requests []trace.Request
	for i := range int64(301) {
		requests = append(requests, trace.Request{ID: i, T: trace.Some(i * 1e6)})
	}
	p, err := replay.NewPlan(&trace.Trace{Requests: requests})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	m := (&stdio{err: &out}).newMonitor(p)
	for i := range int64(300) {
		sched := i * 1e9
		m.live.Result(&replay.Result{Class: replay.OK, Sched: sched, FirstContent: trace.Some(sched + 50e6), LastContent: trace.Some(sched + 140e6), End: trace.Some(sched + 150e6), OutUsage: trace.Some[int32](10)})
		m.health(replay.HealthRow{TNS: sched + 1e9, Sent: 1, InFlight: 2, LagP99US: 300})
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 6+4 { // 10 s ... 60 s, then 2 to 5 minutes
		t.Fatalf("%d lines:\n%s", len(lines), out.String())
	}
	if want := "reprise: 20 sent of 301 planned, 2 in flight, 20 done, 0 errors, lag p99 0.3 ms, TTFT 50 ms/50 ms, TPOT 10 ms/10 ms (p50/p99), 4m40s left"; lines[1] != want {
		t.Errorf("%s\nwant\n%s", lines[1], want)
	}
	out.Reset()
	m.tty = true
	m.health(replay.HealthRow{TNS: 301e9})
	m.clear()
	m.clear()
	if got := out.String(); !strings.HasPrefix(got, "\r\x1b[K300 sent") || !strings.HasSuffix(got, "waiting for the last answers\r\x1b[K") {
		t.Errorf("%q", got)
	}
	if m.length != 300*time.Second {
		t.Errorf("%v long", m.length)
	}
}

// On a terminal the line is never wrapped, whatever its width becomes meanwhile;
// what matters most stays.
func TestMonitorFitsTheTerminal(t *testing.T) {
	p, err := replay.NewPlan(&trace.Trace{Requests: []trace.Request{{T: trace.Some(int64(0))}, {ID: 1, T: trace.Some(int64(3600e6))}}})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	width := 0
	m := (&stdio{err: &out}).newMonitor(p)
	m.tty, m.width = true, func() int { return width }
	m.live.Result(&replay.Result{Class: replay.OK, FirstContent: trace.Some[int64](50e6), LastContent: trace.Some[int64](140e6), End: trace.Some[int64](150e6), OutUsage: trace.Some[int32](10)})
	all := m.line()
	for _, width = range []int{0, 500, len(all) + 1, len(all), 80, 60, 40, 20, 1, 200} {
		out.Reset()
		m.health(replay.HealthRow{TNS: 1e9, Sent: 1})
		line := strings.TrimPrefix(out.String(), "\r\x1b[K")
		if width > 0 && len(line) >= width {
			t.Errorf("%d columns for %q", width, line)
		}
		if full := width == 0 || width > 150; full && !strings.Contains(line, "TPOT 10 ms/10 ms (p50/p99)") {
			t.Errorf("%d columns, and only %q", width, line)
		}
		if width >= 60 && (!strings.Contains(line, "of 2 planned") || !strings.Contains(line, "0 errors") || !strings.HasSuffix(line, "left")) {
			t.Errorf("%d columns: %q", width, line)
		}
	}
}
