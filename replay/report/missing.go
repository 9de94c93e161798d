package report

import (
	"fmt"

	"reprise/replay"
)

// missing counts the planned requests without a result in each load point, and
// says what that does not explain. A run that ended has none. rows are the
// results of all points.
func (in *Input) missing(points []*Summary, rows int64) string {
	run := in.Run
	if !run.Status.Open() {
		if rows != run.Planned {
			return fmt.Sprintf("run.json says that %d requests were planned; the results hold %d rows.", run.Planned, rows)
		}
		return ""
	}
	if run.Mode == replay.ClosedLoop && run.Planned == 0 {
		for _, s := range points {
			s.Load.timed = true
		}
		return "This closed loop goes by time: how many requests would have come is not known."
	}
	if len(points) == 1 && (run.Shape == nil || len(run.Shape.Points) < 2) {
		points[0].Load.miss(run.Planned - rows)
		return ""
	}
	left := run.Planned - rows
	for _, s := range points {
		if n := in.planned(s.Point); n > 0 {
			n -= s.Load.Planned + s.Load.Warmup + s.Load.Drain
			s.Load.miss(n)
			left -= max(n, 0)
		}
	}
	if left <= 0 {
		return ""
	}
	return fmt.Sprintf("%s of the run more have no result: of load points that are not here, or it is not known of which.", plural(left, "request"))
}

// planned is how many requests a load point was to have, 0 where the run does
// not say.
func (in *Input) planned(point int32) int64 {
	if in.Run.Shape == nil {
		return 0
	}
	for _, p := range in.Run.Shape.Points {
		if p.Point == point {
			return p.Planned
		}
	}
	return 0
}

// miss adds n requests of which no result is known. Whether they belong to the
// measured part is not known either; they are counted in it.
func (l *Load) miss(n int64) {
	if n > 0 {
		l.Missing = n
		l.Planned += n
	}
}

func are(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}
