package spec

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// WeekHours are the hours of a week, Monday 00:00 first.
const WeekHours = 7 * 24

// WeekProfile is the arrival rate by hour of the week, in 1/s: Rates[h] is the
// mean over the hours h of all weeks that the log covers whole, absent hours
// are -1. Zone is the zone of the clock: UTC, or a name of the tz database.
type WeekProfile struct {
	Provenance
	Zone  string `json:"zone"`
	Weeks Num    `json:"weeks"` // hours covered, over 168
	Rates []Num  `json:"rates"`
}

// HourOfWeek names an hour of the week: "Mon 14:00".
func HourOfWeek(h int) string {
	day := time.Weekday((h/24 + 1) % 7).String()[:3]
	return fmt.Sprintf("%s %02d:00", day, h%24)
}

// Variant is another arrival process of the same workload, for instance a
// burstier one. CV is the coefficient of variation of gaps; 1 is Poisson.
type Variant struct {
	Provenance
	Name    string `json:"name"`
	Process string `json:"process"` // poisson, gamma
	Rate    Num    `json:"rate"`
	CV      Num    `json:"cv"`
}

// Job is a batch that runs beside the interactive traffic: Requests of the same
// lengths and prefixes, unless it has lengths of its own, spread over WindowS
// seconds from StartClock on, every day.
type Job struct {
	Name       string  `json:"name"`
	Requests   Number  `json:"requests"`
	WindowS    Number  `json:"window_s"`
	StartClock string  `json:"start_clock,omitempty"` // 22:00
	Zone       string  `json:"zone,omitempty"`
	Input      *Length `json:"input,omitempty"`
	Output     *Length `json:"output,omitempty"`
}

// Today is a latency that somebody quotes of the endpoint in use, and what it
// was taken for.
type Today struct {
	Said       string `json:"said"`
	Metric     string `json:"metric"`
	Percentile Num    `json:"percentile"`
	ValueMS    Num    `json:"value_ms"`
	MeasuredAt string `json:"measured_at"`
}

func (p *WeekProfile) check() error {
	if p == nil {
		return nil
	}
	if len(p.Rates) != WeekHours {
		return fmt.Errorf("week_profile has %d rates, want %d", len(p.Rates), WeekHours)
	}
	if p.Zone == "Local" { // for Go it is a zone, another one on each machine
		return errors.New("week_profile.zone is no zone of the time zone database")
	}
	for i, r := range p.Rates {
		if !finite(r) || r < 0 && r != -1 || r > 1e9 {
			return fmt.Errorf("week_profile.rates[%d] is no rate", i)
		}
	}
	return nil
}

func (v Variant) check() error {
	switch {
	case v.Name == "":
		return errors.New("a variant has no name")
	case v.Process != ProcessPoisson && v.Process != ProcessGamma:
		return fmt.Errorf("variant %.20q: process is not poisson or gamma", v.Name)
	case !(v.Rate > 0 && v.Rate <= 1e9):
		return fmt.Errorf("variant %.20q: rate must be above 0", v.Name)
	case !(v.CV > 0 && v.CV <= 100):
		return fmt.Errorf("variant %.20q: cv must be above 0 and at most 100", v.Name)
	}
	return nil
}

func (j *Job) check() error {
	switch {
	case j.Name == "":
		return errors.New("a job has no name")
	case !(j.Requests.Value >= 1 && j.Requests.Value <= 1e9):
		return fmt.Errorf("job %.20q: requests must be 1 or more", j.Name)
	case !(j.WindowS.Value > 0 && j.WindowS.Value <= maxWidth):
		return fmt.Errorf("job %.20q: window_s must be above 0 and at most a week", j.Name)
	}
	for _, l := range []*Length{j.Input, j.Output} {
		if l != nil {
			if err := l.check(); err != nil {
				return fmt.Errorf("job %.20q: %w", j.Name, err)
			}
		}
	}
	return nil
}

func (t *Today) check() error {
	if t == nil {
		return nil
	}
	if t.Said == "" || math.IsNaN(float64(t.ValueMS)) {
		return errors.New("today: said is empty, or value_ms is not a number")
	}
	return SLO{Metric: t.Metric, Percentile: t.Percentile, ThresholdMS: t.ValueMS, MeasuredAt: t.MeasuredAt}.check()
}

// Sentence says what a quoted latency was taken for.
func (t *Today) Sentence() string {
	return fmt.Sprintf("%q, taken for the %s percentile of %s at the %s of %s", t.Said, ordinal(t.Percentile), upper(t.Metric), t.MeasuredAt, spoken(t.ValueMS))
}
