package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/replay/mock"
	"reprise/replay/mock/engine"
	"reprise/trace/token"
)

// tardy is a waiter that wakes 8 ms late, as a client without CPU time does.
type tardy struct{ replay.Waiter }

func (w tardy) Until(ctx context.Context, t replay.Timer, ns int64) error {
	return w.Waiter.Until(ctx, t, ns+8e6)
}

// started is an engine on an exact schedule.
func started(t *testing.T, with func(*mock.Config)) string {
	t.Helper()
	law, err := engine.Preset("plain")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := token.Open("o200k_base")
	if err != nil {
		t.Fatal(err)
	}
	cfg := mock.DefaultConfig(law, tok)
	if with != nil {
		with(&cfg)
	}
	srv, err := mock.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { srv.Close() })
	return srv.URL()
}

// command runs a command line.
func command(t *testing.T, args ...string) (code int, out, talk string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(t.Context(), args, stdio{in: strings.NewReader(""), out: &o, err: &e})
	return code, o.String(), e.String()
}

// smallTrace is a trace of a second.
func smallTrace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	spec, path := filepath.Join(dir, "s.json"), filepath.Join(dir, "t.trace.parquet")
	if code, _, talk := command(t, "spec", "--input", "100", "--output", "8", "--rate", "30", "-o", spec); code != 0 {
		t.Fatal(talk)
	}
	if code, _, talk := command(t, "synth", spec, "--for", "1s", "--seed", "3", "-o", path); code != 0 {
		t.Fatal(talk)
	}
	return path
}

// lateReplay runs a replay whose clock is held by a waiter.
func lateReplay(t *testing.T, w replay.Waiter, args ...string) (code int, out, talk string) {
	t.Helper()
	var o, e bytes.Buffer
	s := stdio{in: strings.NewReader(""), out: &o, err: &e}
	c := (&replayOptions{waiter: w}).command(&s)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs(args)
	code = s.exit(c.ExecuteContext(t.Context()))
	return code, o.String(), e.String()
}

// A client that is late says so: exit 4, and the report withholds the headline.
func TestLateClient(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	code, _, talk := lateReplay(t, tardy{replay.NewWaiter()}, smallTrace(t), "--url", started(t, nil), "--slo", "ttft p95 <= 5s at client", "-o", dir)
	if code != exitDistrust || !strings.Contains(talk, "client client-limited: send lag p99") || !strings.Contains(talk, "above 5 ms") {
		t.Fatalf("exit %d\n%s", code, talk)
	}
	data, err := os.ReadFile(filepath.Join(dir, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r replay.Run
	if err := json.Unmarshal(data, &r); err != nil || r.Verdict.Verdict != replay.ClientLimited || r.Verdict.LagP50MS < 8 || r.Verdict.HeartP99MS == nil || r.Path.Handshakes == 0 || r.Path.EventsAlone == 0 {
		t.Fatalf("%v %s", err, data)
	}
	code, out, talk := command(t, "report", dir)
	if code != exitDistrust || !strings.Contains(out, "No result: the client was late") || regexp.MustCompile(`TTFT is [0-9]`).MatchString(out) {
		t.Fatalf("exit %d\n%s%s", code, out, talk)
	}
}

// More connections than the process can open are told before anything is sent.
func TestTooManyConnections(t *testing.T) {
	if l := replay.ThisMachine(); l.Ports < 0 && l.Files < 0 {
		t.Skip("SKIPPED: this system tells no limits")
	}
	code, _, talk := command(t, "replay", smallTrace(t), "--url", "http://127.0.0.1:1", "--concurrency", "1000000", "-o", filepath.Join(t.TempDir(), "run"))
	if code != exitFailed || !strings.Contains(talk, "1000000 connections at once are planned") {
		t.Fatalf("exit %d\n%s", code, talk)
	}
}
