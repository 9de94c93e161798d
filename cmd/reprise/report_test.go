package main

import (
	"slices"
	"testing"

	"reprise/replay"
)

// A run that nobody named is called by as much of its path's end as tells it
// from the others.
func TestNameGroups(t *testing.T) {
	var groups []runGroup
	for _, p := range []string{"/x/mon/run", "/x/tue/run", "/x/y/once", "/given", "/x/mon/run"} {
		groups = append(groups, runGroup{dirs: []*replay.Dir{{Path: p}}})
	}
	groups[3].label, groups[3].named = "run", true
	nameGroups(groups)
	var got []string
	for _, g := range groups {
		got = append(got, g.label)
	}
	if want := []string{"mon/run", "tue/run", "once", "run", "mon/run"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
