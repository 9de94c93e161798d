package fit

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"reprise/trace"
	"reprise/trace/keys"
	"reprise/trace/spec"
)

// hours is a shard of a given length (a request at each end) whose zero is an
// hour of the week.
func hours(t *testing.T, zero string, length time.Duration) Shard {
	t.Helper()
	x := traffic(rand.New(rand.NewPCG(8, 8)), 2)
	x.Requests[0].T, x.Requests[1].T = trace.Some[int64](0), trace.Some(length.Microseconds())
	x.Header.Time.Calendar, x.Header.Time.Zero = trace.CalendarHourOfWeek, zero
	return Shard{Name: zero, File: written(t, x)}
}

// TestOrder: where the two ways to read hours of the week differ, one must be
// said.
func TestOrder(t *testing.T) {
	const day, hour = 24 * time.Hour, time.Hour
	for name, x := range map[string]struct {
		zeros       []string
		length      time.Duration
		named, week []time.Duration // nil: both alike
	}{
		"days in order":          {[]string{"Mon 00:00:00.000000", "Tue 00:00:00.000000", "Wed 00:00:00.000000"}, day, []time.Duration{0, day, 2 * day}, nil},
		"over the week's end":    {[]string{"Sun 00:00:00.000000", "Mon 00:00:00.000000"}, day, []time.Duration{0, day}, nil},
		"days out of order":      {[]string{"Wed 00:00:00.000000", "Mon 00:00:00.000000", "Tue 00:00:00.000000"}, day, []time.Duration{0, 5 * day, 6 * day}, []time.Duration{2 * day, 0, day}},
		"gateways, late first":   {[]string{"Mon 00:08:00.000000", "Mon 00:00:00.000000"}, day, []time.Duration{0, 7*day - 8*time.Minute}, []time.Duration{8 * time.Minute, 0}},
		"gateways of two days":   {[]string{"Mon 00:00:00.000000", "Tue 00:00:00.000000", "Mon 01:00:00.000000", "Tue 01:00:00.000000"}, day, []time.Duration{0, day, 7*day + hour, 8*day + hour}, []time.Duration{0, day, hour, day + hour}},
		"more days than a week":  {[]string{"Mon 00:00:00.000000", "Thu 00:00:00.000000", "Mon 00:00:00.000000"}, day, []time.Duration{0, 3 * day, 7 * day}, []time.Duration{0, 3 * day, 0}},
		"gateways at one moment": {[]string{"Fri 10:00:00.000000", "Fri 10:00:00.000000"}, hour, []time.Duration{0, 7 * day}, []time.Duration{0, 0}},
		"four weeks":             {[]string{"Mon 00:00:01.000000", "Mon 02:01:00.000000", "Mon 00:00:00.500000", "Mon 00:00:00.700000"}, 7*day - 3*hour, []time.Duration{0, 7*day + 7259*time.Second, 14*day - 500*time.Millisecond, 21*day - 300*time.Millisecond}, []time.Duration{500 * time.Millisecond, 7259*time.Second + 500*time.Millisecond, 0, 200 * time.Millisecond}},
	} {
		var shards []Shard
		for _, z := range x.zeros {
			shards = append(shards, hours(t, z, x.length))
		}
		lie := func(order string, want []time.Duration) {
			a, err := align(shards, order)
			if err != nil {
				t.Errorf("%s, order %q: %v", name, order, err)
				return
			}
			for i := range want {
				if a.shift[i] != want[i].Microseconds() {
					t.Errorf("%s, order %q: %v, want %v", name, order, a.shift, want)
					return
				}
			}
		}
		if x.week == nil {
			lie("", x.named)
			lie(OrderWeek, x.named)
		} else {
			if _, err := align(shards, ""); err == nil || !strings.Contains(err.Error(), "--order") {
				t.Errorf("%s: nothing is asked: %v", name, err)
			}
			lie(OrderWeek, x.week)
		}
		lie(OrderNamed, x.named)
	}
}

// TestOverlap: what begins before the one before it ends does not lie behind it,
// and so lies beside it.
func TestOverlap(t *testing.T) {
	shards := []Shard{hours(t, "Mon 00:00:00.000000", 24*time.Hour+5*time.Second), hours(t, "Tue 00:00:00.000000", 24*time.Hour)}
	if _, err := align(shards, OrderNamed); err == nil || !strings.Contains(err.Error(), "trace 2 begins 5s before trace 1 ends") {
		t.Errorf("as named: %v", err)
	}
	for _, order := range []string{"", OrderWeek} {
		a, err := align(shards, order)
		if err != nil || a.shift[1] != (24*time.Hour).Microseconds() {
			t.Errorf("order %q: %v, %v", order, a, err)
		}
	}
}

// TestWeeksLikeDates: weeks that carry hours of the week and lie as named give
// the spec that they give with dates.
func TestWeeksLikeDates(t *testing.T) {
	weeks := func(calendar string, zeros ...string) []Shard {
		rng := rand.New(rand.NewPCG(3, 4))
		var out []Shard
		for i, z := range zeros {
			x := traffic(rng, 2000)
			at := int64(0)
			for k := range x.Requests { // over some six and a half days
				x.Requests[k].T = trace.Some(at)
				at += rng.Int64N(2 * 280 * 1e6)
			}
			x.Header.Time.Calendar, x.Header.Time.Zero = calendar, z
			out = append(out, Shard{Name: string(rune('a' + i)), File: written(t, x)})
		}
		return out
	}
	fitted := func(shards []Shard, order string) *spec.Spec {
		sp, err := FitShards(shards, Options{Order: order}, DefaultLimits(), nil)
		check(t, err)
		return sp
	}
	dates := fitted(weeks(trace.CalendarDate, "2026-03-02T00:00:01Z", "2026-03-09T02:01:00Z", "2026-03-16T00:00:00.5Z"), "")
	named := fitted(weeks(trace.CalendarHourOfWeek, "Mon 00:00:01.000000", "Mon 02:01:00.000000", "Mon 00:00:00.500000"), OrderNamed)
	if d, n := dates.Workload.Arrivals, named.Workload.Arrivals; d.Rate != n.Rate || d.Span.Value != n.Span.Value || d.PeakHour.Rate != n.PeakHour.Rate || d.PeakHour.StartS != n.PeakHour.StartS {
		t.Errorf("with dates %v over %v, peak %v at %v; as named %v over %v, peak %v at %v", d.Rate, d.Span, d.PeakHour.Rate, d.PeakHour.StartS, n.Rate, n.Span, n.PeakHour.Rate, n.PeakHour.StartS)
	}
}

// TestUnlikeShards: what makes traces unlike parts of one log is noted.
func TestUnlikeShards(t *testing.T) {
	shard := func(h keys.Header, spoken bool, id int64) Shard {
		x := traffic(rand.New(rand.NewPCG(8, 8)), 300)
		for i := range x.Requests {
			if spoken {
				x.Requests[i].Session, x.Requests[i].Turn = trace.Some(int32(0)), trace.Some(int32(i))
			}
			x.Requests[i].Parent, x.Requests[i].Blocks = trace.Opt[int64]{}, nil
		}
		rows := []keys.Row{{Request: 0, What: keys.Session, Digest: 4}, {Request: 1, What: keys.Request, Digest: id}}
		if !spoken {
			rows = rows[1:]
		}
		k := keyFile(t, rows)
		h.Key = "k"
		k.Header = h
		return Shard{Name: "log of a patient", File: written(t, x), Keys: k}
	}
	for want, two := range map[string][2]Shard{
		"1 requests have the id of a request in another trace": {shard(keys.Header{}, true, 7), shard(keys.Header{}, true, 7)},
		"trace 2 names no sessions":                            {shard(keys.Header{}, true, 7), shard(keys.Header{}, false, 8)},
		"keep different names":                                 {shard(keys.Header{Models: []string{"m"}}, true, 7), shard(keys.Header{}, true, 8)},
		"isolates clients in one":                              {shard(keys.Header{}, true, 7), shard(keys.Header{Isolated: true}, true, 8)},
	} {
		sp, err := FitShards(two[:], Options{}, DefaultLimits(), nil)
		check(t, err)
		notes := strings.Join(Notes(sp), "\n")
		if !strings.Contains(notes, want) || strings.Contains(notes, "patient") {
			t.Errorf("want %q in %s", want, notes)
		}
	}
}
