package replay

import (
	"errors"
	"path/filepath"
	"testing"
	"time"
)

// Repetitions become one run: numbered, on one clock, with an account that adds
// up.
func TestJoinRepeats(t *testing.T) {
	var dirs []*Dir
	for i, started := range []string{"2026-11-30T10:00:00Z", "2026-11-30T10:01:00Z"} {
		p, err := NewArrivalPlan(untimed(5), Arrivals{Process: Constant, Rate: Steady(1000, 0)})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "run")
		class := []Class{OK, HTTP5xx}[i]
		if _, err := Record(t.Context(), path, Run{StartedAt: started}, p, &fake{stamp: true, class: class}, Options{Waiter: SleepWaiter{}, Beat: SleepWaiter{}}, nil); err != nil {
			t.Fatal(err)
		}
		d, err := OpenDir(path)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		dirs = append(dirs, d)
	}
	j, err := JoinRepeats(dirs, "a", 3)
	if err != nil {
		t.Fatal(err)
	}
	if j.Run.Planned != 10 || j.Run.Outcomes[OK].N != 5 || j.Run.Outcomes[HTTP5xx].N != 5 || dirs[0].Run.Outcomes[HTTP5xx].N != 0 {
		t.Errorf("%+v", j.Run.Outcomes)
	}
	n := int64(0)
	for r, err := range j.Requests() {
		if err != nil {
			t.Fatal(err)
		}
		repeat := n / 5
		want := repeat*int64(time.Minute) + n%5*1e6
		if int64(r.Repeat) != repeat || r.Point != 3 || r.Endpoint != "a" || r.Sched != want || r.Dispatch.V < want || r.End.V < want || r.FirstByte.OK {
			t.Errorf("result %d: %+v", n, r)
		}
		n++
	}
	if n != 10 {
		t.Errorf("%d results", n)
	}
	if _, err := JoinRepeats(nil, "", -1); err == nil {
		t.Error("nothing is joined")
	}
	dirs[1].Run.Mode = ClosedLoop
	if _, err := JoinRepeats(dirs, "", -1); err == nil || errors.Is(err, ErrBroken) {
		t.Error("runs of two modes are joined")
	}
}
