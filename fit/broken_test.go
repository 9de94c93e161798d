package fit

import (
	"bytes"
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
