package replay

import (
	"testing"
	"time"
)

// The busiest part is where the most tokens are asked for, and begins at zero.
func TestBusiest(t *testing.T) {
	p := every(100, 100*time.Millisecond)
	for i := range p.Jobs {
		p.Jobs[i].Request.Output = some[int32](10)
		if i >= 60 && i < 70 {
			p.Jobs[i].Request.Output = some[int32](100)
		}
	}
	p.WarmUp(time.Hour)
	q := p.Busiest(time.Second)
	if len(q.Jobs) != 10 || q.Jobs[0].Row != 60 || q.Jobs[0].Sched != 0 || q.Jobs[9].Sched != 900e6 || q.Jobs[0].Phase != Measure || q.Asked() != 1000 {
		t.Fatalf("%d jobs from row %d, %d tokens", len(q.Jobs), q.Jobs[0].Row, q.Asked())
	}
	if q.Faster(2); q.Jobs[9].Sched != 450e6 || p.Jobs[69].Sched != 6900e6 {
		t.Errorf("%d, %d", q.Jobs[9].Sched, p.Jobs[69].Sched)
	}
	if all := p.Busiest(time.Hour); len(all.Jobs) != 100 {
		t.Errorf("%d of 100 jobs", len(all.Jobs))
	}
	closed, err := NewClosedPlan(untimed(3), []Level{{Concurrency: 2}})
	if err != nil || closed.Busiest(time.Second) != nil {
		t.Error("a closed loop has a busiest part", err)
	}
}
