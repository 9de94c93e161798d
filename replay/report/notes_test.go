package report

import (
	"strings"
	"testing"

	"reprise/replay"
)

// Fewer arrivals than the rate asked for comes to are told, and the rate asked
// for stands beside the one offered; what lies within the noise is not told.
func TestArrivalsDrawnFarFromTheRateAreTold(t *testing.T) {
	run := testRun()
	run.Shape = &replay.Shape{Arrivals: replay.Gamma, CV: 2, Points: []replay.LoadPoint{{FromPerS: 2.11, ToPerS: 2.11, LastS: 12}}}
	for _, c := range []struct {
		n    int
		told bool
	}{{10, true}, {20, false}, {25, false}, {40, true}} {
		s := metricsOf(ramp(c.n)...).Summary(run)
		told := strings.Contains(strings.Join(s.Notes, " "), "where the rate asked for comes to 25 (standard deviation 10)")
		if told != c.told {
			t.Errorf("%d requests: told %v, %q", c.n, told, s.Notes)
		}
		if cells := s.loadCells(); cells[1][0] != "Asked for, requests/s" || cells[1][1] != "2.11" || cells[1][2] != "gamma (CV 2) for 12.0 s" {
			t.Errorf("%q", cells[1])
		}
	}
}

// A cache that is kept and holds more than the run brought was warmed before.
func TestAWarmCacheIsTold(t *testing.T) {
	run := testRun()
	run.Cache = replay.CacheMode{Mode: replay.CacheKeep, ExpectedHitRate: 0.1}
	for _, c := range []struct {
		mode     string
		expected float64
		told     bool
	}{{replay.CacheKeep, 0.1, true}, {replay.CacheKeep, 0.25, false}, {replay.CacheWorkload, 0.1, false}} {
		run.Cache = replay.CacheMode{Mode: c.mode, ExpectedHitRate: c.expected}
		s := metricsOf(ramp(240)...).Summary(run) // a quarter of each prompt was cached
		if told := strings.Contains(strings.Join(s.Notes, " "), "blocks of earlier runs"); told != c.told {
			t.Errorf("%+v: %q", c, s.Notes)
		}
	}
}
