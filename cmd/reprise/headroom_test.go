package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"reprise/replay"
)

// A run is preceded by a test of the client's headroom, which goes into run.json,
// and nothing of which reaches the endpoint or the results.
func TestHeadroomBeforeRun(t *testing.T) {
	trace, dir := smallTrace(t), filepath.Join(t.TempDir(), "run")
	url := started(t, nil)
	for _, skip := range []bool{false, true} {
		path := fmt.Sprintf("%s-%v", dir, skip)
		var out, talk bytes.Buffer
		code := run(t.Context(), []string{"replay", trace, "--url", url, fmt.Sprintf("--no-headroom=%v", skip), "-o", path},
			stdio{in: strings.NewReader(""), out: &out, err: &talk, headroom: true})
		if code != exitDone && code != exitDistrust {
			t.Fatalf("exit %d\n%s", code, talk.String())
		}
		data, err := os.ReadFile(filepath.Join(path, "run.json"))
		if err != nil {
			t.Fatal(err)
		}
		r, err := replay.DecodeRun(data)
		if err != nil {
			t.Fatal(err)
		}
		if h := r.Headroom; (h == nil) != skip || h != nil && ((h.Times <= 0) != (h.Late || h.Starved) || h.CoresGot <= 0 || h.Events == 0 || h.PlannedPerS == 0 || !h.MockIncluded) {
			t.Errorf("skipped %v: %+v\n%s", skip, h, talk.String())
		}
	}
}

// The test is a part of the plan at twice the pace, cut to what takes little
// time.
func TestHeadroomPart(t *testing.T) {
	p := &replay.Plan{}
	for i := range 10_000 {
		j := replay.Job{Row: int64(i), Sched: int64(i) * 1e5}
		j.Request.Adapter, j.Request.N = "a", 3
		j.Request.Output.V, j.Request.Output.OK = 1000, true
		p.Jobs = append(p.Jobs, j)
	}
	part := p.Busiest(2 * time.Second)
	law := shrink(part)
	if n := part.Asked(); len(part.Jobs) != headroomJobs || n > headroomEvents || n < headroomEvents/2 || part.Length() != 3999*50*time.Microsecond {
		t.Errorf("%d jobs, %d events, %v long", len(part.Jobs), n, part.Length())
	}
	if j := part.Jobs[0].Request; j.Adapter != "" || j.N != 1 || p.Jobs[0].Request.Adapter == "" || p.Jobs[0].Request.Output.V != 1000 {
		t.Errorf("%+v, in the plan %+v", j, p.Jobs[0].Request)
	}
	if err := law.Validate(); err != nil || law.Plain.ITL*float64(part.Jobs[0].Request.Output.V) > 600_000 {
		t.Errorf("%v, %g µs", err, law.Plain.ITL)
	}
	if ids := (pieces{}).Encode(nil, "abcdefghij"); len(ids) != 2 || ids[0] < 0 || ids[0] == ids[1] {
		t.Errorf("tokens %v", ids)
	}
}
