package page

import (
	"strings"
	"testing"

	"reprise/trace/spec"
)

// TestShrank does not say that no prompt shrank where turns that begin anew have
// a shorter one than the turn before, in the text as on the page.
func TestShrank(t *testing.T) {
	zero := spec.MeasuredNumber(0, "1", 900)
	for least, anew := range map[spec.Num]bool{-328: true, 10: false} {
		x := &spec.Sessions{Compacted: &zero, Branched: &zero, Growth: &spec.Table{P: []spec.Num{0, 0.5, 1}, Values: []spec.Num{least, 100, 400}}}
		if got := Shrank(x); !strings.HasPrefix(got, "shrank in 0.0 % of turns that continue one") || strings.Contains(got, "anew") != anew {
			t.Errorf("a least growth of %v: %q", float64(least), got)
		}
		if got := branching(x).Lead; strings.Contains(got, "anew") != anew || strings.Contains(got, "prompts grow") == anew {
			t.Errorf("a least growth of %v: %q", float64(least), got)
		}
	}
	if got := Shrank(&spec.Sessions{}); got != "" {
		t.Errorf("of nothing measured %q is said", got)
	}
}
