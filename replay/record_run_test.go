package replay

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// A recorded run reads back whole, and an interrupted one with its reason.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	bubble(t, func(t *testing.T) {
		opts := Options{Waiter: SleepWaiter{}, Beat: SleepWaiter{}}
		var killed *Dir
		p := every(40, 100*time.Millisecond)
		s := &fake{stamp: true, take: func(Job) time.Duration { return time.Second }}
		run, err := Record(t.Context(), filepath.Join(dir, "a"), Run{StartedAt: "2026-01-02T03:04:05Z"}, p, s, opts, func(Result) {
			if killed == nil { // what a kill at the first result would leave
				killed, _ = OpenDir(filepath.Join(dir, "a"))
				if killed != nil {
					killed.Close()
				}
			}
		})
		if err != nil || run.Status != Complete {
			t.Fatalf("%+v %v", run, err)
		}
		if killed == nil || !killed.Partial || killed.Run.Planned != 40 || killed.Run.PlannedS != 3.9 || killed.Run.Clock.Wait != "sleep" || killed.Run.Verdict.Verdict != NoVerdict {
			t.Fatalf("a kill would leave %+v", killed)
		}
		d, err := OpenDir(filepath.Join(dir, "a"))
		if err != nil {
			t.Fatal(err)
		}
		if got := collect(t, d.Requests()); len(got) != 40 || got[39].Sched != 3.9e9 || got[39].End.V != 4.9e9 {
			t.Fatalf("%d results, the last %+v", len(got), got[len(got)-1])
		}
		sent := int64(0)
		h := collect(t, d.Health())
		for _, r := range h {
			sent += r.Sent
		}
		if len(h) != 5 || sent != 40 {
			t.Fatalf("%+v", h)
		}
		if d.Run.Verdict.Verdict != Clean || d.Run.Clock.Wait != "sleep" || d.Run.PlannedS != 3.9 {
			t.Fatalf("%+v", d.Run)
		}

		ctx, cancel := context.WithTimeout(t.Context(), 2050*time.Millisecond)
		defer cancel()
		run, err = Record(ctx, filepath.Join(dir, "b"), Run{StartedAt: "2026-01-02T03:04:05Z"}, p, s, opts, nil)
		if !errors.Is(err, ErrInterrupted) || run.Status != Aborted {
			t.Fatalf("%+v %v", run, err)
		}
		if d, err = OpenDir(filepath.Join(dir, "b")); err != nil || d.Rows != 40 || d.Run.AbortReason != run.AbortReason {
			t.Fatalf("%+v %v", d, err)
		}
	})
}

// What a sender sent a second time is told in run.json.
func TestRecordTellsResent(t *testing.T) {
	dir := t.TempDir()
	bubble(t, func(t *testing.T) {
		s := &shifty{fake: fake{stamp: true}}
		path := Path{EventsAlone: 24, ReadsAlone: 12}
		run, err := Record(t.Context(), filepath.Join(dir, "a"), Run{StartedAt: "2026-01-02T03:04:05Z", Path: &path}, every(5, time.Second), s, Options{Waiter: SleepWaiter{}, Beat: SleepWaiter{}}, nil)
		if err != nil || run.Resent != 7 || run.Clock.Stamps != "kernel" {
			t.Fatalf("%+v %v", run, err)
		}
		d, err := OpenDir(filepath.Join(dir, "a"))
		if err != nil || d.Run.Resent != 7 || *d.Run.Verdict.SharedAlone != 0.5 || *d.Run.Path != path {
			t.Fatalf("%+v %v", d.Run, err)
		}
		for _, h := range collect(t, d.Health()) {
			if h.HeartMaxUS < h.HeartP99US || h.Files < -1 || h.FileLimit < -1 || h.PortLimit < -1 {
				t.Errorf("%+v", h)
			}
		}
	})
}

// BenchmarkDispatch measures how late a no-op sender is let go at 1,000 jobs a
// second in real time; read the metrics, not the time.
func BenchmarkDispatch(b *testing.B) {
	for _, w := range []Waiter{NewWaiter(), SleepWaiter{}} {
		b.Run(w.Name(), func(b *testing.B) {
			for b.Loop() {
				var lags Lags
				if _, err := every(1000, time.Millisecond).Run(b.Context(), &fake{stamp: true}, Options{Waiter: w}, func(r Result) error {
					lags.total = append(lags.total, r.Dispatch.V-r.Sched)
					return nil
				}); err != nil {
					b.Fatal(err)
				}
				v := lags.Verdict()
				b.ReportMetric(v.LagP50MS*1000, "p50-µs")
				b.ReportMetric(v.LagP99MS*1000, "p99-µs")
			}
		})
	}
}
