package report

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

func pageOf(t *testing.T, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPageNamesWhatRan(t *testing.T) {
	html := pageOf(t, build(t, Input{Run: testRun(slo("ttft", 95, 800)), Results: seq(ramp(300)), Health: []replay.HealthRow{{KernelP99US: 70}}}))
	for _, want := range []string{"reprise 1.2.3", "complete", "2026-03-02T09:00:00Z", "aa11bb22cc33dd44", "0123456789abcdef", "http://127.0.0.1:8000/v1", "llama-3-8b",
		"eu-west-1", "vllm 0.11", "open loop", "default-src &#39;none&#39;", "planned"} {
		if !strings.Contains(html, want) && !strings.Contains(html, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestPageFetchesNothing looks for whatever a browser could load or run.
func TestPageFetchesNothing(t *testing.T) {
	run := testRun(slo("ttft", 95, 800), slo("tpot", 95, 20))
	html := pageOf(t, build(t, Input{Run: run, Results: seq(paced(300, 100, 1, 0)), Label: "a"}, Input{Run: run, Results: seq(paced(300, 50, 2, 0)), Label: "b"}))
	html = strings.ReplaceAll(html, run.Endpoint.URL, "")
	if m := regexp.MustCompile(`(?i)https?://\S*|<script|<link|<iframe|<img|<object|\son\w+=|javascript:|@import|url\(|\bsrc=|\bhref=`).FindString(html); m != "" {
		t.Errorf("the page holds %q", m)
	}
}

func TestPageEscapesWhatComesFromOutside(t *testing.T) {
	evil := `</title></script><script>alert(1)</script><img src=x onerror=alert(2)>"'><svg onload=alert(3)>` + "\x1b[2J\u202e"
	run := testRun(slo("ttft", 95, 800))
	run.Endpoint = replay.Endpoint{URL: evil, API: evil, Model: evil, Server: evil, Streaming: true}
	run.Region, run.Mode, run.AbortReason, run.StartedAt, run.Notes, run.Flags = evil, evil, evil, evil, []string{evil}, []string{evil}
	run.Tool, run.Trace, run.Spec = trace.Tool{Name: evil, Version: evil, Commit: evil}, replay.Input{Name: evil, SHA256: evil}, &replay.Input{Name: evil, SHA256: evil}
	run.Verdict.Reason, run.Cache.Mode, run.Clock.Wait, run.Environment.OS = evil, evil, evil, evil
	rs := paced(300, 100, 1, 0)
	for i := range rs {
		rs[i].Endpoint = evil
	}
	r := build(t, Input{Run: run, Results: seq(rs), Label: evil}, Input{Run: run, Results: seq(paced(300, 100, 2, 0)), Label: evil + "2"})
	html := pageOf(t, r)
	for _, bad := range []string{"<script", "<img", "<svg onload", "</title></"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	if !strings.Contains(html, "&lt;script&gt;alert(1)") {
		t.Error("the label is not on the page at all")
	}
}

func TestPageStaysSmall(t *testing.T) {
	rs := paced(100_000, 30, 1, 0)
	for i := range rs {
		rs[i].Gaps = rs[i].Gaps[:2]
	}
	html := pageOf(t, build(t, Input{Run: testRun(slo("ttft", 95, 800)), Results: seq(rs)}))
	if len(html) > 1_000_000 {
		t.Errorf("the page of 100,000 requests has %d bytes", len(html))
	}
}

func TestEveryShapeOfReportDraws(t *testing.T) {
	none := testRun(slo("ttft", 95, 800))
	none.Endpoint.Streaming = false
	for name, in := range map[string][]replay.Result{"empty": nil, "one": ramp(1), "only failures": {failed(0, replay.Connect)}, "never sent": {{Phase: replay.Measure, Class: replay.Unsent}},
		"one instant": {answered(0, 0, 0, 0, 1), answered(0, 0, 0, 0, 1)}} {
		html := pageOf(t, build(t, Input{Run: none, Results: seq(in)}, Input{Run: testRun(), Results: seq(in)}))
		if strings.Contains(html, "NaN") || strings.Contains(html, "Inf") {
			t.Errorf("%s: the page holds a number that is none", name)
		}
		pageOf(t, build(t, Input{Run: none, Results: seq(in)}))
	}
}

// TestPageInABrowser opens the page with the network off.
func TestPageInABrowser(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("NOT RUN: no chromium to open the page with")
	}
	dir := t.TempDir()
	r := build(t, Input{Run: testRun(slo("ttft", 95, 800)), Results: seq(ramp(300))})
	file := filepath.Join(dir, "report.html")
	if err := os.WriteFile(file, []byte(pageOf(t, r)), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND", "--user-data-dir="+filepath.Join(dir, "profile"), "--dump-dom", "file://"+file)
	var talk bytes.Buffer
	cmd.Stderr = &talk
	dom, err := cmd.Output()
	if err != nil {
		t.Fatalf("chromium: %v\n%s", err, talk.String())
	}
	for _, want := range []string{"<title>Reprise report: met</title>", "<h1>" + r.Headline + "</h1>", `role="img"`, "p95 limit 800 ms</text>"} {
		if !bytes.Contains(dom, []byte(want)) {
			t.Errorf("the browser does not show %q", want)
		}
	}
	if strings.Contains(talk.String(), "Content Security Policy") {
		t.Errorf("the page breaks its own policy: %s", talk.String())
	}
}
