package replay

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, observe := keep(t, 1000)
		s := &fake{class: Connect, dead: true}
		stats, err := every(1000, time.Second).Run(t.Context(), s, Options{Waiter: SleepWaiter{}}, observe)
		if !errors.Is(err, ErrHopeless) || !strings.Contains(err.Error(), "nobody listens") {
			t.Fatal(err)
		}
		if sum(t, stats); count(stats, Connect) != 20 || count(stats, Unsent) != 980 {
			t.Fatalf("%v", stats.Outcomes)
		}
	})
}

// A refusal of every request for one reason ends the run too; other reasons,
// or other classes among them, do not.
func TestBreakerOnRefusals(t *testing.T) {
	for _, c := range []struct {
		status int16
		reason func(row int64) string
		trips  bool
	}{
		{400, func(row int64) string { return fmt.Sprintf("HTTP 400: at most 32 tokens, not %d", 100+row) }, true},
		{422, func(int64) string { return "HTTP 422: no" }, true},
		{429, func(int64) string { return "HTTP 429: slow down" }, false},
		{400, func(row int64) string { return "HTTP 400: " + string(rune('a'+row%2)) }, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := refusing{c.status, c.reason}
			stats, err := every(100, time.Second).Run(t.Context(), s, Options{Waiter: SleepWaiter{}}, func(Result) error { return nil })
			if errors.Is(err, ErrHopeless) != c.trips || c.trips && count(stats, Unsent) != 80 {
				t.Errorf("%d: %v %v", c.status, err, stats.Outcomes)
			}
			if got := stats.Outcomes[HTTP4xx].Reason; got != c.reason(0) {
				t.Errorf("the reason kept is %q", got)
			}
		})
	}
}

type refusing struct {
	status int16
	reason func(row int64) string
}

func (s refusing) Prepare(j Job) (Call, error) { return refused{s, j}, nil }

type refused struct {
	refusing
	job Job
}

func (r refused) Send(_ context.Context, f *Flight) Result {
	return Result{Class: HTTP4xx, HTTP: some(r.status), Reason: r.reason(r.job.Row), WriteEnd: some(f.Now()), End: some(f.Now())}
}

// One success among the first results and the run goes on.
func TestBreakerHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &mixed{dead: func(row int64) bool { return row != 7 }}
		stats, err := every(100, time.Second).Run(t.Context(), s, Options{Waiter: SleepWaiter{}}, func(Result) error { return nil })
		if err != nil || count(stats, Connect) != 99 {
			t.Fatalf("%v %v", err, stats.Outcomes)
		}
	})
}

type mixed struct{ dead func(int64) bool }

func (m *mixed) Prepare(j Job) (Call, error) {
	f := &fake{dead: m.dead(j.Row)}
	if f.dead {
		f.class = Connect
	}
	return fakeCall{f, j}, nil
}
