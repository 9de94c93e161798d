package fit

import (
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"reprise/trace"
)

// TestStrayStamp has one time stamp of a log go astray: it is refused, or described
// in little memory, of every calendar, whole and in parts.
func TestStrayStamp(t *testing.T) {
	for _, calendar := range []trace.Time{{Calendar: trace.CalendarNone}, {Calendar: trace.CalendarDate, Zero: "2026-03-01T00:00:00.000000Z"},
		{Calendar: trace.CalendarHourOfWeek, Zero: "Mon 00:00:00.000000"}} {
		for _, far := range []int64{366 * 24 * 3600 * second, maxSpan + second, 1 << 50, 1 << 55, 1 << 62, math.MaxInt64} {
			x := drawn(poisson(rand.New(rand.NewPCG(1, 5)), 300, 2, 1), rand.New(rand.NewPCG(1, 6)), func(i int, q *trace.Request) {
				q.Session = trace.Some(int32(i / 3))
				if i == 299 {
					q.T = trace.Some(far)
				}
			})
			x.Header.Time = calendar
			x.Header.Counts = trace.Counts{Read: 300, Kept: 300}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Fit(x, Options{})
			part := written(t, x)
			_, shards := FitShards([]Shard{{Name: "x", File: part}}, Options{}, Limits{Rows: 100, Blocks: 100, Sample: 1000}, nil)
			runtime.ReadMemStats(&after)
			if mib := float64(after.TotalAlloc-before.TotalAlloc) / (1 << 20); mib > 128 {
				t.Errorf("%s, %d µs: %.0f MiB allocated", calendar.Calendar, far, mib)
			}
			for _, err := range []error{err, shards} {
				if far > maxSpan != (err != nil) || err != nil && !strings.Contains(err.Error(), "stray time stamp") {
					t.Errorf("%s, %d µs: %v", calendar.Calendar, far, err)
				}
			}
		}
	}
}

// TestRescaleSparse tells of two bursts ten years apart what it tells of them one
// bin apart.
func TestRescaleSparse(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 5))
	burst := poisson(r, 200, 10, 1)
	var far, next []int64
	const width = 60 * second
	for i := range int64(2) {
		for _, at := range burst {
			far, next = append(far, at+i*(maxSpan/width*width)), append(next, at+i*width)
		}
	}
	a, b := Rescale(far, width), Rescale(next, width)
	if a.KS != b.KS || a.CV != b.CV || a.Lag1 != b.Lag1 {
		t.Errorf("%+v and %+v", a, b)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Rescale(far, width)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated", n)
	}
}

// TestHardlyAnyArrivals has logs of which next to nothing can be told say so in
// words that are true of them.
func TestHardlyAnyArrivals(t *testing.T) {
	const year = 365 * 24 * 3600 * second
	for name, c := range map[string]struct {
		times     []int64
		rate      float64
		cv, peaks string
	}{
		"one request":          {[]int64{0}, 0, "fewer than two arrivals", ""},
		"all at one instant":   {make([]int64, 50), 0, oneTime, ""},
		"two at the same ms":   {[]int64{0, 0}, 0, oneTime, ""},
		"two, a year apart":    {[]int64{0, year}, 2.0 / (365 * 24 * 3600), "fewer than two values", "fewer than 3 arrivals"},
		"two instants, a year": {[]int64{0, 0, 0, year, year}, 5.0 / (365 * 24 * 3600), "", "ok"},
	} {
		a, err := arrivalSection(trace.Time{Calendar: trace.CalendarNone}, &rows{n: int64(len(c.times)), timed: true, times: c.times}, nil)
		check(t, err)
		notes := strings.Join(a.Notes, "\n")
		if strings.Contains(notes, stampsAt) {
			t.Errorf("%s: %s", name, notes)
		}
		if c.cv != "" && !strings.Contains(notes, "CV of gaps: n/a ("+c.cv+")") {
			t.Errorf("%s: want %q of the CV in:\n%s", name, c.cv, notes)
		}
		if told := len(a.PeakToMean) > 0; told != (c.peaks == "ok") || c.peaks != "" && c.peaks != "ok" && !strings.Contains(notes, "peak-to-mean at 1 s: n/a ("+c.peaks+")") {
			t.Errorf("%s: peak-to-mean told %v in:\n%s", name, told, notes)
		}
		if math.Abs(float64(a.Rate.Value)-c.rate) > 1e-5*c.rate {
			t.Errorf("%s: rate %v, want %v", name, a.Rate.Value, c.rate)
		}
		var sum int64
		for _, n := range a.Rates.Counts {
			sum += n
		}
		if sum != int64(len(c.times)) {
			t.Errorf("%s: the series counts %d of %d", name, sum, len(c.times))
		}
	}
}
