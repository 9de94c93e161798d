package fit

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"reprise/trace"
	"reprise/trace/spec"
)

// TestBrokenKinds takes every kind of broken prefix into the spec, which keeps
// them apart when it is written and read.
func TestBrokenKinds(t *testing.T) {
	x := small(400, nil)
	x.Header.Counting = &trace.Counting{Broken: []trace.BrokenPrefix{
		{Prompts: 400, Sampled: 400, Share: 0.6, Now: 14, Would: 2014, At: 14},
		{Prompts: 400, Sampled: 400, Share: 0.4, Now: 31, Would: 1030, At: 30}}}
	sp := fitted(t, x)
	data, err := spec.Encode(sp)
	if err != nil {
		t.Fatal(err)
	}
	again, err := spec.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	all := again.Workload.Prefix.AllBroken()
	if len(all) != 2 || all[0].At != 14 || all[1].At != 30 || all[0].Share+all[1].Share > 1 || all[1].Gain() != 999 || all[1].From != spec.Estimate || all[1].N != 400 {
		t.Errorf("%+v", all)
	}
	notes := strings.Join(Notes(again), "\n")
	if strings.Count(notes, "a field that changes") != 2 || !strings.Contains(notes, "60 %") || !strings.Contains(notes, "40 %") {
		t.Errorf("notes are %q", notes)
	}
	x.Header.Counting = nil
	if data, err = spec.Encode(fitted(t, x)); err != nil || bytes.Contains(data, []byte("broken")) {
		t.Errorf("a healthy log has a broken prefix, %v", err)
	}
}

// TestBrokenOfShards: what breaks prefixes in one log or another is told by its
// share of the requests of all, and of several logs together where they agree.
func TestBrokenOfShards(t *testing.T) {
	row := func(share float64, at, now, would int64, behind bool) trace.BrokenPrefix {
		return trace.BrokenPrefix{Prompts: 300, Sampled: 100, Share: share, At: at, Now: now, Would: would, Behind: behind}
	}
	type want struct {
		at, would spec.Num
		share     float64
		n         int64
		behind    bool
	}
	for name, c := range map[string]struct {
		logs [3][]trace.BrokenPrefix // of 300, 400 and 500 requests
		want []want
	}{
		"one log of three": {[3][]trace.BrokenPrefix{0: {row(1, 14, 14, 2014, false)}}, []want{{14, 2014, 0.25, 100, false}}},
		"two logs, two fields": {[3][]trace.BrokenPrefix{0: {row(1, 14, 14, 2014, false)}, 2: {row(1, 60, 60, 2014, false)}},
			[]want{{60, 2014, 5. / 12, 100, false}, {14, 2014, 0.25, 100, false}}},
		"all the same": {[3][]trace.BrokenPrefix{{row(1, 14, 14, 2014, false)}, {row(1, 14, 14, 2010, false)}, {row(1, 15, 16, 2020, false)}},
			[]want{{14, 2015, 1, 300, false}}},
		"fields in a row": {[3][]trace.BrokenPrefix{
			{row(1, 14, 14, 500, false), row(0.5, 510, 500, 1200, true)},
			{row(1, 14, 14, 500, false)},
			{row(0.4, 90, 90, 2000, false), row(0.6, 14, 14, 505, false), row(0.6, 515, 505, 1205, true)}},
			[]want{{14, 503, 0.5, 200, false}, {513, 1203, (1.5 + 3) / 12, 200, true}, {90, 2000, 2. / 12, 100, false}, {14, 500, 1. / 3, 100, false}}},
		"two kinds of one log that are near": {[3][]trace.BrokenPrefix{0: {row(0.6, 14, 14, 514, false), row(0.4, 25, 25, 520, false)}, 1: {row(1, 20, 20, 516, false)}},
			[]want{{18, 515, 0.15 + 1./3, 200, false}, {25, 520, 0.1, 100, false}}},
		"shared now differs": {[3][]trace.BrokenPrefix{{row(1, 14, 14, 2014, false)}, {row(1, 14, 900, 2014, false)}, nil},
			[]want{{14, 2014, 0.25, 100, false}, {14, 2014, 1. / 3, 100, false}}},
	} {
		var shards []Shard
		for i, rows := range c.logs {
			x := traffic(rand.New(rand.NewPCG(8, uint64(i))), 300+100*i)
			if rows != nil {
				x.Header.Counting = &trace.Counting{Broken: rows}
			}
			shards = append(shards, Shard{Name: fmt.Sprintf("log %d", i), File: written(t, x)})
		}
		sp, err := FitShards(shards, Options{}, DefaultLimits(), nil)
		check(t, err)
		got := sp.Workload.Prefix.AllBroken()
		same := len(got) == len(c.want)
		for i := 0; same && i < len(got); i++ {
			b, w := got[i], c.want[i]
			same = b.At == w.at && b.Would == w.would && math.Abs(float64(b.Share)-w.share) < 1e-3 && b.N == w.n && b.Behind == w.behind
		}
		if !same {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if notes := strings.Join(Notes(sp), "\n"); !strings.Contains(notes, "of the 1200 requests of all") {
			t.Errorf("%s: notes: %s", name, notes)
		}
	}
}
