package spec

import (
	"strings"
	"testing"
)

// A profile's hours mean the same on every machine, and there is a whole week of them.
func TestWeekProfileChecks(t *testing.T) {
	week := func(change func(*WeekProfile)) *WeekProfile {
		p := &WeekProfile{Zone: "Europe/Berlin", Weeks: 1, Rates: make([]Num, WeekHours)}
		change(p)
		return p
	}
	for want, p := range map[string]*WeekProfile{
		"":            week(func(p *WeekProfile) { p.Rates[3] = -1 }),
		"zone is no":  week(func(p *WeekProfile) { p.Zone = "Local" }),
		"has 167":     week(func(p *WeekProfile) { p.Rates = p.Rates[1:] }),
		"rates[5] is": week(func(p *WeekProfile) { p.Rates[5] = -0.5 }),
	} {
		if err := p.check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
