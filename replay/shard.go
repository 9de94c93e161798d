package replay

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"reprise/trace"
)

// Shard says which part of a run one client machine sends. All machines of a
// run share trace, salt and start.
type Shard struct {
	Index   int    `json:"index"` // from 0
	Of      int    `json:"of"`
	StartAt string `json:"start_at"` // RFC 3339 with fractions, UTC: the zero of all
	Planned int64  `json:"planned"`  // requests of all shards together
}

// maxShards bounds the machines of one run.
const maxShards = 1 << 16

// ParseShard reads i/n, i from 0 as Kubernetes counts the pods of an indexed
// job.
func ParseShard(text string) (Shard, error) {
	a, b, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err1 != nil || err2 != nil || n < 1 || n > maxShards || i < 0 || i >= n {
		return Shard{}, fmt.Errorf("a shard is I/N with I from 0 to N-1, for instance 0/4, not %q", text)
	}
	return Shard{Index: i, Of: n}, nil
}

// has tells whether a request is one of the shard's: all turns of a session go
// to one machine, and what has no session goes by its row.
func (s Shard) has(r *trace.Request) bool {
	key := r.ID
	if r.Session.OK {
		key = int64(r.Session.V)
	}
	return int(key%int64(s.Of)) == s.Index
}

// Share is a machine's part of so many slots of a closed loop; the parts of all
// machines add up to them.
func (s Shard) Share(slots int) int {
	return slots*(s.Index+1)/s.Of - slots*s.Index/s.Of
}

// Part leaves a plan the jobs of one shard. The parts of all shards are the
// plan: a schedule keeps its rows and instants, a turn goes where the turn before
// it goes, and a closed loop is shared out slot by slot, so that all machines
// together have as many requests under way, or send as many a second, as was
// asked for. A level of a closed loop begins when the one before is over, which
// the other machines do not know: there can be one.
func (p *Plan) Part(s Shard) error {
	if s.Of < 1 || s.Index < 0 || s.Index >= s.Of {
		return errors.New("no such shard")
	}
	if len(p.levels) > 0 {
		if err := p.shareSlots(s); err != nil {
			return err
		}
	}
	var kept []int32 // places
	for i := range p.Jobs {
		if s.has(&p.Jobs[p.root(i)].Request) {
			kept = append(kept, int32(i))
		}
	}
	if len(kept) == 0 {
		return fmt.Errorf("shard %d of %d has no requests: use fewer shards", s.Index, s.Of)
	}
	jobs := make([]Job, len(kept))
	for i, k := range kept {
		jobs[i] = p.Jobs[k]
	}
	p.Jobs, p.part = jobs, s.Of > 1
	switch {
	case len(p.levels) > 0:
		p.rows = len(jobs)
		if !p.timed() {
			p.Shape.Points[0].Planned = int64(p.rows)
		}
		return nil
	case p.turns != nil:
		p.turns = p.turns.part(kept)
		p.settleTurns()
		return nil
	}
	p.Shape.Absolute = int64(len(p.Jobs))
	p.countPoints()
	return nil
}

func (p *Plan) shareSlots(s Shard) error {
	if len(p.levels) > 1 {
		return errors.New("several levels of a closed loop cannot be shared out, since each begins when all answers of the one before are in: run them one at a time")
	}
	level := p.levels[0]
	share := s.Share(level.Concurrency)
	if level.Concurrency < s.Of {
		return fmt.Errorf("%d requests under way cannot be shared out among %d machines: use fewer shards", level.Concurrency, s.Of)
	}
	level.Concurrency = share
	p.levels = []Level{level}
	p.Shape.Points[0].Concurrency = share
	return nil
}

// root is the place of the turn from which a job follows, its own of one that
// waits for none.
func (p *Plan) root(i int) int {
	if p.turns != nil {
		for p.turns.before[i] >= 0 {
			i = int(p.turns.before[i])
		}
	}
	return i
}

// ShardSalt is the salt of all shards of a run that start at an instant, where
// the user gives none: they must make the same text without a word to each
// other.
func ShardSalt(start time.Time) int64 { return start.UnixNano() }

// zero is the instant of the run's zero.
func (o *Options) zero() time.Time {
	now := time.Now()
	if o.At.IsZero() {
		return now
	}
	return now.Add(o.At.Sub(now)) // on the monotonic clock
}
