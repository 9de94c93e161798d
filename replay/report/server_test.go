package report

import (
	"bytes"
	"strings"
	"testing"

	"reprise/replay"
)

// scraped are two scrapes: of 100 TTFTs 60 lie in (20, 40] ms and 40 in
// (250, 500] ms; half of 2,000 prompt tokens were in the cache.
func scraped() []replay.ServerRow {
	rows := func(t int64, a, b, hits, queries, running float64) []replay.ServerRow {
		return []replay.ServerRow{
			{TNS: t, Name: "vllm:time_to_first_token_seconds_bucket", Labels: `le="0.02"`, Value: 7},
			{TNS: t, Name: "vllm:time_to_first_token_seconds_bucket", Labels: `le="0.04"`, Value: 7 + a},
			{TNS: t, Name: "vllm:time_to_first_token_seconds_bucket", Labels: `le="0.25"`, Value: 7 + a},
			{TNS: t, Name: "vllm:time_to_first_token_seconds_bucket", Labels: `le="0.5"`, Value: 7 + b},
			{TNS: t, Name: "vllm:time_to_first_token_seconds_bucket", Labels: `le="+Inf"`, Value: 7 + b},
			{TNS: t, Name: "vllm:prefix_cache_hits_total", Value: hits}, {TNS: t, Name: "vllm:prefix_cache_queries_total", Value: queries},
			{TNS: t, Name: "vllm:num_requests_running", Value: running}, {TNS: t, Name: "vllm:request_success_total", Labels: `finished_reason="length"`, Value: b},
		}
	}
	return append(rows(-1e9, 0, 0, 5, 10, 0), rows(9e9, 60, 100, 1005, 2010, 12)...)
}

func TestServerStandsBesideTheClient(t *testing.T) {
	r := build(t, Input{Run: testRun(), Results: seq(ramp(100)), Server: [][]replay.ServerRow{scraped()}})
	v := r.Summaries[0].Server
	if v == nil || v.Engine != "vLLM" || v.TTFT.N != 100 || v.TTFT.P50 != (Within{20, v.TTFT.P50.ToMS}) || *v.TTFT.P50.ToMS != 40 || *v.TTFT.P99.ToMS != 500 || *v.HitRate != 0.5 || *v.Running != 12 {
		t.Fatalf("%+v", v)
	}
	for name, render := range map[string]func(*bytes.Buffer) error{"text": func(b *bytes.Buffer) error { return r.Text(b) },
		"md": func(b *bytes.Buffer) error { return r.Markdown(b) }, "html": func(b *bytes.Buffer) error { return r.HTML(b) }} {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"20.0 to 40.0", "250 to 500", "from sending", "Prefix cache hit rate"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s lacks %q", name, want)
			}
		}
	}
	if strings.Contains(strings.Join(r.Summaries[0].Notes, " "), "others used it") {
		t.Error("as many requests as were sent, and others are said to have used the server")
	}
	r = build(t, Input{Run: testRun(), Results: seq(ramp(90)), Server: [][]replay.ServerRow{scraped()}})
	if !strings.Contains(strings.Join(r.Summaries[0].Notes, " "), "The server ended 100 requests while this client sent 90: others used it") {
		t.Errorf("%q", r.Summaries[0].Notes)
	}
}

func TestFirstHandshakesAreSaid(t *testing.T) {
	rs := ramp(100)
	for i := range rs {
		rs[i].Reused.OK, rs[i].Reused.V = true, i >= 25
		if i < 25 {
			rs[i].TCP, rs[i].TLS = some64(int64(1000+i)), some64(2000)
		}
	}
	run := testRun()
	run.Path = &replay.Path{OneTokenMS: 31}
	s := build(t, Input{Run: run, Results: seq(rs)}).Summaries[0]
	if s.Path.Fresh != 25 || s.Path.Of != 100 || *s.Path.RTTMS != 1.012 || *s.Path.FreshTTFT != 3.012 || *s.Path.OneTokenMS != 31 {
		t.Fatalf("%+v", s.Path)
	}
	if !strings.Contains(strings.Join(s.Notes, " "), "25 requests of 100 (25 %) opened a connection: their handshakes (median 3.01 ms) are inside TTFT") {
		t.Errorf("%q", s.Notes)
	}
}

// Runs whose answers reached another share of the length asked for are not
// compared.
func TestAttainedLengthGatesComparison(t *testing.T) {
	short := paced(400, 100, 1, 0)
	for i := range short {
		short[i].OutUsage.V = short[i].OutAsked.V / 2
	}
	run := testRun(slo("ttft", 95, 500))
	r := build(t, Input{Run: run, Results: seq(paced(400, 100, 1, 0)), Label: "a"}, Input{Run: run, Results: seq(short), Label: "b"})
	if r.Verdict != CannotSay || r.Exit != 4 || !strings.Contains(r.Headline, "no comparison: answers reached 50 % of the output length asked for in b and 100 % in a") {
		t.Errorf("%s: %q", r.Verdict, r.Headline)
	}
	r = build(t, Input{Run: run, Results: seq(paced(400, 100, 1, 0)), Label: "a"}, Input{Run: run, Results: seq(paced(400, 100, 1, 0)), Label: "b"})
	if r.Verdict != Met {
		t.Errorf("alike, and %s: %q", r.Verdict, r.Reason)
	}
}
