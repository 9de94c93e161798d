package engine

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkEngine is the engine alone, in virtual time, at a full batch.
func BenchmarkEngine(b *testing.B) {
	for _, batch := range []int{16, 256} {
		b.Run(fmt.Sprintf("batch%d", batch), func(b *testing.B) {
			law := llama8bH100()
			law.MaxSeqs = batch
			e, err := New(law, 1)
			if err != nil {
				b.Fatal(err)
			}
			now, live, tokens := time.Duration(0), 0, 0
			var events []Event
			for b.Loop() {
				for ; live < 2*batch; live++ {
					if _, err := e.Submit(now, exact(256, 200)); err != nil {
						b.Fatal(err)
					}
				}
				events, now, _ = e.Step(now, events[:0])
				for _, ev := range events {
					if ev.Finish != Going {
						live--
					}
				}
				tokens += len(events)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
			b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "events/s")
		})
	}
}
