package main

import (
	"bytes"
	"strings"
	"testing"

	"reprise/fit/compare"
)

// TestRowsForNoTerminal keeps a row and a note on one line where no terminal is
// at the other end, so that the full name of a metric can be searched for.
func TestRowsForNoTerminal(t *testing.T) {
	long := "hit rate of whole blocks, infinite cache, of a name that is longer than any screen is wide by far, and then by some"
	note := strings.Repeat("of this much is to be said ", 10) + "and no more"
	r := &compare.Report{Metrics: []compare.Metric{{Section: "prefix", Name: long, Verdict: compare.Told, Why: strings.Repeat("as it is ", 20) + "so"}}, Notes: []string{note}}
	var out bytes.Buffer
	s := stdio{out: &out}
	if err := compareText(&out, r, []string{"a", "b"}, s.rowWidth("")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{long, r.Metrics[0].Why, note} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is broken into lines:\n%s", want, out.String())
		}
	}
}
