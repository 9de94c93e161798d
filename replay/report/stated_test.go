package report

import (
	"strings"
	"testing"

	"reprise/replay"
	"reprise/trace"
)

// streamed is an answer whose first content comes 1 ms after it was sent and whose
// gaps are given, µs.
func streamed(i int64, gaps ...int32) replay.Result {
	at := func(ns int64) trace.Opt[int64] { return trace.Some(i*1e9 + ns) }
	n := int32(len(gaps) + 1)
	last := int64(1e6)
	for _, g := range gaps {
		last += int64(g) * 1000
	}
	return replay.Result{Row: i, Phase: replay.Measure, Sched: i * 1e9, Dispatch: at(0), WriteEnd: at(0), FirstContent: at(1e6), LastContent: at(last), End: at(last),
		OutUsage: trace.Some(n), NEvents: n, NReads: n, Gaps: gaps}
}

func reportOf(t *testing.T, run *replay.Run, rs []replay.Result) (Summary, string) {
	t.Helper()
	var m Metrics
	for _, r := range rs {
		m.Add(r)
	}
	run.Status, run.Planned, run.Endpoint.Streaming = replay.Complete, int64(len(rs)), true
	s := m.Summary(run)
	b := sheet{width: TextWidth}
	s.text(&b, true)
	return s, strings.Join(strings.Fields(b.String()), " ")
}

// A first content that stands alone in a quarter of the answers is told.
func TestFirstContentThatStandsAlone(t *testing.T) {
	held := []int32{200_000, 10_000, 10_100, 9_900, 10_000, 10_000}
	even := []int32{10_000, 10_100, 9_900, 10_000, 10_000, 10_000}
	slow := []int32{60_000, 10_000, 10_100, 9_900, 10_000, 10_000} // a hand-over of 6 tokens' time
	stop := []int32{10_000, 10_000, 200_000, 10_000, 10_000, 10_000}
	dump := []int32{200_000, 0, 0, 0, 0, 0}
	for _, c := range []struct {
		rs []([]int32)
		n  int64 // 0: nothing is said
	}{
		{[][]int32{held, even, even, even}, 1}, {[][]int32{held, even, even, even, even}, 0}, {[][]int32{even, slow, stop}, 0},
		{[][]int32{held, dump, held}, 3}, {[][]int32{{200_000, 10_000}}, 0}, {nil, 0},
	} {
		var rs []replay.Result
		for i, g := range c.rs {
			rs = append(rs, streamed(int64(i), g...))
		}
		s, text := reportOf(t, &replay.Run{}, rs)
		got := int64(0)
		if f := s.Streams.FirstGap; f != nil {
			got = f.N
			if *f.P50MS != 200 {
				t.Errorf("%+v", f)
			}
		}
		if got != c.n || strings.Contains(text, "place-holder") != (c.n > 0) {
			t.Errorf("%v: %d, want %d\n%s", c.rs, got, c.n, text)
		}
	}
}

// What the server says that it took stands beside the client's times from sending.
func TestServersOwnTime(t *testing.T) {
	var rs []replay.Result
	for i := range int64(1100) {
		r := streamed(i, 10_000)
		r.ServerTime = trace.Some(500 + i/550*100)
		rs = append(rs, r)
	}
	run := &replay.Run{Endpoint: replay.Endpoint{Told: replay.Told{ServerTime: "openai-processing-ms"}, OtherTimes: []string{"x-groq-timing"},
		Stated: []replay.Stated{{Name: "openai-processing-ms", N: 1100, P50MS: 0.5, P99MS: 0.6}, {Name: "server-timing queue", N: 1100, P50MS: 12.5, P99MS: 13}}}}
	s, text := reportOf(t, run, rs)
	for _, want := range []string{"Its own time p50, ms 0.500 from sending, TTFT 1.00, E2E 11.0", "Its own time p99, ms 0.600", "openai-processing-ms", "server-timing queue p50, p99, ms", "x-groq-timing"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if s.Stated.N != 1100 || *s.Stated.P99MS != 0.6 {
		t.Errorf("%+v", s.Stated)
	}
	if s, text := reportOf(t, &replay.Run{}, rs[:0]); s.Stated != nil || strings.Contains(text, "Its own time") {
		t.Error("said without a header")
	}
}
