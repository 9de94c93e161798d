package replay

import (
	"runtime"
	"testing"
)

// Awake, the time asleep stands still to well below what a verdict looks at.
func TestAsleepStandsStill(t *testing.T) {
	first := asleep()
	if runtime.GOOS != "linux" {
		if first != -1 {
			t.Errorf("%d ns where it cannot be known", first)
		}
		return
	}
	for range 1000 {
		if now := asleep(); now >= 0 && first >= 0 && (now-first > usableLag || first-now > usableLag) {
			t.Fatalf("%d ns, then %d", first, now)
		}
	}
	if first < -1 {
		t.Errorf("%d", first)
	}
}
