package replay

import (
	"strings"
	"testing"
	"time"
)

// Headroom is what 85 % of the cores could take over what is planned: 10,000
// events in 0.2 s of CPU are 20 µs each, 85,000/s on two cores, 8.5 times 10,000.
func TestHeadroom(t *testing.T) {
	well := RunStats{Verdict: ClientVerdict{Verdict: Clean, LagP99MS: 0.2}}
	h := NewHeadroom(10_000, 2, 10_000, 200*time.Millisecond, 2, well)
	if h.Times != 8.5 || h.Tight() || !strings.HasPrefix(h.Sentence(), "headroom 8.5x: ") || !strings.Contains(h.Sentence(), "20 µs of CPU an event at 2x the planned 10000 events/s, and have 2 cores; the mock's share is in that") || strings.Contains(h.Sentence(), "late") {
		t.Errorf("%+v %s", h, h.Sentence())
	}
	tight := NewHeadroom(60_000, 2, 10_000, 200*time.Millisecond, 2, RunStats{Verdict: late(0.141, 12)})
	if tight.Times != 1.42 || !tight.Tight() || !strings.Contains(tight.Sentence(), "headroom 1.4x") || !strings.HasSuffix(tight.Sentence(), "It was late in the test all the same: send lag p99 0.141 ms, bytes read p99 12.1 ms after the kernel had them: above 5 ms") {
		t.Errorf("%+v %s", tight, tight.Sentence())
	}
	if h := NewHeadroom(1, 2, 10_000, 200*time.Millisecond, 2, well); !strings.HasPrefix(h.Sentence(), "headroom over 100x") {
		t.Error(h.Sentence())
	}
	for _, none := range []*Headroom{NewHeadroom(10, 2, 0, time.Second, 2, well), NewHeadroom(10, 2, 5, -1, 2, well), NewHeadroom(0, 2, 5, 1, 2, well)} {
		if none.Times != 0 || none.Tight() || !strings.Contains(none.Sentence(), "not known") {
			t.Errorf("%+v", none)
		}
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
