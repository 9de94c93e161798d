package replay

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Merged is one run of several client machines.
type Merged struct {
	Run    *Run
	Health []HealthRow // of every machine
	Server []ServerRow // as the machine saw it that followed it the longest; see Dir.Followed
	Cut    int64       // bytes of spools that could not be read
	dirs   []*Dir
}

// SameRun tells whether two results are shards of one run: the same trace,
// salt, start and number of machines.
func SameRun(a, b *Run) bool { return a.Salt == b.Salt && butForSalt(a, b) }

// OtherSalt tells whether two results would be shards of one run, had their
// prompts been made with one salt.
func OtherSalt(a, b *Run) bool { return a.Salt != b.Salt && butForSalt(a, b) }

func butForSalt(a, b *Run) bool {
	return a.Shard != nil && b.Shard != nil && a.Trace.SHA256 == b.Trace.SHA256 &&
		a.Shard.Of == b.Shard.Of && a.Shard.StartAt == b.Shard.StartAt
}

// Merge joins the results of the machines of one run (see SameRun). What the
// machines planned and what became of it adds up; the run is complete when
// every shard is here and complete, and its client is as good as the worst one.
// The directories stay the caller's and must stay open while results are read.
func Merge(dirs []*Dir) (*Merged, error) {
	if len(dirs) == 0 {
		return nil, errors.New("no results to merge")
	}
	dirs = slices.Clone(dirs)
	slices.SortStableFunc(dirs, func(a, b *Dir) int { return cmp.Compare(shardIndex(a), shardIndex(b)) })
	first := dirs[0].Run
	run := *first
	run.Notes, run.Outcomes, run.Shape, run.Planned, run.WarmupSent, run.Resent = nil, nil, nil, 0, 0, 0
	run.ServerCut = nil
	run.Endpoint.Spoken, run.Endpoint.Stated, run.Endpoint.OtherTimes = nil, nil, nil // each machine's own; percentiles do not add up
	m := &Merged{Run: &run, dirs: dirs}
	seen := map[int]bool{}
	for _, d := range dirs {
		switch {
		case OtherSalt(first, d.Run):
			return nil, fmt.Errorf("%s: its prompts are of --salt %d and those of %s of --salt %d, so they share no prefix: give all machines of a run the same", d.Path, d.Run.Salt, dirs[0].Path, first.Salt)
		case d.Run.Shard == nil || !SameRun(first, d.Run):
			return nil, fmt.Errorf("%s is not a shard of the same run as %s", d.Path, dirs[0].Path)
		case seen[d.Run.Shard.Index]:
			return nil, fmt.Errorf("%s: shard %d is there twice", d.Path, d.Run.Shard.Index)
		}
		if other := differs(first, d.Run); other != "" {
			return nil, fmt.Errorf("%s: its machine %s than %s", d.Path, other, dirs[0].Path)
		}
		seen[d.Run.Shard.Index] = true
		m.take(d.Run)
		m.Cut += d.Cut
	}
	m.missing(seen)
	return m, m.side()
}

// differs says in what a machine's run is another than the first one's, empty
// where it is the same.
func differs(first, r *Run) string {
	a, b := first.Endpoint, r.Endpoint
	switch {
	case first.Mode != r.Mode || !sameLoad(first.Shape, r.Shape):
		return "sent another kind of load"
	case first.Shard.Planned != r.Shard.Planned:
		return fmt.Sprintf("counts %d requests of all machines together, and not %d, so it sent another load", r.Shard.Planned, first.Shard.Planned)
	case first.Cache.Mode != r.Cache.Mode:
		return "treats the prefix cache in another way"
	case a.Model != b.Model || a.API != b.API || a.Template != b.Template:
		return "found another model, interface or template at the endpoint"
	case a.Extra != b.Extra:
		return "sent other extra fields in its requests"
	case !slices.Equal(first.SLO, r.SLO):
		return "has other limits"
	}
	return ""
}

// sameLoad says whether two machines' parts are of one load: rates are those of
// all machines in each of them, and counts and slots its own.
func sameLoad(a, b *Shape) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Arrivals == b.Arrivals && a.CV == b.CV && a.Seed == b.Seed && a.Think == b.Think &&
		slices.EqualFunc(a.Points, b.Points, func(x, y LoadPoint) bool {
			return x.Point == y.Point && x.FromPerS == y.FromPerS && x.ToPerS == y.ToPerS && x.LastS == y.LastS
		})
}

func shardIndex(d *Dir) int {
	if d.Run.Shard == nil {
		return -1
	}
	return d.Run.Shard.Index
}

// take adds one machine's account.
func (m *Merged) take(r *Run) {
	out := m.Run
	out.Planned += r.Planned
	out.PlannedS, out.WallS = max(out.PlannedS, r.PlannedS), max(out.WallS, r.WallS)
	out.WarmupSent += r.WarmupSent
	out.Resent += r.Resent
	if unfinished(r.Status) > unfinished(out.Status) || r.Shard.Index == out.Shard.Index {
		out.Status, out.AbortReason = r.Status, ""
		switch {
		case r.AbortReason != "":
			out.AbortReason = fmt.Sprintf("shard %d: %s", r.Shard.Index, r.AbortReason)
		case r.Status.Open():
			out.AbortReason = fmt.Sprintf("shard %d", r.Shard.Index)
		}
	}
	if note := "The client machines ran other versions of reprise."; out.Tool != r.Tool && !slices.Contains(out.Notes, note) {
		out.Notes = append(out.Notes, note)
	}
	out.Shape = out.Shape.with(r.Shape)
	out.count(r)
	if worse(r.Verdict.Verdict) > worse(out.Verdict.Verdict) {
		out.Verdict = r.Verdict
		out.Verdict.Reason = fmt.Sprintf("shard %d: %s", r.Shard.Index, r.Verdict.Reason)
	}
}

// with adds the part of another machine to a shape. Rates are of all machines
// in every part (the arrivals are shared out); requests and slots add up.
func (s *Shape) with(part *Shape) *Shape {
	if s == nil || part == nil {
		return part
	}
	sum := *s
	sum.Absolute += part.Absolute
	sum.AfterAnswer += part.AfterAnswer
	sum.Points = slices.Clone(s.Points)
	for i := range min(len(sum.Points), len(part.Points)) {
		sum.Points[i].Concurrency += part.Points[i].Concurrency
		sum.Points[i].Planned += part.Points[i].Planned
	}
	return &sum
}

// count adds the outcomes and notes of another part of the run.
func (out *Run) count(r *Run) {
	for _, o := range r.Outcomes {
		k := slices.IndexFunc(out.Outcomes, func(x Outcome) bool { return x.Class == o.Class })
		if k < 0 {
			k = len(out.Outcomes)
			out.Outcomes = append(out.Outcomes, Outcome{Class: o.Class})
		}
		out.Outcomes[k].N += o.N
		if out.Outcomes[k].Reason == "" {
			out.Outcomes[k].Reason = o.Reason
		}
	}
	out.Endpoint.Spoken = slices.Clone(out.Endpoint.Spoken)
	for _, s := range r.Endpoint.Spoken {
		out.Endpoint.Spoken = speak(out.Endpoint.Spoken, s.Protocol, s.N)
	}
	for _, n := range r.Notes {
		if !slices.Contains(out.Notes, n) {
			out.Notes = append(out.Notes, n)
		}
	}
}

// unfinished ranks how runs end: what is least known counts most.
func unfinished(s Status) int {
	return slices.Index([]Status{Complete, Aborted, Killed, Running}, s)
}

// worse ranks the client verdicts.
func worse(verdict string) int {
	return slices.Index([]string{Clean, Usable, NoVerdict, ClientLimited}, verdict)
}

// missing says which shards are not here: then it is not the run.
func (m *Merged) missing(seen map[int]bool) {
	var out []string
	for i := range m.Run.Shard.Of {
		if !seen[i] {
			out = append(out, fmt.Sprint(i))
		}
	}
	m.Run.Notes = append(m.Run.Notes, fmt.Sprintf("Sent by %d of %d client machines that started at %s; their instants agree as well as their clocks do.",
		len(seen), m.Run.Shard.Of, m.Run.Shard.StartAt))
	if len(out) > 0 && m.Run.Status == Complete {
		m.Run.Status = Aborted
		m.Run.AbortReason = fmt.Sprintf("the results of shards %s of %d are not here", strings.Join(out, ", "), m.Run.Shard.Of)
	}
}

// side reads health and server rows.
func (m *Merged) side() error {
	var watched *Run // the machine whose server rows are taken
	for _, d := range m.dirs {
		for h, err := range d.Health() {
			if err != nil {
				return fmt.Errorf("%s: %w", d.Path, err)
			}
			m.Health = append(m.Health, h)
		}
		server, err := d.Followed()
		if err != nil {
			return err
		}
		if span(server) > span(m.Server) {
			m.Server, watched = server, d.Run
		}
	}
	m.uncut(watched)
	return nil
}

// uncut drops the notes of machines that stopped following the server too
// early: the rows are another's, who followed it longer. Nil keeps them all.
func (m *Merged) uncut(watched *Run) {
	if watched == nil {
		return
	}
	m.Run.ServerCut = watched.ServerCut
	for _, d := range m.dirs {
		if cut := d.Run.ServerCut; cut != nil && (watched.ServerCut == nil || *cut != *watched.ServerCut) {
			m.Run.Notes = slices.DeleteFunc(m.Run.Notes, func(n string) bool { return n == cut.note() })
		}
	}
}

// span is how long the server was followed, ns; -1 where it was not.
func span(rows []ServerRow) int64 {
	if len(rows) == 0 {
		return -1
	}
	first, last := rows[0].TNS, rows[0].TNS
	for _, r := range rows {
		first, last = min(first, r.TNS), max(last, r.TNS)
	}
	return last - max(first, 0)
}

// Requests yields the results of all machines, in the order of the schedule of
// each.
func (m *Merged) Requests() iter.Seq2[Result, error] {
	return func(yield func(Result, error) bool) {
		for _, d := range m.dirs {
			for r, err := range d.Requests() {
				if err != nil {
					err = fmt.Errorf("%s: %w", d.Path, err)
				}
				if !yield(r, err) || err != nil {
					return
				}
			}
		}
	}
}
