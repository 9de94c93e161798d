package fit

import (
	"fmt"
	"slices"
	"time"

	"reprise/trace"
)

// How traces lie that carry hours of the week and no dates: each behind the one
// named before, or all within one week.
const (
	OrderNamed = "named"
	OrderWeek  = "week"
)

const week = 7 * 24 * time.Hour

// place reads the labels of the zeros. Dates say where each shard lies. Hours of
// the week leave a choice, which is order's where both come out differently.
func (a *alignment) place(shards []Shard, order string) error {
	at := make([]time.Duration, len(shards))
	var first time.Time
	for i, s := range shards {
		zero, ok, err := s.File.Header.Time.ZeroTime()
		if err != nil || !ok {
			return fmt.Errorf("%s: its calendar has no label of time zero, so nothing tells how it lies to the others: ingest all logs at once", s.Name)
		}
		if i == 0 {
			first = zero
		}
		at[i] = zero.Sub(first)
	}
	if a.header.Time.Calendar == trace.CalendarHourOfWeek {
		var err error
		if at, err = placeHours(shards, at, order); err != nil {
			return err
		}
		for i := 1; i < len(at); i++ {
			a.notes = append(a.notes, fmt.Sprintf("trace %d is taken to begin %s", i+1, beside(at[i]-at[i-1], i)))
		}
	}
	low := slices.Min(at)
	for i := range at {
		a.shift[i] = (at[i] - low).Microseconds()
		if at[i] == low {
			a.header.Time.Zero = shards[i].File.Header.Time.Zero
		}
	}
	return nil
}

// beside says how a trace begins to the one before.
func beside(late time.Duration, before int) string {
	if late < 0 {
		return fmt.Sprintf("%s before trace %d", -late, before)
	}
	return fmt.Sprintf("%s after trace %d", late, before)
}

// placeHours chooses between the two orders; at are hours of the week.
func placeHours(shards []Shard, at []time.Duration, order string) ([]time.Duration, error) {
	length := make([]time.Duration, len(shards))
	for i, s := range shards {
		var err error
		if length[i], err = lengthOf(s); err != nil {
			return nil, err
		}
	}
	named, overlap := asNamed(at, length)
	within := inWeek(at, length)
	switch {
	case order == OrderNamed:
		return named, overlap
	case order == OrderWeek || overlap != nil:
		return within, nil
	case slices.Equal(fromZero(named), fromZero(within)):
		return named, nil
	}
	return nil, fmt.Errorf("the traces carry hours of the week and no dates: within one week they span %s, each behind the one named before %s; say which by --order week or --order named, or ingest with calendar: date",
		span(within, length).Round(time.Second), span(named, length).Round(time.Second))
}

// lengthOf is the last arrival of a trace.
func lengthOf(s Shard) (last time.Duration, err error) {
	for rows, err := range s.File.Chunks("t_us") {
		if err != nil {
			return 0, fmt.Errorf("%s: %w", s.Name, err)
		}
		if n := len(rows); n > 0 {
			last = time.Duration(rows[n-1].T.V) * time.Microsecond
		}
	}
	return last, nil
}

func modWeek(d time.Duration) time.Duration { return (d%week + week) % week }

// asNamed lets each begin at its hour of the week, as soon as the one before has
// ended. One that begins before that by less than half of either would have to
// lie nearly a week behind: it overlaps, which is not this order.
func asNamed(at, length []time.Duration) ([]time.Duration, error) {
	out := slices.Clone(at)
	for i := 1; i < len(out); i++ {
		end := out[i-1] + length[i-1]
		wait := modWeek(at[i] - end)
		if early := week - wait; wait > 0 && early < min(length[i-1], length[i])/2 {
			return nil, fmt.Errorf("by its hours of the week trace %d begins %s before trace %d ends, so they do not lie one behind the other as named: use --order week, or ingest with calendar: date",
				i+1, early.Round(time.Millisecond), i)
		}
		out[i] = end + wait
	}
	return out, nil
}

// inWeek begins with the trace from which all others, within a week, end
// soonest.
func inWeek(at, length []time.Duration) []time.Duration {
	var best []time.Duration
	for _, from := range at {
		out := make([]time.Duration, len(at))
		for i := range at {
			out[i] = modWeek(at[i] - from)
		}
		if best == nil || span(out, length) < span(best, length) {
			best = out
		}
	}
	return best
}

// span is from the first beginning to the last end.
func span(at, length []time.Duration) time.Duration {
	end := time.Duration(0)
	for i := range at {
		end = max(end, at[i]+length[i])
	}
	return end - slices.Min(at)
}

func fromZero(at []time.Duration) []time.Duration {
	low, out := slices.Min(at), slices.Clone(at)
	for i := range out {
		out[i] -= low
	}
	return out
}
